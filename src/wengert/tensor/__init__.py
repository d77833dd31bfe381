"""Layer 6 · tensor: the class that users touch."""
