"""Layer 3 · interp: the interpretations of a primitive, chosen by its arguments."""
