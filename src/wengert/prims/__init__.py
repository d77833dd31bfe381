"""Layer 2 · prims: the table of operations: one record per operation, one file per family."""
