"""The summary page: what reproduces, what does not, and why."""

from __future__ import annotations

from experiments.lab import Lab, table

INTRODUCTION = """\
*Private Boosted Decision Trees via Smooth Re-Weighting*, with this library. Every number comes from
`make paper`; `make paper PART=votes` makes one page again, and `make paper FAST=1` runs everything
with smaller grids and fewer repeats, as continuous integration does. The tables are read from the
folder that `SMOOTHBOOST_DATA` names. A stopped run continues where it stopped.

*Boosted 1-rules* (LazyBB over DP-1R in the paper) are rules with one test and one vote each; κ is
the density, λ the learning rate and τ the number of rounds; η is the exponent of the noisy choice.
*The paper's calibration* is its formula for η. *One-hot features* have the paper's counts (162, 80
and 117); its bins are not published, so these are ours, written down with the accuracy of three
variants for Adult and of five for Cod-RNA in view.
"""
CRITERION = """\
Agreement means: accuracies within 0.015, Rademacher estimates within 0.05, numbers of features
within 25 % (of the one printed model: two standard deviations), rounds within 50; words are judged
as the page says.
"""
PAGES = """\
- [Hyper-parameters](grid.md): the grid, and what cross-validation selects
- [Learning curves](curves.md): privacy against accuracy, with all baselines
- [Advantage and margins](advantage.md): how long the weak learner stays one
- [Sparsity](sparsity.md): features used
- [A 0.4-DP model](votes.md): as votes
- [Generalization](generalization.md): Rademacher estimates beside what happens
- [Pure against approximate](approximate.md): what δ buys
- [Utility theorems](utility.md): what they promise, in numbers
- [Errata](errata.md): what is wrong in the paper and in public code, with evidence
- [Where the code departs from the paper](../paper-differences.md)
"""


def write(lab: Lab) -> None:
    """Write the table of all claims."""
    printed = [claim for claim in lab.claims if claim.paper != "–"]
    beside = [
        [
            claim.statement,
            claim.paper,
            _shown(claim.ours),
            claim.spread,
            "yes" if claim.reproduces else f"**no**: {claim.why}",
            f"[page]({claim.page})",
        ]
        for claim in printed
    ]
    others = [
        [claim.statement, _shown(claim.ours), claim.spread, f"[page]({claim.page})"]
        for claim in lab.claims
        if claim.paper == "–"
    ]
    lab.write(
        "README",
        "The paper, reproduced",
        INTRODUCTION,
        CRITERION,
        table(["statement", "the paper", "here", "spread", "agrees?", "more"], beside),
        "Also held to a band by every run:",
        table(["number", "here", "spread", "more"], others),
        PAGES,
    )


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3f}"
