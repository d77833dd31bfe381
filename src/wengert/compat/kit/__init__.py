"""Layer 9 · compat: what the idioms share: namespaces made of rows, names that are not offered."""
