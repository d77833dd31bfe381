"""Layer 8 · nn: registration of the parameters, buffers and submodules of a module by name."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from wengert.nn.modules import registering
from wengert.nn.modules.hooks import FLAGGED, TABLES_OF_CALLS
from wengert.nn.parameter import Buffer, Parameter
from wengert.tape.handles import flags_of
from wengert.tensor.copying import is_leaf
from wengert.types import Tensor

if TYPE_CHECKING:
    from wengert.nn.modules.module import Module

TABLES = TABLES_OF_CALLS | frozenset(
    {
        "_state_dict_pre_hooks",
        "_state_dict_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    }
)
"""The tables of hooks, each of which a module makes on first use."""


def type_name(value: Any) -> str:
    """Return the name of a value's type in error messages, as ``torch.typename`` does."""
    if isinstance(value, Tensor):
        return str(value.type())
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", "__builtin__") else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


class _Hooks:
    """The table of hooks under one name, which a module makes on first use.

    A class may have a `__getattr__` of its own, which does not know of these.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, module: Any, kind: Any = None) -> Any:
        held: Any = getattr(module, "__dict__", ())
        if "_parameters" not in held:
            raise AttributeError(f"no module has {self._name} before Module.__init__()")
        if self._name in FLAGGED:
            table, flag = FLAGGED[self._name]
            return {key: True for key in held.get(table, ()) if flags_of(key) & flag}
        if self._name in TABLES_OF_CALLS:
            held["_is_hooked"] = True
        return held.setdefault(self._name, OrderedDict())


class Registration:
    """The part of `Module` that keeps parameters, buffers and submodules in tables."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _is_hooked: bool

    vars().update({name: _Hooks(name) for name in (*TABLES, *FLAGGED)})

    # -- attributes --------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Tensor | Module:
        # called only for names that are not ordinary attributes
        held = self.__dict__
        if "_parameters" in held:
            if name in held["_parameters"]:
                return held["_parameters"][name]
            if name in held["_buffers"]:
                return held["_buffers"][name]
            if name in held["_modules"]:
                return held["_modules"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        params = held.get("_parameters")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError(
                    "cannot assign parameters before Module.__init__() call: call "
                    "super().__init__() first"
                )
            _forget(self, name, "_buffers", "_modules")
            self.register_parameter(name, value)
            return
        if params is None:
            _check_early(value)
            super().__setattr__(name, value)
        elif name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif _is_module(value):
            _forget(self, name, "_parameters", "_buffers")
            self._modules[name] = registering.module(self, name, value)
        elif name in self._modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = registering.module(self, name, value)
        elif name in self._buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            _set_buffer(self, name, value, name not in self._non_persistent_buffers_set)
        elif isinstance(value, Buffer):
            _set_buffer(self, name, value, True)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        elif name in TABLES:
            self.__dict__.pop(name, None)
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {
            *dir(type(self)),
            *self.__dict__,
            *self._parameters,
            *self._modules,
            *self._buffers,
        }
        return sorted(name for name in names if not name[:1].isdigit())

    # -- registering -------------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that is part of the module's state but not a parameter.

        Parameters
        ----------
        name : str. The name of the attribute.
        tensor : Tensor or None. The buffer; None reserves the name.
        persistent : bool. Whether it is part of `state_dict`.

        Raises
        ------
        TypeError: If `name` is not a string, or `tensor` is not a tensor.
        KeyError: If the module has an attribute of that name, or the name is empty or has a dot.

        Examples
        --------
        >>> module = wg.nn.Module()
        >>> module.register_buffer("count", wg.zeros(2))
        >>> module.count
        tensor([0., 0.])
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registering.buffer(self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter under the attribute `name`; None reserves the name.

        Raises
        ------
        TypeError: If `name` is not a string, or `param` is not a parameter.
        KeyError: If the module has an attribute of that name, or the name is empty or has a dot.
        ValueError: If `param` is not a leaf.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if not is_leaf(cast("Any", param)):
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            param = registering.parameter(self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a submodule under the attribute `name`; None reserves the name.

        Raises
        ------
        TypeError: If `name` is not a string, or `module` is not a module.
        KeyError: If the module has an attribute of that name, or the name is empty or has a dot.
        """
        if module is not None and not _is_module(module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        _check_name(self, "module", name, self._modules)
        self._modules[name] = registering.module(self, name, module)

    register_module = add_module

    # -- access by path ----------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """Return the submodule at a dotted path; the empty path is this module.

        Raises
        ------
        AttributeError: If there is nothing at the path, or something that is not a module.

        Examples
        --------
        >>> outer, inner = wg.nn.Module(), wg.nn.Module()
        >>> outer.inner = inner
        >>> outer.get_submodule("inner") is inner
        True
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{found._get_name()} has no attribute `{name}`")
            found = getattr(found, name)
            if not _is_module(found):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Register `module` at the path `target`.

        Parameters
        ----------
        strict : bool. Whether it must replace an existing module.

        Raises
        ------
        ValueError: If the path is empty, or `module` is not a module.
        AttributeError: If there is nothing at the path, or something that is not a module.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not _is_module(module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not _is_module(getattr(parent, name)):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a dotted path.

        Raises
        ------
        AttributeError: If there is nothing at the path, or something that is not a parameter.
        """
        found, name = _holder(self, target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a dotted path.

        Raises
        ------
        AttributeError: If there is nothing at the path, or something that is not a buffer.
        """
        path, _, name = target.rpartition(".")
        found, _ = _holder(self, target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found


def _is_module(value: Any) -> bool:
    return isinstance(value, Registration)


def _check_early(value: Any) -> None:
    """Refuse a value that cannot be registered before ``Module.__init__`` has run."""
    what = "module" if _is_module(value) else "buffer" if isinstance(value, Buffer) else None
    if what is not None:
        raise AttributeError(
            f"cannot assign {what} before Module.__init__() call: call super().__init__() first"
        )


def _set_buffer(module: Any, name: str, value: Any, persistent: bool) -> None:
    if isinstance(value, Buffer):
        persistent = value.persistent
    method = module.register_buffer
    # a subclass may override the method without the argument `persistent`
    if (
        getattr(method, "__func__", None) is Registration.register_buffer
        or "persistent" in inspect.signature(method).parameters
    ):
        module.register_buffer(name, value, persistent)
    elif persistent:
        module.register_buffer(name, value)
    else:
        raise RuntimeError(
            "Registering a non-persistent buffer on a Module subclass that implements "
            "register_buffer() without the persistent argument is not allowed."
        )


def _forget(module: Any, name: str, *tables: str) -> None:
    """Remove `name` from the other tables and from the attributes."""
    held = module.__dict__
    held.pop(name, None)
    for table in tables:
        held[table].pop(name, None)
    held["_non_persistent_buffers_set"].discard(name)


def _check_name(module: Any, what: str, name: Any, table: dict[str, Any]) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
    if what == "module":
        # this order differs from that of the other two on purpose
        if hasattr(module, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
    elif "." in name:
        raise KeyError(f'{what} name can\'t contain ".", got: {name}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if name not in table and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")


def _holder(module: Any, target: str) -> tuple[Any, str]:
    path, _, name = target.rpartition(".")
    holder = module.get_submodule(path)
    if not hasattr(holder, name):
        raise AttributeError(f"{holder._get_name()} has no attribute `{name}`")
    return getattr(holder, name), name
