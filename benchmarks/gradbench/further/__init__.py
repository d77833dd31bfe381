"""Functions that are timed with the evals, in modules of the same form (but `functions`)."""
