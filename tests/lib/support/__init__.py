"""Shared test support: samples of every record, checks of records, comparison with PyTorch."""
