"""Layer 8 · compiler: `wengert.compile`, which turns functions of tensors into native loops."""
