"""Layer 6 · tensor: discrete Fourier transforms, under PyTorch's names."""
