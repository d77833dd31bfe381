"""Layer 8 · nn: modules with uninitialised parameters."""

from __future__ import annotations

import inspect
from typing import Any

from wengert.nn.modules.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a module with uninitialised parameters and buffers, without drawing random numbers.

    Parameters
    ----------
    module_cls : type. A module class whose constructor takes `device`.
    *args, **kwargs: The arguments of the constructor.

    Returns
    -------
    Module

    Raises
    ------
    RuntimeError: If `module_cls` is not a module class, or does not take `device`.

    Examples
    --------
    >>> wg.nn.utils.skip_init(wg.nn.Linear, 3, 2)  # its values are arbitrary
    Linear(in_features=3, out_features=2, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    made = module_cls(*args, **{**kwargs, "device": "meta"})
    return made.to_empty(device=kwargs.get("device", "cpu"))
