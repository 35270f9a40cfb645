"""What noise allows: how many rounds, which looks, and whether rounds ask before they choose."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, inf, isqrt, log, sqrt
from typing import TYPE_CHECKING

from smoothboost.fitting import automatic
from smoothboost.fitting.asked import Asked
from smoothboost.learners.choices import Candidates, OneColumnCandidates
from smoothboost.learners.placing import QUARTERS, Asking

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan


def sees_clearly(plan: Plan) -> bool:
    """Tell whether looks at the errors lose little to noise."""
    return plan.look_noise("error") <= automatic.LOOK_NOISE


def is_quiet(plan: Plan, candidates: Candidates) -> bool:
    """Tell whether choices lose little enough to noise for so many rounds."""
    limit = automatic.NOISE_PURE / sqrt(plan.n_votes)
    more = automatic.MORE_CLASSES_PURE
    if _adds_squares(plan):
        limit, more = automatic.NOISE_APPROXIMATE, automatic.MORE_CLASSES_APPROXIMATE
        if plan.n_votes > automatic.VOTES[-1]:
            spreads = plan.spreads and not plan.spread_from
            limit = automatic.NOISE_SPREAD if spreads else automatic.NOISE_MORE_VOTES
        if _says_columns(candidates):
            limit *= min(1.0, sqrt(sqrt(plan.n_votes / automatic.SURE_VOTES)))
    if plan.n_votes <= automatic.FEW_VOTES and len(plan.stages) == 1:  # trees are noisier
        limit = automatic.NOISE_FEW
    if plan.n_problems > 1:  # each weighs about twice the rows of its class
        limit *= more / max(plan.n_problems, automatic.SEVERAL)
    return plan.lost_rows <= limit * plan.measure.n_rows


def _adds_squares(plan: Plan) -> bool:
    """Tell whether delta buys more than adding budgets up does."""
    spent = sum((spend.epsilon * spend.count for spend in plan.spends), start=Fraction(0))
    return spent > plan.budget.per_row[0]


def lowest_density(plan: Plan) -> Fraction:
    """Return the smallest density at which choices still mean something."""
    is_sharp = len(plan.stages) > 1 < plan.n_problems
    times = automatic.FLOOR_TREES if is_sharp else automatic.FLOOR
    needed = Fraction(times * min(plan.lost_rows, 1e18)).limit_denominator(10**6)
    few = Fraction(0)
    if plan.n_problems == 1:  # few votes cannot settle on rules for fewer rows than that
        few = automatic.FEW / plan.n_rounds
    n_rows = plan.measure.n_rows
    assert plan.following is not None
    most = min(plan.measure.density, plan.following.enough)
    return min(max(needed / n_rows, few, Fraction(1, n_rows)), most)


def learns_by_heart(candidates: Candidates) -> bool:
    """Tell whether there are so many rules that the best one of each round fits chance."""
    return candidates.choices[0].n_tests > 1


def blunted(plan: Plan, candidates: Candidates) -> Plan:
    """Return a plan whose choices of rules are no sharper than helps.

    Notes
    -----
    Guarantee: no rate grows, so nothing costs more than it did
    (docs/privacy/pair-rules.md#no-sharper-than-helps).
    """
    if plan.following is None or not learns_by_heart(candidates):
        return plan
    (stage,) = plan.stages
    # One half each, if not declared; none of a class that is declared to be next to nothing.
    least = min(filter(None, plan.following.supposed), default=Fraction(1))
    lost = min(automatic.BLUNTEST / plan.n_problems, least / 2) * plan.measure.n_rows
    told = Fraction(log(plan.n_candidates)).limit_denominator(1000)
    most = max(automatic.SHARPEST * 1000 / isqrt(10**6 * plan.n_votes), told / lost)
    most *= stage.choice.unit / (1 << plan.measure.unit_bits)
    if plan.mechanism is not None and stage.rate <= most:
        return plan
    plan = replace(plan, stages=(replace(stage, rate=most),), blunt=True)
    assert plan.following is not None
    lowest = lowest_density(plan)
    following = replace(plan.following, lowest=lowest, least=lowest)
    if following.is_rare:  # as declared
        following = following.for_rarer(following.most, plan.measure.n_rows)
    return replace(plan, following=following)


def link_pays(plan: Plan, candidates: Candidates) -> bool:
    """Tell whether the look at links, if there is one, finds one that is nearly the best."""
    limit = automatic.LINK_NOISE_SURE if _says_columns(candidates) else automatic.LINK_NOISE
    if plan.plain_link:
        limit = automatic.RESORT_NOISE if plan.n_problems > 1 else automatic.RESORT_NOISE_TWO
    return link_noise(plan) <= limit


def link_noise(plan: Plan) -> float:
    """Return what share of the rows the look at links loses to noise; 0 if there is none."""
    look = plan.look("link")
    if plan.mechanism is None or look is None:
        return 0.0
    rate = float(look.rate * look.score_range / 2)  # 0 if it is too small for a float
    return log(look.n_options) / rate / plan.measure.n_rows if rate else inf


def by_chance(plan: Plan) -> Fraction:
    """Return the root of ln(options) over the rows: a share of them that goes with chance."""
    told = Fraction(log(max(2, plan.n_candidates))).limit_denominator(1000)
    return _root(told / plan.measure.n_rows)


def head_start(plan: Plan, wrong: Fraction) -> int:
    """Return how many rows naming one class for everybody has ahead of what rules say.

    Parameters
    ----------
    plan : Plan
        The fit.
    wrong : Fraction
        How often naming the largest class is supposed to be wrong.

    Notes
    -----
    Guarantee: a function of public and released numbers
    (docs/privacy/calibration.md#the-larger-of-two-classes).
    """
    times = automatic.HEAD_START * (1 - 2 * wrong)
    if plan.n_problems > 1:
        times = automatic.HEAD_START_MORE_CLASSES * _root(wrong * (1 - wrong))
    return int(min(times * by_chance(plan), wrong / 2) * plan.measure.n_rows)


def _root(share: Fraction) -> Fraction:
    """Return a square root in millionths: the same on every platform."""
    return Fraction(isqrt(10**12 * share.numerator // share.denominator), 10**6)


def little_from(plan: Plan, asked: Asked) -> Fraction | None:
    """Return from which part of the rarer class's share on errors say that rules tell little.

    That is where noise or chance may choose a link of two classes that is too bold for the rules,
    which err hardly less than naming the larger class would. None: they never say so.

    Notes
    -----
    Guarantee: a function of the plan (docs/privacy/calibration.md#the-larger-of-two-classes).
    """
    constants, little = asked.constants, []
    root = by_chance(plan)
    chance: Fraction = constants.TOLD_BY_CHANCE * root * _root(root)
    if chance > automatic.COARSE:
        little.append(1 - min(chance, automatic.MOST_BY_CHANCE))
    if link_noise(plan) > constants.LINK_NOISE_FLAT:
        little.append(automatic.LITTLE_TOLD)
    return min(little, default=None)


def asks(plan: Plan, candidates: Candidates, asked: Asked) -> int:
    """Return how many rounds ask if a class is rare: for the larger one, and where rows are.

    Rows may then weigh what no plan without class weights foresees: up to the cap, which is where
    all ranges are if rows may weigh as much after the first round.

    Notes
    -----
    Guarantee: rounds ask only of plans that charge a whole row for every round but the first
    (docs/privacy/following.md#rounds-that-ask).
    """
    measure, numbers, constants = plan.measure, candidates.placeable, asked.constants
    if plan.n_problems > 1 or plan.mechanism is None or numbers is None:
        return 0
    if plan.n_rounds < constants.FEWEST_TO_ASK or not measure.is_capped(plan.n_rules):
        return 0
    if len(set(plan.problem_weights[0])) > 1 or measure.is_wide:  # as declared, not as asked
        return 0
    questions = 1 + len(QUARTERS) * len(numbers)
    most = max((n_codes for _, n_codes in numbers), default=1)
    loss = float(plan.stages[0].losses[0])  # 0 if it is too small for a float
    off = 2 * log(most) / loss if loss else inf  # in rows: all weigh alike
    is_seen = off <= constants.ASKED_NOISE * measure.n_rows
    count = questions if is_seen and questions <= constants.ASKED * plan.n_rounds else 1
    assert count < plan.n_rounds  # slopes of links are divided by the number of votes
    return count


def for_rare(candidates: Candidates, share: Fraction, plan: Plan) -> Candidates:
    """Return what competes for a class of this share: questions first, if the plan has rounds.

    Notes
    -----
    Guarantee: a function of public numbers and of the share, declared or released, and no question
    costs more than its round is charged (docs/privacy/following.md#rounds-that-ask).
    """
    rules = candidates.for_rare
    rare_rows = float(share * plan.measure.n_rows)
    if not plan.asks or plan.following is None:
        return rules
    if plan.lost_rows <= plan.following.hidden * rare_rows:
        return rules
    assert isinstance(rules, OneColumnCandidates)
    return Asking(
        rules,
        rules.placeable if plan.asks > 1 else (),
        floor(plan.measure.peak(0)) * plan.n_rules,
        automatic.EVENLY if plan.lost_rows < rare_rows else automatic.EVENLY_HIDDEN,
    )


def _says_columns(candidates: Candidates) -> bool:
    """Tell whether most rules say all of a column: sets of categories, and no numbers."""
    return candidates.even and candidates.placeable == ()
