"""Layer 9 · compat: the two names of JAX's insides that the libraries on top of it share."""
