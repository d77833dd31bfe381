"""Layer 8 · compiler: run a function once and record it: programs, guards, effects."""
