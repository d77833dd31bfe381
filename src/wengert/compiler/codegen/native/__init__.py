"""Layer 8 · compiler: native code of whole steps, from memory to memory."""
