"""Layer 9 · compat: TensorFlow's functions, by what they do; its namespaces name them."""
