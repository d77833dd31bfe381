"""Layer 0 · base: errors, configuration, dtypes and shapes; imports nothing of the library."""
