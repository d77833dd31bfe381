"""Layer 6 · tensor: the named tuples that functions with several results return."""

from typing import Any

from wengert.ops import return_types as _types
from wengert.ops.return_types import Results as Results
from wengert.ops.return_types import aminmax as aminmax
from wengert.ops.return_types import max as max
from wengert.ops.return_types import min as min


def __getattr__(name: str) -> Any:
    """Return the tuple type of a function that is imported on first use."""
    return globals().setdefault(name, getattr(_types, name))


def __dir__() -> list[str]:
    return dir(_types)
