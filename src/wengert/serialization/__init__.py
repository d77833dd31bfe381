"""Layer 9 · serialization: `save` and `load`, through safetensors files."""

from __future__ import annotations

from wengert.serialization.files import load, save

__all__ = ["load", "save"]
