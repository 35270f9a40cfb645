"""The report: a model as one page to look at, made from the model alone."""
