"""Layer 8 · nn: parametrisation: parameters as functions of other parameters.

NOTE [parametrised modules]
A module with a parametrised tensor gets its own class, with a property of the tensor's name.
Reading the property computes the tensor; writing to it sets the underlying parameters through the
right inverse.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any, cast

from wengert.base.names import defined, shows
from wengert.nn.modules.container import ModuleDict, ModuleList
from wengert.nn.parameter import Parameter
from wengert.tape.modes import no_grad
from wengert.types import Tensor

_CACHE: ContextVar[dict[tuple[int, str], Any] | None] = ContextVar("parametrised", default=None)


@contextmanager
def cached() -> Iterator[None]:
    """Return a context in which each parametrised tensor is computed only once.

    Examples
    --------
    >>> class Square(wg.nn.Module):
    ...     def forward(self, x):
    ...         print("computed")
    ...         return x * x
    %(a_module)s
    >>> _ = parametrize.register_parametrization(module, "weight", Square(), unsafe=True)
    >>> with parametrize.cached():
    ...     total = module.weight + module.weight
    computed
    """
    if _CACHE.get() is not None:
        yield
        return
    token = _CACHE.set({})
    try:
        yield
    finally:
        _CACHE.reset(token)


def _register(module: Any, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, applied in order, and the original tensors.

    Parameters
    ----------
    modules : sequence of Module. The parametrisations.
    original : Tensor. The tensor as it was; a parameter or a buffer.
    unsafe : bool. Whether shape and dtype may change.

    Examples
    --------
    >>> layer = parametrizations.weight_norm(wg.nn.Linear(3, 2))
    >>> type(layer.parametrizations.weight).__name__
    'ParametrizationList'
    """

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = cast("Any", module).right_inverse(new)
                    except NotImplementedError:
                        # a right inverse is optional: without it, the tensor itself is the original
                        continue
        if not isinstance(new, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        old = original.detach()
        if isinstance(new, Tensor):
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\n"
                    f"right_inverse(original).dtype: {new.dtype}"
                )
            original.data = new.detach()
            _register(self, "original", original)
        else:
            self._register_several(original, new)
        if not unsafe:
            try:
                _check(self(), old)
            except BaseException:
                original.data = old
                raise

    def _register_several(self, original: Any, new: Sequence[Any]) -> None:
        for i, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {i} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", part)

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Set the original tensors so that `forward` returns `value`.

        Raises
        ------
        RuntimeError: If a parametrisation has no right inverse.
        ValueError: If the result of a right inverse does not match `original`.
        """
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            value = cast("Any", module).right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                )
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                    f"`original` has dtype {self.original.dtype}"
                )
            self.original.data = value
            return
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(value)}."
            )
        originals = self._originals()
        for i, (part, old) in enumerate(zip(value, originals, strict=True)):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors. Got element "
                    f"{i} of type {type(part).__name__}."
                )
            if part.dtype != old.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {part.dtype} while "
                    f"`original{i}` has dtype {old.dtype}"
                )
        for part, old in zip(value, originals, strict=True):
            old.data = part

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Any:
        """Return the parametrised tensor."""
        first, *others = self
        made = first(*self._originals())
        for module in others:
            made = module(made)
        return made


def _check(new: Any, old: Any) -> None:
    """Raise an error if a parametrisation changes the shape or dtype of a tensor."""
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    for what in ("dtype", "shape"):
        before, after = getattr(old, what), getattr(new, what)
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized {what}: {before}\n"
                f"parametrized {what}: {after}"
            )


# -- classes with properties -----------------------------------------------------------------------


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    made = memo[id(self)] = self.__new__(type(self))
    vars(made).update(deepcopy(vars(self), memo))
    slots: list[str] = copyreg._slotnames(type(self))  # type: ignore[attr-defined]
    for slot in slots:
        if hasattr(self, slot):
            object.__setattr__(made, slot, deepcopy(getattr(self, slot), memo))
    return made


def _unpicklable(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, "
        "and load it into a module that is parametrised in the same way"
    )


def _give_class(module: Any) -> None:
    cls = type(module)
    methods: dict[str, Any] = {"__getstate__": _unpicklable, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        methods["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), methods)


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        held = self.parametrizations[name]
        cache = _CACHE.get()
        if cache is None:
            return held()
        # keep the module alive, so that its id stays unique
        key = (id(self), name)
        if key not in cache:
            cache[key] = (self, held())
        return cache[key][1]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


# -- public functions ------------------------------------------------------------------------------


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Make a parameter or buffer a function, `parametrization`, of another tensor.

    From then on ``module.parametrizations.<name>.original`` is the learned parameter, and
    ``module.<name>`` is computed from it on each access. If the parametrisation has a method
    `right_inverse`, the tensor keeps its initial value and can be assigned to.

    Parameters
    ----------
    module : Module. The module that holds the tensor.
    tensor_name : str. The name of the tensor. Parametrisations of a tensor that has some already
        are chained.
    parametrization : Module. Called with the original tensor, or with several if `right_inverse`
        returns several.
    unsafe : bool. Whether shape and dtype may change.

    %(returns_module)s

    Raises
    ------
    ValueError: If there is no such tensor, or its shape or dtype would change.

    Examples
    --------
    >>> class Symmetric(wg.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> module = wg.nn.Module()
    >>> module.weight = wg.nn.Parameter(wg.arange(4.0).reshape(2, 2))
    >>> _ = parametrize.register_parametrization(module, "weight", Symmetric())
    >>> module.weight.detach()
    tensor([[0., 1.],
            [1., 3.]])
    """
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        held = module.parametrizations[tensor_name]
        held.append(parametrization)
        held.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        held = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = held
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    parametrization.train(module.training)
    return module


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    old = getattr(module, name)
    new = parametrization(old)
    _check(new, old)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(new)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(old, what):
            raise ValueError(
                "The tensor returned by parametrization.right_inverse must have the same "
                f"{what} as module.{name}, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {getattr(old, what)}\n"
                f"returned {what}: {getattr(back, what)}"
            )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a module has any parametrised tensor, or one named `tensor_name`.

    Examples
    --------
    >>> layer = parametrizations.weight_norm(wg.nn.Linear(3, 2))
    >>> parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias")
    (True, False)
    """
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Turn a parametrised tensor back into an ordinary one.

    Parameters
    ----------
    %(module)s
    tensor_name : str. Its name.
    leave_parametrized : bool. Whether to keep the parametrised value, rather than the original
        one.

    %(returns_module)s

    Raises
    ------
    ValueError: If the tensor is not parametrised, or the original value is requested but consists
        of several tensors.

    Examples
    --------
    >>> layer = parametrizations.weight_norm(wg.nn.Linear(3, 2))
    >>> layer = parametrize.remove_parametrizations(layer, "weight")
    >>> parametrize.is_parametrized(layer)
    False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """Return the class of a module, ignoring parametrisations.

    Examples
    --------
    >>> layer = parametrizations.weight_norm(wg.nn.Linear(3, 2))
    >>> type(layer).__name__, parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Copy parametrisations and their original parameters to another module.

    Parameters
    ----------
    from_module, to_module : Module. The source and the destination.
    tensor_name : str, optional. The tensor to transfer; default: all parametrised tensors.

    Returns
    -------
    Module: `to_module` itself.

    Examples
    --------
    >>> layer = parametrizations.weight_norm(wg.nn.Linear(3, 2))
    >>> other = parametrize.transfer_parametrizations_and_params(layer, wg.nn.Linear(3, 2))
    >>> wg.equal(other.weight, layer.weight)
    True
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for original in [*source._parameters, *source._buffers]:
            setattr(target, original, getattr(source, original))
    return to_module


__all__ = defined(globals())
__dir__ = shows(__all__)
