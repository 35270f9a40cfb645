"""Part 8: what the paper's utility theorems promise, in numbers."""

from __future__ import annotations

from experiments import printed
from experiments.lab import Claim, Lab, table
from smoothboost import theory
from smoothboost.privacy.accountant import advanced_composition

N_ROWS, N_RULES = 32_561, 2 * 162 + 2
"""Adult: rows, and signed one-hot literals with the two constants."""
FAILURE = 0.05
EXAMPLE = (0.5, 0.05)
"""The paper's worked example: density 1/2, advantage 1/20."""
ADVANTAGES = (0.05, 0.1, 0.2)
ROUNDS = (5, 25, 99, 4437)


def run(lab: Lab) -> None:
    """Evaluate the theorems for Adult; check the paper's worked example."""
    needed = theory.rounds_needed(*EXAMPLE)
    lab.claim(
        Claim(
            "Rounds that the boosting theorem asks for at κ = 1/2, γ = 1/20",
            f"approximately {printed.ROUNDS_OF_EXAMPLE:,}",
            needed,
            "exact",
            (4_437, 4_437),
            True,
            "utility.md",
        )
    )
    lab.write(
        "utility",
        "The utility theorems, in numbers",
        "`smoothboost.theory` has the paper's statements as functions; nothing here is random.",
        "## Rounds: τ ≥ 16·ln(1/κ)/γ²",
        _rounds(),
        f"The paper's example (κ = 1/2, γ = 1/20: approximately 4,000 rounds) is {needed:,}.",
        "## What noise leaves of an advantage: γ − ln(|H|/β)/η",
        f"Adult: {N_ROWS:,} rows, |H| = {N_RULES} signed one-hot literals and constants, β = "
        f"{FAILURE}, κ = 0.35, the paper's η = εκn/(4τ), and an advantage of 0.2. Negative: the "
        "theorem promises nothing, though [models of few rounds work](curves.md).",
        _left(),
        "## Rows that the theorems would ask for",
        "So that noise takes no more than half of the advantage γ in a round, with the paper's η "
        "and with the τ that the theorem asks for at γ/2 (17,745 rounds for γ = 0.05); "
        f"|H| = {N_RULES}, κ = 1/2, and a failure in any round with probability {FAILURE} at most:",
        _rows(),
        "## Advanced composition",
        "ε of τ rounds of ε₀ each: √(2τ·ln(1/δ))·ε₀ + τ·ε₀·(e^ε₀ − 1) with δ = 1e-5, beside τ·ε₀:",
        _composition(),
        "It pays from some 25 rounds on, later for a larger ε₀. What this library uses instead is "
        "on [the page about composition](../privacy/composition.md).",
    )


def _rounds() -> str:
    rows = [
        [
            f"{density:g}",
            f"{advantage:g}",
            f"{theory.learning_rate(advantage):g}",
            f"{theory.rounds_needed(density, advantage):,}",
        ]
        for density in (0.5, 0.35, 0.25)
        for advantage in ADVANTAGES
    ]
    return table(["κ", "γ", "λ = γ/4", "τ"], rows)


def _left() -> str:
    rows = []
    for epsilon in (0.1, 0.5, 1, 5):
        exponents = [theory.paper_exponent(epsilon, 0.35, N_ROWS, rounds) for rounds in ROUNDS]
        lefts = [theory.remaining_advantage(0.2, eta, N_RULES, FAILURE) for eta in exponents]
        rows.append([f"{epsilon:g}", *(f"{left:.3f}" for left in lefts)])
    return table(["ε", *(f"τ = {rounds}" for rounds in ROUNDS)], rows)


def _rows() -> str:
    rows = []
    for epsilon in (0.1, 1, 5):
        needed = [theory.rows_needed(epsilon, 0.5, each, N_RULES, FAILURE) for each in ADVANTAGES]
        rows.append([f"{epsilon:g}", *(f"{count:,}" for count in needed)])
    return table(["ε", *(f"γ = {advantage:g}" for advantage in ADVANTAGES)], rows)


def _composition() -> str:
    rows = [
        [
            f"{level:g}",
            str(rounds),
            f"{advanced_composition(level, rounds, 1e-5):.3f}",
            f"{level * rounds:.3f}",
        ]
        for level in (0.001, 0.01, 0.1)
        for rounds in (25, 99, 1000)
    ]
    return table(["ε₀", "τ", "advanced", "basic"], rows)
