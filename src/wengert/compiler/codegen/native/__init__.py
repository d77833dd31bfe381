"""Layer 8 · compiler: whole steps in native code, from memory to memory."""
