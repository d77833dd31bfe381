"""Layer 8 · nn: spectral normalisation of weights by a hook, the older way."""

from __future__ import annotations

from typing import Any, TypeVar

from wengert.nn import functional as F
from wengert.nn.modules.hooks import undo_weight_hook, weight_hook
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter, is_lazy
from wengert.nn.utils.parametrizations import NOT_OF_A_TRANSFORM, as_matrix, check_iterations
from wengert.ops.matmul import dot, mv
from wengert.ops.normalisation_arguments import refuse_escape
from wengert.tape.modes import no_grad

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """The hook that computes a weight before each call."""

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        check_iterations(n_power_iterations)
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """Return the normalised weight."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            refuse_escape(u, matrix, NOT_OF_A_TRANSFORM)
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(mv(matrix.mT, u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(mv(matrix, v), dim=0, eps=self.eps))
            # the next iteration writes to these
            u, v = u.clone(), v.clone()
        return weight / dot(u, mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the module's weight."""
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value, by a hook that runs before each call.

    `wengert.nn.utils.parametrizations.spectral_norm` does the same without a hook.

    Parameters
    ----------
    module : Module. The module that holds the weight.
    name : str. The name of the weight; the parameter becomes ``<name>_orig``.
    n_power_iterations : int. The number of power iterations in each call in training.
    eps : float. The lower bound of norms.
    dim : int, optional. The output dimension; default: 1 for transposed convolutions, else 0.

    %(returns_module)s

    Raises
    ------
    RuntimeError: If the weight already has a hook of this kind.
    ValueError: If there is no weight, or its shape is not known yet.

    Examples
    --------
    >>> layer = wg.nn.utils.spectral_norm(wg.nn.Linear(3, 2))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight_orig']
    """
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    if weight_hook(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if is_lazy(weight):
        raise ValueError(
            "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to "
            "run the dummy forward before applying spectral normalization"
        )
    rows, columns = as_matrix(weight.detach(), dim).shape
    u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
    v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    # a plain attribute, which the hook replaces
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo `spectral_norm`, making the weight a parameter with its current value.

    Parameters
    ----------
    %(module)s
    name : str. The name of the weight.

    Raises
    ------
    ValueError: If the weight has no such hook.

    Examples
    --------
    >>> layer = wg.nn.utils.spectral_norm(wg.nn.Linear(3, 2))
    >>> layer = wg.nn.utils.remove_spectral_norm(layer)
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight']
    """
    undo_weight_hook(module, SpectralNorm, name, "spectral_norm")
    return module
