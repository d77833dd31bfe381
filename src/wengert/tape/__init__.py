"""Layer 4 · tape: nodes, saved values, versions, modes, the engine, and T, which records."""
