"""Layer 11 · cli: the function to which a command applies, and its inputs."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert as wg
from wengert.cli.request import BadRequest

_DAMAGE = (ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)


def load(target: str) -> Callable[..., Any]:
    """Import the function that ``module:function`` names, also from the working directory.

    Raises
    ------
    BadRequest: If there is no such module, or no such function in it.
    """
    module_name, colon, path = target.partition(":")
    if not (module_name and colon and path) or module_name.startswith("."):
        raise BadRequest(f"expected module:function, as in mymodel:loss; got {target!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, but not one that it imports
        raise BadRequest(f"{error}; looked in {here} and where Python does") from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise BadRequest(f"{target!r}: {error}") from error
    if not callable(found):
        raise BadRequest(f"{target!r} is not a function but {type(found).__name__}")
    return found


def _read(path: str) -> list[Any]:
    """Read the arrays of a NumPy file: one of an .npy, all of an .npz in the order of writing."""
    try:
        with open(path, "rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return [content]
            return [content[name] for name in content.files]
    except OSError as error:
        raise BadRequest(f"{path!r}: {error.strerror or error}") from error
    except MemoryError as error:
        raise BadRequest(f"{path!r} is too large: {error}") from error
    except _DAMAGE as error:  # NumPy's message suggests unpickling the file, which runs code
        raise BadRequest(f"{path!r} is not a file of arrays from np.save or np.savez") from error


def _tensor(array: Any, double: bool) -> Any:
    if array.dtype.kind not in "biufc":
        raise BadRequest(f"an input is an array of numbers, not of {array.dtype}")
    if array.dtype.kind not in "fc":
        return wg.tensor(array)
    if double:  # finite differences need more precision
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return wg.tensor(array).requires_grad_()


def inputs_of(
    function: Callable[..., Any],
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    seed: int,
    file: str | None = None,
    double: bool = True,
) -> tuple[Any, ...]:
    """Return the inputs for `function`: from a file, drawn at random, or its own.

    Parameters
    ----------
    shapes
        The shape of each input that is drawn; if empty, and there is no `file`, the function's
        attribute ``inputs`` holds them, or returns them if it is a function.
    dtype: ``"float32"``, ``"float64"`` or ``"complex128"``, for random inputs.
    seed: The seed of random inputs.
    file: A ``.npy`` or ``.npz`` file that holds them; integers do not get a gradient.
    double: Whether fractions in a file are converted to double precision.

    Raises
    ------
    BadRequest: If no inputs are given, or the function takes another number of inputs.
    """
    inputs = _inputs_of(function, shapes, dtype, seed, file, double)
    try:
        inspect.signature(function).bind(*inputs)
    except TypeError as error:
        count = "1 input" if len(inputs) == 1 else f"{len(inputs)} inputs"
        raise BadRequest(f"the function does not take {count}: {error}") from error
    except ValueError:
        pass  # it has no signature that Python knows
    return inputs


def _inputs_of(
    function: Callable[..., Any],
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    seed: int,
    file: str | None,
    double: bool,
) -> tuple[Any, ...]:
    wg.manual_seed(seed)
    if file is not None and shapes:
        raise BadRequest("give --inputs or --shape, not both")
    if file is not None:
        return tuple(_tensor(array, double) for array in _read(file))
    if shapes:
        kind = getattr(wg, dtype)
        try:
            return tuple(wg.randn(shape, dtype=kind).requires_grad_() for shape in shapes)
        except (MemoryError, ValueError, OverflowError) as error:
            raise BadRequest(f"an input is too large: {error}") from error
    given = getattr(function, "inputs", None)
    if given is None:
        raise BadRequest(
            "what are the inputs? Give one --shape for each, or a file of arrays as --inputs, or "
            "set the function's attribute `inputs` to a tuple of tensors or to a function that "
            "returns one"
        )
    values = given() if callable(given) else given
    return tuple(values) if isinstance(values, Sequence) else (values,)


def described(inputs: Sequence[Any]) -> list[dict[str, Any]]:
    """Describe the dtype and the shape of each tensor among `inputs`."""
    return [
        {"input": i, "dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape)}
        for i, x in enumerate(inputs)
        if isinstance(x, wg.Tensor)
    ]
