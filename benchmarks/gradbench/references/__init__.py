"""The evals' objectives in plain NumPy, and with their derivatives in PyTorch and JAX.

Each module has functions named after the evals, with the arguments of `evals`, and `DERIVATIVES` by
name, but for NumPy's.
"""
