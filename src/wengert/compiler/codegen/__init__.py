"""Layer 8 · compiler: generation of LLVM IR: loops, elements, calls."""
