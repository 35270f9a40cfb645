"""One two-class problem of a fit in progress, and how it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from smoothboost.counting.engine import CountEngine
from smoothboost.counting.measure import Measure
from smoothboost.counting.wide import WideSums
from smoothboost.fitting.following import Following
from smoothboost.fitting.noise import for_rare
from smoothboost.fitting.plan import Plan
from smoothboost.learners.choices import Candidates
from smoothboost.learners.placing import Place
from smoothboost.rules import LiteralRule, Rule


@dataclass
class Problem:
    """One two-class problem of a fit: its rows, its rules so far, and how it weighs rows next.

    Parameters
    ----------
    engine : CountEngine
        The rows, whose second class is the one asked about.
    candidates : Candidates
        The rules that compete.
    about : int or None
        The class that the rules vote for or against; None for two classes.
    first : Measure
        The planned measure; where rounds asked, with weights of classes by their answer.
    measure : Measure
        The one to weigh rows with.
    cooled : Fraction
        By what the learning rate has fallen because rules took each other back.
    last : tuple of Rule
        The rules of the round before.
    following : Following or None
        How the measure follows looks at the errors.
    share : Fraction or None
        The share of errors at the first look after a round that made rules.
    latest : Fraction
        That at the last one.
    opening : tuple of Rule
        What votes before the first round, by public numbers or released shares of classes.
    places : tuple of Place
        Where the rows of numbers are, if rounds asked for that.
    evened : Fraction or None
        The second class's share of the rows, where rows weigh as if it were one half.
    """

    engine: CountEngine
    candidates: Candidates
    about: int | None
    first: Measure
    measure: Measure
    cooled: Fraction = Fraction(1)
    last: tuple[Rule, ...] = ()
    following: Following | None = None
    share: Fraction | None = None
    latest: Fraction = Fraction(0)
    opening: tuple[Rule, ...] = ()
    places: tuple[Place, ...] = ()
    evened: Fraction | None = None


def start(plan: Plan, at: int, engine: CountEngine, candidates: Candidates) -> Problem:
    """Return a problem before its first round."""
    first = replace(plan.measure, class_weights=plan.problem_weights[at])
    about = at if plan.n_problems > 1 else None
    engine = WideSums(engine) if first.is_wide else engine
    problem = Problem(engine, candidates, about, first, first, following=plan.following)
    if plan.following is None:
        return problem
    if plan.following.is_rare:  # as declared
        problem.candidates = for_rare(candidates, plan.following.most, plan)
    begin(problem, plan, plan.opening[at], plan.following.supposed[at])
    return problem


def begin(problem: Problem, plan: Plan, votes: int, share: Fraction) -> None:
    """Let so many votes stand for a problem's class, and weigh rows by a supposed share."""
    says = int(votes > 0)
    problem.opening = (LiteralRule(None, says, says),) * abs(votes)
    if problem.opening:
        problem.engine.add_votes(*problem.opening)
    assert problem.following is not None
    start = Fraction(0), plan.paces[0]
    problem.measure = problem.following.measure(problem.first, share, share, *start)
