"""What many tests use: samples of every record, checks that follow from it, comparison with
PyTorch."""
