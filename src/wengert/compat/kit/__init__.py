"""Layer 9 · compat: shared helpers: namespaces and functions made from tables."""
