"""Layer 5 · ops: the public functions: normalise arguments, then call T."""

from wengert.ops import aten as aten
