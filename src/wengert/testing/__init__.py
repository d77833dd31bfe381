"""Layer 9 · testing: tests that follow from the records, and comparison with PyTorch."""
