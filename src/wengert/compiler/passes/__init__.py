"""Layer 8 · compiler: passes, which map programs to equivalent programs."""
