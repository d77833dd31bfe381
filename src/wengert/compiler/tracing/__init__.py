"""Layer 8 · compiler: a function run once, and what became of it: programs, guards, effects."""
