"""Layer 8 · nn: `Module`, which holds parameters and computes with them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shown
from wengert.base.sections import fill_sections
from wengert.nn.modules.conversion import Conversion
from wengert.nn.modules.hooks import (
    Calls,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    renumbered,
)
from wengert.nn.modules.registering import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from wengert.nn.modules.registration import TABLES, Registration
from wengert.nn.modules.state import State
from wengert.nn.modules.state import _IncompatibleKeys as _IncompatibleKeys
from wengert.nn.modules.traversal import Traversal
from wengert.tape.compiled import FUNCTIONS
from wengert.tensor.overrides import as_found

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


__getattr__ = elsewhere(__name__)


def _forward_unimplemented(self: Any, *input: Any) -> Any:
    """Compute the result of a call of the module; for subclasses to override.

    Call the module rather than this method, since that also runs its hooks.
    """
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


_OPERATIONS = ("wengert.ops.", "wengert.nn.functional:", "wengert:")
"""The modules whose functions do not bind as methods; in PyTorch they are builtins."""


class Module(Registration, Traversal, Conversion, Calls, State):
    """The base class of all neural network modules.

    A subclass makes its parameters and submodules in ``__init__``, after ``super().__init__()``,
    and computes the result of a call in `forward`. Attributes that are parameters, buffers or
    modules are registered, so that `parameters`, `state_dict`, `to` and other methods find them.

    Attributes
    ----------
    training : bool. Whether the module is in training mode rather than in evaluation mode (see
        `train`, `eval`).

    Examples
    --------
    %(a_line)s
    >>> line(wg.tensor(3.0)).backward()
    >>> line.slope.grad
    tensor(3.)
    >>> [name for name, _ in line.named_parameters()]
    ['slope']
    """

    training: bool
    call_super_init: bool = False
    _shows: ClassVar[str] = ""
    """The fields of `extra_repr`: ``name`` shows an attribute's value, ``name=`` name and value,
    ``name?`` the same if it is true; a bias shows as whether there is one."""
    dump_patches: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep library functions in a class body, such as ``act = wg.tanh``, from binding."""
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("wengert.nn."):
            shown(cls)
        for name, value in list(vars(cls).items()):
            if isinstance(value, FUNCTIONS) and f"{value.__module__}:".startswith(_OPERATIONS):
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make the tables of parameters, buffers and modules."""
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # an attribute rather than a method, so that subclasses may take any arguments
    forward: Callable[..., Any] = _forward_unimplemented

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the calls of this module from now on (see `wengert.compile`).

        Parameters
        ----------
        *args, **kwargs: The further arguments of `wengert.compile`.
        """
        compiler = importlib.import_module("wengert.compiler")
        self.__dict__["_compiled_call_impl"] = compiler.compile(self._call_impl, *args, **kwargs)
        self.__dict__["_is_hooked"] = True

    # -- printing ----------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return the text that `repr` shows beside the submodules; for subclasses to override."""
        shown = []
        for word in self._shows.split():
            name = word.rstrip("=?")
            value = getattr(self, name)
            if name == "bias":
                value = value is not None
            if word[-1] != "?" or value:
                shown.append(str(value) if word == name else f"{name}={value}")
        return ", ".join(shown)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if len(lines) == 1 and not inner:
            return f"{self._get_name()}({lines[0]})"
        lines += inner
        if not lines:
            return f"{self._get_name()}()"
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    # -- copies ------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles and copies: all attributes except compiled code."""
        functions = {k: as_found(v) for k, v in self.__dict__.items() if isinstance(v, FUNCTIONS)}
        state = {**self.__dict__, **functions}
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in TABLES & state.keys():
            # handle numbers come from another process, or from the module that this copies
            self.__dict__[name] = renumbered(state[name])


fill_sections(globals())
