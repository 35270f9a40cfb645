"""Warnings about what a fit does to its guarantee; all can be filtered by class."""


class PrivacyLeakWarning(UserWarning):
    """Something outside the guarantee was computed from the rows."""


class SeededNoiseWarning(UserWarning):
    """The noise comes from a seed: repeatable, and removable by whoever knows the seed."""


class BudgetTooSmallWarning(UserWarning):
    """The budget is too small for the number of rows: noise will dominate the choices."""


class WeakPrivacyWarning(PrivacyLeakWarning):
    """The guarantee holds and promises little: epsilon is large, or delta is not below 1/n."""
