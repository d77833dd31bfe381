"""Layer 9 · compat: functorch, as the package was before its functions moved to ``torch.func``.

They are those of `wengert.func`, with PyTorch's warning that they have moved there. Further
functions split a module into a function and its parameters.
`wengert.compat.install("torch")` installs it, too.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

from wengert.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)
from wengert.tape.sites import warn

__all__ = [
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]
__version__ = "2.13.0"


class FunctionalModule:
    """A module as a function of its parameters and, if `takes_buffers`, of its buffers."""

    takes_buffers = False

    def __init__(self, model: Any) -> None:
        self.stateless_model = copy.deepcopy(model)
        self.param_names = [name for name, _ in model.named_parameters()]
        self.buffer_names = [name for name, _ in model.named_buffers()]

    def __call__(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Return the output of the module computed with these parameters, and then buffers."""
        state = dict(zip(self.param_names, params, strict=True))
        if self.takes_buffers:
            buffers, *rest = args
            state.update(zip(self.buffer_names, buffers, strict=True))
            args = tuple(rest)
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModuleWithBuffers(FunctionalModule):
    """A module as a function of its parameters and of its buffers."""

    takes_buffers = True


def _parts(model: Any, detached: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    model = copy.deepcopy(model)
    params, buffers = tuple(model.parameters()), tuple(model.buffers())
    if detached:
        params = tuple(one.detach() for one in params)
    return params, buffers


def make_functional(
    model: Any, disable_autograd_tracking=False
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Split a module without buffers into a function and its parameters.

    Examples
    --------
    >>> import warnings
    >>> from wengert.compat import functorch
    >>> layer = wg.nn.Linear(2, 3)
    >>> with warnings.catch_warnings(action="ignore"):  # functorch is deprecated
    ...     function, params = functorch.make_functional(layer)
    >>> function(params, wg.ones(2)).shape
    torch.Size([3])
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule(model), _parts(model, disable_autograd_tracking)[0]


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking=False
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """Split a module into a function of parameters and buffers, the parameters, and the buffers."""
    return FunctionalModuleWithBuffers(model), *_parts(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """Combine models of the same structure into one function, and stack their parameters and
    buffers.
    """
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    params, buffers = stack_module_state(models)
    stacked = tuple(one.detach() for one in params.values())
    return FunctionalModuleWithBuffers(models[0]), stacked, tuple(buffers.values())


def _deprecated(function: Callable[..., Any], instead: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{function.__name__}` is deprecated as of PyTorch 2.0 and will be deleted "
            f"in a future version of PyTorch >= 2.3. Please use `{instead}` instead",
            FutureWarning,
        )
        return function(*args, **kwargs)

    return warned


_INSTEAD = {
    "combine_state_for_ensemble": "torch.func.stack_module_state",
    "make_functional": "torch.func.functional_call",
    "make_functional_with_buffers": "torch.func.functional_call",
    "vmap": "torch.vmap",
}
for _name in __all__:
    if _name != "linearize":
        _moved = _deprecated(globals()[_name], _INSTEAD.get(_name, f"torch.func.{_name}"))
        globals()[_name] = _moved
