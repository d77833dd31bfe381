"""Layer 8 · compiler: read Python objects and code, denying by default."""
