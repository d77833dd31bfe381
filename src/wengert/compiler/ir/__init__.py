"""Layer 8 · compiler: programs, the facets of their primitives, and the verifier."""
