"""The evals, a module for each, as a user of this library writes them."""
