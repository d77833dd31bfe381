"""Layer 8 · nn: pruning: masks that hold entries of parameters at zero.

The full values of a pruned parameter ``weight`` are the parameter ``weight_orig``; the buffer
``weight_mask`` holds zeros and ones; a hook computes their product, ``weight``, before each call of
the module. `remove` makes the product the parameter.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from wengert.base.names import defined
from wengert.nn.modules.module import Module
from wengert.nn.utils.convert_parameters import parameters_to_vector
from wengert.ops.like import ones_like, zeros_like
from wengert.ops.random import rand, rand_like
from wengert.types import Tensor


class BasePruningMethod(ABC):
    """The base of pruning methods: a subclass defines `compute_mask` and `PRUNING_TYPE`.

    Attributes
    ----------
    PRUNING_TYPE : {"unstructured", "structured", "global"}. Whether the method chooses single
        entries, whole channels, or entries including those pruned already.
    """

    PRUNING_TYPE: ClassVar[str] = "unstructured"
    _tensor_name: str = ""

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for the scores `t`, zero also where `default_mask` is."""

    def apply_mask(self, module: Any) -> Any:
        """Return the parameter with zeros where the mask has them."""
        name = self._tensor_name
        mask = getattr(module, f"{name}_mask")
        return mask.to(dtype=module._parameters[f"{name}_orig"].dtype) * getattr(
            module, f"{name}_orig"
        )

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to any earlier pruning."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        former_ones = (pair for pair in _hooks(module) if pair[1]._tensor_name == name)
        earlier = next(former_ones, None)
        hook = method
        if earlier is not None:
            key, former = earlier
            hook = PruningContainer(former)
            hook.add_pruning_method(method)
            del module._forward_pre_hooks[key]
            before = getattr(module, f"{name}_mask")
        whole = getattr(module, name)  # with zeros, if it is pruned already
        if earlier is None:
            before = ones_like(whole)
        scores = whole if importance_scores is None else importance_scores
        if scores.shape != whole.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        mask = hook.compute_mask(scores.detach(), before.detach().clone())
        if earlier is None:
            module.register_parameter(f"{name}_orig", whole)
            del module._parameters[name]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(self, t: Tensor, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """Return a tensor with zeros at the entries that the method prunes."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        before = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), default_mask=before)

    def remove(self, module: Any) -> None:
        """Make the product the parameter, permanently."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if name in vars(module):
            delattr(module, name)
        whole = module._parameters.pop(f"{name}_orig")
        whole.data = pruned.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, whole)


def _hooks(module: Any) -> Iterator[tuple[Any, BasePruningMethod]]:
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod):
            yield key, hook


class PruningContainer(BasePruningMethod):
    """A sequence of methods for one parameter, each pruning among the entries left so far."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        if isinstance(methods, PruningContainer):
            methods = methods._pruning_methods
        for method in methods:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return the mask of the last method, applied to the entries that `default_mask` keeps."""
        method = self._pruning_methods[-1]
        kind = method.PRUNING_TYPE
        where: Any
        if kind == "unstructured":
            where = default_mask == 1
        elif kind == "structured":
            dim = getattr(method, "dim", -1) % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            kept = default_mask.sum(dim=others) != 0
            where = (*[slice(None)] * dim, kept)
        elif kind == "global":
            where = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        mask = default_mask.to(t.dtype, copy=True)
        mask[where] = method.compute_mask(t[where], default_mask=mask[where]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """A method that prunes nothing, for parameters that need the form of pruned ones."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask`."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes random entries.

    Parameters
    ----------
    amount : int or float. The number of entries, or the fraction of them.
    """

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _chosen(self, t: Any, count: int) -> Any:
        return rand_like(t).reshape(-1).topk(count).indices

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros at the chosen entries."""
        count = _compute_nparams_toprune(self.amount, t.nelement())
        mask = default_mask.clone()
        if count:
            # row-major whatever the layout, to match the indices
            flat = mask.reshape(-1).clone()
            flat[self._chosen(t, count)] = 0
            mask = flat.reshape(mask.shape)
        return mask


class L1Unstructured(RandomUnstructured):
    """Prunes the entries of smallest absolute value; arguments as for `RandomUnstructured`."""

    def _chosen(self, t: Any, count: int) -> Any:
        return t.abs().reshape(-1).topk(count, largest=False).indices


class RandomStructured(BasePruningMethod):
    """Prunes random channels along the dimension `dim`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t: Any, count: int) -> Any:
        drawn = rand(t.shape[self.dim])
        return drawn > drawn.kthvalue(count).values

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with additional zeros in the chosen channels."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can be applied only to multidimensional tensors. Found tensor "
                f"of shape {tuple(t.shape)} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {tuple(t.shape)}")
        count = _compute_nparams_toprune(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        mask = zeros_like(t)
        mask[(*[slice(None)] * (self.dim % t.dim()), self._kept(t, count))] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class LnStructured(RandomStructured):
    """Prunes the channels of smallest norm; `n` is the order, as for `norm`."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Any, count: int) -> Any:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = t.norm(p=self.n, dim=others)
        return norms.topk(t.shape[self.dim] - count).indices


class CustomFromMask(BasePruningMethod):
    """Prunes the entries given by a mask.

    Parameters
    ----------
    mask : Tensor. Zeros at the entries to prune, ones elsewhere.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """Return `default_mask` with the zeros of the mask added."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _validate_pruning_amount_init(amount: Any) -> None:
    kind = type(amount)
    if not issubclass(kind, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not issubclass(kind, numbers.Integral) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """Return the number of the `tensor_size` entries to prune."""
    if not issubclass(type(amount), numbers.Integral):
        return round(amount * tensor_size)
    if amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune="
            f"{tensor_size}"
        )
    return int(amount)


def identity(module: Module, name: str) -> Module:
    """Give a parameter the form of a pruned one, with a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune random entries of a parameter; see `RandomUnstructured`."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Any = None
) -> Module:
    """Prune the entries of a parameter that have the smallest absolute values.

    Parameters
    ----------
    module : Module. The module that holds the parameter.
    name : str. The parameter's name.
    amount : int or float. As for `RandomUnstructured`.
    importance_scores : Tensor, optional. Compared in place of the parameter.

    Returns
    -------
    Module: `module`.

    Examples
    --------
    >>> from wengert.nn.utils import prune
    >>> layer = wg.nn.Linear(3, 1, bias=False)
    >>> _ = layer.weight.data.copy_(wg.tensor([[3.0, -1.0, 2.0]]))
    >>> prune.l1_unstructured(layer, "weight", amount=1).weight_mask
    tensor([[1., 0., 1.]])
    >>> list(prune.remove(layer, "weight").state_dict())
    ['weight']
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune random channels of a parameter; see `RandomStructured`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
) -> Module:
    """Prune the channels of a parameter that have the smallest norms; see `LnStructured`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the entries given by a mask; see `CustomFromMask`."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: Any,
    importance_scores: dict[tuple[Any, str], Any] | None = None,
    **kwargs: Any,
) -> None:
    """Prune entries of many parameters, chosen among all of them together.

    Parameters
    ----------
    parameters : iterable of (Module, str). The parameters.
    pruning_method : class. A method that chooses entries, such as `L1Unstructured`.
    importance_scores : dict, optional. Scores to compare in place of each parameter.
    **kwargs : The arguments of the method.

    Raises
    ------
    TypeError: If the method does not choose single entries.
    """
    pairs = list(parameters)
    scores = importance_scores or {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    wholes = [getattr(module, name) for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(whole))
        for (module, name), whole in zip(pairs, wholes, strict=True)
    ]
    compared = [scores.get(pair, whole) for pair, whole in zip(pairs, wholes, strict=True)]
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    chosen = container.compute_mask(
        parameters_to_vector([one.detach() for one in compared]), parameters_to_vector(masks)
    )
    start = 0
    for (module, name), whole in zip(pairs, wholes, strict=True):
        part = chosen[start : start + whole.numel()].reshape(whole.shape)
        custom_from_mask(module, name, mask=part)
        start += whole.numel()


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one, keeping its zeros.

    Raises
    ------
    ValueError: If it is not pruned.
    """
    for key, hook in _hooks(module):
        if hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Module) -> bool:
    """Return whether any parameter of the module or of a submodule is pruned."""
    return any(True for inner in module.modules() for _ in _hooks(inner))


__all__ = defined(globals())
