"""Layer 9 · compat: the settings of `wengert.compat.jax`: ``jax.config``, x64, checks for NaN.

A setting of a context (thread or task) overrides the value that ``config.update`` sets for the
process.
"""

from __future__ import annotations

import os
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from wengert.base.patches import CONTEXTS, Setting
from wengert.tape.modes import untraced

_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_FALSE = frozenset({"0", "false", "no", "off", "n", "f", ""})


def _of_environment(name: str) -> bool:
    text = os.environ.get(name.upper(), "").lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError(f"invalid truth value {text!r} for environment {name.upper()!r}")


_HERE: ContextVar[dict[str, Any] | None] = ContextVar("wengert_jax_config", default=None)
"""The settings of the current context, if it has any."""
CONTEXTS.append(_HERE.get)


class Switch:
    """A setting that is on or off, or one of some words: for the process, and in a ``with`` block.

    Parameters
    ----------
    name: Its name in ``config.update``, and of the environment variable with its initial value.
    *words: The words that it may be; the first is the default. Without any, it is on or off.
    """

    def __init__(self, name: str, *words: str) -> None:
        self.name, self.words = name, words
        first = os.environ.get(name.upper(), words[0]) if words else _of_environment(name)
        self.default = Setting(self.checked(first))

    def checked(self, value) -> Any:
        """Return a value that the switch may have; refuse any other."""
        if self.words:
            if value not in self.words:
                words = list(self.words)
                raise ValueError(f"new enum value for {self.name} must be in {words}, got {value}")
            return value
        if not isinstance(value, bool | int):
            raise TypeError(f"{self.name} is True or False, not {value!r}")
        return bool(value)

    @property
    def value(self) -> Any:
        """The value in the current context."""
        return (_HERE.get() or {}).get(self.name, self.default.value)

    def __call__(self, new_val: Any = True) -> _Within:
        """Return a context in which the setting has another value."""
        return _Within(self, self.checked(new_val))

    def choose(self, value) -> None:
        """Set the switch for the process."""
        value = self.checked(value)
        untraced(f"it sets {self.name}")
        self.default.set(value)
        _watch(self, value)

    def put(self, value) -> Token[Any]:
        """Set the switch for this context."""
        _watch(self, value)
        return _HERE.set({**(_HERE.get() or {}), self.name: value})

    def back(self, token: Token[Any]) -> None:
        """Undo `put`."""
        _HERE.reset(token)


class _Within:
    """A context in which a switch has another value; also a decorator."""

    def __init__(self, switch: Switch, value) -> None:
        self._switch = switch
        self._value = value
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        self._tokens.append(self._switch.put(self._value))

    def __exit__(self, *exc: object) -> None:
        self._switch.back(self._tokens.pop())


WATCHED: list[str] = []
"""The checks for non-finite values that have ever been switched on."""


def _watch(switch: Switch, value) -> None:
    if value and switch in (debug_nans, debug_infs) and switch.name not in WATCHED:
        WATCHED.append(switch.name)


def check_finite(result, where: str) -> None:
    """Raise for NaN or infinity, if these checks are on.

    Raises
    ------
    FloatingPointError: The message says where the value occurred.
    """
    payload = result._payload
    if not isinstance(payload, np.ndarray | np.generic) or payload.dtype.kind not in "fcV":
        return
    if debug_nans.value and np.isnan(payload).any():
        raise FloatingPointError(f"invalid value (nan) encountered in {where}: {payload}")
    if debug_infs.value and np.isinf(payload).any():
        raise FloatingPointError(f"invalid value (inf) encountered in {where}: {payload}")


enable_x64 = Switch("jax_enable_x64")
debug_nans = Switch("jax_debug_nans")
debug_infs = Switch("jax_debug_infs")
without_jit = Switch("jax_disable_jit")
for _switch in (debug_nans, debug_infs):
    _watch(_switch, _switch.default.value)
numpy_dtype_promotion = Switch("jax_numpy_dtype_promotion", "standard", "strict")
numpy_rank_promotion = Switch("jax_numpy_rank_promotion", "allow", "warn", "raise")
_ALL = (
    enable_x64,
    debug_nans,
    debug_infs,
    without_jit,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    Switch("jax_default_prng_impl", "threefry2x32"),
)
_SWITCHES = {switch.name: switch for switch in _ALL}
_IGNORED: dict[str, Any] = {
    "jax_check_tracer_leaks": False,
    "jax_compilation_cache_dir": None,
    "jax_debug_key_reuse": False,
    "jax_default_device": None,
    "jax_default_matmul_precision": None,
    "jax_enable_custom_prng": False,
    "jax_explain_cache_misses": False,
    "jax_log_compiles": False,
    "jax_platform_name": "cpu",
    "jax_platforms": "cpu",
    "jax_persistent_cache_min_compile_time_secs": 1.0,
    "jax_threefry_partitionable": True,
    "jax_traceback_filtering": "auto",
    "jax_transfer_guard": "allow",
}
"""Settings of compilation, devices and tracing, which are accepted without effect."""


class Config:
    """``jax.config``: `update` sets, attributes read.

    Examples
    --------
    >>> jax.config.jax_enable_x64
    False
    """

    def __init__(self) -> None:
        self._values = dict(_IGNORED)

    def update(self, name: str, val) -> None:
        """Set one option for the whole process.

        Parameters
        ----------
        name : str. ``jax_enable_x64``, ``jax_debug_nans``, ``jax_numpy_rank_promotion``, ...;
            options of compilation and devices are accepted and change nothing.
        val: Its value.

        Raises
        ------
        AttributeError: If there is no such option.
        """
        if name in _SWITCHES:
            _SWITCHES[name].choose(val)
        elif name in self._values:
            self._values[name] = val
        else:
            raise AttributeError(f"Unrecognized config option: {name}")

    def read(self, name: str) -> Any:
        """Return the value of one option.

        Raises
        ------
        AttributeError: If there is no such option.
        """
        if name in _SWITCHES:
            return _SWITCHES[name].value
        if name in self._values:
            return self._values[name]
        raise AttributeError(f"Unrecognized config option: {name}")

    def parse_flags_with_absl(self) -> None:
        """Do nothing: no flags are parsed here."""

    config_with_absl = parse_flags_with_absl

    def __getattr__(self, name: str) -> Any:
        if name == "x64_enabled":
            return enable_x64.value
        if name.startswith("_"):
            raise AttributeError(name)
        return self.read(name)

    def __setattr__(self, name: str, value) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"write config.update({name!r}, {value!r})")


config = Config()
