"""The third line: twice the exponent, half the learning rate, and ratios that have their bands."""

from __future__ import annotations

import re
from statistics import mean

import numpy as np
import pytest

from experiments import lazy_bb, methods, printed, summary, tables
from experiments.fit import Fit
from experiments.lab import EXPLAINED, NOT, PARTLY, Claim, Lab, Public
from experiments.parts import sparsity
from experiments.public_code import constants
from experiments.selection import FAST_EPSILONS, as_published, searched, settings, useful
from experiments.tables import N_BINS, N_FOLDS, TITLES
from smoothboost import Numeric
from smoothboost.privacy.accountant import advanced_composition

SETTING = (0.35, 0.45, 39)
VERDICTS = {EXPLAINED: "yes", PARTLY: "partly", NOT: "no"}


class PlainLab(Lab):
    """Fits at once, in this process, what a reduced run fits."""

    def __init__(self, folder):
        super().__init__(None, folder, fast=True)

    def results(self, what, fits):
        return [methods.run(fit) for fit in fits]


def plan_of(epsilon, setting, delta=0.0):
    options = as_published("one_rule", setting)
    return lazy_bb.prepare(Fit("adult", "one_rule", 0, 0, epsilon, delta, options=options))[1]


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_the_exponent_is_doubled_and_the_learning_rate_halved(epsilon, delta, folder):
    printed_plan = plan_of(epsilon, SETTING, delta)
    budget, own = constants(epsilon, SETTING, delta)
    public = plan_of(budget, own, delta)
    assert public.exponent == pytest.approx(2 * printed_plan.exponent, rel=1e-4)
    assert public.measure.learning_rate == printed_plan.measure.learning_rate / 2
    assert public.measure.density == printed_plan.measure.density
    assert public.n_rounds == printed_plan.n_rounds


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_tight_price_of_such_a_fit_is_the_epsilon_it_is_named_by(delta, folder):
    budget, own = constants(1.0, SETTING, delta)
    plan = plan_of(budget, own, delta)
    zeta = 1 / float(plan.measure.density * plan.measure.n_rows)
    per_round = 2 * plan.exponent * zeta
    rounds = SETTING[2]
    total = advanced_composition(per_round, rounds, delta) if delta else rounds * per_round
    assert total == pytest.approx(1.0, rel=1e-3)


def test_rows_are_weighed_by_the_rules_that_got_them_right(folder):
    measure = plan_of(*constants(1.0, SETTING)).measure
    right = np.arange(5)
    counts = np.full((2, 5), measure.n_rows // 10)
    counts[0, 0] += measure.n_rows - counts.sum()
    weights = measure.weights(counts)[0].astype(float)
    free = weights < 2.0**measure.unit_bits  # the others are cut at 1
    assert free.sum() >= 3
    expected = np.exp(-SETTING[1] * right[free])
    assert weights[free] / weights[free][0] == pytest.approx(expected / expected[0], rel=1e-6)


def test_a_search_with_these_constants_names_settings_as_the_paper_does():
    seen = []

    class Recorder:
        fast = True

        def choose(self, full, fast):
            return fast

        def accuracies(self, what, fits):
            seen.extend(fits)
            return [0.5] * len(fits)

    lab = Recorder()
    delta = 1e-5
    scores = searched(lab, "adult", "one_rule", delta, True)
    assert {setting for _, setting in scores} == set(settings(lab, "one_rule"))
    fits = iter(seen)
    for epsilon, setting in scores:
        used = useful(delta, epsilon, setting[2])
        budget, own = constants(epsilon, setting, used)
        for fold in range(N_FOLDS):
            fit = next(fits)
            assert (fit.fold, fit.epsilon, fit.delta) == (fold, budget, used)
            assert fit.options == as_published("one_rule", own)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return PlainLab(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("name", TITLES)
def test_the_number_of_features_lies_in_its_band(name, lab, folder):
    theirs = {epsilon: printed.SELECTED[name][epsilon] for epsilon in FAST_EPSILONS}
    low, high = sparsity.BANDS[name]
    public = sparsity._public(lab, name, theirs)["public"]
    assert low <= mean(sparsity._ratios(name, public)) <= high
    if name != "adult":  # where the formula as printed agrees too
        as_printed = sparsity._features(lab, name, sparsity._times(theirs, 1))
        assert mean(sparsity._ratios(name, as_printed)) > high


def test_bins_of_the_rows_are_even_and_marked_as_read_from_rows(folder):
    schema = tables.encoded("codrna", "data", test=False).schema
    data = tables.loaded("codrna").data
    assert schema.drafted
    for name, column in schema.columns.items():
        assert isinstance(column, Numeric)
        low, high = data[name].min(), data[name].max()
        width = (high - low) / N_BINS
        assert column.cuts == pytest.approx([low + width * at for at in range(1, N_BINS)])
    assert sum(tables.n_codes(tables.encoded("codrna", "data", test=False))) == 80
    adult = tables.encoded("adult", "data", test=True)
    assert sum(tables.n_codes(adult)) == printed.N_FEATURES["adult"]
    assert {13.0, 14.5} <= set(adult.schema.columns["education-num"].cuts)


def claim(ours, public, agrees=False, public_agrees=False, target=1.0):
    again = Public(public, "", (0.0, 1.5), public_agrees)
    return Claim("features", "1", ours, "", (0.0, 3.0), agrees, "page.md", "", target, again)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (claim(1.4, 1.1, public_agrees=True), EXPLAINED),
        (claim(2.0, 1.7), PARTLY),
        (claim(2.0, 1.8), NOT),
        (claim(2.0, 0.1), NOT),
        (claim(0.0, 0.0, target=None), NOT),
        (claim(1.1, 1.0, agrees=True, public_agrees=True), "agrees too"),
        (claim(1.1, 0.6, agrees=True), "does not agree"),
        (Claim("features", "1", 1.4, "", (0.0, 3.0), False, "page.md"), "not tried"),
    ],
)
def test_a_disagreement_is_explained_partly_or_not(made, words):
    assert made.explained == words


def test_a_claim_fails_if_its_third_line_leaves_its_band():
    assert claim(1.0, 1.5).holds
    broken = claim(1.0, 1.6)
    assert not broken.holds
    assert broken.told[0].endswith("ok")
    assert broken.told[1].endswith("OUTSIDE 0 to 1.5")


def told(lab, *claims, made, pages=("curves", "votes")):
    lab.claims = list(claims)
    summary.write(lab, made, pages)
    return [line for line in lab.read("README").splitlines() if "[page](" in line]


def row_of(page, ours, public=None, paper="1"):
    name = f"number of {page}"
    return Claim(name, paper, ours, "3 fits", (0, 9), False, f"{page}.md", "why", 1.0, public)


def test_a_page_made_again_changes_its_own_rows_of_the_summary_only(tmp_path):
    lab = Lab(None, tmp_path, fast=True)
    public = Public(1.1, "5 fits", (0, 9), True)
    assert told(lab, row_of("votes", 1.5), made=["votes"]) == []  # no summary of the other pages
    claims = [row_of("votes", 1.5, public), row_of("curves", 2.0), row_of("curves", 3.0, paper="–")]
    before = told(lab, *claims, made=["votes", "curves"])
    assert before == [
        "| number of curves | 1 | 2.000 | 3 fits | **no**: why | – | [page](curves.md) |",
        "| number of votes | 1 | 1.500 | 3 fits | **no**: why | **explain it**: 1.100 (5 fits) "
        "| [page](votes.md) |",
        "| number of curves | 3.000 | 3 fits | [page](curves.md) |",
    ]
    assert "2 of 2 statements do not agree" in lab.read("README")
    assert "explain 1 of these, 0 partly, and 1 not" in lab.read("README")
    after = told(lab, row_of("votes", 1.7, public), made=["votes"])
    assert after == [before[0], before[1].replace("1.500", "1.700"), before[2]]


def test_the_errata_quote_the_summary():
    pages = methods.ROOT / "docs"
    errata = (pages / "paper-errata.md").read_text(encoding="utf-8")
    found = 0
    for line in (pages / "paper" / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[4].startswith("**no**"):
            statement, paper, here, _, _, public, _ = cells
            verdict, number = re.match(r"(.*?): ([\d.,-]+) ", public).groups()
            on_rows = re.search(r"besides ([\d.,-]+), which", public)
            quoted = [statement, paper, here, number, on_rows[1] if on_rows else "–"]
            assert f"| {' | '.join(quoted)} | {VERDICTS[verdict]} |" in errata
            found += 1
    assert found
