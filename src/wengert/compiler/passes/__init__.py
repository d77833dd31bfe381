"""Layer 8 · compiler: passes, which map programs to equivalent programs."""

from wengert.compiler.passes.roll import reduced, roll
from wengert.compiler.passes.simplify import simplify

__all__ = ["reduced", "roll", "simplify"]
