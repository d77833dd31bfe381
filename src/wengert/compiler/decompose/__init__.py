"""Layer 8 · compiler: decompositions of composite primitives into simpler ones."""
