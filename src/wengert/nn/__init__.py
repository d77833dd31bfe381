"""Layer 8 · nn: neural networks: parameters, and functions under PyTorch's names."""

from __future__ import annotations

from wengert.nn import functional
from wengert.nn.parameter import Parameter
from wengert.tensor.overrides import publish

__all__ = ["Parameter", "functional"]

publish(functional)
