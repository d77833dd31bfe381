"""Layer 9 · fx: `Tracer`, which calls a program with proxies, and `symbolic_trace`."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, MethodType
from typing import Any

import wengert
from wengert.base.device import device
from wengert.base.dtypes import dtype
from wengert.fx.graph import Graph
from wengert.fx.graph_module import GraphModule
from wengert.fx.proxy import ParameterProxy, Proxy, TracerBase
from wengert.nn.modules.container import Sequential
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

__all__ = ["Tracer", "symbolic_trace", "wrap"]

_WRAPPED: list[tuple[dict[str, Any], str]] = []
"""Functions that are not traced into: the globals of their modules, and their own names."""


_TRACING: ContextVar[bool] = ContextVar("fx_tracing", default=False)


def is_fx_tracing() -> bool:
    """Return whether a `Tracer` is calling the program."""
    return _TRACING.get()


def _wrapped(space: dict[str, Any], name: str) -> Any:
    return space.get(name) or getattr(builtins, name)


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


_COMPARED = (str, int, float, complex, dtype, device)
"""Types of concrete arguments whose equality a graph checks."""


def wrap(fn_or_name: Any) -> Any:
    """Make a function a leaf call of the graph instead of tracing into it; call at module level.

    Parameters
    ----------
    fn_or_name : callable or str. The function, or its name, as in ``wrap("len")``.

    Raises
    ------
    RuntimeError: If it is neither, or if this is not called at module level.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _WRAPPED.append((frame.f_globals, name))
    return fn_or_name


def _annotations(fn: Any) -> dict[str, Any]:
    """Return a function's annotations; this package's own are strings that a program cannot use."""
    return {} if f"{fn.__module__}".startswith("wengert.") else fn.__annotations__


class Tracer(TracerBase):
    """Traces the graph of a module or a function by calling it with proxies.

    A subclass can define which modules stay calls (`is_leaf_module`), and how calls are recorded.

    Parameters
    ----------
    autowrap_modules : tuple of module. Modules whose functions are not traced into; default:
        `math`.
    autowrap_functions : tuple of callable. Functions that are not traced into.
    param_shapes_constant : bool. Whether shapes of parameters are constants, which the program may
        branch on.

    Examples
    --------
    >>> class Flat(wg.fx.Tracer):
    ...     def is_leaf_module(self, m, qualified_name):
    ...         return False
    >>> graph = Flat().trace(wg.nn.ReLU())
    >>> [node.op for node in graph.nodes]
    ['placeholder', 'call_function', 'output']
    """

    traced_func_name = "forward"
    """The method of a module that is traced."""

    def __init__(
        self,
        autowrap_modules: tuple[Any, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._modules = autowrap_modules
        self._functions = {
            id(f) for m in autowrap_modules for f in vars(m).values() if callable(f)
        } | set(map(id, autowrap_functions))
        self.root: Any = None
        self._paths: dict[int, str] = {}
        self._constants = 0
        self.param_shapes_constant = param_shapes_constant

    # -- for subclasses ----------------------------------------------------------------------------

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Return whether a module is a leaf: the library's modules are, except `Sequential`."""
        return m.__module__.startswith(("wengert.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Any) -> str:
        """Return the name of a module within the root.

        Raises
        ------
        NameError: If it is not in the root.
        """
        found = self._paths.get(id(mod))
        if found is None:
            raise NameError("module is not installed as a submodule")
        return found

    def call_module(self, m: Any, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return a node for the call of a module, or the result of `forward` on proxies."""
        name = self.path_of_module(m)
        if self.is_leaf_module(m, name):
            return self.create_proxy("call_module", name, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return an attribute of a module: a proxy if it is a parameter."""
        if isinstance(attr_val, Parameter):
            for name, held in self.root.named_parameters():
                if held is attr_val:
                    if name not in parameter_proxy_cache:
                        made = self.create_proxy("get_attr", name, (), {})
                        if self.param_shapes_constant:
                            made = ParameterProxy(made.node, name, attr_val, self)
                        parameter_proxy_cache[name] = made
                    return parameter_proxy_cache[name]
        return attr_val

    def create_arg(self, a: Any) -> Any:
        """Return the argument for a node; tensors become attributes of the root."""
        if isinstance(a, TensorBase):
            name = self._held.get(id(a))
            if name is None:
                name = f"_tensor_constant{self._constants}"
                while hasattr(self.root, name):
                    self._constants += 1
                    name = f"_tensor_constant{self._constants}"
                setattr(self.root, name, a)
                self._held[id(a)] = name
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    # -- tracing -----------------------------------------------------------------------------------

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """Trace a module or a function, and return its graph.

        Parameters
        ----------
        root : Module or callable.
        concrete_args : dict, optional. Concrete values of arguments: the trace is valid for these
            only.

        Raises
        ------
        TraceError: If the program branches on the value of a proxy.
        """
        if isinstance(root, Module):
            given = getattr(type(root), self.traced_func_name, None)
            if given is None:
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in "
                    f"{type(root).__name__}"
                )
            self.root, bound = root, [root]
        else:
            self.root, given, bound = Module(), root, []
        fn: Any = inspect.unwrap(given)
        if isinstance(fn, MethodType):
            fn, bound = fn.__func__, [fn.__self__]
        if not isinstance(fn, FunctionType):
            raise TypeError(f"symbolic_trace() takes a module or a function, not {type(root)}")
        self._paths = {id(m): name for name, m in self.root.named_modules(remove_duplicate=True)}
        self.graph = Graph(tracer_cls=type(self))
        named = [*self.root.named_parameters(), *self.root.named_buffers()]
        self._held = {id(tensor): name for name, tensor in named}
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, TensorBase):
                    self._held.setdefault(id(value), f"{prefix}.{name}".lstrip("."))
        args = self._inputs(fn, len(bound), concrete_args or {})
        with self._watching(fn):
            made = _of_all(fn)(*bound, *args)
        returned = _annotations(fn).get("return")
        self.create_node("output", "output", (self.create_arg(made),), {}, None, returned)
        return self.graph

    def _inputs(self, fn: Any, bound: int, concrete: dict[str, Any]) -> list[Any]:
        """Return proxies for the arguments of a function, in the order of its variables."""
        args: list[Any] = []
        annotated = _annotations(fn)
        named = [*inspect.signature(fn).parameters.values()][bound:]
        # code has *args after the keyword-only arguments
        for param in sorted(named, key=lambda param: _ORDER.index(param.kind)):
            stars = _STARS.get(param.kind, "")
            default = () if param.default is param.empty else (param.default,)
            if param.name in concrete:
                value = concrete[param.name]
                given = self.create_proxy("placeholder", f"{param.name}_1", default, {})
                if value is None or isinstance(value, _COMPARED):
                    why = (
                        f"{param.name} has been specialized to have value {value} but got another "
                        "value"
                    )
                    check, found = (
                        (_assert_is_none, given)
                        if value is None
                        else (wengert._assert, given == value)  # type: ignore[attr-defined]
                    )
                    self.create_proxy("call_function", check, (found, why), {})
                else:
                    warn(
                        "Was not able to add assertion to guarantee correct input "
                        f"{param.name} to specialized function: pass the same object in each call"
                    )
            else:
                name = "_" + param.name if stars else param.name
                kind = None if stars else annotated.get(param.name)
                target = stars + param.name
                value = self.create_proxy("placeholder", target, default, {}, name, kind)
            args.append(value)
        return args

    @contextmanager
    def _watching(self, fn: Any) -> Iterator[None]:
        """Return a context that records calls of modules, parameters and wrapped functions."""
        call: Any = Module.__call__
        attribute = Module.__getattr__
        cache: dict[str, Any] = {}
        tracer = self

        @functools.wraps(call)
        def called(mod: Any, *args: Any, **kwargs: Any) -> Any:
            if id(mod) not in tracer._paths:
                return call(mod, *args, **kwargs)
            return tracer.call_module(mod, lambda *a, **k: call(mod, *a, **k), args, kwargs)

        def got(mod: Any, name: str) -> Any:
            return tracer.getattr(name, attribute(mod, name), cache)

        patched: list[tuple[Any, str, Any]] = []

        def patch(space: dict[str, Any], name: str, value: Any) -> None:
            patched.append((space, name, space.get(name, patched)))
            space[name] = value

        spaces: list[Any] = [getattr(fn, "__globals__", {}), *map(vars, self._modules)]
        spaces += [getattr(type(m).forward, "__globals__", {}) for m in self.root.modules()]
        wrapped = {id(_wrapped(*one)) for one in _WRAPPED}
        for space in {id(space): space for space in spaces}.values():
            unnamed = "__name__" not in space
            if not unnamed and space["__name__"].startswith("wengert."):
                continue
            for name, value in list(space.items()):
                # the code of a graph has no name, and keeps the calls of the program it is of
                if id(value) in self._functions or (id(value) in wrapped and unnamed):
                    patch(space, name, self._noting(value))
        for space, name in _WRAPPED:
            patch(space, name, self._noting(_wrapped(space, name)))
        Module.__call__ = called  # type: ignore[method-assign, assignment]
        Module.__getattr__ = got  # type: ignore[method-assign]
        token = _TRACING.set(True)
        try:
            yield
        finally:
            _TRACING.reset(token)
            Module.__call__ = call  # type: ignore[method-assign]
            Module.__getattr__ = attribute  # type: ignore[method-assign]
            for space, name, value in reversed(patched):
                if value is patched:
                    del space[name]
                else:
                    space[name] = value

    def _noting(self, function: Any) -> Any:
        """Return `function`, recorded rather than called if an argument is a proxy."""

        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(a, Proxy) for a in (*args, *kwargs.values())):
                return self.create_proxy("call_function", function, args, kwargs)
            return function(*args, **kwargs)

        return noted


_KINDS = inspect.Parameter
_STARS: dict[Any, str] = {_KINDS.VAR_POSITIONAL: "*", _KINDS.VAR_KEYWORD: "**"}
_ORDER = (
    _KINDS.POSITIONAL_ONLY,
    _KINDS.POSITIONAL_OR_KEYWORD,
    _KINDS.KEYWORD_ONLY,
    _KINDS.VAR_POSITIONAL,
    _KINDS.VAR_KEYWORD,
)


def _of_all(fn: Any) -> Any:
    """Return a function that takes all arguments by position, and proxies for starred ones."""
    code = fn.__code__
    stars = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(bool(code.co_flags & star) for star in stars)
    code = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~(stars[0] | stars[1]),
    )
    return FunctionType(code, fn.__globals__, fn.__name__, closure=fn.__closure__)


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Trace a module or a function, and return a module that runs its graph.

    Parameters
    ----------
    root : Module or callable.
    concrete_args : dict, optional. Concrete values of arguments.

    Returns
    -------
    GraphModule: With the parameters and modules of `root` that the graph uses.

    Raises
    ------
    TraceError: If the program branches on a value that is not known while tracing.

    Examples
    --------
    >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x) + 1)
    >>> print(traced.code.strip())
    def forward(self, x):
        relu = torch.relu(x);  x = None
        add = relu + 1;  relu = None
        return add
    >>> traced(wg.tensor([-1.0, 2.0]))
    tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
