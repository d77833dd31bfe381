"""Layer 8 · utils: selective checkpoints, which keep the results of some operations."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from wengert.ops.aten import OpOverloadPacket
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.modes import MODE, NO_GRAD, Mode
from wengert.utils.dispatch import Dispatch, operation_name
from wengert.utils.recompute import Enough

SAC_IGNORED_OPS = frozenset(prim.name for prim in TABLE.values() if prim.view)
"""Operations that are not passed to the policy: views, which are free to recompute."""


class CheckpointPolicy(enum.Enum):
    """The decision of selective checkpointing about the result of an operation.

    ``MUST_SAVE`` and ``PREFER_SAVE`` keep it from the forward pass; ``MUST_RECOMPUTE`` and
    ``PREFER_RECOMPUTE`` drop and recompute it. Preferences are never overruled here. The members
    for offloading exist for compatibility and recompute, as in PyTorch without its compiler.

    Examples
    --------
    >>> from wengert.utils.checkpoint import CheckpointPolicy
    >>> CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """The context that a policy gets, along with the operation and its arguments.

    Attributes
    ----------
    is_recompute : bool. Always False: a policy runs only in the forward pass.
    op_output : Tensor or tuple of Tensor. The result of the operation.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Result:
    """A kept result, with the version that its memory had."""

    __slots__ = ("_payload", "cell", "version")

    def __init__(self, out: Any) -> None:
        self._payload = out._payload
        self.cell = out._share_version()
        self.version = self.cell[0]

    def tensor(self, name: str, may_be_changed: bool) -> Any:
        """Return a new tensor over the kept values."""
        if self.cell[0] != self.version and not may_be_changed:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: the result "
                f"of {name} was kept, and then changed by {self.cell[1] or 'a write in place'}. "
                "Let the policy recompute it, clone() it before the write, or pass "
                "allow_cache_entry_mutation=True if the new values are meant."
            )
        return new_tensor(self._payload, None, self.cell)


_RECOMPUTED: Any = object()
_USED: Any = object()

_Store = dict[str, list[Any]]


class _Keeping(Dispatch):
    """The context of the forward pass: asks the policy, and keeps results."""

    def __init__(self, policy: Callable[..., Any], store: _Store) -> None:
        self._policy = policy
        self._store = store

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Compute an operation and keep its result if the policy says so."""
        results = self.compute(mode, prim, tensors, params, outs)
        if prim.view:
            return results
        name = operation_name(prim)
        MODE.set(NO_GRAD)
        try:
            context = SelectiveCheckpointContext(is_recompute=False, op_output=results)
            policy = self._policy(context, name, *tensors, **params)
        finally:
            MODE.set(mode)
        if not isinstance(policy, CheckpointPolicy | bool | None):
            raise TypeError(
                f"the policy must return a CheckpointPolicy or a bool for {name}, not "
                f"{type(policy).__name__}"
            )
        entry = _RECOMPUTED
        if policy is True or policy in _SAVES:
            entry = [_Result(out) for out in (results if prim.outputs != 1 else (results,))]
        self._store.setdefault(name, []).append(entry)
        return results


class _Using(Dispatch):
    """The context of the recomputation: uses the kept results."""

    def __init__(self, store: _Store, may_be_changed: bool) -> None:
        self._store = store
        self._may_be_changed = may_be_changed
        self._counts: dict[str, int] = {}
        self._used: list[tuple[list[Any], int]] = []

    def __enter__(self) -> Dispatch:
        self._counts.clear()
        self._used.clear()
        return super().__enter__()

    def __exit__(self, kind: Any = None, *exc: Any) -> None:
        super().__exit__(kind, *exc)
        if kind is None or issubclass(kind, Enough):
            # not before, so that a recomputation that fails can be repeated
            for entries, i in self._used:
                entries[i] = _USED
        self._used.clear()

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Return the kept result of an operation, or compute it."""
        if prim.view:
            return self.compute(mode, prim, tensors, params, outs)
        name = operation_name(prim)
        i = self._counts.get(name, 0)
        self._counts[name] = i + 1
        entries = self._store.get(name)
        if entries is None or i >= len(entries):
            raise RuntimeError(
                f"{name} invocation index {i} encountered during backward but not found in "
                f"storage: the forward pass computed {name} {len(entries or ())} times. A "
                "checkpointed function must do the same each time."
            )
        entry = entries[i]
        if entry is _USED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint."
            )
        if entry is not _RECOMPUTED:
            outs = [result.tensor(name, self._may_be_changed) for result in entry]
            self._used.append((entries, i))
        return self.compute(mode, prim, tensors, params, outs)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Dispatch, Dispatch]:
    """Return the contexts of a checkpoint that keeps the results of some operations.

    For ``checkpoint(..., context_fn=)``: pass ``functools.partial`` of this function.

    Parameters
    ----------
    policy_fn_or_list : callable or list of str. ``policy(ctx, op, *args, **kwargs)`` is called for
        each operation of the forward pass, with a `SelectiveCheckpointContext`, the name of the
        operation (a string such as "mm", which ``wg.ops.aten.mm.default`` equals) and its
        arguments. It returns a `CheckpointPolicy`, or True to save and False or None to recompute.
        Its own operations are not recorded. A list names the operations to save. A function may
        compute another operation: ``matmul`` of two matrices is "mm", of batches "bmm". Views and
        in-place writes are always recomputed without asking the policy.
    allow_cache_entry_mutation : bool. Whether a kept result may be written to after it was kept.
        The recomputation then starts from the new values.

    Returns
    -------
    tuple of two context managers: For the forward pass and for the recomputation.

    Raises
    ------
    ValueError: If the list names something that is not an operation.
    TypeError: If the argument is neither callable nor a list; in the forward pass, if the policy
        returns something else.
    RuntimeError: In the backward pass: if it is the second one over the same region, if a kept
        result was written to, or if the recomputation differs from the forward pass.

    Examples
    --------
    >>> import functools
    >>> from wengert.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> def layer(x, w):
    ...     return wg.sigmoid(x @ w) * x
    >>> x, w = (wg.ones(2, 2, requires_grad=True) for _ in range(2))
    >>> keep_products = functools.partial(create_selective_checkpoint_contexts, ["mm"])
    >>> y = checkpoint(layer, x, w, use_reentrant=False, context_fn=keep_products)
    >>> y.sum().backward()
    >>> w.grad
    tensor([[0.2100, 0.2100],
            [0.2100, 0.2100]])
    """
    if isinstance(policy_fn_or_list, list):
        names = frozenset(map(operation_name, TABLE.values()))
        for op in policy_fn_or_list:
            if isinstance(op, OpOverloadPacket):
                raise ValueError(
                    f"update the OpOverloadPacket to a specific OpOverload: {op!r}.default in "
                    f"place of {op!r}"
                )
            if op not in names:
                raise ValueError(
                    "Expected op in `op_list` to be an OpOverload, or the name of an operation, "
                    f"such as 'mm' or 'exp', but got: {op!r} of type {type(op)}. A policy function "
                    "that prints its second argument shows the names."
                )
        saved = frozenset(policy_fn_or_list)

        def policy(ctx: SelectiveCheckpointContext, op: str, *args: Any, **kwargs: Any) -> bool:
            return op in saved

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    store: _Store = {}
    return _Keeping(policy, store), _Using(store, allow_cache_entry_mutation)
