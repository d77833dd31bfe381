"""Layer 7 · autograd: library: user-defined operations with names and derivatives.

`custom_op` makes a `Function` of a function. There is no dispatcher: the CPU kernel is the function
itself, and fake implementations (`register_fake`) are for tensors without values, and checked by
`opcheck`.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations, islice, product
from types import SimpleNamespace
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

import wengert.ops as operations
from wengert.autograd.function import Function
from wengert.base.containers import flatten
from wengert.base.device import device, is_meta
from wengert.base.dtypes import dtype
from wengert.base.elsewhere import refusal
from wengert.base.names import shows
from wengert.tape.base import TensorBase, version_of
from wengert.tape.inplace import bump
from wengert.tape.modes import NO_GRAD, current_mode, no_grad

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]
__dir__ = shows(__all__)

_NO_DISPATCH = "there is no dispatcher. Use custom_op, whose function runs as it is"
fallthrough_kernel = refusal("library", "fallthrough_kernel", _NO_DISPATCH)
get_kernel = refusal("library", "get_kernel", _NO_DISPATCH)
wrap_triton = refusal("library", "wrap_triton", "there is no GPU to run it on. Use custom_op")
register_autocast = refusal("library", "register_autocast", "cast inside of the function itself")
register_torch_dispatch = refusal("library", "register_torch_dispatch", _NO_DISPATCH)

_KNOWN: dict[str, CustomOpDef] = {}


Tag = enum.Enum(
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated "
    "inplace inplace_view maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides "
    "needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out out_variant "
    "pointwise pt2_compliant_tag reduction view_copy",
    module=__name__,
)
"""What PyTorch's compilers may assume of an operation; nothing here uses it."""


def _leaves(values: Any) -> list[Any]:
    """Return the tensors among values and their containers."""
    return [leaf for leaf in flatten(values)[0] if isinstance(leaf, TensorBase)]


class _Lists:
    """Which arguments of a call are lists of tensors, whose items a `Function` has to see."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._counts = [
            len(one) if isinstance(one, list | tuple) and _leaves(one) else None for one in given
        ]

    def __bool__(self) -> bool:
        return any(count is not None for count in self._counts)

    def flat(self, values: tuple[Any, ...], name: str = "") -> list[Any]:
        """Return the items of arguments, or of what there is of them; None is for all items."""
        found: list[Any] = []
        for i, (value, count) in enumerate(zip(values, self._counts, strict=True)):
            items = [value] if count is None else [None] * count if value is None else list(value)
            if count not in (None, len(items)):
                raise RuntimeError(
                    "Expected the return from backward to be of the same structure as the inputs. "
                    f"Got: {len(items)} gradients of {count} tensors in argument {i} of {name}"
                )
            found += items
        return found

    def nested(self, items: Iterable[Any]) -> tuple[Any, ...]:
        """Return arguments, or what there is of each, from the items."""
        rest = iter(items)
        return (
            tuple(items)
            if not self
            else tuple(
                next(rest) if count is None else list(islice(rest, count)) for count in self._counts
            )
        )

    def of(self, ctx: Any) -> Any:
        """Return `ctx` with a `needs_input_grad` like the arguments."""
        body = {"needs_input_grad": self.nested(ctx.needs_input_grad)}
        return type(type(ctx).__name__, (type(ctx),), body)(ctx._node) if self else ctx


class CustomOpDef:
    """An operation made by `custom_op`, which can be called and given derivatives."""

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any] | None,
        mutates: Iterable[str],
        declared: str | None = None,
    ) -> None:
        if isinstance(mutates, str) and mutates != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are "
                f"mutated or the string 'unknown', but got {mutates!r}"
            )
        if name.count("::") != 1:
            raise ValueError(f"expected a name of the form 'namespace::name', but got {name!r}")
        self._qualname = name
        self._namespace, _, self._name = name.partition("::")
        self._fn, self._mutates = fn, mutates
        self._fake: Callable[..., Any] | None = None
        self._rules: dict[str, Any] = {}
        self._function: Any = None
        self._declared = declared
        self._nests: bool | None = None
        """Whether results have lists in them, or are one; None before the first recorded call."""
        _KNOWN[name] = self
        space = getattr(operations, self._namespace, None)
        if space is None:
            space = SimpleNamespace()
            setattr(operations, self._namespace, space)
        if isinstance(space, SimpleNamespace):
            setattr(space, self._name, self)
        self.__doc__ = getattr(fn, "__doc__", None)

    @property
    def default(self) -> CustomOpDef:
        """The function itself: there are no overloads."""
        return self

    def name(self) -> str:
        """Return the name with its namespace."""
        return self._qualname

    def overloads(self) -> list[str]:
        """Return the names of the overloads, of which there is one."""
        return ["default"]

    @property
    def _schema(self) -> str:
        if self._declared is not None or self._fn is None:
            return self._declared or self._qualname
        return infer_schema(self._fn, mutates_args=self._mutates, op_name=self._qualname)

    @cached_property
    def _kinds(self) -> dict[str, str | None]:
        """The types of the parameters in the schema, where annotations say them."""
        assert self._fn is not None
        try:
            hints = get_type_hints(self._fn)
        except (NameError, TypeError):
            return {}
        single = [
            name
            for name, one in inspect.signature(self._fn).parameters.items()
            if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        found = {name: _schema_of(hints[name]) for name in single if name in hints}
        return {name: word for name, word in found.items() if word in _TAKEN}

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Register an implementation for some devices; only one for the CPU has an effect."""

        def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
            kinds = [device_types] if isinstance(device_types, str) else list(device_types or ())
            if not kinds or "cpu" in kinds:
                self._fn = kernel
                self._function = None
                vars(self).pop("_kinds", None)
            return kernel

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Store a function that describes results of tensors on the device ``"meta"``."""
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Define the derivative of the operation.

        Parameters
        ----------
        backward : callable. ``backward(ctx, *grads)`` returns a gradient for each argument.
        setup_context : callable, optional. ``setup_context(ctx, inputs, output)`` stores the values
            that `backward` needs on ``ctx``.
        """
        if self._mutates:
            raise RuntimeError(
                f"Cannot register autograd formula for {self._qualname}, which writes to arguments"
            )
        self._rules.update(backward=backward, setup_context=setup_context)
        self._function = None

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Define the operation on batches: ``func(info, in_dims, *args)``; a decorator."""
        if func is None:
            return self.register_vmap
        self._rules["vmap"] = func
        self._function = None
        return func

    def _alone(self, function: Callable[..., Any], args: Any, keywords: dict[str, Any]) -> Any:
        """Return what the function makes of arguments; a result that is one of them is refused."""
        tensors = _leaves((args, keywords))
        if any(is_meta(tensor.device) for tensor in tensors):
            return (self._fake or function)(*args, **keywords)
        result = function(*args, **keywords)
        own, seen = (
            [x._payload for x in found if isinstance(x._payload, np.ndarray)]
            for found in (_leaves(result), tensors)
        )
        if any(np.may_share_memory(a, b) for a, b in (*product(own, seen), *combinations(own, 2))):
            raise RuntimeError(
                f"{self._qualname}: The output of this custom operator (1) must not also be an "
                "input to this custom operator and (2) may not alias any inputs to this custom "
                "operator or other returns: return a clone()"
            )
        return result

    def _made(self, lists: _Lists, keywords: dict[str, Any]) -> Any:
        """Return the `Function` that computes it, of the items of lists of tensors."""
        function, rules, name = self._fn, self._rules, self._qualname
        assert function is not None
        parameters = inspect.signature(function).parameters.values()
        required = sum(p.kind < p.VAR_POSITIONAL and p.default is p.empty for p in parameters)
        rebuild: Any = None

        def whole(leaves: Any) -> Any:
            return leaves if rebuild is None else rebuild(list(leaves))

        def forward(*items: Any) -> Any:
            nonlocal rebuild
            result = self._alone(function, lists.nested(items), keywords)
            parts = result if isinstance(result, tuple) else (result,)
            self._nests = any(isinstance(part, list | tuple) for part in parts)
            if not self._nests:
                return result
            leaves, rebuild = flatten(result)
            return tuple(leaves)

        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if rules.get("setup_context") is not None:
                more = {"keyword_only_inputs": keywords} if keywords else {}
                rules["setup_context"](
                    ctx=lists.of(ctx), inputs=lists.nested(inputs), output=whole(output), **more
                )

        def backward(ctx: Any, *grads: Any) -> Any:
            if "backward" not in rules:
                raise RuntimeError(
                    f"Trying to backward through {self._namespace}.{self._name}.default but no "
                    "autograd formula was registered. Please use register_autograd to add one."
                )
            ctx = lists.of(ctx)
            given = whole(grads)
            made = rules["backward"](ctx, *(given if isinstance(given, tuple) else (given,)))
            made = made if isinstance(made, tuple) else (made,)
            needs = ctx.needs_input_grad[len(made) :]
            if len(made) >= required and not any(flatten(needs)[0]):
                # as in PyTorch, without the arguments that have their defaults
                made += (None,) * len(needs)
            return tuple(lists.flat(made, name)) if lists else made

        def vmap(info: Any, in_dims: Any, *items: Any) -> Any:
            return rules["vmap"](info, lists.nested(in_dims), *lists.nested(items), **keywords)

        body: dict[str, Callable[..., Any]] = {
            "forward": forward,
            "setup_context": setup_context,
            "backward": backward,
            "whole": whole,
        }
        if "vmap" in rules:
            body["vmap"] = vmap
        title = f"GeneratedBackwardFor_{self._namespace}_{self._name}_default"
        return type(title, (Function,), {one: staticmethod(f) for one, f in body.items()})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._fn is None:
            raise NotImplementedError(
                f"{self._qualname} has no kernel for the CPU: register one by impl()"
            )
        try:
            bound = inspect.signature(self._fn).bind(*args, **kwargs)
        except TypeError as error:
            what = f"{error}".replace("missing a required", "is missing value for")
            raise RuntimeError(f"{self._qualname}() {what.replace('t: ', 't ')}") from None
        for name, value in bound.arguments.items():
            word = self._kinds.get(name)
            if word is not None and not isinstance(value, _TAKEN[word]):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type '{word}' for argument '{name}' "
                    f"but instead found type '{type(value).__name__}'."
                )
        bound.apply_defaults()
        if _leaves(bound.kwargs):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only: "
                f"those of {self._qualname} would have no derivative"
            )
        if self._mutates:
            written = self._mutates
            names = list(bound.arguments) if isinstance(written, str) else list(written)
            tensors = [
                (name, value) for name in names for value in _leaves(bound.arguments.get(name))
            ]
            for name, value in tensors:
                if value._edge is not None:
                    raise RuntimeError(
                        f"{self._qualname} writes to its argument {name!r}, which requires a "
                        "gradient: pass it detached, or compute under no_grad()"
                    )
            versions = [version_of(value) for _, value in tensors]
            with no_grad():
                result = self._alone(self._fn, bound.args, bound.kwargs)
            for (_, value), version in zip(tensors, versions, strict=True):
                if version_of(value) == version:
                    # it was written to through an array
                    bump(value, self._name)
            return result
        if current_mode() is NO_GRAD or (
            current_mode() is None and all(x._edge is None for x in _leaves(bound.args))
        ):
            # setup_context runs only where there will be a derivative
            with no_grad():
                return self._alone(self._fn, bound.args, bound.kwargs)
        lists = _Lists(bound.args)
        if lists or bound.kwargs or self._nests is not False:
            made = self._made(lists, bound.kwargs)
        else:
            made = self._function = self._function or self._made(lists, {})
        return made.whole(made.apply(*lists.flat(bound.args)))


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Any = (),
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function, which is not traced into; also a decorator.

    Parameters
    ----------
    name : str. ``"namespace::name"``; the operation is also ``ops.namespace.name``.
    fn : callable. The function, of tensors and other arguments; nothing in it is recorded.
    mutates_args : sequence of str. The arguments that it writes to.
    schema : str, optional. The types of arguments and results; by default, of its annotations.
    device_types, tags: Have no effect.

    Returns
    -------
    CustomOpDef: The operation, whose `register_autograd` gives it a derivative.

    Raises
    ------
    ValueError: If the annotations are not those of a schema (see `infer_schema`).

    Examples
    --------
    >>> @wg.library.custom_op("mine::cube", mutates_args=())
    ... def cube(x: wg.Tensor) -> wg.Tensor:
    ...     return wg.from_numpy(np.power(x.numpy(), 3))
    >>> def keep(ctx, inputs, output):
    ...     ctx.save_for_backward(inputs[0])
    >>> cube.register_autograd(lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g, setup_context=keep)
    >>> side = wg.tensor([2.0], requires_grad=True)
    >>> cube(side).backward()
    >>> side.grad
    tensor([12.])
    """
    if fn is None:
        return lambda function: custom_op(name, function, mutates_args=mutates_args, schema=schema)
    if schema is None and (mutates_args == "unknown" or not isinstance(mutates_args, str)):
        infer_schema(fn, mutates_args=mutates_args)
    return CustomOpDef(name, fn, mutates_args, schema and name + schema)


triton_op = custom_op
"""An operation whose kernels are for a GPU: packages define them also where they do not run."""


def _of(op: Any, declared: bool = False) -> CustomOpDef:
    """Return an operation; one that is to be `declared` may come before its definition."""
    if isinstance(op, CustomOpDef):
        return op
    if op not in _KNOWN:
        if declared and "::" in op and not op.startswith("aten::"):
            return CustomOpDef(op, None, ())
        raise RuntimeError(f"there is no operation {op!r}: make it by custom_op or define")
    return _KNOWN[op]


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """Define the derivative of an operation; see `CustomOpDef.register_autograd`."""
    _of(op).register_autograd(backward, setup_context=setup_context)


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, **options: Any
) -> Any:
    """Store a function that describes an operation's result; also a decorator.

    PyTorch refuses an operation that does not exist. Here it is accepted, so that packages can be
    imported without their compiled libraries.

    Raises
    ------
    ValueError: If `op` has no namespace.
    """
    if isinstance(op, str) and "::" not in op:
        raise ValueError(f"{op!r} has no namespace: write 'namespace::name'")
    found = CustomOpDef(op, None, ()) if isinstance(op, str) and op not in _KNOWN else _of(op)
    return found.register_fake if func is None else found.register_fake(func)


impl_abstract = register_fake


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Register an implementation for some devices; also a decorator."""
    return _of(op).register_kernel(device_types, func)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Define an operation on batches; also a decorator."""
    return _of(op).register_vmap(func)


def define(qualname: Any, schema: str, *, lib: Any = None, tags: Any = ()) -> Any:
    """Define an operation without a function; `impl` sets it.

    With a `Library` in place of a name it is a decorator of the function.
    """
    if isinstance(qualname, Library):
        name = qualname.define(schema)
        return qualname._implemented(name, "")
    if qualname not in _KNOWN:
        CustomOpDef(qualname, None, (), f"{qualname}({schema.partition('(')[2]}")
    return None


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Set the function of a defined operation; also a decorator.

    A function for other devices than the CPU is not used. With a `Library` in place of a name,
    `types` is the name there, and `func` the device.
    """
    if isinstance(qualname, Library):
        return qualname._implemented(types, func or "")
    kinds = [types] if isinstance(types, str) else list(types)
    names = {"CompositeExplicitAutograd": "cpu", "default": "cpu"}
    return _of(qualname, declared=True).register_kernel(
        [names.get(k, k.lower()) for k in kinds], func
    )


_SCHEMA = {
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    dtype: "ScalarType",
    device: "Device",
}
_RETURNED = frozenset({"Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"})
_DEFAULTS = (type(None), int, float, str, dtype, device)
_TAKEN: dict[str | None, Any] = {
    "Tensor": TensorBase,
    "str": str,
    "SymInt": (int, np.integer, TensorBase),
    "float": (int, float, np.number, TensorBase),
}
"""What an argument of a type in a schema may be."""


def _schema_of(kind: Any, mark: str = "") -> str | None:
    """Return how a schema writes the type of an annotation, or None if it cannot."""
    home, parts = get_origin(kind), get_args(kind)
    if home in (Union, types.UnionType):
        if set(parts) <= {int, float, bool, complex}:
            return "Scalar"
        rest = [part for part in parts if part is not type(None)]
        found = _schema_of(rest[0], mark) if len(rest) == 1 < len(parts) else None
        return found and f"{found}?"
    if home in (list, Sequence) or (home is tuple and parts[1:] == (...,)):
        found = _schema_of(parts[0], mark)
        return found and f"{found}[]"
    if isinstance(kind, type) and issubclass(kind, TensorBase):
        return f"Tensor{mark}"
    return _SCHEMA.get(kind)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: Any,
    op_name: str | None = None,
) -> str:
    """Return the schema of an operation, from the annotations of a function.

    Parameters
    ----------
    prototype_function : callable. Has a type for each parameter, and for its result.
    mutates_args : sequence of str. The arguments that it writes to; ``"unknown"`` means all.
    op_name : str, optional. The name at the front.

    Raises
    ------
    ValueError: If an annotation is missing, or a schema has no such type.

    Examples
    --------
    >>> def scaled(x: wg.Tensor, by: float = 2.0) -> wg.Tensor: ...
    >>> wg.library.infer_schema(scaled, mutates_args=(), op_name="scaled")
    'scaled(Tensor x, float by=2.0) -> Tensor'
    """
    hints, words = get_type_hints(prototype_function), []
    signature = inspect.signature(prototype_function)

    def refused(why: str) -> ValueError:
        return ValueError(f"infer_schema(func): {why}. Got func with signature {signature})")

    def written(what: str, kind: Any, mark: str = "") -> str:
        found = _schema_of(kind, mark)
        if found is None or (what == "Return" and found not in _RETURNED):
            raise ValueError(
                f"infer_schema(func): {what} has unsupported type {kind}. The types of a schema "
                "are Tensor, int, float, bool and numbers, lists of tensors, and of arguments str, "
                "dtype, device, lists and optionals, too"
            )
        return found

    everything = mutates_args == "unknown"
    if not everything and (unknown := set(mutates_args) - set(signature.parameters)):
        raise ValueError(f"infer_schema(func): {unknown} in mutates_args were not found")
    for i, (name, one) in enumerate(signature.parameters.items()):
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise refused("We do not support positional-only args, varargs, or varkwargs")
        if name not in hints:
            raise refused(f"Parameter {name} must have a type annotation")
        if one.kind is one.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        word, mark, value = written(f"Parameter {name}", hints[name]), f"(a{i}!)", one.default
        if everything or name in mutates_args:
            if "Tensor" in word:
                word = written(name, hints[name], mark)
            elif not everything:
                raise ValueError(f"infer_schema(func): {name} in mutates_args is not a tensor")
        given = f'"{value}"' if isinstance(value, str | device) else str(value)
        if value is not one.empty and not isinstance(value, _DEFAULTS):
            raise ValueError(
                f"infer_schema(func): Parameter {name} has an unsupported default value type "
                f"{type(value)}"
            )
        given = "" if value is one.empty else f"={given.removeprefix('torch.')}"
        words.append(f"{word} {name}{given}")
    if "return" not in hints:
        raise refused("No return type annotation was provided. Please add one")
    made = hints["return"]
    if get_origin(made) is tuple:
        result = f"({', '.join(written('Return', part) for part in get_args(made))})"
    else:
        result = "()" if made is type(None) else written("Return", made)
    return f"{op_name or ''}({', '.join(words)}) -> {result}"


class OpCheckError(Exception):
    """An operation does not do what its definition says; `opcheck` raises this."""


def _copied(values: Any) -> Any:
    leaves, rebuilt = flatten(values)
    return rebuilt(
        [
            leaf.detach().clone().requires_grad_(leaf.requires_grad)  # type: ignore[attr-defined]
            if isinstance(leaf, TensorBase)
            else leaf
            for leaf in leaves
        ]
    )


def _check_writes(op: CustomOpDef, args: Any, kwargs: Any) -> None:
    """Refuse writes to arguments that the definition does not name."""
    copied, keywords = _copied((args, kwargs))
    bind = inspect.signature(cast("Callable[..., Any]", op._fn)).bind
    op(*copied, **keywords)
    before = bind(*args, **kwargs).arguments
    for name, value in bind(*copied, **keywords).arguments.items():
        told = op._mutates == "unknown" or name in op._mutates
        for one, other in zip(_leaves(value), _leaves(before[name]), strict=True):
            if not told and one._payload.tobytes() != other._payload.tobytes():
                raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _check_gradients(op: CustomOpDef, args: Any, kwargs: Any) -> None:
    """Run the derivative, where there is one."""
    args, kwargs = _copied((args, kwargs))
    for leaf in _leaves(op(*args, **kwargs)) if "backward" in op._rules else ():
        if leaf.requires_grad:
            leaf.sum().backward(retain_graph=True)


def _check_fake(op: CustomOpDef, args: Any, kwargs: Any) -> None:
    """Compare the shapes and dtypes that the fake implementation gives, where there is one."""
    if op._fake is None:
        return
    results = [_leaves(op(*args, **kwargs))]
    leaves, rebuilt = flatten(_copied((args, kwargs)))
    args, kwargs = rebuilt([x.to("meta") if isinstance(x, TensorBase) else x for x in leaves])  # type: ignore[attr-defined]
    results.append(_leaves(op._fake(*args, **kwargs)))
    real, fake = ([(tuple(x.shape), x.dtype) for x in made] for made in results)
    if real != fake:
        raise RuntimeError(
            f"the results have the shapes and dtypes {real}, but are faked as {fake}"
        )


_CHECKS = {
    "test_schema": _check_writes,
    "test_autograd_registration": _check_gradients,
    "test_faketensor": _check_fake,
    "test_aot_dispatch_dynamic": _check_gradients,
}


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = tuple(_CHECKS),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check, on example arguments, that an operation does what its definition says.

    ``"test_schema"``: it writes to no other arguments than those named; ``"test_faketensor"``: its
    results have the shapes and dtypes that `register_fake` says; the others: its derivative can be
    computed. `autograd.gradcheck` checks that the derivative is right.

    Parameters
    ----------
    op : CustomOpDef or str. The operation, or its name.
    args, kwargs : tuple, dict. The arguments, of which copies are used.
    test_utils : str or sequence of str. The checks to make.
    raise_exception : bool. Whether to raise at the first check that fails.
    atol, rtol : float. Have no effect.

    Returns
    -------
    dict: ``"SUCCESS"`` or an exception for each check.

    Raises
    ------
    OpCheckError: If a check fails.
    ValueError: For a check that does not exist.

    Examples
    --------
    >>> @wg.library.custom_op("ours::halved", mutates_args=())
    ... def halved(x: wg.Tensor) -> wg.Tensor:
    ...     return x / 2
    >>> wg.library.opcheck(halved, (wg.ones(3),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    found: dict[str, Any] = {}
    checked = _of(op)
    for name in (test_utils,) if isinstance(test_utils, str) else test_utils:
        if name not in _CHECKS:
            raise ValueError(f"opcheck(): test_utils names {name!r}; there are {list(_CHECKS)}")
        try:
            _CHECKS[name](checked, args, kwargs or {})
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            found[name] = error
    return found


class Library:
    """A namespace of operations, made by `define` and implemented by `impl`.

    Parameters
    ----------
    ns : str. The namespace.
    kind : {"DEF", "FRAGMENT", "IMPL"}. Has no effect.
    dispatch_key : str. The default key of `impl`.

    Examples
    --------
    >>> library = wg.library.Library("yours", "DEF")
    >>> _ = library.define("half(Tensor x) -> Tensor")
    >>> library.impl("half", lambda x: x / 2, "CPU")
    >>> wg.ops.yours.half(wg.full((1,), 118.0))
    tensor([59.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operation, and return its name."""
        name = schema.partition("(")[0].strip()
        self._defined.append(f"{self.ns}::{name}")
        define(self._defined[-1], schema)
        return name

    def _implemented(self, name: Any, key: str) -> Callable[[Any], Any]:
        """Return a decorator that sets the function of an operation."""

        def decorate(function: Any) -> Any:
            self.impl(name, function, key)
            return function

        return decorate

    def _destroy(self) -> None:
        """Remove the operations that it has defined."""
        for name in self._defined:
            op, space = _KNOWN.pop(name, None), getattr(operations, self.ns, None)
            if op is not None and space is not None:
                vars(space).pop(op._name, None)

    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        """Set the function of an operation."""
        name = op_name if isinstance(op_name, str) else op_name._name
        impl(f"{self.ns}::{name}", dispatch_key or self.dispatch_key or "cpu", fn)


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A `Library` whose operations exist only inside the context."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


# settings of packages for exporters, of which there are none here


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Do nothing: models are not exported from here."""


def parse_args(*kinds: str) -> Callable[[Any], Any]:
    """Return a decorator that leaves an exporter's function unchanged."""
    return lambda function: function
