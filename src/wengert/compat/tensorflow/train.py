"""Layer 9 · compat: ``tf.train``: checkpoints of variables, by the names of attributes.

NOTE [checkpoints]
A checkpoint stores the graph of the objects that reach variables; its edges are attributes, indices
and keys. Restoring follows the same names from the given object, so it also finds variables under
other paths, and can restore a part of the checkpoint.

>>> import tempfile
>>> v = tf.Variable(1.0)
>>> path = tf.train.Checkpoint(v=v).save(tempfile.mkdtemp() + "/ckpt")
>>> _ = v.assign(5.0)
>>> _ = tf.train.Checkpoint(v=v).restore(path)
>>> v.numpy()
np.float32(1.0)
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import Given, arguments
from wengert.compat.tensorflow import examples
from wengert.compat.tensorflow.archive import (
    GROWING,
    WAITING,
    Resuming,
    read_archive,
    write_archive,
)
from wengert.compat.tensorflow.dtypes import of_numpy
from wengert.compat.tensorflow.errors import NotFoundError
from wengert.compat.tensorflow.examples import *  # noqa: F403
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import public, refusal

_VALUE = ".ATTRIBUTES/VARIABLE_VALUE"
_UNSEEN = frozenset({"_compiled", "_given", "_losses", "_regularized", "_watched"})


# -- graphs of objects -----------------------------------------------------------------------------


def _leads(value) -> bool:
    """Return whether an attribute may lead to variables."""
    if type(value) in GROWING.values():
        return True
    if isinstance(value, list | tuple):
        return any(_leads(part) for part in value)
    if isinstance(value, dict):
        return any(isinstance(key, str) and _leads(part) for key, part in value.items())
    return (
        isinstance(value, Variable | Checkpoint)
        or any(
            hasattr(value, name) for name in ("_flatten", "_flatten_layers", "load_own_variables")
        )
        or hasattr(value, "update_state")
        or hasattr(value, "_taken")
    )


def children(owner) -> dict[str, Any]:
    """Return the children of an object, by name."""
    if isinstance(owner, list | tuple):
        return {str(i): part for i, part in enumerate(owner) if _leads(part)}
    if isinstance(owner, dict):
        return {key: part for key, part in owner.items() if isinstance(key, str) and _leads(part)}
    if isinstance(owner, Variable) or _whole(owner) or not hasattr(owner, "__dict__"):
        return {}
    held = {name: value for name, value in vars(owner).items() if name not in _UNSEEN}
    held |= children(held.pop("_root", ()))
    weights = held.pop("_weights", None)
    found = {name: value for name, value in held.items() if _leads(value)}
    named = {id(value) for value in found.values()}
    if weights and not all(id(weight) in named for weight in weights):
        found["_weights"] = weights
    return found


def _whole(owner) -> bool:
    """Return whether an object defines its own state."""
    return hasattr(owner, "save_own_variables") or hasattr(owner, "_taken")


def _kept(owner) -> dict[str, Any]:
    """Return the arrays of the object itself, without its children."""
    if isinstance(owner, Variable):
        return {_VALUE: owner.numpy()}
    if hasattr(owner, "_taken"):
        return {".ATTRIBUTES/ITERATOR_STATE": np.int64(owner._taken)}
    if hasattr(owner, "save_own_variables"):
        kept: dict[str, Any] = {}
        owner.save_own_variables(kept)
        return {f".STATE/{key}": value for key, value in kept.items()}
    return {}


def graph_of(root) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the nodes on paths from an object to variables, and the arrays by path."""
    nodes: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    places = {id(root): 0}
    order = [(root, "")]
    for owner, path in order:
        kept = _kept(owner)
        arrays |= {f"{path}/{key}".lstrip("/"): value for key, value in kept.items()}
        links = {}
        for name, child in children(owner).items():
            if id(child) not in places:
                places[id(child)] = len(places)
                # the list grows while it is iterated: breadth-first order
                order.append((child, f"{path}/{name}".lstrip("/")))
            links[name] = places[id(child)]
        nodes.append({"path": path, "children": links, "arrays": list(kept)})
    return nodes, arrays


def _reached(root) -> list[Any]:
    """Return all objects reachable from an object, including itself."""
    found = {id(root): root}
    stack = [root]
    while stack:
        for child in children(stack.pop()).values():
            if id(child) not in found:
                found[id(child)] = child
                stack.append(child)
    return list(found.values())


# -- restoring -------------------------------------------------------------------------------------


class _Restoration:
    """The status of a restoration."""

    def __init__(self, path: str, root) -> None:
        try:
            state, self.arrays = read_archive(f"{path}.index")
        except FileNotFoundError:
            raise refusal(
                NotFoundError, "Unsuccessful TensorSliceReader constructor:", path
            ) from None
        self.nodes = state["nodes"]
        self.root = root
        self.used: set[int] = set()
        self.bound: dict[int, Any] = {}
        self._walk(root, 0, set())

    def _walk(self, owner, number: int, seen: set[tuple[int, int]]) -> None:
        if (id(owner), number) in seen:
            return
        seen.add((id(owner), number))
        node = self.nodes[number]
        if node["arrays"] and id(owner) not in self.bound:
            self._restore(owner, number)
        self._keep_growing(owner, node["children"])
        own = children(owner)
        for name, child in own.items():
            if name in node["children"]:
                self._walk(child, node["children"][name], seen)
        if any(name not in own for name in node["children"]) and hasattr(owner, "__dict__"):
            self._wait(owner, lambda: self._walk(owner, number, set()))

    def _keep_growing(self, owner, places: dict[str, int]) -> None:
        """Replace lists and dicts that lack parts by ones that notice when they get them."""
        held: Any = owner if isinstance(owner, list | dict) else getattr(owner, "__dict__", {})
        for key, value in list(enumerate(held) if isinstance(held, list) else held.items()):
            number = places.get(str(key))
            if number is not None and type(value) in GROWING:
                kept = GROWING[type(value)](value)
                if any(name not in children(kept) for name in self.nodes[number]["children"]):
                    held[key] = kept

    def _restore(self, owner, number: int) -> None:
        node = self.nodes[number]
        values = {key: self.arrays[f"{node['path']}/{key}".lstrip("/")] for key in node["arrays"]}
        if isinstance(owner, Variable):
            value = values[_VALUE]
            if not owner.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Received incompatible tensor with shape {value.shape} when attempting to "
                    f"restore variable with shape {tuple(owner.shape)} and name {node['path']}."
                )
            owner.assign(value)
        elif hasattr(owner, "_taken"):
            owner._skip_to(int(next(iter(values.values()))))
        else:
            store = {key.removeprefix(".STATE/"): value for key, value in values.items()}
            try:
                owner.load_own_variables(store)
            except ValueError:
                self._wait(owner, lambda: self._restore(owner, number))
                return
        self.used.add(number)
        self.bound[id(owner)] = owner

    @staticmethod
    def _wait(owner, again: Callable[[], None]) -> None:
        owner = getattr(owner, "_root", owner)
        WAITING.setdefault(owner, []).append(again)

    # -- what programs ask ------------------------------------------------------------------------

    def assert_existing_objects_matched(self) -> _Restoration:
        """Raise an AssertionError if a variable of the program has no value in the checkpoint."""
        missing = [
            one
            for one in _reached(self.root)
            if _kept(one)
            and id(one) not in self.bound
            and one is not getattr(self.root, "save_counter", None)
        ]
        if missing:
            raise refusal(AssertionError, "Found {} Python", len(missing), missing)
        return self

    def assert_consumed(self) -> _Restoration:
        """Raise an AssertionError if something was not matched, on either side."""
        self.assert_existing_objects_matched()
        left = [
            node["path"]
            for number, node in enumerate(self.nodes)
            if node["arrays"] and number not in self.used and node["path"] != "save_counter"
        ]
        if left:
            raise AssertionError(f"Unresolved object in checkpoint: {', '.join(left)}")
        return self

    def assert_nontrivial_match(self) -> _Restoration:
        """Raise an AssertionError if nothing was matched."""
        if not self.used:
            raise refusal(AssertionError, "Nothing except the")
        return self

    def expect_partial(self) -> _Restoration:
        """Do nothing: unmatched values are not reported anyway."""
        return self

    def initialize_or_restore(self, *args) -> None:
        """Do nothing: the values are already restored."""


class CheckpointOptions:
    """Options of checkpoints; accepted, without effect."""

    def __init__(self, **options) -> None:
        vars(self).update(options)


class Checkpoint(Resuming):
    """Saves and restores a graph of objects that hold variables.

    Parameters
    ----------
    root : optional. An object whose attributes are part of the checkpoint.
    **kwargs: Objects, by name: variables, modules, layers, models, optimizers, iterators, lists and
        dicts of these, or other checkpoints.

    Raises
    ------
    ValueError: If an object cannot hold variables.
    """

    def __init__(self, root=None, **kwargs) -> None:
        if root is not None:
            object.__setattr__(self, "_root", root)
        for name, value in sorted(kwargs.items()):
            if not _leads(value) and not isinstance(value, list | dict | tuple):
                raise refusal(ValueError, "`Checkpoint` was expecting", name, value)
            setattr(self, name, value)

    def _counter(self) -> Any:
        if "save_counter" not in vars(self):
            self.save_counter = Variable(np.int64(0), trainable=False, name="save_counter")
        return self.save_counter

    def write(self, file_prefix, options=None) -> str:
        """Write one file without a number, and return the name to restore from."""
        prefix = os.fspath(file_prefix)
        nodes, arrays = graph_of(self)
        write_archive(f"{prefix}.index", {"nodes": nodes}, arrays)
        return prefix

    def save(self, file_prefix, options=None) -> str:
        """Write a file with the next number, and return the name to restore from."""
        counter = self._counter()
        counter.assign_add(1)
        path = self.write(f"{os.fspath(file_prefix)}-{int(counter.numpy())}")
        _note(Path(path).parent, [path], path)
        return path

    def read(self, save_path, options=None) -> Any:
        """Restore what `write` wrote.

        Raises
        ------
        NotFoundError: If there is no such checkpoint.
        """
        return _Restoration(os.fspath(save_path), self)

    def restore(self, save_path, options=None) -> Any:
        """Restore what `save` wrote, or nothing for None.

        Variables that are created later are restored on creation.

        Raises
        ------
        NotFoundError: If there is no such checkpoint.
        """
        if save_path is None:
            return CheckpointOptions(
                assert_consumed=_nothing,
                expect_partial=lambda: None,
                assert_existing_objects_matched=_nothing,
            )
        path = os.fspath(save_path)
        self._counter()
        return _Restoration(path, self)


def _nothing() -> None:
    raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")


# -- what is in a folder ---------------------------------------------------------------------------


def _note(directory: Path, paths: list[str], latest: str) -> None:
    """Write the names of the checkpoints to the folder's state file."""
    lines = [f'model_checkpoint_path: "{Path(latest).name}"']
    lines += [f'all_model_checkpoint_paths: "{Path(path).name}"' for path in paths]
    (directory / "checkpoint").write_text("\n".join(lines) + "\n", encoding="utf-8")


def get_checkpoint_state(checkpoint_dir, latest_filename=None) -> Any:
    """Return the latest checkpoint in a folder and all of them, or None."""
    directory = Path(checkpoint_dir)
    file = directory / (latest_filename or "checkpoint")
    if not file.exists():
        return None
    found = re.findall(r'^(\w+): "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
    paths = [(key, os.path.join(checkpoint_dir, name)) for key, name in found]
    latest = next(path for key, path in paths if key == "model_checkpoint_path")
    every = [path for key, path in paths if key.startswith("all")]
    return SimpleNamespace(model_checkpoint_path=latest, all_model_checkpoint_paths=every)


def latest_checkpoint(checkpoint_dir, latest_filename=None) -> str | None:
    """Return the name of the latest checkpoint in a folder, or None.

    Examples
    --------
    >>> import tempfile
    >>> tf.train.latest_checkpoint(tempfile.mkdtemp()) is None
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not Path(f"{state.model_checkpoint_path}.index").exists():
        return None
    return state.model_checkpoint_path


@arguments(
    "checkpoint, directory, _max_to_keep, _keep_checkpoint_every_n_hours=None, "
    "_checkpoint_name='ckpt', _step_counter=None, checkpoint_interval=None, _init_fn=None"
)
class CheckpointManager(Given):
    """Writes checkpoints to a folder, and keeps only the latest ones.

    Parameters
    ----------
    checkpoint : Checkpoint. The checkpoint to save.
    directory : str or path. The folder.
    max_to_keep : int or None. The number of checkpoints to keep; None keeps all.
    checkpoint_name : str. The prefix of the files' names, which a number follows.
    step_counter, checkpoint_interval : optional. A variable that counts steps, and the minimum
        number of steps between two checkpoints.
    keep_checkpoint_every_n_hours : float, optional. The interval in hours after which a checkpoint
        is kept permanently.
    init_fn : callable, optional. The function that `restore_or_initialize` calls if there is no
        checkpoint.
    """

    _saved_at: int | None = None

    def _prepare(self: Any) -> None:
        if self._max_to_keep is not None and self._max_to_keep <= 0:
            raise refusal(ValueError, "Expected a positive", self._max_to_keep)
        self.directory = os.fspath(self.directory)
        self._last_kept = time.time()
        state = get_checkpoint_state(self.directory)
        paths = state.all_model_checkpoint_paths if state else []
        self._paths = [path for path in paths if Path(f"{path}.index").exists()]

    @property
    def checkpoints(self) -> list[str]:
        """The names of the checkpoints, oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The name of the latest checkpoint, or None."""
        return self._paths[-1] if self._paths else None

    def save(self, checkpoint_number=None, check_interval=True, options=None) -> str | None:
        """Save, and delete old checkpoints; return the name, or None if it is too early."""
        if self.checkpoint_interval is not None and self._step_counter is not None:
            step = int(np.asarray(self._step_counter))
            last = self._saved_at
            if check_interval and last is not None and step - last < self.checkpoint_interval:
                return None
            self._saved_at = step
        counter = self.checkpoint._counter()
        counter.assign_add(1)
        number = int(np.asarray(counter if checkpoint_number is None else checkpoint_number))
        path: str = self.checkpoint.write(
            os.path.join(self.directory, f"{self._checkpoint_name}-{number}")
        )
        self._paths = [one for one in self._paths if one != path] + [path]
        while self._max_to_keep is not None and len(self._paths) > self._max_to_keep:
            self._drop(self._paths.pop(0))
        _note(Path(self.directory), self._paths, path)
        return path

    def _drop(self, path: str) -> None:
        hours = self._keep_checkpoint_every_n_hours
        if hours and time.time() - self._last_kept > hours * 3600:
            self._last_kept = time.time()
            return
        Path(f"{path}.index").unlink(missing_ok=True)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or call `init_fn`; return the name, or None."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
        return None


class _Reader:
    """The arrays of a checkpoint, by name."""

    def __init__(self, path) -> None:
        name = os.fspath(path)
        if Path(name).is_dir():
            name = latest_checkpoint(name) or name
        try:
            _, self._arrays = read_archive(f"{name}.index")
        except FileNotFoundError:
            raise NotFoundError(f"Could not find checkpoint {name}") from None

    def get_tensor(self, name: str) -> Any:
        """Return the array with a given name."""
        if name not in self._arrays:
            raise NotFoundError(f"Key {name} not found in checkpoint")
        return self._arrays[name]

    def has_tensor(self, name: str) -> bool:
        """Return whether there is an array with a given name."""
        return name in self._arrays

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes, by name."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Return the dtypes, by name."""
        return {name: of_numpy(array.dtype) for name, array in self._arrays.items()}


def load_checkpoint(ckpt_dir_or_file) -> Any:
    """Return a reader of a checkpoint: `get_tensor`, `get_variable_to_shape_map`, ..."""
    return _Reader(ckpt_dir_or_file)


def list_variables(ckpt_dir_or_file) -> list[tuple[str, list[int]]]:
    """Return the names and shapes of a checkpoint's arrays."""
    return sorted(_Reader(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name: str) -> Any:
    """Return one array of a checkpoint."""
    return _Reader(ckpt_dir_or_file).get_tensor(name)


__all__ = public(globals(), " ".join(examples.__all__), "children graph_of")
