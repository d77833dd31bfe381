"""Layer 9 · compat: TensorFlow's functions, grouped by topic; its namespaces re-export them."""
