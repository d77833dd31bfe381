"""Layer 9 · datasets: small data sets that ship with the package, as NumPy arrays."""

from wengert.datasets.digits import Digits, digits

__all__ = ["Digits", "digits"]
