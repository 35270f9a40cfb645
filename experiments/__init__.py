"""The paper's experiments and baselines. They import smoothboost, never the other way."""
