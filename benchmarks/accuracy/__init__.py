"""How accurate the models are, beside peers, on real and on generated tables.

`python -m benchmarks.accuracy --help`; `make accuracy` writes docs/results/accuracy.md.
"""
