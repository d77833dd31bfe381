"""Layer 10 · distributed: functions and modules that are sent to workers once, and cached there.

NOTE [programs]
A program is sent to the workers as one object, pickled by cloudpickle when the first worker needs
it, under a name derived from its contents. A worker unpickles it once for each of its threads:
functions may keep state between calls, as compiled functions do, and modules are written to, so
threads must not share them. In this process nothing is pickled, but each thread also has its own
modules.
"""

from __future__ import annotations

import copy
import hashlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.base.extras import dask_module

_KEPT_PROGRAMS = 16


def is_module(value: Any) -> bool:
    """Return whether `value` is a neural network module: an object with named parameters."""
    return callable(getattr(value, "named_parameters", None))


def name_of(function: Any) -> str:
    """Return the name of a function for messages."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


class Program:
    """A function, and the module to call it with, if any.

    Parameters
    ----------
    function: What the workers call.
    module: The module whose copies they call it with, or None.
    """

    def __init__(self, function: Callable[..., Any] | None, module: Any = None) -> None:
        self.name = name_of(function)
        self.structure: Any = None
        self._made: tuple[Any, Any] | None = (function, module)
        self._bytes: bytes | None = None
        self._digest: str | None = None
        self._copies = threading.local()

    @property
    def digest(self) -> str:
        """The name derived from the contents."""
        self._pickled()
        assert self._digest is not None
        return self._digest

    def _pickled(self) -> bytes:
        if self._bytes is None:
            cloudpickle = dask_module("cloudpickle", "wengert.distributed")
            try:
                self._bytes = cloudpickle.dumps(self._made)
            except Exception as error:
                raise TypeError(
                    f"{self.name} cannot be sent to workers, since something that it refers to "
                    f"cannot be pickled: {type(error).__name__}: {error}\n  Make such objects "
                    "(open files, locks, connections) inside of the function."
                ) from error
            self._digest = hashlib.blake2b(self._bytes, digest_size=16).hexdigest()
        return self._bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.digest, self._pickled(), self.name)

    def opened(self) -> tuple[Callable[..., Any], Any]:
        """Return the function and the module of this thread."""
        made = getattr(self._copies, "made", None)
        if made is None:
            made = self._copies.made = self._copy()
        return made

    def _copy(self) -> tuple[Any, Any]:
        if self._made is None:
            cloudpickle = dask_module("cloudpickle", "wengert.distributed")
            return cloudpickle.loads(self._bytes)
        function, module = self._made
        return function, copy.deepcopy(module)

    @classmethod
    def sent(cls, digest: str, contents: bytes, name: str) -> Program:
        """Return the program that another process sent."""
        made = cls(None)
        made.name, made._made, made._bytes, made._digest = name, None, contents, digest
        return made


# the last programs outlive their tasks, with everything their functions have cached
_kept: OrderedDict[str, Program] = OrderedDict()
_known: weakref.WeakValueDictionary[str, Program] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _received(digest: str, contents: bytes, name: str) -> Program:
    """Return the program of this name: the cached one, or else a new one."""
    with _lock:
        program = _known.get(digest)
        if program is None:
            program = _known[digest] = Program.sent(digest, contents, name)
        _kept[digest] = program
        _kept.move_to_end(digest)
        while len(_kept) > _KEPT_PROGRAMS:
            _kept.popitem(last=False)
    return program
