"""Layer 11 · cli: the command `wengert`."""
