"""Layer 6 · tensor: the `Tensor` class and its protocols."""
