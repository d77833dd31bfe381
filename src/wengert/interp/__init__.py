"""Layer 3 · interp: the meanings of a primitive, chosen by the values at hand."""
