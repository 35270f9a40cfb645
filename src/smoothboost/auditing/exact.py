"""Exact checks: the exhaustive audits of this installation, with what each claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from smoothboost.auditing.checks import Check
from smoothboost.auditing.domains import learner_of, looks_of, rules_of
from smoothboost.auditing.exhaustive import Losses, Setting, exact_deltas, exact_losses

ROUNDING = 1e-9
"""Probabilities of an audit are doubles: what a loss may exceed its claim by, as a share."""


@dataclass(frozen=True)
class Finding:
    """The exact loss, or delta, of one setting, mechanism and epsilon."""

    setting: Setting
    mechanism: str
    epsilon: Fraction
    found: float

    @property
    def claimed(self) -> float:
        """The claimed epsilon, or the claimed delta where there is one."""
        return self.setting.delta or float(self.epsilon)

    @property
    def share(self) -> float:
        """What was found as a share of the claim."""
        return self.found / self.claimed


def chosen(
    settings: Sequence[Setting],
    learner: str | None = None,
    delta: float | None = None,
    mechanism: str | None = None,
) -> list[Setting]:
    """Return the settings that a learner, a delta and a mechanism restrict an audit to."""
    kept = [
        setting if not delta else replace(setting, delta=delta)
        for setting in settings
        if learner in (None, learner_of(setting))
        and (delta is None or bool(setting.delta) == bool(delta))
        and (mechanism is None or mechanism in setting.mechanisms)
    ]
    return list(dict.fromkeys(kept))


def exact_checks(
    settings: Sequence[Setting],
    epsilons: Sequence[Fraction],
    mechanism: str | None = None,
    n_processes: int = 1,
    on_setting: Callable[[int], None] | None = None,
) -> list[Check]:
    """Audit every setting, and return a check for each kind of rules, mechanism and budget.

    Parameters
    ----------
    settings : sequence of Setting
        What to audit.
    epsilons : sequence of Fraction
        What to claim.
    mechanism : str, optional
        The one that chooses; all that may, if none is named.
    n_processes : int, default 1
        In how many processes; 1 is this one.
    on_setting : callable, optional
        Told how many settings are done.

    Examples
    --------
    >>> setting = Setting(2, 2, 1, Fraction(1), Fraction(1))
    >>> [check] = exact_checks([setting], [Fraction(4)], "exponential")
    >>> round(check.share, 3)  # of epsilon = 4, over all tables of two rows
    0.831
    """
    found: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    with _mapping(n_processes) as each:
        audited = each(partial(_audited, epsilons=epsilons, mechanism=mechanism), settings)
        for at, (setting, losses) in enumerate(zip(settings, audited, strict=True), start=1):
            for (name, epsilon), loss in losses.items():
                found[_subject(setting, name)].append(Finding(setting, name, epsilon, loss))
            if on_setting:
                on_setting(at)
    return [_check(", ".join(subject), findings) for subject, findings in found.items()]


@contextmanager
def _mapping(n_processes: int) -> Iterator[Callable[..., Iterator[Losses]]]:
    """Return what applies a function to many things, in order: here, or in other processes."""
    if n_processes == 1:
        yield map
        return
    with ProcessPoolExecutor(n_processes) as pool:
        yield pool.map


def _audited(setting: Setting, epsilons: Sequence[Fraction], mechanism: str | None) -> Losses:
    if setting.delta:
        return exact_deltas(setting, epsilons, mechanism)
    return exact_losses(setting, epsilons, mechanism=mechanism)


def _subject(setting: Setting, mechanism: str) -> tuple[str, ...]:
    """Say what is audited, but for sizes and numbers."""
    classes = "two classes" if setting.n_classes == 2 else f"{setting.n_classes} classes"
    delta = f"δ = {setting.delta:g}" if setting.delta else "δ = 0"
    return (rules_of(setting), *looks_of(setting), classes, mechanism.replace("_", "-"), delta)


def _check(what: str, findings: Sequence[Finding]) -> Check:
    """Return the check that the largest share of its claim decides."""
    worst = max(findings, key=lambda finding: finding.share)
    setting = worst.setting
    passed = worst.share <= 1 + ROUNDING
    rounds = "1 round" if setting.n_rounds == 1 else f"{setting.n_rounds} rounds"
    many = "1 audit" if len(findings) == 1 else f"the largest of {len(findings)} audits"
    words = (
        f"{many}: ε = {float(worst.epsilon):g}, {setting.n_rows} rows, {rounds}, density "
        f"{setting.density}, learning rate {setting.learning_rate}"
    )
    if not passed:
        words = (
            f"Some pair of neighbours is told apart by {worst.share:.3g} times what is claimed, "
            f"in {words}. A range, a rate, a weight or what is charged is wrong."
        )
    measure = "delta" if setting.delta else "epsilon"
    return Check("exact", what, passed, words, measure, worst.claimed, worst.found)
