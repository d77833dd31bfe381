"""Layer 8 · compiler: backends, which turn programs into executables.

Each has ``build(program, *, threads, fastmath)``, which returns an executable (NOTE [executables]
in `wengert.compiler.ir.executable`). `numpy` needs nothing but NumPy; `llvm` is imported by those
who have llvmlite only.
"""
