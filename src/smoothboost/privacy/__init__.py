"""What turns integer scores into a private release, and counts what that costs.

This package imports nothing from the rest of smoothboost, and nothing outside it draws
randomness that reaches a release.
"""
