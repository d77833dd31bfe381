"""Layer 8 · compiler: LLVM's text: loops, elements, calls."""
