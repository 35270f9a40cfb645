"""Audits of this installation, which anyone can run: whether it does what it claims."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib import metadata
from os import PathLike

from smoothboost import _validate
from smoothboost._show import progress
from smoothboost._version import __version__
from smoothboost.auditing.canary import canary_check
from smoothboost.auditing.checks import Check
from smoothboost.auditing.domains import EPSILONS, QUICK, QUICK_EPSILONS, SETTINGS
from smoothboost.auditing.exact import chosen, exact_checks
from smoothboost.auditing.exhaustive import SET_RULE, Setting
from smoothboost.auditing.integrity import file_checks
from smoothboost.auditing.outcome import AuditReport
from smoothboost.auditing.statistical import setting_for, statistical_check
from smoothboost.counting.threads import usual_count
from smoothboost.privacy.mechanisms import MECHANISMS
from smoothboost.settling import LEARNERS

N_RUNS, N_RUNS_OTHERS = 100_000, 5_000
"""How often a quick audit draws: 1-rules, and the other learners."""
FULL_RUNS, FULL_RUNS_OTHERS = 1_000_000, 100_000
"""How often a full audit does."""
FULL_CANARIES = 5
"""How many fits a full audit makes of each kind, each an audit of its own."""
N_ROUNDS = 49
"""Of fits to canaries: each round of 1-rules could tell one of them."""
LIBRARIES = ("numpy", "scipy", "scikit-learn")

__all__ = ["AuditReport", "Check", "audit"]


def audit(
    learner: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    mechanism: str | None = None,
    full: bool = False,
    model: str | PathLike[str] | None = None,
    ledger: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> AuditReport:
    """Audit this installation: exactly, statistically, with canaries, and files.

    No private row is read, and nothing is spent.

    Parameters
    ----------
    learner : {"auto", "one_rule", "pair_rule", "top_down"} or None, default None
        Which rules compete; None audits all.
    epsilon : float or None, default None
        The claim to audit. None claims several in exact audits, so as to see the most mistakes,
        and 1 in the others.
    delta : float or None, default None
        The claim to audit. None claims 0, and in exact audits 0.01 and 0.1 too.
    mechanism : {"permute_and_flip", "exponential"} or None, default None
        How a rule is chosen; None audits both.
    full : bool, default False
        All settings that docs/results/audit.md reports on and many more runs, in as many
        processes as there are processors: about a quarter of an hour with two. Else it takes less
        than a minute.
    model, ledger : path or None, default None
        A model file and a ledger to check too; with both, that the model is booked.
    verbose : int, default 0
        Above 0, shows how many checks are done.

    Returns
    -------
    AuditReport
        Its `passed` says whether all is well; `to_html` and `to_json` give it to others.

    Examples
    --------
    >>> from smoothboost import audit
    >>> report = audit("auto", epsilon=0.5, delta=0.0)
    >>> print(report.verdict)
    Passed: none of 7 checks contradicts its claim.
    """
    asked = _Asked.checked(learner, epsilon, delta, mechanism)
    files = file_checks(model, ledger)  # a file that is not there is told at once
    settings = asked.settings([s for many in SETTINGS.values() for s in many] if full else QUICK)
    others = list(asked.samples(full))
    with progress(verbose, "audits", len(settings) + len(others)) as on_done:
        checks = exact_checks(
            settings,
            asked.epsilons(EPSILONS if full else QUICK_EPSILONS),
            mechanism,
            usual_count() if full else 1,
            on_done,
        )
        for at, sample in enumerate(others, start=len(settings) + 1):
            checks.append(sample())
            if on_done:
                on_done(at)
    return AuditReport(
        checks=(*checks, *files),
        asked=asked.words(full),
        versions=_versions(),
        randomness="the operating system's secure source (os.urandom), as in a fit without a seed",
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )


@dataclass(frozen=True)
class _Asked:
    """What an audit is restricted to."""

    learner: str | None
    epsilon: Fraction | None
    delta: float | None
    mechanism: str | None

    @classmethod
    def checked(
        cls, learner: str | None, epsilon: float | None, delta: float | None, mechanism: str | None
    ) -> _Asked:
        if learner is not None:
            _validate.one_of("learner", learner, LEARNERS)
        if mechanism is not None:
            _validate.one_of("mechanism", mechanism, MECHANISMS)
        if learner == "auto" and mechanism not in (None, "exponential"):
            raise ValueError(
                f"Expected mechanism='exponential' with learner='auto', got {mechanism!r}, which "
                "would have to list all sets of categories."
            )
        if delta is not None:
            _validate.number("delta", delta, "in [0, 1)", lambda value: 0 <= value < 1)
        exact = None
        if epsilon is not None:
            span = f"from {LEAST:g} to {MOST:g}"
            _validate.number("epsilon", epsilon, span, lambda value: LEAST <= value <= MOST)
            exact = _validate.rational(epsilon)
        return cls(learner, exact, delta, mechanism)

    def epsilons(self, usual: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return usual if self.epsilon is None else (self.epsilon,)

    def settings(self, settings: list[Setting]) -> list[Setting]:
        return chosen(settings, self.learner, self.delta, self.mechanism)

    def samples(self, full: bool) -> Iterator[Callable[[], Check]]:
        """Return the statistical checks and the canaries, to be made one by one."""
        epsilon, delta = self.epsilon or Fraction(1), self.delta or 0.0
        for learner in LEARNERS if self.learner is None else [self.learner]:
            setting = setting_for(learner, delta)
            n_runs = _n_runs(learner, full)
            for mechanism in setting.mechanisms:
                if self.mechanism in (None, mechanism):
                    yield _statistical(setting, mechanism, epsilon, n_runs)
        for learner in LEARNERS if self.learner is None else [self.learner]:
            for _ in range(FULL_CANARIES if full else 1):
                yield _canary(learner, float(epsilon), delta, self.mechanism)

    def words(self, full: bool) -> str:
        parts = {
            "learner": self.learner,
            "epsilon": None if self.epsilon is None else f"{float(self.epsilon):g}",
            "delta": None if self.delta is None else f"{self.delta:g}",
            "mechanism": self.mechanism,
        }
        given = [f"{name} {value}" for name, value in parts.items() if value is not None]
        return ", ".join(["a full audit" if full else "a quick audit", *given])


LEAST, MOST = 0.01, 50.0
"""What may be audited: tables of a thousand rows show nothing of smaller claims."""


def _n_runs(learner: str, full: bool) -> int:
    if learner == "one_rule":
        return FULL_RUNS if full else N_RUNS
    return FULL_RUNS_OTHERS if full else N_RUNS_OTHERS


def _statistical(
    setting: Setting, mechanism: str, epsilon: Fraction, n_runs: int
) -> Callable[[], Check]:
    return lambda: statistical_check(setting, mechanism, epsilon, n_runs)


def _canary(
    learner: str, epsilon: float, delta: float, mechanism: str | None
) -> Callable[[], Check]:
    if learner == "auto":  # one round of sets tells the most of every canary
        return lambda: canary_check(
            "fit of one rule on sets, density 1",
            epsilon,
            delta,
            learner=SET_RULE,
            n_rounds=1,
            density=1,
            calibrate=0,
        )
    return lambda: canary_check(
        f"fit of {N_ROUNDS} rounds with learner {learner!r}",
        epsilon,
        delta,
        learner=learner,
        n_rounds=N_ROUNDS,
        mechanism=mechanism or "auto",
    )


def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("smoothboost", __version__),
        ("python", platform.python_version()),
        ("platform", platform.platform()),
        *((name, metadata.version(name)) for name in LIBRARIES),
    )
