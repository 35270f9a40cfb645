"""What a ledger says after many fits on it were killed: `make soak` prints it.

Eight processes fit small models on one ledger, over and over, and write each model to a folder.
A ninth kills them at random instants with SIGKILL, and new ones take their place, until the
budget is spent and enough were killed. Then the books must show no less than what was released.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from smoothboost import BudgetExceededError, Ledger, Model, SmoothBoostClassifier, datasets
from smoothboost.privacy.filter import Elsewhere

EACH = 0.01
"""The epsilon of a fit."""


@dataclass(frozen=True)
class Outcome:
    """What was found after the last process had ended.

    Parameters
    ----------
    kills : int
        How many processes were killed.
    models : int
        How many models there are.
    states : dict
        How many uses are reserved, spent and released.
    released, booked, cap : Fraction
        What the models cost, what is booked, and the budget.
    unbooked : int
        Models that no use in the ledger accounts for.
    intact : bool
        Whether SQLite and the chain of entries find nothing wrong.
    """

    kills: int
    models: int
    states: dict[str, int]
    released: Fraction
    booked: Fraction
    cap: Fraction
    unbooked: int
    intact: bool

    @property
    def faults(self) -> list[str]:
        """What is wrong."""
        found = {
            "the ledger is damaged": not self.intact,
            "less is booked than was released": self.booked < self.released,
            "the budget was passed": self.booked > self.cap,
            "a model is not accounted for": self.unbooked > 0,
        }
        return [fault for fault, is_true in found.items() if is_true]


def crash(folder: Path, n_kills: int, n_fitters: int, epsilon: float, seed: int) -> Outcome:
    """Kill fits at random instants, and read the books.

    Parameters
    ----------
    folder : Path
        Where ledger and models go.
    n_kills : int
        How many processes to kill.
    n_fitters : int
        How many fit at once.
    epsilon : float
        The ledger's budget.
    seed : int
        Of the instants.
    """
    ledger = Ledger.create(folder / "people.ledger", table="people", epsilon=epsilon)
    people = datasets.load_demo(300, 10)
    draw, fork = random.Random(seed), get_context("fork")
    fitters: list[Any] = []
    kills = number = 0
    while kills < n_kills:
        fitters = [fitter for fitter in fitters if fitter.is_alive()]
        while len(fitters) < n_fitters:
            number += 1
            fitters.append(fork.Process(target=_fit_often, args=(folder, people, number)))
            fitters[-1].start()
        time.sleep(draw.uniform(0, 0.25))
        victim = draw.choice(fitters)
        if victim.is_alive() and victim.pid is not None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            kills += victim.exitcode == -signal.SIGKILL
    for fitter in fitters:
        fitter.kill()
        fitter.join()
    return _outcome(ledger, folder, kills)


def race(folder: Path, n_racers: int, n_uses: int) -> tuple[int, Fraction]:
    """Let processes race for a budget that fits some of them; return how many got it, and the sum.

    Parameters
    ----------
    folder : Path
        Where the ledger goes.
    n_racers : int
        How many processes there are, forked from this one.
    n_uses : int
        How many of them the budget fits.
    """
    ledger = Ledger.create(folder / "race.ledger", table="people", epsilon=1.0)
    each, fork = Fraction(1, n_uses), get_context("fork")
    racers: list[Any] = [
        fork.Process(target=_try_to_spend, args=(ledger, each)) for _ in range(n_racers)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    spent = ledger.status().totals.pure
    assert spent is not None
    return sum(racer.exitcode == 0 for racer in racers), spent


def _try_to_spend(ledger: Ledger, epsilon: Fraction) -> None:
    """Spend, or end with exit code 1 if that is refused."""
    try:
        with ledger.reserve(Elsewhere(epsilon), "a race", schema_hash="0" * 64) as reservation:
            reservation.begin()
            reservation.spend("1" * 64)
    except BudgetExceededError:
        sys.exit(1)


def _fit_often(folder: Path, people: Any, number: int) -> None:
    """Fit until the budget is spent; then wait to be killed while asking for more."""
    clf = SmoothBoostClassifier(
        schema=people.schema,
        epsilon=EACH,
        learner="one_rule",
        n_rounds=3,
        n_jobs=1,
        ledger=folder / "people.ledger",
    )
    sys.stderr = open(os.devnull, "w")  # small budgets are warned of, each time  # noqa: SIM115
    at = 0
    while True:
        try:
            clf.fit(people.data, people.target)
        except BudgetExceededError:
            time.sleep(0.01)
            continue
        clf.model_.write(folder / f"{number}-{at}.part")
        os.replace(folder / f"{number}-{at}.part", folder / f"{number}-{at}.model.json")
        at += 1


def _outcome(ledger: Ledger, folder: Path, kills: int) -> Outcome:
    models = [Model.read(path) for path in folder.glob("*.model.json")]
    connection = sqlite3.connect(ledger.path)
    intact = connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    status = ledger.status()  # verifies the chain
    states = {"reserved": 0, "spent": 0, "released": 0}
    for booking in status.bookings:
        states[booking.state] += 1
    contents = [each.content for each in status.bookings if each.state == "spent"]
    missing = [model for model in models if model.content_hash not in contents]
    # A model is written after its use was marked, so each is among the spent ones.
    assert status.totals.pure is not None
    return Outcome(
        kills,
        len(models),
        states,
        sum((Fraction(str(model.guarantee.epsilon)) for model in models), start=Fraction(0)),
        status.totals.pure,
        status.budget.epsilon,
        len(missing),
        intact,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=400)
    parser.add_argument("--fitters", type=int, default=8)
    parser.add_argument("--epsilon", type=float, default=2.5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = crash(Path(folder), given.kills, given.fitters, given.epsilon, given.seed)
        succeeded, spent = race(Path(folder), 200, 50)
    print("# A ledger whose users were killed\n")
    command = " ".join(["python benchmarks/crashes.py", *sys.argv[1:]])
    print(f"Made by `make soak`; this run was `{command}`, seed {given.seed}.\n")
    print("| | |\n| --- | ---: |")
    print(f"| processes at once | {given.fitters} |")
    print(f"| killed with SIGKILL at random instants | {found.kills} |")
    print(f"| models that exist | {found.models} |")
    for state, count in found.states.items():
        print(f"| uses {state} | {count} |")
    print(f"| ε of the models that exist | {float(found.released):.2f} |")
    print(f"| ε booked | {float(found.booked):.2f} |")
    print(f"| ε of the ledger | {float(found.cap):.2f} |")
    print(f"| models that no use accounts for | {found.unbooked} |")
    print(f"| file and chain intact | {'yes' if found.intact else 'NO'} |")
    print("\nOf 200 processes that raced for a budget that fits 50 uses, ", end="")
    print(f"{succeeded} got one, and {float(spent):g} of 1 is booked.")
    if found.faults or succeeded != 50 or spent != 1:
        raise SystemExit("; ".join(found.faults))


if __name__ == "__main__":
    main()
