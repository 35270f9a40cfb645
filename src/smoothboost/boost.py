"""The round loop: LazyBB of the paper. It knows an engine, candidates and a plan, nothing else."""

from __future__ import annotations

from collections.abc import Callable

from smoothboost.engine import CountEngine
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.plan import Plan
from smoothboost.privacy.mechanisms import Selection
from smoothboost.privacy.randomness import BitSource
from smoothboost.rules import LiteralRule


class Booster:
    """A fit in progress: it proposes one private choice at a time and accepts its outcome.

    A fit samples each proposal; an audit follows every outcome of the same proposals.

    Parameters
    ----------
    engine : CountEngine
        The table; its votes grow by one rule a round.
    candidates : OneRuleCandidates
        The rules that compete.
    plan : Plan
        Rounds, weights, and what each choice may spend.
    """

    def __init__(self, engine: CountEngine, candidates: OneRuleCandidates, plan: Plan) -> None:
        self._engine = engine
        self._candidates = candidates
        self._plan = plan
        self.rules: tuple[LiteralRule, ...] = ()

    @property
    def choices_left(self) -> int:
        """How many choices are still to be made."""
        return self._plan.n_rounds - len(self.rules)

    def propose(self) -> Selection:
        """Weigh the rows as they stand and score the candidates: the next private choice."""
        weights = self._plan.measure.weights(self._engine.level_counts())
        scores = self._candidates.scores(self._engine.code_sums(weights))
        return self._plan.selection(scores, self._plan.rate)

    def accept(self, index: int) -> None:
        """Add the chosen rule and let it vote."""
        rule = self._candidates[index]
        self._engine.add_votes(rule)
        self.rules += (rule,)

    def fork(self) -> Booster:
        """Return a second booster in the same state."""
        twin = Booster(self._engine.fork(), self._candidates, self._plan)
        twin.rules = self.rules
        return twin


def boost(
    booster: Booster, bits: BitSource, on_round: Callable[[int], None] | None = None
) -> tuple[LiteralRule, ...]:
    """Choose the plan's rounds of rules, each on the weights the earlier ones left.

    Parameters
    ----------
    booster : Booster
        The fit to carry out.
    bits : BitSource
        Where the noise comes from.
    on_round : callable, optional
        Told how many rounds are done.

    Notes
    -----
    Guarantee: the rules are the only thing computed from the rows, and together they are
    within the plan's budget (docs/privacy/one-rules.md).
    """
    while booster.choices_left:
        booster.accept(booster.propose().sample(bits))
        if on_round:
            on_round(len(booster.rules))
    return booster.rules
