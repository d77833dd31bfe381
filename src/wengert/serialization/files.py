"""Layer 9 · serialization: `save` and `load` for safetensors files and PyTorch's files.

The format follows from a file's first bytes, or in writing from its name or the caller.
"""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from wengert.base.device import device, is_meta
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.serialization import checkpoints, safe
from wengert.tape.base import TensorBase
from wengert.tape.modes import untraced
from wengert.tape.sites import warn
from wengert.tensor.tensor import Tensor
from wengert.utils._pytree import tree_map

DEFAULT_PROTOCOL = 2
"""Pickle's protocol in PyTorch's files."""

_WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "safetensors": safe.write,
    "torch": checkpoints.write,
}


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
) -> None:
    """Save tensors, and the state that contains them, to a file.

    A file whose name ends in ``.safetensors`` is a safetensors file, the preferred format: any
    program that reads safetensors finds the tensors of a dictionary under their keys. Any other
    name gives a file in the format of `torch.save`, which PyTorch's `torch.load` can read.

    `load` restores ``requires_grad``, parameters, memory order and shared memory, and in PyTorch's
    format attributes of tensors. Gradients, graphs and hooks are not saved: a tensor with history
    comes back as a leaf that requires a gradient, as in PyTorch.

    Parameters
    ----------
    obj : object. A tensor, or a state: dictionaries, lists and tuples, nested, of tensors, numbers,
        strings, None, dtypes and sizes; in PyTorch's format also sets, bytes, storages, and any
        object that `pickle` takes, such as a module, which `load` reads if its classes are allowed
        (`serialization.add_safe_globals`) or the file is trusted. A tensor that occurs twice is
        loaded as one tensor.
    f : str, path or binary file. The file to write. An existing file is replaced once the new one
        is complete: if saving fails, it is unchanged.
    pickle_module, pickle_protocol : Accepted for compatibility with PyTorch: every file is a zip
        archive with a pickle of protocol 2, which every PyTorch since 1.6 reads.
    format : str, optional. ``"safetensors"`` or ``"torch"``; by default it follows from the name.

    Raises
    ------
    TypeError: If something in `obj` cannot be saved; the message says where it is.
    ImportError: For a safetensors file without the extra: ``pip install 'wengert[safetensors]'``.

    See Also
    --------
    load

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> wg.save({"weights": [wg.ones(2), wg.zeros(1)], "step": 3}, file)
    >>> _ = file.seek(0)
    >>> wg.load(file)
    {'weights': [tensor([1., 1.]), tensor([0.])], 'step': 3}
    """
    untraced("it writes a file")
    is_path = isinstance(f, str | os.PathLike)
    path = os.path.realpath(os.fsdecode(f)) if is_path else ""
    if format is None:
        named = os.fsdecode(f) if is_path else ""
        format = "safetensors" if named.endswith(".safetensors") else "torch"
    if format not in _WRITERS:
        raise ValueError(f"format is one of {', '.join(map(repr, _WRITERS))}, not {format!r}")
    if is_path:
        _replace(path, _WRITERS[format], obj)
    else:
        _check_binary(f, "write")
        _WRITERS[format](obj, f)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Load a file written by `save` or PyTorch's `torch.save`, or any safetensors file.

    PyTorch's checkpoints are files of `torch.save`, or of ``safetensors.torch.save_file`` or
    ``save_model``, which hold a dictionary for `Module.load_state_dict`. Tied parameters are loaded
    under all their names.

    Loading builds only tensors, numbers, strings and containers; it runs no code from the file,
    unless the caller passes ``weights_only=False``. Any other name in a file of `torch.save` is
    refused, unless the user has allowed it by `serialization.add_safe_globals`.

    Parameters
    ----------
    f : str, path or binary file. The file to read. Its first bytes determine the format.
    map_location : device, dict or callable, optional. ``"meta"`` keeps the shapes of tensors alone.
        Otherwise accepted for compatibility with PyTorch: tensors are loaded to the CPU.
    pickle_module : module, optional. With ``weights_only=False``, the module whose ``Unpickler``
        reads a file of `torch.save`; default: `pickle`.
    weights_only : bool, optional. Whether to load only such states, the default. False loads whole
        objects, such as modules, from a file of `torch.save`: only do so with files that you trust,
        since a pickle can run any code. ``TORCH_FORCE_WEIGHTS_ONLY_LOAD=1`` in the environment
        overrides False, ``TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1`` the default.
    mmap : bool, optional. Whether to memory-map the tensors of a file of `torch.save`, which must
        be given by its path: then only the parts that are used are read. Writes to the tensors do
        not reach the file.
    encoding : str. The encoding of text that Python 2 wrote.

    Returns
    -------
    object: The saved state. Its tensors are leaves with new memory; those that shared memory when
        they were saved share it again.

    Raises
    ------
    pickle.UnpicklingError: If a file of `torch.save` names a class or function that is not allowed.
    RuntimeError: If it is neither kind of file, or is damaged.
    AttributeError: If `f` is neither a path nor has a method ``read``.
    TypeError: If a tensor has a dtype that does not exist here. bfloat16 becomes float32 if its
        package is missing.
    ImportError: For a safetensors file, if the package of that name is not installed.

    See Also
    --------
    save

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> wg.save(wg.ones(2, requires_grad=True), file)
    >>> _ = file.seek(0)
    >>> wg.load(file)
    tensor([1., 1.], requires_grad=True)
    """
    untraced("it reads a file")
    if isinstance(map_location, str | device) and is_meta(map_location):
        return _without_values(
            load(f, None, pickle_module, weights_only=weights_only, mmap=mmap, encoding=encoding)
        )
    _check_location(map_location)
    if _is_weights_only(weights_only):
        if pickle_module is not None:
            raise RuntimeError(
                "Can not safely load weights when explicit pickle_module is specified: pass "
                "weights_only=False as well, which runs the code in the file"
            )
        trusted = None
    else:
        trusted = (pickle_module or pickle).Unpickler
    if isinstance(f, str | os.PathLike):
        path = os.fsdecode(f)
        with open(path, "rb") as file:
            if _is_checkpoint(file, repr(path)):
                return checkpoints.read(file, repr(path), bool(mmap), encoding, trusted)
        return safe.read(path, repr(path))
    _check_binary(f, "read")
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    given = f if _is_seekable(f) else io.BytesIO(f.read())
    if _is_checkpoint(given, "the file"):
        return checkpoints.read(given, "the file", False, encoding, trusted)
    return safe.read(given, "the file")


def load_bytes(content: bytes) -> Any:
    """Return the storage in a pickle that PyTorch's tensors are written to by ``pickle.dump``."""
    return load(io.BytesIO(content))


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the disallowed classes and functions that a file of `torch.save` names.

    Parameters
    ----------
    f : str, path or binary file. A zip archive, as PyTorch has written since 1.6.

    Raises
    ------
    RuntimeError: If it has another format.
    """
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return checkpoints.unsafe_names(file, repr(os.fsdecode(f)))
    _check_binary(f, "read")
    return checkpoints.unsafe_names(f, "the file")


def _is_weights_only(given: bool | None) -> bool:
    """Return whether to run no code, as the caller or else the environment says."""
    always, never = (
        os.environ.get(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", "0") in ("1", "y", "yes", "true")
        for name in ("", "NO_")
    )
    if always and never:
        raise RuntimeError(
            "Only one of TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD should "
            "be set, but both were set"
        )
    if never and given is None:
        warn(
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set, and load() was not given weights_only: "
            "forcing weights_only=False, which runs the code in the file"
        )
        return False
    return always or given is None or bool(given)


def _without_values(state: Any) -> Any:
    def bare(value: Any) -> Any:
        if isinstance(value, Module):
            return value.to("meta")
        if not isinstance(value, TensorBase):
            return value
        kind = Parameter if isinstance(value, Parameter) else Tensor.requires_grad_
        return kind(value.detach().to("meta"), value._edge is not None)  # type: ignore[attr-defined]

    made = tree_map(bare, state)
    if made is not state and hasattr(state, "_metadata"):
        made._metadata = state._metadata
    return made


def _is_checkpoint(file: Any, name: str) -> bool:
    """Return whether a file starts as one of `torch.save`; keep its position."""
    place = file.tell()
    start = file.read(len(checkpoints.LEGACY_START))
    file.seek(place)
    if start.startswith((checkpoints.ARCHIVE_START, checkpoints.LEGACY_START)):
        return True
    # a safetensors file starts with a length in eight bytes, followed by JSON
    if start[:1] == b"\x80" and start[1:2] <= b"\x05" and start[8:9] not in (b"{", b""):
        raise UnpicklingError(
            f"Weights only load failed. {name} is a pickle, which may hold code, and no file of "
            "torch.save"
        )
    if not start:
        raise EOFError(f"Ran out of input: {name} is empty")
    if start[8:9] != b"{":
        raise RuntimeError(f"{name} is not a safetensors file, or it is damaged")
    return False


def _check_location(wanted: Any) -> None:
    """Raise if `load` is to give tensors another device than the CPU, for all or in a dict."""
    if isinstance(wanted, dict):
        wanted = wanted.get("cpu")
    if isinstance(wanted, str | device) and device(wanted).type != "cpu":
        kind = device(wanted).type
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device, but tensors are loaded "
            f"to the CPU: use map_location='cpu', and send them by .to({str(wanted)!r})"
        )
    if not (wanted is None or isinstance(wanted, str | device) or callable(wanted)):
        raise TypeError(
            f"map_location must be a device, a dict or callable, not {type(wanted).__name__}"
        )


def _is_seekable(file: Any) -> bool:
    has_both = hasattr(file, "seek") and hasattr(file, "tell")
    return bool(getattr(file, "seekable", lambda: has_both)())


def _check_binary(file: Any, method: str) -> None:
    if not callable(getattr(file, method, None)) or isinstance(file, io.TextIOBase):
        raise (TypeError if hasattr(file, method) else AttributeError)(
            f"expected a path or a file opened for {method[:4]}ing bytes, but got {file!r}"
        )


def _replace(path: str, write: Callable[[Any, Any], None], obj: Any) -> None:
    """Write a file next to `path` and, once it is complete, move it there."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):
        # a device or a pipe cannot be replaced
        with open(path, "wb") as target:
            write(obj, target)
        return
    beside = os.path.join(folder, f".wengert-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb"):
            pass
        mode = os.stat(path if os.path.exists(path) else beside).st_mode
        write(obj, beside)
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
