"""Noisy counts: what is released of hold-out rows, and how far from the truth it may be.

Everything after `release` is computed from what it returned and from public numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smoothboost.evaluation.grouping import Partition
from smoothboost.fitting.pricing import Budget, is_ordinary
from smoothboost.privacy.accountant import Spend, concentrated_epsilon, largest
from smoothboost.privacy.filter import Choices, Concentrated, Use
from smoothboost.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from smoothboost.privacy.randomness import BitSource

DRAWS = 4000
"""How many times the noise is drawn again, to see what it does to an estimate."""
_SEED = 20260101  # public: it only repeats noise whose distribution is public

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Pricing:
    """What noise the counts of each partition get.

    Parameters
    ----------
    noises : tuple of (Noise or None, Noise or None)
        Of each partition's blocks and leaves.
    use : Use
        What all of them cost together.
    """

    noises: tuple[tuple[Noise | None, Noise | None], ...]
    use: Use


def price(partitions: Sequence[Partition], budget: Budget) -> Pricing:
    """Share a budget among the counts, by whichever noise is smaller.

    Notes
    -----
    Guarantee: a replaced row changes two counts of each kind by one (docs/privacy/counts.md).
    """
    assert budget.epsilon is not None
    epsilon, delta = budget.per_row
    shares = [
        (each.share * each.top, each.share * (1 - each.top))  # of blocks, and of leaves
        for each in partitions
    ]
    pure = tuple((_laplace(top, epsilon), _laplace(rest, epsilon)) for top, rest in shares)
    spends = tuple(Spend(share * epsilon) for pair in shares for share in pair if share)
    claim = (budget.epsilon, Fraction(str(budget.delta)))
    plain = Pricing(pure, Choices(spends, *claim, budget.rows_per_person))
    if not is_ordinary(epsilon, delta):
        return plain
    rho = largest(float(epsilon), lambda rho: concentrated_epsilon(rho, delta), start=0.01)
    rate = Fraction(rho)
    normal = tuple((_gaussian(top, rate), _gaussian(rest, rate)) for top, rest in shares)
    if _variance(normal[0]) < _variance(pure[0]):
        return Pricing(normal, Concentrated(rate, *claim, budget.rows_per_person))
    return plain


def _laplace(share: Fraction, epsilon: Fraction) -> Noise | None:
    """Return noise for counts of which a replaced row leaves one and joins another."""
    return DiscreteLaplace(share * epsilon / 2) if share else None


def _gaussian(share: Fraction, rho: Fraction) -> Noise | None:
    """Return noise for such counts: two changes of one, so 2 / (2 * square) is their rho."""
    return DiscreteGaussian(1 / (share * rho)) if share else None


def _variance(noises: Sequence[Noise | None]) -> float:
    return sum(noise.variance for noise in noises if noise is not None)


@dataclass(frozen=True)
class NoisyCounts:
    """Estimated counts of leaves, and draws of how far they are off.

    Parameters
    ----------
    sizes : tuple of int
        How many leaves each block has.
    leaves : array of float
        The estimated counts, which sum to the number of rows.
    errors : array of float, shape (DRAWS, n_leaves)
        What noise may have done to them.
    """

    sizes: tuple[int, ...]
    leaves: Float
    errors: Float

    @property
    def blocks(self) -> tuple[Float, Float]:
        """The totals of blocks, and their errors."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        return np.add.reduceat(self.leaves, starts), np.add.reduceat(self.errors, starts, axis=1)

    def summed(self, wanted: NDArray[np.bool_]) -> tuple[Float, Float]:
        """Return leaf by leaf the sums of some blocks, and their errors; all are of one size."""
        n_blocks = len(wanted)
        leaves = self.leaves.reshape(n_blocks, -1)[wanted].sum(axis=0)
        errors = self.errors.reshape(len(self.errors), n_blocks, -1)[:, wanted].sum(axis=1)
        return leaves, errors


def release(partition: Partition, noises: Sequence[Noise | None], bits: BitSource) -> NoisyCounts:
    """Release the counts of a partition: the only step that sees them."""
    n_rows, counts = len(partition.places), partition.counts
    starts = np.cumsum([0, *partition.sizes[:-1]])
    exact = (np.add.reduceat(counts, starts), counts)
    noisy = [
        None if noise is None else _noisy(values, noise, bits)
        for noise, values in zip(noises, exact, strict=True)
    ]
    draws = np.random.default_rng(_SEED)
    errors = [
        None if noise is None else _draws(noise, len(values), draws)
        for noise, values in zip(noises, exact, strict=True)
    ]
    # Hardly any noise is still some, to divide by.
    variances = [None if noise is None else noise.variance + 1e-9 for noise in noises]
    leaves = _fitted(partition.sizes, noisy, variances, n_rows)
    return NoisyCounts(partition.sizes, leaves[0], _fitted(partition.sizes, errors, variances, 0))


def _noisy(counts: NDArray[np.int64], noise: Noise, bits: BitSource) -> Float:
    return np.array([[int(count) + noise.sample(bits) for count in counts]], dtype=np.float64)


def _draws(noise: Noise, size: int, draws: np.random.Generator) -> Float:
    shape = (DRAWS, size)
    if isinstance(noise, DiscreteGaussian):
        return np.rint(draws.normal(0, noise.variance**0.5, shape))
    chance = -np.expm1(-float(noise.rate))
    return (draws.geometric(chance, shape) - draws.geometric(chance, shape)).astype(np.float64)


def _fitted(
    sizes: Sequence[int],
    noisy: Sequence[Float | None],
    variances: Sequence[float | None],
    n_rows: int,
) -> Float:
    """Return the leaves' counts that fit both totals and leaves best, and sum to `n_rows`.

    Least squares, weighted by what each is worth: totals of a block are averaged with the sum of
    its leaves, all are shifted to the known sum, and leaves follow their block in equal parts.
    """
    starts, widths = np.cumsum([0, *sizes[:-1]]), np.array(sizes, dtype=np.float64)
    blocks, leaves = noisy
    if leaves is None:  # a block's rows are anywhere in it
        assert blocks is not None
        totals, spread = blocks, np.ones(len(sizes))
        leaves = np.repeat(blocks / widths, sizes, axis=1)
    else:
        sums = np.add.reduceat(leaves, starts, axis=1)
        assert variances[1] is not None
        spread = widths * variances[1]
        totals = sums
        if blocks is not None:
            assert variances[0] is not None
            weight = spread / (spread + variances[0])
            totals = weight * blocks + (1 - weight) * sums
            spread = weight * variances[0]
    missing = n_rows - totals.sum(axis=1, keepdims=True)
    totals = totals + missing * spread / spread.sum()
    change = (totals - np.add.reduceat(leaves, starts, axis=1)) / widths
    return np.asarray(leaves + np.repeat(change, sizes, axis=1))
