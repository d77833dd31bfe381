"""Layer 5 · ops: the public functions: normalise arguments, then call T."""
