"""The round loop: LazyBB of the paper. It knows engines, candidates and a plan, nothing else.

With two classes there is one problem; with more, one for each class, "this class or not", and they
take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import CountEngine
from smoothboost.error_looks import ErrorLook
from smoothboost.fitting import automatic
from smoothboost.fitting.calibrating import CutOptions, LinkOptions, centre_of, slope_for
from smoothboost.fitting.following import distance_scores, doubled_errors
from smoothboost.fitting.noise import for_rare, head_start
from smoothboost.fitting.one_problem import Problem, begin, start
from smoothboost.fitting.plan import Plan
from smoothboost.fitting.problems import believed_shares, opening_votes, served, silent_shares
from smoothboost.fitting.resort import HALVINGS, Resort
from smoothboost.learners.choices import Candidates, Learned, Round
from smoothboost.learners.spreading import spread_rules, spreads_at
from smoothboost.link import Link, nearest_exp
from smoothboost.privacy.mechanisms import Selection
from smoothboost.privacy.randomness import BitSource
from smoothboost.rules import LiteralRule, Rule, takes_back

_LESS_OFTEN = Fraction(9, 20)  # than not: if a class is named for everybody, it is to be likelier


class Booster:
    """A fit in progress: it proposes one private choice at a time and accepts its outcome.

    A fit samples each proposal; an audit follows every outcome of the same proposals.

    Parameters
    ----------
    engines : sequence of CountEngine
        The table: one engine for two classes, and one for each class of more.
    candidates : sequence of Candidates
        The rules that compete in each problem.
    plan : Plan
        Rounds, weights, and what each choice may spend.
    costs : callable, optional
        Given the doubled counts of classes that were released, what a mistake on a row of each of
        two classes costs: for a look at thresholds.

    Attributes
    ----------
    rules : tuple of Rule
        What was chosen so far; likewise `errors`, `shares` (doubled counts of classes), and
        `link` and `cut`, the index of a link and of a threshold.
    """

    def __init__(
        self,
        engines: Sequence[CountEngine],
        candidates: Sequence[Candidates],
        plan: Plan,
        costs: Callable[[tuple[int, ...]], tuple[float, ...]] | None = None,
    ) -> None:
        self._plan = plan
        self._cools = plan.cooling < 1
        self._costs = costs
        self._problems = [
            start(plan, at, engine, rules)
            for at, (engine, rules) in enumerate(zip(engines, candidates, strict=True))
        ]
        self._round: Round | None = None
        first = "class" if plan.most_opening else 0
        self._kind: int | str = first if plan.look("rarer") is None else "rarer"
        self._opening = plan.opening
        self._believed: tuple[Fraction, ...] = ()
        self._order: tuple[int, ...] = tuple(range(len(self._problems)))
        self.rules: tuple[Rule, ...] = ()
        self._done = 0  # rounds
        self.errors: tuple[ErrorLook, ...] = ()
        self.shares: tuple[int, ...] = ()
        self.link: int | None = None
        self.cut: int | None = None
        self.choices_left = plan.n_choices + plan.n_rounds * candidates[0].n_choices

    @property
    def n_done(self) -> int:
        """How many rounds are done."""
        return self._done

    @property
    def _turn(self) -> Problem:
        """The problem whose round comes next."""
        return self._problems[self._order[self._done % len(self._order)]]

    @property
    def _looked_at(self) -> Problem:
        """The problem whose round came last."""
        return self._problems[self._order[(self._done - 1) % len(self._order)]]

    def propose(self, plan: Plan | None = None) -> Selection:
        """Weigh the rows as they stand and score what competes: the next private choice.

        An audit may ask what another plan with the same measure would propose here.
        """
        plan = plan or self._plan
        if self._kind == "error":
            doubled = doubled_errors(self._looked_at.engine.level_counts())
        elif self._kind == "rarer":
            doubled = 2 * int(self._turn.engine.level_counts().sum(axis=1).min())
        elif self._kind == "class":
            counts = self._problems[len(self.shares)].engine.level_counts()
            doubled = 2 * int(counts[1].sum())
        elif self._kind == "link":
            return plan.selection("link", self._link_scores(), self._done)
        elif self._kind == "threshold":
            return plan.selection("threshold", self._cut_scores(), self._done)
        else:
            if self._round is None:
                turn = self._turn
                weights = turn.measure.weights(turn.engine.level_counts())
                self._round = turn.candidates.start(turn.engine, weights)
            return plan.selection(self._round.kind, self._round.scores, self._done)
        options = self._plan.count_options(self._kind)
        return plan.selection(self._kind, distance_scores(doubled, options), self._done)

    def accept(self, index: int) -> None:
        """Go on with the chosen option; a finished rule is added and votes."""
        self.choices_left -= 1
        if self._kind == "error":
            self._follow(index)
        elif self._kind == "rarer":
            self._start_for(index)
        elif self._kind == "class":
            self.shares += (self._plan.count_options("class")[index],)
            if self._plan.most_opening and len(self.shares) == len(self._problems):
                self._open()
        elif self._kind == "link":
            self.link = index
            if len(self._problems) > 1 and self._links.is_constant(index):
                self.rules, self.errors = (), self.errors[: len(self._problems)]
        elif self._kind == "threshold":
            self.cut = index
        elif self._round is None:
            raise RuntimeError("Expected a proposal before its outcome.")
        else:
            outcome = self._round.accept(self._turn.engine, index)
            if isinstance(outcome, Rule):
                outcome = (outcome,)
            if isinstance(outcome, Learned):
                self._learn(outcome)
            elif isinstance(outcome, tuple):
                self._add(outcome)
            else:
                self._round = outcome
                return
        self._kind = self._next_kind()

    def _add(self, rules: tuple[Rule, ...]) -> None:
        """Let the rules of a round vote."""
        self._round = None
        turn = self._turn
        if self.choices_left:  # nobody asks for the last votes
            turn.engine.add_votes(*rules)
        if turn.last and self._cools and all(map(takes_back, rules, turn.last)):
            turn.cooled *= self._plan.cooling
            turn.measure = turn.measure.cooled(self._plan.cooling)
        turn.last = rules
        turn.candidates = turn.candidates.after(rules)
        if turn.about is not None:
            rules = tuple(replace(rule, about=turn.about) for rule in rules)
        self.rules += rules
        self._done += 1
        is_last = self._done == self._plan.n_rounds
        if is_last and self._plan.spreads and turn.latest >= self._plan.spread_from:
            self._spread()

    def _spread(self) -> None:
        """Spread the thresholds of all rules, and count their votes anew if that is asked for."""
        following = self._problems[0].following
        times = 2 if following is not None and following.is_rare else 1
        spreads = spreads_at(self._plan.spreads, self._problems[0].places, times)
        self.rules = spread_rules(self.rules, spreads)
        for problem in self._problems if self.choices_left else ():
            own = [rule for rule in self.rules if rule.about == problem.about]
            problem.engine = problem.engine.anew()
            chosen = (replace(rule, about=None) for rule in own)
            problem.engine.add_votes(*problem.opening, *chosen)

    def _open(self) -> None:
        """Let votes stand before the first round by the shares of classes that were released.

        Notes
        -----
        Guarantee: a function of released numbers, and no range that was planned is exceeded
        (docs/privacy/several-classes.md).
        """
        plan, n_rows = self._plan, self._plan.measure.n_rows
        released = [Fraction(doubled, 2 * n_rows) for doubled in self.shares]
        self.errors = tuple(ErrorLook(0, at, float(share)) for at, share in enumerate(released))
        self._believed = believed_shares(released, plan.look_noise("class"))
        lost = Fraction(min(plan.lost_rows, 1e18)).limit_denominator(10**6)
        self._order = served(self._believed, lost / n_rows)[: plan.n_rounds]
        # As many rounds for fewer classes are more votes for each, which want a smaller rate.
        rate, most = plan.measure.learning_rate, plan.most_opening
        if plan.cooling < 1:
            rate *= Fraction(isqrt(10**6 * len(self._order) // len(self._problems)), 1000)
        votes = [opening_votes(share, rate) for share in self._believed]
        self._opening = tuple(min(max(each, -most), most) for each in votes)
        for at in self._order:
            problem, share = self._problems[at], self._believed[at]
            assert problem.following is not None
            problem.first = replace(problem.first, learning_rate=rate)
            problem.following = problem.following.for_class(share)
            begin(problem, plan, self._opening[at], min(share, 1 - share))

    def _learn(self, learned: Learned) -> None:
        """Go on with what a round released that asked, and made no rule.

        The rows of the rare class are to weigh as much as all others together from the first rule
        on. How much more often the larger class is, the links then begin with.

        Notes
        -----
        Guarantee: a function of released numbers, and no range that was planned is exceeded
        (docs/privacy/following.md#rounds-that-ask).
        """
        self._round = None
        turn = self._turn
        turn.candidates, turn.places = learned.candidates, learned.places
        if learned.larger is not None:
            assert turn.following is not None
            share = turn.following.most
            weights = list(turn.first.class_weights)
            weights[1 - learned.larger] *= (1 - share) / share
            turn.first = replace(turn.first, class_weights=tuple(weights))
            turn.measure = replace(turn.measure, class_weights=tuple(weights))
            turn.evened = share if learned.larger == 0 else 1 - share
        self._done += 1

    def _start_for(self, index: int) -> None:
        """Weigh rows by the share of the rarer class that was released."""
        problem = self._turn
        assert problem.following is not None
        released = self._plan.count_options("rarer")[index]
        share = Fraction(released, 2 * problem.engine.n_rows)
        believed = max(share, self._plan.look_noise("rarer"))  # so that none is too small
        problem.following = problem.following.for_rarer(believed, problem.first.n_rows)
        if problem.following.is_rare:
            start = Fraction(0), self._plan.paces[0]
            problem.measure = problem.following.measure(problem.first, believed, believed, *start)
            problem.candidates = for_rare(problem.candidates, believed, self._plan)
        self.errors += (ErrorLook(0, None, float(share)),)

    def _follow(self, index: int) -> None:
        """Weigh rows by the share of errors that was released, once there are rules to err."""
        problem = self._looked_at
        assert problem.following is not None
        if not self.rules:  # rounds asked so far: all rows tie, whatever they are
            return
        released = self._plan.count_options("error")[index]
        share = Fraction(released, 2 * problem.engine.n_rows)
        problem.share = share if problem.share is None else problem.share
        problem.latest = share
        progress = Fraction(self._done, self._plan.n_rounds)
        pace = self._plan.paces[self._done]
        measure = problem.following.measure(problem.first, share, problem.share, progress, pace)
        problem.measure = measure.cooled(problem.cooled)
        self.errors += (ErrorLook(len(self.rules), problem.about, float(share)),)

    def _next_kind(self) -> int | str:
        """Return what comes next: a look, or a round (0)."""
        if self._kind == 0 and self._plan.looks_after(self._done):
            return "error"
        is_last = self._done == self._plan.n_rounds
        asked = self._plan.look("class")
        lacks = asked is not None and len(self.shares) < asked.count
        if lacks and (self._plan.most_opening or is_last):
            return "class"
        if not is_last:
            return 0
        return "link" if self.link is None else "threshold"

    @property
    def _n_votes(self) -> int:
        """The most votes of a problem after the last round."""
        plan = self._plan
        if plan.n_problems == 1:
            return len(self.rules)
        own = -(-plan.n_rounds // len(self._order)) * plan.n_rules
        return own + max(abs(self._opening[at]) for at in self._order)

    @property
    def _links(self) -> LinkOptions | Resort:
        """The links that compete, and with looks at classes, the largest one for everybody.

        Of two classes only what the rules say and either of them, where noise or chance hides more.
        """
        plan = self._plan
        options = self._n_votes, plan.n_problems, plan.n_rules, plan.following is not None
        if plan.n_problems == 1:
            turn = self._turn
            little = self._tells_little
            is_rare = turn.following is not None and turn.following.is_rare
            if plan.plain_link or (little and not (plan.is_uneven or is_rare or self._alike)):
                return self._resort
            n_tests = plan.stages[0].choice.n_tests
            faint = self._hardly_better and not is_rare
            return LinkOptions(
                *options, evened=turn.evened, flat=little, faint=faint, n_tests=n_tests
            )
        constant = None
        if plan.most_opening:
            largest = self._order[0]
            share, against = self._believed[largest], self._against(alone=True)
            behind = [each - against[largest] for each in against.values()]
            constant = largest, share, slope_for(behind, share)
        others = sum(silent_shares(self._believed, self._heard), start=Fraction(0))
        return LinkOptions(*options, self._heard, constant, plain=plan.plain_link, others=others)

    @property
    def _heard(self) -> tuple[int, ...]:
        """Of more than two classes, those that rules speak of."""
        return tuple(sorted({rule.about or 0 for rule in (*self.opening, *self.rules)}))

    @property
    def _alike(self) -> bool:
        """Whether two classes are known to be about as large as each other."""
        following = self._problems[0].following
        return following is not None and automatic.ALIKE <= following.most < 1

    @property
    def _resort(self) -> Resort:
        """What the rules of two classes say, and either class for everybody."""
        plan, wrong = self._plan, self._named_wrongly
        following = self._problems[0].following
        is_known = following is not None and following.most < 1
        ahead = head_start(plan, wrong)
        if plan.n_votes <= automatic.FEW_VOTES and not is_known:
            ahead = 0
        if self._alike:
            ahead = -plan.measure.n_rows
        return Resort(self._n_votes, self._says, min(wrong, _LESS_OFTEN), ahead)

    @property
    def _says(self) -> tuple[tuple[Fraction, int], ...]:
        """What rules of two classes say: the plain link, and flatter ones if a look can tell."""
        plain = self._plain_link((1.0, 1.0))
        slope = max(Fraction(plain.slope).limit_denominator(10**6), Fraction(1, 10**6))
        halvings = 1 if self._plan.plain_link else HALVINGS
        return tuple((slope / 2**at, int(plain.offset)) for at in range(halvings))

    @property
    def _named_wrongly(self) -> Fraction:
        """How often naming the larger of two classes is supposed to be wrong, by released shares.

        No more often than rules err, if their votes are for all rows alike.
        """
        turn, most = self._problems[0], Fraction(1, 2)
        if turn.following is None:
            return most
        tells = turn.share is not None and turn.evened is None
        return min(most, turn.following.most, turn.latest if tells else most)

    @property
    def _hardly_better(self) -> bool:
        """Whether the rules of two classes err nearly as often as naming the larger one."""
        turn = self._problems[0]
        if turn.following is None or turn.share is None:
            return False
        return turn.latest >= automatic.LITTLE_TOLD * turn.following.named_wrongly

    @property
    def _tells_little(self) -> bool:
        """Whether the rules of two classes are hardly better than naming the larger one."""
        turn = self._problems[0]
        if turn.following is None or turn.share is None:
            return False
        return turn.following.tells_little(turn.latest)

    @property
    def _cuts(self) -> CutOptions:
        """The thresholds that compete, where mistakes on two classes do not cost the same."""
        return CutOptions(self._n_votes, self._plan.n_rules)

    def _link_scores(self) -> NDArray[np.int64]:
        links = self._links
        if len(self._problems) == 1 or isinstance(links, Resort):
            return links.scores(self._problems[0].engine.level_counts())
        first, *others = (problem.engine for problem in self._problems)
        scores = first.score_sums(others, links.lead_scores)  # once for each part of the rows
        if links.constant is None:
            return scores
        likely = links.constant[1]
        return links.with_head_start(scores, head_start(self._plan, 1 - likely))

    def _cut_scores(self) -> NDArray[np.int64]:
        assert self._costs is not None
        first, second = self._costs(self.shares)
        counts = self._problems[0].engine.level_counts()
        return self._cuts.scores(counts, (first, second))

    def released_link(self, weights: tuple[float, ...]) -> Link:
        """Return how votes become probabilities and decisions, from what was chosen.

        Parameters
        ----------
        weights : tuple of float
            What a mistake on a row of each class costs; a chosen threshold overrides them.
        """
        link = self._plain_link(weights)
        if self.link is not None:
            link = self._links.link(self.link, weights)
        silent = silent_shares(self._believed, self._heard)
        link = replace(link, shares=tuple(map(float, silent)))
        if self.cut is None:
            return link
        worth = link.slope * (link.offset - self._cuts.thresholds[self.cut])
        return replace(link, weights=(1.0, nearest_exp(min(max(worth, -690.0), 690.0))))

    def _plain_link(self, weights: tuple[float, ...]) -> Link:
        """Return the link that follows from how many rules there are, and how often they err.

        And from how rare a class is, if rounds asked for that, and rows then weighed as if classes
        were alike.

        Notes
        -----
        Guarantee: a function of public and released numbers (docs/privacy/calibration.md).
        """
        link = Link.plain(len(self.rules) * self._plan.n_rules, weights)
        turn, evened = self._problems[0], self._problems[0].evened
        if len(self._problems) == 1 and turn.share is not None and evened is None:
            sure = automatic.SURE * slope_for([0, 1], max(1 - turn.latest, Fraction(1, 2)))
            link = replace(link, slope=link.slope * float(min(sure / 2, Fraction(1))))
        if evened is None:
            return link
        slope = Fraction(link.slope).limit_denominator(1000)
        return replace(link, offset=float(centre_of(evened, slope)))

    @property
    def opening(self) -> tuple[Rule, ...]:
        """The votes before the first round in which classes differ, all of them against one."""
        if len(self._problems) == 1:
            return ()
        against = self._against(alone=not self.rules)
        return tuple(
            LiteralRule(None, 0, 0, about=at) for at in sorted(against) for _ in range(against[at])
        )

    def _against(self, alone: bool) -> dict[int, int]:
        """Return how many votes before the first round each class has against it.

        If these stand alone the largest class leads, and each has one, so that all are spoken of:
        those, too, that had no rounds.
        """
        classes = range(len(self._opening)) if alone else self._order
        most = max(self._opening[at] for at in classes)
        votes = {at: most - self._opening[at] for at in classes}
        return {at: own + alone * (1 if at == self._order[0] else 2) for at, own in votes.items()}

    def fork(self) -> Booster:
        """Return a second booster in the same state."""
        twin = Booster.__new__(Booster)
        twin.__dict__.update(self.__dict__)
        twin._problems = [
            replace(problem, engine=problem.engine.fork()) for problem in self._problems
        ]
        return twin


def boost(
    booster: Booster, bits: BitSource, on_round: Callable[[int], None] | None = None
) -> tuple[Rule, ...]:
    """Choose the plan's rounds of rules, each on the weights the earlier ones left.

    Returned are these and, before them, what votes by public numbers and shares that were released.

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
    Guarantee: the booster's rules, errors, shares, link and cut are the only things computed from
    the rows, and together they are within the plan's budget (docs/privacy/composition.md).
    """
    while booster.choices_left:
        booster.accept(booster.propose().sample(bits))
        if on_round:
            on_round(booster.n_done)
    return (*booster.opening, *booster.rules)
