"""Layer 9 · serialization: `save` and `load`, of safetensors files and of PyTorch's.

Which of the two a file is says its beginning, and when it is written its name or the caller.
"""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from wengert.base.device import check_device, device
from wengert.base.sections import fill_sections
from wengert.serialization import checkpoints, safe
from wengert.tape.modes import untraced

_WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "safetensors": safe.write,
    "torch": checkpoints.write,
}


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
) -> None:
    """Write tensors, and the state that they are part of, to a file.

    A file whose name ends in ``.safetensors`` is a safetensors file, which is what to prefer: any
    program that reads safetensors finds the tensors of a dictionary under their keys. Any other is
    a file as `torch.save` writes it, which PyTorch's `torch.load` reads, and holds of classes only
    what that allows.

    Whether a gradient is required, parameters, the order of memory and which tensors share it are
    kept, for `load`. Gradients, graphs, hooks and attributes are not: what is part of a graph comes
    back as a leaf that requires a gradient, as in PyTorch.

    Parameters
    ----------
    obj : object. A tensor, or a state: dictionaries, lists and tuples, nested, of tensors, numbers,
        strings, None, dtypes and sizes; in PyTorch's format also sets, bytes, storages, and any
        object that `pickle` takes, such as a module, which `load` reads where the classes are
        allowed (`serialization.add_safe_globals`) or the file is trusted. A tensor that occurs
        twice is one tensor again when it is loaded.
    f : str, path or binary file. Where to. A file of that name is replaced once the new one is
        complete: if saving fails, it is as it was.
    pickle_module, pickle_protocol : Accepted for PyTorch's sake; the protocol is 2.
    format : str, optional. ``"safetensors"`` or ``"torch"``; by default what the name says.

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
    if pickle_protocol != 2 or not _use_new_zipfile_serialization:
        raise ValueError(
            "files are written as PyTorch does by default: by protocol 2, as a zip archive"
        )
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
    """What `save` or PyTorch's `torch.save` wrote, or the tensors of any safetensors file.

    A checkpoint of PyTorch is a file of `torch.save`, or one of ``safetensors.torch.save_file`` or
    ``save_model``, which is a dictionary that `Module.load_state_dict` takes. Tied parameters come
    under all of their names.

    Loading builds tensors, numbers, strings and containers and nothing else; it runs no code from
    the file, unless the caller says ``weights_only=False``. What else a file of `torch.save` names
    is refused, unless the user has allowed it by `serialization.add_safe_globals`.

    Parameters
    ----------
    f : str, path or binary file. Where from. Its beginning says what it is.
    map_location : device, dict or callable, optional. Accepted for PyTorch's sake: tensors are on
        the CPU, wherever they were, and nothing else is possible.
    pickle_module : Must be None, or `pickle` with ``weights_only=False``.
    weights_only : bool, optional. Whether nothing but such states is loaded, as by default. False
        loads whole objects, such as modules, from a file of `torch.save`: only do so with files
        that you trust, since a pickle can run any code.
    mmap : bool, optional. Whether the tensors of a file of `torch.save` lie over the file itself,
        which must be given by its path: then what is not looked at is not read. What is written to
        them does not reach the file.
    encoding : str. Of text that Python 2 wrote.

    Returns
    -------
    object: The state that was saved. Its tensors are leaves with memory of their own; those that
        shared memory when they were saved share it again.

    Raises
    ------
    pickle.UnpicklingError: If a file of `torch.save` names a class or function that is not allowed.
    RuntimeError: If it is neither kind of file, or a damaged one.
    TypeError: If a tensor is of a type that does not exist here. bfloat16, if the package for it is
        missing, becomes float32.
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
    if isinstance(map_location, str | device):
        check_device(map_location)
    trusted = weights_only is not None and not weights_only
    if pickle_module is not None and not (trusted and pickle_module is pickle):
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified: there is one "
            "reader, which runs no code"
        )
    if isinstance(f, str | os.PathLike):
        path = os.fsdecode(f)
        with open(path, "rb") as file:
            if _is_checkpoint(file, repr(path)):
                return checkpoints.read(file, repr(path), bool(mmap), encoding, trusted)
        return safe.read(path, repr(path))
    _check_binary(f, "read")
    if mmap:
        raise ValueError("f must be a file name in order to use the mmap argument")
    given = f if _is_seekable(f) else io.BytesIO(f.read())
    if _is_checkpoint(given, "the file"):
        return checkpoints.read(given, "the file", False, encoding, trusted)
    return safe.read(given, "the file")


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The classes and functions that a file of `torch.save` names and that are not allowed.

    Parameters
    ----------
    f : str, path or binary file. A zip archive, as PyTorch has written since 1.6.

    Raises
    ------
    RuntimeError: If it is of another form.
    """
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return checkpoints.unsafe_names(file, repr(os.fsdecode(f)))
    _check_binary(f, "read")
    return checkpoints.unsafe_names(f, "the file")


def _is_checkpoint(file: Any, name: str) -> bool:
    """Whether a file, which is left where it is, begins as one of `torch.save`."""
    place = file.tell()
    start = file.read(len(checkpoints.LEGACY_START))
    file.seek(place)
    if start.startswith((checkpoints.ARCHIVE_START, checkpoints.LEGACY_START)):
        return True
    # a safetensors file begins with the eight bytes of a length, and then JSON
    if start[:1] == b"\x80" and start[1:2] <= b"\x05" and start[8:9] not in (b"{", b""):
        raise UnpicklingError(
            f"Weights only load failed. {name} is a pickle, which may hold code, and no file of "
            "torch.save"
        )
    return False


def _is_seekable(file: Any) -> bool:
    return bool(getattr(file, "seekable", lambda: False)())


def _check_binary(file: Any, method: str) -> None:
    if not hasattr(file, method) or isinstance(file, io.TextIOBase):
        raise TypeError(
            f"expected a path or a file opened for {method[:4]}ing bytes, but got {file!r}"
        )


def _replace(path: str, write: Callable[[Any, Any], None], obj: Any) -> None:
    """Write a file beside `path` and, once it is complete, put it in its place."""
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


fill_sections(globals())
