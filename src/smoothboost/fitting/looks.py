"""Which looks a plan has beside its rounds: those that are worth what they cost."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

from smoothboost.fitting import automatic
from smoothboost.fitting.asked import Asked
from smoothboost.fitting.calibrating import CUT_RANGE, LINK_RANGE, CutOptions, LinkOptions
from smoothboost.fitting.following import COUNT_RANGE
from smoothboost.fitting.noise import asks, link_pays, little_from, lowest_density
from smoothboost.fitting.pricing import Look, price
from smoothboost.learners.choices import Candidates

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan


def with_looks(plan: Plan, candidates: Candidates, asked: Asked) -> Plan:
    """Add the looks that are worth it, price everything, and set the density's floor."""
    last = _last_looks(plan, candidates, asked)
    looks = [*_first_looks(plan, asked), *last]
    if sum(look.share for look in looks) >= 1:
        looks = [look for look in looks if look.name != "rarer"]
    if sum(look.share for look in looks) >= 1:  # rules would get nothing, or less
        share = sum((look.share for look in last), start=Fraction(0))
        raise ValueError(f"Expected calibrate to leave rules a budget, got {float(share)}.")
    priced = price(replace(plan, looks=tuple(looks)), candidates)
    vain = set()
    if priced.look_noise("rarer") > asked.constants.RARE_NOISE:  # it could not see who is rare
        vain = {"rarer"}
    if asked.calibrate == "auto" and not link_pays(priced, candidates):
        vain |= {"link", "threshold"}
    if "link" in vain and plan.most_opening and not (asked.uneven or plan.is_uneven):
        priced = _with_largest(priced, candidates)
    elif vain:
        kept = tuple(look for look in looks if look.name not in vain)
        priced = price(replace(plan, looks=kept), candidates)
    if priced.following is None:
        return priced
    return _floored(replace(priced, asks=asks(priced, candidates, asked)), asked)


def with_resort(plan: Plan, candidates: Candidates, asked: Asked) -> Plan:
    """Let a look ask if rules of two classes beat naming one, where none at links is worth it.

    The rounds are settled before, and stay: only what they may spend is a little less.
    """
    told = log(max(2, plan.n_candidates))
    if plan.n_problems > 1 or plan.following is None or plan.mechanism is None:
        return plan
    if plan.look("link") is not None or asked.calibrate != "auto":
        return plan
    if asked.uneven or plan.is_uneven:
        return plan
    if plan.n_rounds < automatic.RESORT_FROM:
        return plan
    if not plan.budget.delta and plan.measure.n_rows > automatic.RESORT_ROWS * told:
        return plan
    for share in automatic.RESORT_SHARES_TWO:
        look = Look("link", 3, LINK_RANGE, 1, share)
        asking = price(replace(plan, looks=(*plan.looks, look), plain_link=True), candidates)
        if link_pays(asking, candidates):
            return _floored(asking, asked)
    return plan


def _floored(plan: Plan, asked: Asked) -> Plan:
    """Say how small the density may become, by what the choices lose to noise."""
    assert plan.following is not None
    following = replace(
        plan.following, lowest=lowest_density(plan), little=little_from(plan, asked)
    )
    if asked.declared and plan.n_problems == 1 and plan.look("error") is not None:
        # A class that no look could see would leave the choices to noise.
        believed = max(following.supposed[0], plan.look_noise("error"))
        following = following.for_rarer(believed, plan.measure.n_rows)
    return replace(plan, following=following)


def _with_largest(plan: Plan, candidates: Candidates) -> Plan:
    """Let the look at links only say whether the rules beat naming the largest class."""
    others = [look for look in plan.looks if look.name != "link"]
    for share in automatic.RESORT_SHARES:
        look = Look("link", 1 + automatic.RESORT_TIMES, LINK_RANGE, 1, share)
        plan = price(replace(plan, looks=(*others, look), plain_link=True), candidates)
        if link_pays(plan, candidates):
            break
    return plan


def _first_looks(plan: Plan, asked: Asked) -> list[Look]:
    """Return the looks at counts, before, between and after the rounds, with their shares."""
    counts = {}
    if plan.following is not None:
        if plan.n_problems == 1 and not asked.declared:
            counts["rarer"] = 1
        counts["error"] = sum(map(plan.looks_after, range(1, plan.n_rounds + 1)))
    counts["class"] = plan.n_problems if plan.most_opening else asked.class_looks
    shares = {name: asked.constants.share_of(name, plan.budget.delta) for name in counts}
    return [
        Look(name, len(plan.count_options(name)), COUNT_RANGE, count, shares[name])
        for name, count in counts.items()
        if count and shares[name]
    ]


def _last_looks(plan: Plan, candidates: Candidates, asked: Asked) -> list[Look]:
    """Return the looks after the last round, at links and thresholds, with their shares."""
    link, cut = (automatic.share_of(name, plan.budget.delta) for name in ("link", "threshold"))
    if asked.calibrate != "auto":
        link = cut = asked.calibrate / 2 if asked.cut_look else asked.calibrate
    if not link:
        return []
    votes, at_once = plan.measure.n_rounds, plan.n_rules
    follows, n_tests = plan.following is not None, candidates.choices[0].n_tests
    links = LinkOptions(votes, plan.n_problems, at_once, follows, n_tests=n_tests)
    n_options = len(links) * (2 if plan.most_opening else 1)  # one class for everybody as often
    looks = [Look("link", n_options, LINK_RANGE, 1, link)]
    if asked.cut_look:
        looks.append(Look("threshold", len(CutOptions(votes, at_once)), CUT_RANGE, 1, cut))
    return looks
