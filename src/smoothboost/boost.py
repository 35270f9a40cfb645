"""The round loop: LazyBB of the paper. It knows an engine, candidates and a plan, nothing else."""

from __future__ import annotations

from collections.abc import Callable

from smoothboost.engine import CountEngine
from smoothboost.learners.choices import Candidates, Round
from smoothboost.plan import Plan
from smoothboost.privacy.mechanisms import Selection
from smoothboost.privacy.randomness import BitSource
from smoothboost.rules import Rule, takes_back


class Booster:
    """A fit in progress: it proposes one private choice at a time and accepts its outcome.

    A fit samples each proposal; an audit follows every outcome of the same proposals.

    Parameters
    ----------
    engine : CountEngine
        The table; its votes grow by one rule a round.
    candidates : Candidates
        The rules that compete.
    plan : Plan
        Rounds, weights, and what each choice may spend.
    """

    def __init__(self, engine: CountEngine, candidates: Candidates, plan: Plan) -> None:
        self._engine = engine
        self._candidates = candidates
        self._plan = plan
        self._measure = plan.measure
        self._round: Round | None = None
        self.rules: tuple[Rule, ...] = ()
        self.choices_left = plan.n_rounds * candidates.n_choices

    def propose(self, plan: Plan | None = None) -> Selection:
        """Weigh the rows as they stand and score what competes: the next private choice.

        An audit may ask what another plan with the same measure and cooling would propose here.
        """
        if self._round is None:
            weights = self._measure.weights(self._engine.level_counts())
            self._round = self._candidates.start(self._engine, weights)
        return (plan or self._plan).selection(self._round.kind, self._round.scores)

    def accept(self, index: int) -> None:
        """Go on with the chosen option; a finished rule is added and votes."""
        if self._round is None:
            raise RuntimeError("Expected a proposal before its outcome.")
        outcome = self._round.accept(self._engine, index)
        self.choices_left -= 1
        if isinstance(outcome, Rule):
            self._round = None
            if self.choices_left:  # nobody asks for the last rule's votes
                self._engine.add_votes(outcome)
            if self.rules and self._plan.cooling < 1 and takes_back(outcome, self.rules[-1]):
                self._measure = self._measure.cooled(self._plan.cooling)
            self.rules += (outcome,)
        else:
            self._round = outcome

    def fork(self) -> Booster:
        """Return a second booster in the same state."""
        twin = Booster(self._engine.fork(), self._candidates, self._plan)
        twin._measure = self._measure
        twin._round = self._round
        twin.rules = self.rules
        twin.choices_left = self.choices_left
        return twin


def boost(
    booster: Booster, bits: BitSource, on_round: Callable[[int], None] | None = None
) -> tuple[Rule, ...]:
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
    within the plan's budget (docs/privacy/composition.md).
    """
    while booster.choices_left:
        booster.accept(booster.propose().sample(bits))
        if on_round:
            on_round(len(booster.rules))
    return booster.rules
