"""Layer 7 · autograd: `Function`, an operation with a user-defined derivative."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from wengert.autograd.closures import names_recorded
from wengert.autograd.context import FunctionCtx as FunctionCtx
from wengert.autograd.function_node import OF_NODES, Context
from wengert.autograd.function_node import FunctionNode as BackwardCFunction
from wengert.autograd.function_node import FunctionNode as FunctionNode
from wengert.autograd.function_outputs import finish
from wengert.autograd.once import once_differentiable as once_differentiable
from wengert.base.ports import PORTS
from wengert.interp.levels import Level, levels_of
from wengert.tape.base import TensorBase
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import current_mode, is_recording, no_grad
from wengert.tape.node import edge_of
from wengert.tape.sites import warn
from wengert.tape.write_checks import REVERSE

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

R = TypeVar("R", covariant=True)


class _Computes(Protocol[R]):
    """A class with a `forward`, whose result type is that of `apply`."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> R: ...


class Function:
    """The base class of operations with a user-defined derivative.

    ``forward(ctx, *args)`` computes the outputs, without recording, and ``backward(ctx, *grads)``
    returns one gradient for each argument of `forward`, or None. Alternatively, write
    ``forward(*args)`` without ctx together with ``setup_context(ctx, inputs, output)``. Call the
    operation by ``apply``. Operations in `backward` are recorded under ``create_graph=True``, so
    second derivatives work if `backward` uses differentiable operations on inputs and outputs.

    A gradient is converted to the dtype of its argument. Two differences from PyTorch: summing a
    gradient down to a smaller shape, as broadcasting requires, also warns. And if `backward` uses a
    value that `forward` computed but did not return, a second derivative raises instead of being
    wrong (see `keeps_constants`).

    Examples
    --------
    >>> class Square(wg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad_output
    >>> x = wg.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _node_class: ClassVar[type[FunctionNode]]
    _backward_cls: ClassVar[type[FunctionNode]]
    """The node class, under PyTorch's name."""
    _carries_closures: ClassVar[bool] = False
    """Whether tangents of values that `forward` closes over count; PyTorch drops them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are "
            "all static, so you should invoke them on the class itself: "
            f"{type(self).__name__}.apply(...)",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: call a Function by `apply`."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: call "
            f"{type(self).__name__}.apply(...)"
        )

    def __getattr__(self, name: str) -> Any:
        if name in OF_NODES or name in ("saved_tensors", "saved_variables"):
            raise RuntimeError(
                f"Attribute '{name}' is invalid for this instance of {type(self).__name__}: it is "
                "one of the node that apply() records, which is the grad_fn of the result"
            )
        if name == "metadata":
            raise RuntimeError(
                "You attempted to access the anomaly metadata of a custom autograd function but "
                "the underlying PyNode has already been deallocated: it is that of a grad_fn"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "vjp" in cls.__dict__:
            # two names of one method
            both = "backward" in cls.__dict__
            cls.backward = _refused if both else cls.vjp  # type: ignore[method-assign]
        name = f"{cls.__name__}Backward"
        body = {"__slots__": (), "function": cls, "label": name, "__module__": cls.__module__}
        cls._node_class = type(name, (FunctionNode,), body)
        cls._backward_cls = cls._node_class

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, a tensor or a tuple; override this method."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save values for `backward`, if `forward` takes no ctx; override this method."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **kwargs: Any) -> Any:
        """Return the gradients of the arguments from those of the outputs; override this method."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any, **kwargs: Any) -> Any:
        """Another name for `backward`."""
        raise NotImplementedError("define backward, or vjp in its place")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any, **kwargs: Any) -> Any:
        """Return the tangents of the outputs from those of the arguments, for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    keeps_constants = False
    """Whether second derivatives treat values that `forward` kept as constants, as in PyTorch.

    By default, a second derivative raises if it would flow through a value (a tensor, an array, a
    number) that `forward` computed from its arguments and kept, on `ctx` or elsewhere, without
    returning it. To find out, `forward` runs again when `backward` is first recorded. Set True, on
    a Function or on this class, if such constants are intended.
    """

    clear_saved_tensors_on_access = False
    """Whether a node drops its saved tensors once `backward` has read ``ctx.saved_tensors``.

    Their memory can then be freed while `backward` computes; a second read raises.
    """

    boxed_grads_call = False
    """Whether `backward` gets the gradients of the outputs in one list, ``backward(ctx, grads)``.

    It then holds the only references to gradients that it removes from the list.
    """

    generate_vmap_rule = False
    """Accepted for compatibility: without a `vmap` method, operations run on the whole batch."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs for a batch of ``info.batch_size``, and their batch dimensions."""
        raise NotImplementedError(
            "the vmap rule is not implemented: define vmap, or set generate_vmap_rule = True"
        )

    @classmethod
    def apply(cls: type[_Computes[R]], *args: Any, **kwargs: Any) -> R:
        """Run `forward` on `args` and record the call as one node.

        Keyword arguments are matched to the parameters of `forward`.
        """
        if kwargs:
            own = cls.setup_context  # type: ignore[attr-defined]
            context = (None,) if own is Function.setup_context else ()
            bound = inspect.signature(cls.forward).bind(*context, *args, **kwargs)
            args = bound.args[len(context) :]
        if cls.setup_context is not Function.setup_context:  # type: ignore[attr-defined]
            args = _with_defaults(cls.forward, args)
        if Function._needs_rules:
            cls._check_rules(args)  # type: ignore[attr-defined]
        mode = current_mode()
        if mode is not None and mode.levels:
            made: Any = PORTS.applied(cls, args)
            if made is not NotImplemented:
                return made
        return cls._applied(args)[0]  # type: ignore[attr-defined]

    _needs_rules: ClassVar[bool] = False
    """Whether transforms refuse Functions that lack a rule for them, as PyTorch's transforms do.

    Otherwise `forward` runs on the values of the transform.
    """

    @classmethod
    def _check_rules(cls, args: tuple[Any, ...]) -> None:
        """Raise if a transform runs that PyTorch would not let call this Function."""
        mode = current_mode()
        levels = () if mode is None else mode.levels
        batches = [level.number for level in levels if level.size and level.randomness != "never"]
        if not (batches or REVERSE.get()) or cls.forward.__module__.startswith("wengert."):
            return
        if cls.setup_context is Function.setup_context:
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
                "jacrev, ...), it must override the setup_context staticmethod: "
                f"{cls.__name__}.forward takes no ctx then."
            )
        found = levels_of(*[a._payload for a in args if isinstance(a, TensorBase)])
        if cls.vmap is Function.vmap and not cls.generate_vmap_rule and found.keys() & {*batches}:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
                "override and implement the vmap staticmethod or set generate_vmap_rule=True."
            )

    @classmethod
    def closes_over(cls, owner: Any, edges: Sequence[Any]) -> bool:
        """Return whether `backward` uses tensors that require a gradient but are not arguments.

        These are variables of an enclosing function, and globals. `owner` is the source of the
        rules, for the library's own Functions that take them from elsewhere; `edges` are the edges
        of the arguments.
        """
        return names_recorded(cls.backward, edges)

    @classmethod
    def _applied(cls, args: tuple[Any, ...]) -> tuple[Any, FunctionNode]:
        """Return the outputs, and the node that they are tied to if the call is recorded."""
        recording = is_recording()
        needs = tuple(isinstance(a, TensorBase) and a._edge is not None for a in args)
        recorded = recording and any(needs)
        for a in args if recorded else ():
            if isinstance(a, TensorBase) and isinstance(a._edge, Invalidated):
                raise RuntimeError(a._edge.message)
        node = cls._node_class(needs)
        node._recorded = recorded
        if recorded:
            node._given = args
            # read before forward, which may write to its arguments
            node.edges = tuple([edge_of(a) for a in args if isinstance(a, TensorBase)])
        mode = current_mode()
        known: dict[int, Level] = {}
        sheds = mode is not None and mode.levels and not cls._carries_closures
        if sheds:
            known = levels_of(*[a._payload for a in args if isinstance(a, TensorBase)])
        with no_grad():
            output = cls._call_forward(node, args)
        if sheds:
            output = PORTS.shed(output, args, known)
        return finish(node, args, output, recorded), node

    @classmethod
    def _call_forward(cls, node: FunctionNode, args: tuple[Any, ...]) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(Context(node), *args)
        output = cls.forward(*args)
        cls.setup_context(Context(node), args, output)
        parts = output if isinstance(output, tuple | list) else (output,)
        returned = [a for a in args if any(a is part for part in parts)]
        kept = (*(node._to_save or ()), *node._saved_for_forward)
        for value in returned if kept else ():
            if any(value is one for one in kept) and not any(value is d for d in node._dirty):
                raise RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. "
                    "This is not supported if you override setup_context. You should return and "
                    "save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
                    "the forward function itself."
                )
        return output


def _with_defaults(forward: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `args` followed by the defaults of missing positional arguments of `forward`."""
    function = getattr(forward, "__func__", forward)
    defaults = getattr(function, "__defaults__", None)
    if not defaults:
        return args
    count = function.__code__.co_argcount - (function is not forward)
    missing = count - len(args)
    return (*args, *defaults[-missing:]) if 0 < missing <= len(defaults) else args


def _refused(ctx: Any, *grad_outputs: Any) -> Any:
    raise RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
        "only implement one of them."
    )


class InplaceFunction(Function):
    """The old base class of in-place Functions; use `Function` with `mark_dirty` instead.

    Instances have ``inplace``, as in PyTorch; making one warns, as for `Function`.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
