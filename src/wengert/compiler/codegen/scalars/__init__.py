"""Layer 8 · compiler: instructions for one element of an element-wise primitive."""
