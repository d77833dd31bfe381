"""Layer 8 · nn: weight normalisation by a hook, the older way."""

from __future__ import annotations

from typing import Any, TypeVar

from wengert.nn.modules.hooks import undo_weight_hook, weight_hook
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter, is_lazy
from wengert.nn.utils.parametrizations import norm_except_dim
from wengert.tape.sites import warn

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook that computes a weight from its norms and directions before each call."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Any) -> Any:
        """Return the weight."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except_dim(v, dim=self.dim))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the module's weight."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Parametrise a weight by norm and direction, by a hook; deprecated, so it warns.

    This is an old name: use `wengert.nn.utils.parametrizations.weight_norm`, which needs no hook.

    Parameters
    ----------
    module : Module. The module that holds the weight.
    name : str. The name of the weight; the parameters become ``<name>_g`` and ``<name>_v``.
    dim : int, optional. The dimension along which each slice has its own norm; None for one norm
        overall.

    %(returns_module)s

    Raises
    ------
    RuntimeError: If the weight already has a hook of this kind.
    ValueError: If its shape is not known yet.
    """
    warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if weight_hook(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    weight = getattr(module, name)
    if is_lazy(weight):
        raise ValueError(
            "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to "
            "run the dummy forward before applying weight normalization"
        )
    hook = WeightNorm(name, -1 if dim is None else dim)
    del module._parameters[name]
    norms = norm_except_dim(weight, dim=hook.dim).detach()
    module.register_parameter(name + "_g", Parameter(norms))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`: an old name. The weight becomes a parameter with its current value.

    For the parametrisation, use `wengert.nn.utils.parametrize.remove_parametrizations`.

    Parameters
    ----------
    %(module)s
    name : str. The name of the weight.

    Raises
    ------
    ValueError: If the weight has no such hook.
    """
    undo_weight_hook(module, WeightNorm, name, "weight_norm")
    return module
