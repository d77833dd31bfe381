"""Layer 2 · prims: the table, one record per operation, one file per family."""
