"""Layer 4 · tape: nodes, saved values, versions, modes, the engine, and T, which records."""

from wengert.base.native import prefer_compiled as _prefer_compiled

_prefer_compiled(__path__)
