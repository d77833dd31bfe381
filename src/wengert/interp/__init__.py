"""Layer 3 · interp: the meanings of a primitive, and the choice among them by the values at hand."""
