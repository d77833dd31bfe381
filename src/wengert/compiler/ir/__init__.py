"""Layer 8 · compiler: programs, what is known of their primitives, and whether a program is one."""
