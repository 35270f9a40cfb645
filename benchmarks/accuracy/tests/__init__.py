"""Tests of the accuracy benchmark."""
