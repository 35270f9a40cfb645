"""The round loop: LazyBB of the paper. It knows an engine, candidates and a plan, nothing else."""

from __future__ import annotations

from collections.abc import Callable

from smoothboost.engine import CountEngine
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.plan import Plan
from smoothboost.privacy.mechanisms import Selection
from smoothboost.rules import LiteralRule

Choose = Callable[[Selection], int]
"""Makes one choice: `sample` in a fit, every possibility in an audit."""


def boost(
    engine: CountEngine,
    candidates: OneRuleCandidates,
    plan: Plan,
    choose: Choose,
    on_round: Callable[[int], None] | None = None,
) -> tuple[LiteralRule, ...]:
    """Choose the plan's rounds of rules, each on the weights the earlier ones left.

    Parameters
    ----------
    engine : CountEngine
        The table; its votes grow by one rule a round.
    candidates : OneRuleCandidates
        The rules that compete.
    plan : Plan
        Rounds, weights, and what each choice may spend.
    choose : callable
        Turns a `Selection` into the index of the chosen rule.
    on_round : callable, optional
        Told how many rounds are done.

    Notes
    -----
    Guarantee: the rules are the only thing computed from the rows, and together they are
    within the plan's budget (docs/privacy/one-rules.md).
    """
    rules: list[LiteralRule] = []
    for done in range(1, plan.n_rounds + 1):
        rule = candidates[choose(next_selection(engine, candidates, plan))]
        engine.add_votes(rule)
        rules.append(rule)
        if on_round:
            on_round(done)
    return tuple(rules)


def next_selection(engine: CountEngine, candidates: OneRuleCandidates, plan: Plan) -> Selection:
    """Weigh the rows as they stand and score the candidates: the choice of the next round."""
    weights = plan.measure.weights(engine.level_counts())
    return plan.selection(candidates.scores(engine.code_sums(weights)), plan.rate)
