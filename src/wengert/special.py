"""Layer 6 · tensor: special functions, under PyTorch's names."""
