"""Layer 9 · optim: `Optimizer`, the base class with groups, state and hooks."""

from __future__ import annotations

import copy
import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from wengert.base.containers import field_names, flatten
from wengert.base.dtypes import DTYPES, dtype, get_default_dtype
from wengert.base.errors import kind_of
from wengert.ops.strided import view_as_real
from wengert.optim.hooks import (
    Hooked,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from wengert.tape.base import SparseValue, TensorBase
from wengert.tape.modes import enable_grad, set_grad_enabled
from wengert.tape.sites import warn
from wengert.types import Tensor

__all__ = [
    "Optimizer",
    "check_adam",
    "check_betas",
    "check_fused",
    "check_numbers",
    "check_rate",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

ParamsT: TypeAlias = Iterable[Tensor | dict[str, Any] | tuple[str, Tensor]]
"""The parameters of an optimiser: tensors, named tensors, or groups with options."""


class _Required:
    """The marker of options that every group must give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def arguments(names: dict[str, Any], first: str = "") -> dict[str, Any]:
    """Return a constructor's options from its ``locals()``, taken before it binds other names.

    Groups list the options in PyTorch's order, which begins with `first` if it is another than
    that of the arguments.
    """
    found = {name: names[name] for name in (*first.split(), *names)}
    return {name: found[name] for name in found if name not in ("self", "params", "__class__")}


class Optimizer(Hooked):
    """The base class of all optimisers, with groups of parameters, their state, and hooks.

    A subclass calls ``super().__init__(params, defaults)`` and defines `step`.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict; or a dataclass. Leaves to optimise,
        in a reproducible order, or groups of them: ``{"params": [...], "lr": 0.1}``. Either all
        parameters have a name or none.
    defaults : dict. The options of groups that do not give them.

    Attributes
    ----------
    param_groups : list of dict. The groups, each with its parameters under ``"params"`` and all
        options.
    state : dict. The state of each parameter between steps.
    defaults : dict. The options of groups that do not give them.

    Raises
    ------
    ValueError: If there is no parameter, one is not a leaf, or one is in two groups.
    TypeError: If `params` is a tensor, a set, or holds anything but tensors.

    Examples
    --------
    >>> class Descent(wg.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...
    ...     @wg.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> (x**2).sum().backward()
    >>> Descent([x], lr=0.25).step()
    >>> x
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    def _refusal(self) -> str:
        """Return the error message for a sparse gradient."""
        return f"{type(self).__name__} does not support sparse gradients"

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if field_names(params) is not None:
            params = flatten(params)[0]
        if isinstance(params, TensorBase) or not hasattr(params, "__iter__"):
            cure = (
                "give its parameters()" if hasattr(params, "parameters") else "put it into a list"
            )
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}: {cure}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._make_tables()
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    # -- groups ------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters to optimise.

        Parameters
        ----------
        param_group : dict. One or several tensors under ``"params"``, and options; defaults fill in
            the rest.

        Raises
        ------
        TypeError, ValueError: As in the constructor; then nothing is added.

        Examples
        --------
        >>> head, body = wg.ones(2, requires_grad=True), wg.ones(3, requires_grad=True)
        >>> optimizer = wg.optim.SGD([head], lr=0.1)
        >>> optimizer.add_param_group({"params": body, "lr": 0.01})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.01]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        tensors, names = self._listed(param_group["params"])
        for tensor in tensors:
            self._check_parameter(tensor)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
        named = bool(names) or "param_names" in param_group
        if any(("param_names" in group) != named for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if named else 'without'} names to the optimizer"
            )
        known = {id(tensor) for group in self.param_groups for tensor in group["params"]}
        if not known.isdisjoint(map(id, tensors)):
            raise ValueError("some parameters appear in more than one parameter group")
        if len(set(map(id, tensors))) != len(tensors):
            warn(
                "optimizer contains a parameter group with duplicate parameters: each step writes "
                "to them several times; in future, this will cause an error",
            )
        param_group["params"] = tensors
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _listed(self, params: Any) -> tuple[list[Any], list[str]]:
        """Return the tensors, and their names if they have any."""
        if isinstance(params, TensorBase):
            return [params], []
        if isinstance(params, set | frozenset):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        given = list(params) if field_names(params) is None else flatten(params)[0]
        names = [entry[0] for entry in given if isinstance(entry, tuple)]
        if names and len(names) != len(given):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        return [entry[1] for entry in given] if names else given, names

    def _check_parameter(self, tensor: Any) -> None:
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {kind_of(tensor)}"
            )
        leaf = tensor.is_leaf or tensor.retains_grad  # type: ignore[attr-defined]
        if not leaf and not self.defaults.get("differentiable", False):
            raise ValueError(
                "can't optimize a non-leaf Tensor: nothing would keep its gradient. Optimise the "
                "leaf that it is computed from, or detach() it and let it require a gradient."
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool. Whether to set ``.grad`` to None rather than zero it. A step skips
            parameters without a gradient, but may move those whose gradient is zero.

        Examples
        --------
        >>> w = wg.ones(2, requires_grad=True)
        >>> w.sum().backward()
        >>> wg.optim.SGD([w], lr=0.1).zero_grad()
        >>> w.grad is None
        True
        """
        for group in self.param_groups:
            for param in group["params"]:
                ext = param._ext
                if ext is None or ext.grad is None:
                    continue
                if set_to_none:
                    ext.grad = None
                    continue
                if isinstance(ext.grad, SparseValue):
                    ext.grad = ext.grad.detach().zero_()  # type: ignore[attr-defined]
                    continue
                if ext.grad._edge is not None:
                    if ext.grad.is_leaf:
                        ext.grad.requires_grad_(False)
                    else:
                        ext.grad.detach_()
                ext.grad.zero_()

    @staticmethod
    def _loss(closure: Callable[[], Any] | None) -> Any:
        """Return what the closure of a step returns, computed with recording."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, from their gradients.

        Parameters
        ----------
        closure : callable, optional. Recomputes the loss and its gradients, and returns the loss.

        Returns
        -------
        Tensor or float or None: What `closure` returned.

        Examples
        --------
        >>> w = wg.tensor([1.0, 2.0], requires_grad=True)
        >>> (w**2).sum().backward()
        >>> wg.optim.SGD([w], lr=0.25).step()
        >>> w
        tensor([0.5000, 1.0000], requires_grad=True)
        """
        raise NotImplementedError(f"{type(self).__name__} has no method step()")

    # -- state -------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the optimiser, in which numbers represent the parameters.

        Returns
        -------
        dict: The state of each parameter by its number, under ``"state"``, and the groups, under
            ``"param_groups"``. The tensors are not copied: copy or save them before the next step.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> optimizer = wg.optim.SGD([x], lr=0.1, momentum=0.9)
        >>> (x**2).sum().backward()
        >>> optimizer.step()
        >>> optimizer.state_dict()["state"]
        {0: {'momentum_buffer': tensor([2., 2.])}}
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        start = 0
        groups = []
        for group in self.param_groups:
            for i, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), i)
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            start += len(packed["params"])
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, TensorBase) else key: value
            for key, value in self.state.items()
        }
        packed_state: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, packed_state)
            packed_state = packed_state if changed is None else changed
        return packed_state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned, of this optimiser or a similar one.

        Parameters
        ----------
        state_dict : dict. Copied; tensors other than ``"step"`` are cast to the dtype of their
            parameter. Parameters are matched by order. The options in it, including learning
            rates, replace those of the groups.

        Raises
        ------
        ValueError: If the groups differ in number or sizes; then nothing has changed.

        Examples
        --------
        >>> w = wg.ones(2, requires_grad=True)
        >>> saved = wg.optim.Adam([w], lr=0.1).state_dict()
        >>> other = wg.optim.Adam([w])
        >>> other.load_state_dict(saved)
        >>> other.param_groups[0]["lr"]
        0.1
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, but the optimizer has {len(self.param_groups)}"
            )
        for i, (group, other) in enumerate(zip(self.param_groups, saved, strict=True)):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    f"optimizer's group: group {i} has {len(other['params'])} parameters there, "
                    f"and {len(group['params'])} here"
                )
        params = dict(
            zip(
                itertools.chain.from_iterable(group["params"] for group in saved),
                itertools.chain.from_iterable(group["params"] for group in self.param_groups),
                strict=True,
            )
        )
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _fitted(params[key], value, None)
            else:
                state[key] = value
        for group, other in zip(self.param_groups, saved, strict=True):
            other["params"] = group["params"]
            if "param_names" in group:
                other.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_tables()
        for group in self.param_groups:
            # older states lack options that were added since
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        groups = []
        for i, group in enumerate(self.param_groups):
            lines = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            groups.append(f"\nParameter Group {i}\n" + "".join(lines))
        return f"{type(self).__name__} ({''.join(groups)})"


def _fitted(param: Any, value: Any, key: Any) -> Any:
    """Return a copy of an entry of a parameter's state, in the parameter's dtype."""
    if isinstance(value, TensorBase):
        made: Any = value.detach().clone()  # type: ignore[attr-defined]
        if key != "step" and param.is_floating_point():
            made = made.to(param.dtype)
        return made
    if isinstance(value, dict):
        return {name: _fitted(param, part, name) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(_fitted(param, part, None) for part in value)
    return value


# -- checks of subclasses --------------------------------------------------------------------------


def check_rate(lr: Any, what: str = "Invalid learning rate: {}") -> None:
    """Raise an error for an invalid learning rate."""
    if isinstance(lr, TensorBase) and lr._payload.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if isinstance(lr, str):
        raise TypeError(what.format(f"{lr!r}, which is a str; convert it with float()"))
    if not lr >= 0.0:
        raise ValueError(what.format(lr))


def check_numbers(**numbers: Any) -> None:
    """Raise an error for negative numbers, under the names in error messages."""
    for name, value in numbers.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: Any) -> None:
    """Raise an error for decay rates outside [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_adam(lr: Any, betas: Any, eps: Any, weight_decay: Any) -> None:
    """Raise an error for options that are invalid for an optimiser with two running means."""
    check_rate(lr)
    check_numbers(epsilon=eps)
    check_betas(betas)
    check_numbers(weight_decay=weight_decay)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[Any, tuple[list[list[Any]], list[int]]]:
    """Return parallel lists by the device and dtype of the first list's tensors, with indices."""
    groups: dict[Any, tuple[list[list[Any]], list[int]]] = {}
    for index, tensor in enumerate(tensorlistlist[0]):
        key = tensor.device, tensor.dtype
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for part, values in zip(lists, tensorlistlist, strict=True):
            part += values[index : index + 1]  # nothing of a list that is empty
        if with_indices:
            indices.append(index)
    return groups


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Record `step`, an optimiser's method, only if its option ``differentiable`` asks for it."""

    @functools.wraps(step)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return call


def _get_value(x: Any) -> Any:
    is_tensor = isinstance(x, TensorBase)
    return x.item() if is_tensor else x


def _default_to_fused_or_foreach(*args: Any, **kwargs: Any) -> tuple[bool, bool]:
    """Return whether steps should be fused, and whether by lists of tensors: neither on a CPU."""
    return False, False


# what optimisers that follow PyTorch's files import from there, beside `Optimizer`

_capturable_doc = "capturable : bool. Has no effect."
_differentiable_doc = "differentiable : bool. Whether steps are recorded."
_foreach_doc = "foreach : bool. Has no effect."
_fused_doc = "fused : bool. Has no effect."
_maximize_doc = "maximize : bool. Whether to go up rather than down."
_params_doc = "params : iterable. The parameters, or groups of them."


def _to_scalar(x: Any) -> Any:
    is_array = isinstance(x, TensorBase) and x._payload.ndim > 0
    return x.squeeze() if is_array else x


def _stack_if_compiling(x: Any) -> Any:
    return x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Put views as real numbers in place of complex tensors, in all lists."""
    for i, param in enumerate(params):
        if param.is_complex():
            for values in (params, *state_and_grads):
                values[i] = view_as_real(values[i])


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    """Return the dtype of numbers of steps."""
    wide = DTYPES["float64"]
    return wide if not is_fused and get_default_dtype() is wide else DTYPES["float32"]


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing."""
    return lambda function: function


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise PyTorch's errors for combinations of options that have no effect here."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
