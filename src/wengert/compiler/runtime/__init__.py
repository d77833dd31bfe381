"""Layer 8 · compiler: calls of compiled functions, and other uses of native code."""
