"""Layer 8 · compiler: one element of an element-wise primitive as instructions."""
