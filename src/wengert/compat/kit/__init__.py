"""Layer 9 · compat: shared helpers: namespaces made of rows, names that are not offered."""
