"""Layer 8 · nn: saving and loading the state of a module as a dictionary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from wengert.__future__ import get_swap_module_params_on_conversion
from wengert.base.device import is_meta
from wengert.interp.levels import Lifted
from wengert.nn.modules.loading import Transaction
from wengert.nn.parameter import Parameter, is_lazy
from wengert.overrides import has_torch_function_variadic
from wengert.tape.base import new_tensor
from wengert.tape.handles import RemovableHandle, flags_of, register
from wengert.tape.modes import no_grad
from wengert.tape.sites import warn
from wengert.tensor.tensor import Tensor

_EXTRA = "_extra_state"
_WITH_MODULE = 1
"""The flag of a hook before loading that receives the module."""
_RETURNS = 2
"""The flag of a hook after `state_dict` whose result replaces the dictionary."""


class _IncompatibleKeys(NamedTuple):
    """The keys that `load_state_dict` found missing, and those it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, "
            f"unexpected_keys={self.unexpected_keys!r})"
        )


class State:
    """`state_dict`, `load_state_dict`, and the hooks around them."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: OrderedDict[Any, Any]
    _state_dict_hooks: OrderedDict[Any, Any]
    _load_state_dict_pre_hooks: OrderedDict[Any, Any]
    _load_state_dict_post_hooks: OrderedDict[Any, Any]

    def get_extra_state(self) -> Any:
        """Return state other than tensors for `state_dict`; for subclasses to override."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: override get_extra_state() and "
            "set_extra_state() to have some"
        )

    def set_extra_state(self, state: Any) -> None:
        """Restore state that `get_extra_state` returned; for subclasses to override."""
        raise RuntimeError(
            f"{type(self).__name__} takes no extra state: override set_extra_state(), beside "
            "get_extra_state()"
        )

    # -- saving ------------------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the parameters and persistent buffers by their dotted paths.

        Parameters
        ----------
        destination : dict, optional. The dictionary to fill; default: a new `OrderedDict`.
        prefix : str. The prefix of each path.
        keep_vars : bool. Whether to return the parameters themselves, rather than detached tensors
            over the same memory.

        Returns
        -------
        OrderedDict: With an attribute ``_metadata``, which holds the version of each module.

        Examples
        --------
        %(a_module)s
        >>> dict(module.state_dict())
        {'weight': tensor([1., 1.])}
        """
        if args:
            # positional arguments, the deprecated form
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination", destination)
            prefix = given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for _, hook in _hooks_of_state(self, "_state_dict_pre_hooks"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars
                )
        for flags, hook in _hooks_of_state(self, "_state_dict_hooks"):
            made = hook(self, destination, prefix, local_metadata)
            if flags & _RETURNS:
                destination = destination if made is None else made
            elif made is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save the tensors of this module itself to `destination`; subclasses may do more."""
        for name, tensor in _own_state(self):
            # a tensor without a shape stays one
            as_it_is = keep_vars or is_lazy(tensor)
            destination[prefix + name] = tensor if as_it_is else _detached(tensor)
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    # -- loading -----------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy parameters and buffers from a `state_dict` into this module.

        If an error is raised, nothing has been copied.

        Parameters
        ----------
        state_dict : dict. Tensors by the dotted paths of parameters and buffers.
        strict : bool. Whether the keys must match the paths exactly.
        assign : bool. Whether to assign the tensors of `state_dict` themselves, with their dtype,
            rather than copy their values.

        Returns
        -------
        NamedTuple: With the lists ``missing_keys`` and ``unexpected_keys``.

        Raises
        ------
        TypeError: If `state_dict` is not a dictionary.
        RuntimeError: If a tensor and its parameter differ in shape, or, with `strict`, if paths
            are missing or unexpected.

        Examples
        --------
        %(a_module)s
        >>> module.load_state_dict({"weight": wg.tensor([3.0, 4.0])})
        <All keys matched successfully>
        >>> module.weight.detach()
        tensor([3., 4.])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        with Transaction(_waiting(self)) as transaction:
            _load(self, state, "", metadata or {}, assign, missing, unexpected, errors)
            if strict:
                if unexpected:
                    errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
                if missing:
                    errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
            if errors:
                listed = "\n\t".join(errors)
                raise RuntimeError(
                    f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
                )
            transaction.commit()
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the tensors of this module itself from `state_dict`; subclasses may do more.

        Missing paths, unexpected paths and errors are added to the lists.
        """
        found = (strict, missing_keys, unexpected_keys, error_msgs)
        for flags, hook in _hooks_of_state(self, "_load_state_dict_pre_hooks"):
            first = (self,) if flags & _WITH_MODULE else ()
            hook(*first, state_dict, prefix, local_metadata, *found)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = dict(_own_state(self))
        for name, held in own.items():
            key = prefix + name
            if key in state_dict:
                _load_one(self, name, held, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        takes_extra = type(self).set_extra_state is not State.set_extra_state
        extra = prefix + _EXTRA
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif takes_extra and strict:
            missing_keys.append(extra)
        elif extra in state_dict and strict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first_name, dot, _ = key[len(prefix) :].partition(".")
                    if first_name not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    # -- hooks -------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict` collects the tensors."""
        return register(self._state_dict_pre_hooks, hook, "register_state_dict_pre_hook")

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when `state_dict` is made.

        The hook may change the dictionary; it returns None.
        """
        return register(self._state_dict_hooks, hook, "register_state_dict_post_hook")

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a hook after `state_dict` whose result replaces the dictionary."""
        if any(
            held is hook and not flags & _RETURNS
            for flags, held in _hooks_of_state(self, "_state_dict_hooks")
        ):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return register(self._state_dict_hooks, hook, "_register_state_dict_hook", _RETURNS)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook` before this module loads its own state from a dictionary.

        It is given the module and the arguments of ``_load_from_state_dict``: ``hook(module,
        state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``,
        and may change the dictionary.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        flags = _WITH_MODULE * with_module
        table = self._load_state_dict_pre_hooks
        return register(table, hook, "register_load_state_dict_pre_hook", flags)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` when this module and its submodules are loaded.

        The hook may change the two lists of keys; it returns None.
        """
        table = self._load_state_dict_post_hooks
        return register(table, hook, "register_load_state_dict_post_hook")


def _own_state(module: Any) -> Iterator[tuple[str, Any]]:
    for name, param in module._parameters.items():
        if param is not None:
            yield name, param
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


def _hooks_of_state(module: Any, table: str) -> list[tuple[int, Any]]:
    hooks = module.__dict__.get(table)
    return [(flags_of(key), hook) for key, hook in hooks.items()] if hooks else []


def _load_one(
    module: Any,
    name: str,
    held: Any,
    key: str,
    value: Any,
    assign: bool,
    error_msgs: list[str],
) -> None:
    """Load one parameter or buffer from a state, or record why it cannot be loaded."""
    if not isinstance(value, Tensor):
        error_msgs.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
        return
    if is_lazy(held) and is_lazy(value):
        return
    if held.ndim == 0 and value.ndim == 1 and len(value) == 1:
        # numbers were saved as tensors of one element in old versions
        value = value[0]
    if value.shape != held.shape:
        error_msgs.append(
            f"size mismatch for {key}: copying a param with shape {value.shape} from "
            f"checkpoint, the shape in current model is {held.shape}."
        )
        return
    if is_meta(held.device) and not is_meta(value.device) and not assign:
        warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter "
            "in the current model, which is a no-op. (Did you mean to pass `assign=True` to assign "
            "items in the state dictionary to their corresponding key in the module instead of "
            "copying them in place?)",
        )
    swaps = get_swap_module_params_on_conversion()
    try:
        if swaps and has_torch_function_variadic(held, value):
            with no_grad():
                made = held.module_load(value, assign=assign)
            if made is held or made is value:
                raise RuntimeError(
                    "module_load() returned one of self or other, please .detach() the result if "
                    "returning one of the inputs in module_load"
                )
            value = made
        elif not assign:
            Transaction.copy(module, held, value)
            return
        if isinstance(held, Parameter):
            if isinstance(value, Parameter) and not swaps:
                value.requires_grad_(held.requires_grad)
            else:
                value = Parameter(value, held.requires_grad)
        elif swaps:
            value = value.detach()
        Transaction.assign(module, name, value)
    except Exception as error:
        error_msgs.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{held.size()} and whose dimensions in the checkpoint are {value.size()}, an "
            f"exception occurred : {error.args}."
        )


def _detached(tensor: Any) -> Any:
    """Return ``tensor.detach()``; a leaf has no history, so detaching it records nothing."""
    kind: type = type(tensor)
    if kind is Parameter and not isinstance(tensor._payload, Lifted):
        return new_tensor(tensor._array(), None, tensor._share_version())
    return tensor.detach()


def _load(
    module: Any,
    state: dict[str, Any],
    prefix: str,
    metadata: Mapping[str, Any],
    assign: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    """Load a module and its submodules."""
    local_metadata = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local_metadata["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local_metadata, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            path = prefix + name + "."
            own = OrderedDict((key, value) for key, value in state.items() if key.startswith(path))
            _load(child, own, path, metadata, assign, missing, unexpected, errors)
    for _, hook in _hooks_of_state(module, "_load_state_dict_post_hooks"):
        if hook(module, _IncompatibleKeys(missing, unexpected)) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )


def _waiting(root: Any) -> Callable[[Any], bool]:
    """Return a test for modules whose writes may be deferred (see NOTE [loading as a whole])."""
    if any(module.__dict__.get("_load_state_dict_post_hooks") for module in root.modules()):
        return lambda module: False
    ordinary = State._load_from_state_dict
    return lambda module: type(module)._load_from_state_dict is ordinary


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
