"""Layer 8 · compiler: how Python's objects and code are read: default deny."""
