"""Layer 6 · tensor: subclasses that see every operation on them, by ``__torch_function__``.

NOTE [overriding]
This machinery is installed when the first subclass of `Tensor` that overrides operations is defined
(Parameter does not). A class whose operators, methods and properties call ``__torch_function__`` is
then inserted between `Tensor` and the subclass. The public functions, and the methods of plain
tensors that take a second tensor, are replaced by ones that look for such a subclass among their
arguments. Operators of plain tensors stay unchanged, since Python asks the operand of the subclass
first. The recorder and the primitives below are not involved.

NOTE [overriding without tensors]
A class that is not a subclass of `Tensor` may have a ``__torch_function__``, too. The creation of
such a class is only noticed if the package is installed as ``torch``, which watches class
definitions (see `wengert.compat`). `prepare` then installs the same machinery, together with
operators of plain tensors that check the other operand. It does so before the class body runs,
since the body may contain tables of the functions that it implements.

NOTE [modes of overriding]
A `TorchFunctionMode` sees every call of a public function or a method, with any arguments. While
one is active, the methods of plain tensors are replaced by ones that ask the innermost mode; when
the last one exits, they are restored. Other threads have no mode, and compute as usual.
"""

from __future__ import annotations

import inspect
import sys
import types
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import WRAPPER_ASSIGNMENTS, cache, update_wrapper, wraps
from typing import Any

from wengert.base.names import INSTALLED
from wengert.base.patches import put
from wengert.base.ports import PORTS
from wengert.ops.exports import EXPORTS
from wengert.prims.facet import OPERATOR
from wengert.tape.base import TensorBase
from wengert.tape.compiled import FUNCTIONS

_LOCK = allocate_lock()
_DISABLED: ContextVar[bool] = ContextVar("torch_function_disabled", default=False)
_OVERRIDING: list[type] = []
"""The class between `Tensor` and its overriding subclasses, once there is one."""
_BETWEEN = "OverridingTensor"
_WATCHED: list[bool] = []
"""Whether operators of plain tensors also check for classes that do not derive from `Tensor`."""
_PUBLISHED: list[types.ModuleType] = []
_PLAIN_KINDS: list[Any] = []
"""Subclasses of `Tensor` that override nothing."""
_NOT_WRAPPED: set[Any] = set()
_LOOKING: set[Any] = set()
"""Functions that look for overriding subclasses before they call their ``__wrapped__``."""

# the copy protocols keep classes on their own, and the machinery must not call itself
_LEFT_ALONE = (
    "__new__ __init__ __init_subclass__ __torch_function__ __copy__ __deepcopy__ __reduce_ex__ "
    "__getstate__ __hash__ _make_subclass _make_wrapper_subclass as_subclass _number"
)
_THEMSELVES = "compile cond is_storage is_tensor load save typename vmap"
_TAKES_NO_TENSOR = frozenset(_THEMSELVES.split())
"""Functions that query the argument itself, of any class."""
_OF_DATA = frozenset({"as_tensor", "asarray", "tensor"})
"""Functions of data of any class, which only modes see."""
_OVERRIDES: dict[type, bool] = dict.fromkeys((int, float, bool, str, type(None), slice), False)
"""Whether instances of a class override ``__torch_function__``, for some common classes."""
_BACKWARD = frozenset({"backward", "grad"})
_OPERATORS = {symbol: prim for prim, symbol in OPERATOR.items() if symbol}
_BINARY = frozenset(["matmul", *[s for s, prim in _OPERATORS.items() if len(prim.args) == 2]])
_DUNDERS = frozenset([f"__{way}{symbol}__" for symbol in _BINARY for way in ("", "r", "i")])
_COMMUTES = frozenset({"add", "mul"})
_OWN = frozenset({"and", "or", "xor", "invert", "eq"})
"""Operators that keep their names."""
_NAMES = {
    **{f"__i{s}__": f"{prim.name}_" for s, prim in _OPERATORS.items() if s not in _OWN},
    **{f"__{s}__": prim.name for s, prim in _OPERATORS.items() if s not in {*_OWN, "floordiv"}},
    "__matmul__": "matmul",
}
"""The names under which operators reach ``__torch_function__``, if not their own."""


class DisableTorchFunctionSubclass:
    """A context that treats subclasses as plain tensors: no ``__torch_function__`` runs."""

    def __enter__(self) -> None:
        self._token = _DISABLED.set(True)

    def __exit__(self, *_: object) -> None:
        _DISABLED.reset(self._token)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """A context in which no ``__torch_function__`` runs, of classes or of modes."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes = MODES.set(())

    def __exit__(self, *exc: object) -> None:
        MODES.reset(self._modes)
        super().__exit__(*exc)


def is_traceable_wrapper_subclass(value: Any) -> bool:
    """Return whether a tensor says of which tensors it consists, as a wrapper in PyTorch does."""
    return isinstance(value, TensorBase) and hasattr(value, "__tensor_flatten__")


def is_enabled() -> bool:
    """Return whether ``__torch_function__`` is enabled in this context."""
    return not _DISABLED.get()


def disabled_torch_function(
    func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """Handle ``__torch_function__`` for a subclass whose operations return plain tensors."""
    if _is_foreign(func):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def default_torch_function(
    cls: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    """Run `func` on plain tensors and make its results instances of `cls`."""
    if _is_foreign(func) or not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in _NOT_WRAPPED else _converted(result, cls)


def get_default_nowrap_functions() -> set[Any]:
    """Return the functions whose results keep their class by default: those of ``.grad``."""
    return _NOT_WRAPPED


def _is_foreign(func: Any) -> bool:
    """Return whether `func` is PyTorch's own, which would dispatch back without end."""
    if isinstance(func, FUNCTIONS):
        return func.__module__.startswith("torch.")
    return isinstance(func, types.BuiltinFunctionType | types.MethodDescriptorType)


def _converted(result: Any, cls: Any) -> Any:
    if isinstance(result, TensorBase):
        if cls is PORTS.tensor or isinstance(result, cls):
            return result
        return result.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(result, tuple | list):
        parts = [_converted(part, cls) for part in result]
        if any(new is not old for new, old in zip(parts, result, strict=True)):
            return type(result)(parts)
    return result


# -- dispatch --------------------------------------------------------------------------------------


def _overriding(args: Any, kwargs: Any) -> bool:
    """Return whether an instance of an overriding subclass is among the arguments."""
    for values in (args, kwargs.values()) if kwargs else (args,):
        for value in values:
            if value.__class__ is list or value.__class__ is tuple:
                if any(map(overrides, value)):
                    return True
            elif overrides(value):
                return True
    return False


def overrides(value: Any) -> bool:
    """Return whether the class of a value overrides ``__torch_function__``."""
    cls = type(value)
    known = _OVERRIDES.get(cls)
    if known is None:
        found = getattr(cls, "__torch_function__", None)
        known = found is not None and found is not disabled_torch_function
        if cls is PORTS.tensor or _is_foreign_tensor(cls):
            known = False
        if cls.__module__.partition(".")[0] in ("wengert", *INSTALLED):
            # only classes that live as long as the process are cached
            _OVERRIDES[cls] = known
    return known


def _is_foreign_tensor(cls: type) -> bool:
    """Return whether a class is of PyTorch's own tensors, which cannot handle our functions."""
    # while it is installed, our base is shown in that module, too
    return not issubclass(cls, TensorBase) and any(
        base.__module__ == "torch._C" for base in cls.__mro__
    )


def _leaves(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple) and not overrides(value):
            yield from value
        else:
            yield value


def dispatch(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Dispatch ``func(*args, **kwargs)`` to the mode, or the overriding classes of arguments."""
    handed = getattr(func, "__handed__", None)
    if handed is not None:
        args = handed(args)
    asked = overloads(_leaves((*args, *kwargs.values())))
    if not asked and not is_in_mode():
        return disabled_torch_function(func, (), args, kwargs)
    result = handled(func, asked, args, kwargs)
    if result is not NotImplemented:
        return result
    names = "\n".join(f"  - tensor subclass {type(one)}" for one in asked)
    raise TypeError(
        f"Multiple dispatch failed for '{_place(func)}'; all "
        f"__torch_function__ handlers returned NotImplemented:\n\n{names}"
    )


def overloads(values: Iterable[Any]) -> list[Any]:
    """Return a value of each class that overrides: subclasses first, then by their order."""
    found: list[Any] = []
    if _DISABLED.get():
        return found
    for value in values:
        cls = type(value)
        if overrides(value) and not any(type(one) is cls for one in found):
            at = (i for i, one in enumerate(found) if issubclass(cls, type(one)))
            found.insert(next(at, len(found)), value)
    return found


def handled(func: Any, asked: list[Any], args: Any, kwargs: Any) -> Any:
    """Return the first result of the innermost mode, and of the classes of values in order."""
    kinds, stack = tuple(map(type, asked)), MODES.get()
    if stack:
        token = MODES.set(stack[:-1])
        try:
            result = stack[-1].__torch_function__(func, kinds, args, kwargs)
        finally:
            MODES.reset(token)
        if result is not NotImplemented:
            return result
    for value in asked:
        # looked up on the instance, so that an ordinary method gets it as `self`, as in PyTorch
        result = value.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def _place(func: Any) -> str:
    """Return the qualified name that a function has in PyTorch."""
    name = getattr(func, "__name__", str(func))
    home = str(getattr(func, "__module__", "")).partition(".")[2]
    if getattr(PORTS.tensor, name, None) is func:
        home = "Tensor"
    elif home.partition(".")[0] not in ("autograd", "fft", "linalg", "nn", "special"):
        home = ""
    return ".".join(filter(None, ("torch", home, name)))


# -- modes -----------------------------------------------------------------------------------------

MODES: ContextVar[tuple[Any, ...]] = ContextVar("torch_function_modes", default=())
_ENTERED: list[Any] = []
_BEFORE: dict[str, Any] = {}
"""The original attributes of plain tensors, while a mode is active."""


class TorchFunctionMode:
    """A context whose ``__torch_function__`` sees all calls of functions and methods within it.

    A subclass decides how to handle them. Functions that it calls itself are only seen by the
    enclosing modes.

    Examples
    --------
    >>> class Names(wg.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = wg.ones(2) + 1
    ones
    add
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Handle the call ``func(*args, **kwargs)``."""
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        if getattr(self.__torch_function__, "__self__", self) is not self:
            raise RuntimeError(
                "Defining your mode's `__torch_function__` as a classmethod is not supported, "
                "please make it a plain method"
            )
        with _LOCK:
            if not _OVERRIDING:
                _install()
            if not _ENTERED:
                _ask_modes()
            _ENTERED.append(self)
        MODES.set((*MODES.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        MODES.set(MODES.get()[:-1])
        with _LOCK:
            _ENTERED.pop()
            if not _ENTERED:
                for name, own in _BEFORE.items():
                    if own is None:
                        delattr(PORTS.tensor, name)  # inherited from a base class
                    else:
                        setattr(PORTS.tensor, name, own)
                _BEFORE.clear()


def is_in_mode() -> bool:
    """Return whether a mode sees the calls of functions here."""
    return bool(_ENTERED) and bool(MODES.get())


def own_attribute(name: str) -> Any:
    """Return an attribute of plain tensors, as it is without a mode."""
    bases = PORTS.tensor.__mro__[name in _BEFORE and _BEFORE[name] is None :]
    found = (vars(base)[name] for base in bases if name in vars(base))
    return _BEFORE.get(name) or next(found, None)


def _ask_modes() -> None:
    """Make the methods, operators and properties of plain tensors ask modes."""
    plain: Any = PORTS.tensor
    for name in vars(_OVERRIDING[0]):
        own = inspect.getattr_static(plain, name)
        if isinstance(own, property):
            asking: Any = property(_asking(own.__get__, own.__get__), own.fset, own.fdel)
        elif isinstance(getattr(plain, name), FUNCTIONS) and name not in _QUIET:
            asking = _asking(getattr(plain, name), _NAMES.get(name, name))
        else:
            continue
        _BEFORE[name] = vars(plain).get(name)
        setattr(plain, name, asking)


_QUIET = ("__hash__", "__iter__")


def _asking(own: Any, shown: Any) -> Any:
    # Python asks the other operand where an operator returns NotImplemented
    ask = _asked if getattr(own, "__name__", "") in _DUNDERS else dispatch

    def asking(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_in_mode() and (_DISABLED.get() or not overrides(self)):
            return own(self, *args, **kwargs)
        func = getattr(PORTS.tensor, shown) if isinstance(shown, str) else shown
        return ask(func, (self, *args), kwargs)

    return wraps(own)(asking) if isinstance(shown, str) else asking


def _asked(func: Any, args: Any, kwargs: Any) -> Any:
    return handled(func, overloads(args), args, kwargs)


# -- the inserted class ----------------------------------------------------------------------------


def _restore(cls: Any) -> None:
    """Give a class that overrides nothing the plain methods, if a base of it overrides them."""
    between, plain = next(iter(_OVERRIDING), None), PORTS.tensor
    if between in cls.__mro__:
        for name in vars(between):
            owner = next(base for base in cls.__mro__ if name in vars(base))
            if owner is between and hasattr(plain, name) and name not in _OF_CLASSES:
                put(cls, name, inspect.getattr_static(plain, name))


_OF_CLASSES = ("__dict__", "__doc__", "__module__", "__slots__")


def _is_inherited(handler: Any) -> bool:
    own = vars(PORTS.tensor)["__torch_function__"].__func__
    return getattr(handler, "__func__", None) is own


def adopt(cls: Any) -> None:
    """Enable overrides for a new subclass of `Tensor`, unless it opts out."""
    if not _OVERRIDING and cls.__name__ == _BETWEEN:
        return
    handler = cls.__torch_function__
    if hasattr(cls, "__torch_dispatch__") and _is_inherited(handler):
        # it sees operations below the tape instead (see NOTE [wrapper subclasses])
        cls.__torch_function__ = handler = disabled_torch_function
    if handler is disabled_torch_function:
        _restore(cls)
        _PLAIN_KINDS.append(cls)
        give_way(cls)
        return
    with _LOCK:
        if not _OVERRIDING:
            _install()
    between = _OVERRIDING[0]
    if not issubclass(cls, between):
        bases = tuple(between if base is PORTS.tensor else base for base in cls.__bases__)
        put(cls, "__bases__", bases if between in bases else (*bases, between))


def prepare() -> None:
    """Enable overrides also for classes that do not derive from `Tensor`."""
    with _LOCK:
        if _WATCHED:
            return
        if not _OVERRIDING:
            _install()
        plain: Any = PORTS.tensor
        for name in _DUNDERS:
            if hasattr(plain, name):
                put(plain, name, _meeting(name))
        _WATCHED.append(True)


def _meeting(name: str) -> Any:
    """Make an operator of plain tensors that defers to overriding operands."""
    own, between = getattr(PORTS.tensor, name), _OVERRIDING[0]
    body = vars(between).get(name)

    @wraps(own)
    def operator(self: Any, other: Any) -> Any:
        if not overrides(other) or isinstance(other, TensorBase) or _DISABLED.get():
            return own(self, other)
        return own(self, other) if body is None else body(self, other)

    return operator


def _install() -> None:
    plain: Any = PORTS.tensor
    body: dict[str, Any] = {
        "__slots__": (),
        "__hash__": TensorBase.__hash__,
        "__iter__": _iterate,
    }
    left_alone = _LEFT_ALONE.split()
    for owner in plain.__mro__[: plain.__mro__.index(TensorBase)]:
        for name, value in list(vars(owner).items()):
            if name in left_alone or name in body:
                continue
            if type(value).__module__ == "wengert.tensor.lazy":
                # the method of this name replaces it
                value = value.__get__(None, plain)
            if isinstance(value, property):
                body[name] = _property(value)
            elif isinstance(value, FUNCTIONS) and _is_ours(value):
                body[name] = _operator(name) or _method(name)
    between: Any = type(_BETWEEN, (plain,), body)
    _OVERRIDING.append(between)
    _NOT_WRAPPED.update((plain.grad.__get__, plain._base.__get__))
    for name in body:
        own = inspect.getattr_static(plain, name)
        if isinstance(own, FUNCTIONS) and not (_is_looked_up(name, own) or _operator(name)):
            put(plain, name, _looking(getattr(plain, name), plain.__module__, f"Tensor.{name}"))
    for kind in _PLAIN_KINDS:
        give_way(kind)
    for module in _PUBLISHED:
        _expose(module)


def give_way(cls: Any) -> None:
    """Make the operators of `cls` defer to overriding subclasses, if there are any."""
    if not _OVERRIDING:
        return
    # Python asks the right operand first only if its class derives from the left one's
    derived = any(base in _PLAIN_KINDS for base in cls.__mro__[1:])
    for symbol in _BINARY:
        name = f"__{symbol}__"
        own = vars(cls).get(name)
        if own is not None or not derived:  # else the operator of a base already defers
            put(cls, name, _yielding(name, own))


def _yielding(name: str, own: Any) -> Any:
    """Make a plain operator, or a class's `own`, that defers to overriding subclasses."""
    plain, between = PORTS.tensor, _OVERRIDING[0]

    @wraps(getattr(plain, name))
    def operator(self: Any, other: Any) -> Any:
        if isinstance(self, between):
            return getattr(between, name)(self, other)
        if isinstance(other, between) and not _DISABLED.get():
            return NotImplemented
        return getattr(plain, name)(self, other) if own is None else own(self, other)

    return operator


def _method(name: str) -> Any:
    plain: Any = PORTS.tensor
    shown = _NAMES.get(name, name)

    @wraps(getattr(plain, name))
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(plain, name)
        if _DISABLED.get() or not _is_ours(found):
            return found(self, *args, **kwargs)
        return dispatch(getattr(plain, shown), (self, *args), kwargs)

    return method


def _is_ours(method: Any) -> bool:
    """Return whether a method is not a program's own, which may bear the name of one of ours."""
    scope = getattr(method, "__globals__", {})
    return str(scope.get("__name__", "wengert.")).startswith("wengert.")


def _operator(name: str) -> Any:
    """Make a binary operator of the inserted class; None if `name` is not an operator."""
    if not name.startswith("__"):
        return None
    symbol = name.strip("_")
    if symbol in _BINARY:
        return _binary(name)
    return _reflected(name, symbol[1:]) if symbol[:1] == "r" and symbol[1:] in _BINARY else None


def _binary(name: str) -> Any:
    plain: Any = PORTS.tensor
    shown = _NAMES.get(name, name)

    @wraps(getattr(plain, name))
    def operator(self: Any, other: Any) -> Any:
        if _DISABLED.get():
            return getattr(plain, name)(self, other)
        try:
            return dispatch(getattr(plain, shown), (self, other), {})
        except TypeError:
            return NotImplemented

    return operator


def _reflected(name: str, symbol: str) -> Any:
    plain: Any = PORTS.tensor
    forward = f"__{symbol}__"
    shown = _NAMES.get(forward, forward)

    @wraps(getattr(plain, name))
    def operator(self: Any, other: Any) -> Any:
        if _DISABLED.get():
            return getattr(plain, name)(self, other)
        try:
            if isinstance(other, TensorBase):
                # Python asks the subclass first, but `other` is the left operand
                return dispatch(getattr(plain, shown), (other, self), {})
            return dispatch(
                getattr(plain, shown if symbol in _COMMUTES else name), (self, other), {}
            )
        except TypeError:
            return NotImplemented

    return operator


def _property(plain: Any) -> property:
    def get(self: Any) -> Any:
        return plain.__get__(self) if _DISABLED.get() else dispatch(plain.__get__, (self,), {})

    def set(self: Any, value: Any) -> None:
        if _DISABLED.get():
            plain.__set__(self, value)
        else:
            dispatch(plain.__set__, (self, value), {})

    def delete(self: Any) -> None:
        if _DISABLED.get():
            plain.__delete__(self)
        else:
            dispatch(plain.__delete__, (self,), {})

    return property(get, plain.fset and set, plain.fdel and delete, plain.__doc__)


def _iterate(self: Any) -> Iterator[Any]:
    if _DISABLED.get() or not self._payload.ndim:
        return iter(PORTS.tensor.__iter__(self))
    return iter(self.unbind(0))


# -- functions -------------------------------------------------------------------------------------


def publish(*modules: types.ModuleType) -> None:
    """Make the functions of `modules` overridable, once there is an overriding subclass."""
    for module in modules:
        _PUBLISHED.append(module)
        if _OVERRIDING:
            _expose(module)


def published(function: Any, module: str, name: str) -> Any:
    """Return `function` for `module`, which imports it lazily."""
    if _OVERRIDING and isinstance(function, FUNCTIONS) and name not in _TAKES_NO_TENSOR:
        return _exposed(function, module, name)
    return function


def extend(function: Any, extended: Callable[[Any], Any]) -> None:
    """Make a public function call ``extended(own)``, where `own` does what it did before.

    The function itself is changed: who imported it by name before has it, too, and handlers know
    it by its identity.
    """
    if function in _LOOKING:
        # with the signature of what it extends
        own = function.__wrapped__
        function.__wrapped__ = update_wrapper(extended(own), own)
        return
    code = function.__code__
    own = types.FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )
    for name in WRAPPER_ASSIGNMENTS:
        setattr(own, name, getattr(function, name))
    vars(own).update(vars(function))
    own.__kwdefaults__ = function.__kwdefaults__
    made, body = extended(own), _passing(len(code.co_freevars))
    # first, since other threads may call it meanwhile
    function.__wrapped__ = own
    function.__code__ = body.replace(
        co_consts=tuple(made if one == "made" else one for one in body.co_consts),
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_name=code.co_name,
    )
    function.__defaults__ = function.__kwdefaults__ = None


@cache
def _passing(cells: int) -> types.CodeType:
    """Return code that calls the constant "made", for a function with a number of cells."""
    names = "".join(f"_{i}, " for i in range(cells))
    call = f"lambda *args, **kwargs: (made := 'made')(*args, **kwargs) if 1 else ({names})"
    return eval(f"lambda {names}: {call}")(*range(cells)).__code__


def _expose(module: types.ModuleType) -> None:
    # functions that a module imports for its own use are not public
    for name in dir(module):
        value = vars(module).get(name)
        if (
            isinstance(value, FUNCTIONS)
            and value.__module__.startswith("wengert.")
            and not name.startswith("_")
            and name not in _TAKES_NO_TENSOR
            # a program may give a method a name in the module
            and value.__name__ not in _LEFT_ALONE.split()
        ):
            found = _exposed(value, module.__name__, name)
            if found is not value:
                put(module, name, found)


def _is_looked_up(name: str, method: Any) -> bool:
    """Return whether a method is private, or one that Python or NumPy looks up on the class."""
    one = name[:1] == "_" and (name[1] != "_" or method.__code__.co_argcount < 2)
    return one or name.startswith(("__array", "__dlpack"))


def _exposed(function: Any, module: str, name: str) -> Any:
    """Return `function`, which looks for overriding subclasses now.

    Return a wrapper of what is compiled, or what layers below the operations use themselves.
    """
    if not isinstance(function, types.FunctionType) or _is_beneath(function):
        return _looking(function, module, name)
    if function not in _LOOKING:
        # of several names the function's own; pickles need the public location
        first = function.__name__
        home = f"wengert.ops.{EXPORTS['wengert'].get(first)}"
        for public, own in (("wengert", home), (module, module)):
            if own in sys.modules and vars(sys.modules[own]).get(first) is function:
                module, name = public, first
                break
        extend(function, lambda own: _looking(own, module, name, function))
        function.__module__, function.__name__, function.__qualname__ = module, name, name
        _LOOKING.add(function)
    return function


def _is_beneath(function: types.FunctionType) -> bool:
    return function.__globals__["__name__"].startswith(("wengert.base.", "wengert.tape."))


def _looking(function: Any, module: str, name: str, public: Any = None) -> Any:
    """Wrap `function` to look for overriding subclasses among its arguments, for `public`."""
    quiet = function.__name__ in _BACKWARD
    asks = name not in _OF_DATA
    shown, plain_kind = _NAMES.get(name.removeprefix("Tensor.")), _OVERRIDES.get

    @wraps(function)
    def looking(*args: Any, **kwargs: Any) -> Any:
        if not (kwargs or quiet or _ENTERED):
            for value in args:
                if plain_kind(type(value)) is not False:
                    break
            else:
                return public.__wrapped__(*args)
        if is_in_mode() or (asks and _overriding(args, kwargs) and not _DISABLED.get()):
            func = public if shown is None else getattr(PORTS.tensor, shown)
            return dispatch(func, args, kwargs)
        if quiet:
            # rules that run in a recorded pass are not operations of the user
            with DisableTorchFunctionSubclass():
                return public.__wrapped__(*args, **kwargs)
        return public.__wrapped__(*args, **kwargs)

    # the new location, for pickles
    looking.__module__, looking.__qualname__ = module, name
    looking.__name__ = name.rpartition(".")[2]
    made: Any = looking
    public = public or looking
    # frames tell which function a program has called
    made.__code__ = made.__code__.replace(co_name=made.__name__)
    _LOOKING.add(looking)
    return looking
