"""Layer 8 · compiler: composite primitives as simpler ones."""
