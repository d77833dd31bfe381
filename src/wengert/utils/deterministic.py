"""Layer 8 · utils: deterministic: whether new memory is filled (`use_deterministic_algorithms`)."""

import sys
from types import ModuleType

from wengert.base.settings import (
    _get_deterministic_fill_uninitialized_memory,
    _set_deterministic_fill_uninitialized_memory,
)


class _Deterministic(ModuleType):
    fill_uninitialized_memory = property(
        lambda self: _get_deterministic_fill_uninitialized_memory(),
        lambda self, mode: _set_deterministic_fill_uninitialized_memory(mode),
    )


sys.modules[__name__].__class__ = _Deterministic
