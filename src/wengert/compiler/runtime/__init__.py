"""Layer 8 · compiler: calls of compiled functions, and where native code runs besides."""
