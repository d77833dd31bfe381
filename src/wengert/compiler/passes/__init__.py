"""Layer 8 · compiler: passes from programs to programs that compute the same."""

from wengert.compiler.passes.roll import reduced, roll
from wengert.compiler.passes.simplify import simplify

__all__ = ["reduced", "roll", "simplify"]
