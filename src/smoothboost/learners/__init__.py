"""Weak learners: integer sums to integer scores with their range.

A learner never knows whether it is private: it returns scores, and one mechanism selects.
"""
