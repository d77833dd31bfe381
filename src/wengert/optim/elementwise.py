"""Layer 9 · optim: optimisers with an elementwise update rule.

NOTE [steps]
A step checks all gradients first, so that nothing has been written if it raises. Then rules run on
the arrays themselves, unless the computation must be recorded: by a trace of `compile`, a
transform, or the graph of a differentiable step. There they run on tensors, and the new values are
put in place at the end (see NOTE [update rules]).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wengert.base.error_states import errstate
from wengert.ops.create import zeros
from wengert.ops.strided import view_as_complex, view_as_real
from wengert.optim.optimizer import Optimizer
from wengert.optim.parameters import (
    filled,
    is_plain,
    kept_number,
    making_state,
    options_of,
    with_gradients,
    with_sparse,
)
from wengert.optim.rules import Tensors
from wengert.optim.tracks import Row, Track, check_kept
from wengert.tape.base import TensorBase
from wengert.tape.modes import NO_GRAD, current_mode, enable_grad, no_grad
from wengert.tape.write_checks import check_writable

# kept outside the optimisers, since arrays in attributes would count as part of their state
_TRACKS: weakref.WeakKeyDictionary[Any, list[Track]] = weakref.WeakKeyDictionary()


class Elementwise(Optimizer):
    """The base of optimisers with an elementwise update rule.

    A subclass defines `_rule`, `_coefficients`, and the names of its state.
    """

    _numbers: ClassVar[tuple[str, ...]] = ("step",)
    """The names of the numbers in the state of each parameter."""

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the names of the arrays in the state of each parameter of a group."""
        raise NotImplementedError

    def _initial_number(self, name: str, options: dict[str, Any]) -> float:
        """Return the value of a number before the first step."""
        return 0.0

    def _initial_array(self, name: str, options: dict[str, Any]) -> complex:
        """Return the value of an array's elements before the first step.

        A nonzero value is complex: it gives both parts of the elements of complex arrays.
        """
        return 0.0

    _coefficients: Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]
    """Called as ``_coefficients(options, first, *numbers)``; returns the numbers after this step,
    and the coefficients of the rule.

    The options are the group's, with tensors as numbers unless the rule runs on tensors; `first`
    says whether the state has just been made; the numbers are NumPy scalars, or tensors if the
    rule runs on tensors.
    """

    _rule: ClassVar[Callable[..., tuple[Any, ...]]]
    """Called as ``_rule(U, options, c, p, g, *arrays)`` (see NOTE [update rules])."""

    _on_sparse: Callable[..., None] | None = None
    """Called as ``_on_sparse(options, param, grad)`` for a sparse gradient; None if unsupported."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, from their gradients.

        Parameters without a gradient stay unchanged.

        Parameters
        ----------
        closure : callable, optional. Recomputes the loss and its gradients, and returns the loss.

        %(returns_closure)s

        Raises
        ------
        RuntimeError: If a gradient does not have its parameter's shape and dtype; then nothing
            has changed.
        """
        loss = self._loss(closure)
        with enable_grad() if self.defaults["differentiable"] else no_grad():
            self._advance()
        return loss

    def _advance(self) -> None:
        groups, states = self.param_groups, self.state
        plain = current_mode() is NO_GRAD
        tracks = _TRACKS.get(self, ()) if plain else ()
        if len(tracks) == len(groups):
            # the usual case: nothing has changed since the step before
            ready = []
            for group, track in zip(groups, tracks, strict=True):
                grads = track.gradients(group["params"], states, self._arrays(group))
                if grads is None:
                    break
                ready.append((track, options_of(group, True), grads))
            else:
                self._run(ready)
                return
        refusal = self._refusal() if self._on_sparse is None else None
        found = [with_gradients(group["params"], refusal) for group in groups]
        for group, present in zip(groups, found, strict=True):
            for param in present:
                check_kept(param, states.get(param, {}), self._arrays(group))
        for group in groups:
            for param in with_sparse(group["params"]):
                check_writable(param, False)
                self._on_sparse(group, param, param._ext.grad)  # type: ignore[misc]
        if not plain or not all(is_plain(param) for present in found for param in present):
            self._advance_tensors(found)
            return
        if any(len(set(map(id, present))) != len(present) for present in found):
            self._advance_again(found)
            return
        tracks = []
        ready = []
        for group, present in zip(groups, found, strict=True):
            options = options_of(group, True)
            names = self._arrays(options)
            rows = self._rows(options, names, present)
            tracks.append(Track(group["params"], states, self._numbers, names, rows))
            grads = [param._ext.grad._payload for param in present]
            ready.append((tracks[-1], options, grads))
        _TRACKS[self] = tracks
        self._run(ready)

    @errstate(all="ignore")
    def _run(self, ready: Sequence[tuple[Track, dict[str, Any], list[Any]]]) -> None:
        for track, options, grads in ready:
            track.run(self._rule, self._coefficients, options, grads)

    def _advance_again(self, found: Sequence[list[Any]]) -> None:
        """Run a step in which a parameter occurs several times, one occurrence at a time."""
        for group, present in zip(self.param_groups, found, strict=True):
            options = options_of(group, True)
            names = self._arrays(options)
            for param in present:
                rows = self._rows(options, names, [param])
                track = Track([param], self.state, self._numbers, names, rows)
                self._run([(track, options, [param._ext.grad._payload])])

    # -- state -------------------------------------------------------------------------------------

    def _rows(
        self, options: dict[str, Any], names: tuple[str, ...], present: Sequence[Any]
    ) -> list[Row]:
        """Return the parameters with their state, after making missing entries."""
        rows = []
        for param in present:
            first = False
            # an optimiser that keeps nothing makes no state entry
            state = self.state[param] if self._numbers or names else {}
            if not all(name in state for name in (*self._numbers, *names)):
                first = self._make_state(options, param, names)
            numbers = [state[name] for name in self._numbers]
            arrays = [state[name] for name in names]
            for tensor in arrays:
                tensor._array()
            rows.append(Row(param, state, numbers, arrays, first))
        return rows

    def _make_state(self, options: dict[str, Any], param: Any, names: tuple[str, ...]) -> bool:
        """Make the missing state of a parameter; return whether it had no array yet."""
        making_state()
        state = self.state[param]
        for name in self._numbers:
            if name not in state:
                value = self._initial_number(name, options)
                state[name] = kept_number(value)
        missing = [name for name in names if name not in state]
        for name in missing:
            state[name] = filled(param, self._initial_array(name, options))
        return len(missing) == len(names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for kept in state.get("state", {}).values():
            if kept and (missing := [name for name in self._numbers if name not in kept]):
                raise KeyError(missing[0])  # it is another optimiser's state
        super().__setstate__(state)
        for kept in self.state.values():
            # in old states, numbers are not tensors, and None stands for a missing array
            for name in [name for name, value in kept.items() if value is None]:
                del kept[name]
            for name in self._numbers:
                if name in kept and not isinstance(kept[name], TensorBase):
                    kept[name] = kept_number(kept[name])

    # -- on tensors --------------------------------------------------------------------------------

    def _advance_tensors(self, found: Sequence[list[Any]]) -> None:
        recorded = self.defaults["differentiable"]
        done: list[tuple[Any, Any]] = []
        for group, present in zip(self.param_groups, found, strict=True):
            options = options_of(group, False)
            for row in self._rows(options, self._arrays(options), present):
                check_writable(row.param, recorded)
                done += self._computed(options, row, row.param._ext.grad, recorded)
        for tensor, value in done:
            tensor.copy_(value)

    def _computed(
        self, options: dict[str, Any], row: Row, grad: Any, recorded: bool
    ) -> list[tuple[Any, Any]]:
        """Return the tensors of a row, each with its value after the step."""
        kept = (row.param, *row.arrays)
        # the graph saves them, so they must not be written to
        old = [tensor.clone() for tensor in kept] if recorded else kept
        after, c = self._coefficients(options, row.first, *row.numbers)
        p, g, *arrays = [_computed(tensor) for tensor in (old[0], grad, *old[1:])]
        made = self._rule(Tensors, options, c, p, g, *arrays)
        return [
            *zip(row.numbers, after, strict=True),
            *(
                (tensor, view_as_complex(value) if tensor.is_complex() else value)
                for tensor, value in zip(kept, made, strict=True)
            ),
        ]


_PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}
"""The options that functions take one by one."""


def as_function(name: str, kind: Any, lists: str, **fixed: Any) -> Callable[..., None]:
    """Return the step of an optimiser as a function ``update(params, grads, *lists, **options)``.

    Parameters
    ----------
    name : str. The function's name.
    kind : type. The optimiser.
    lists : str. The lists of state that the function takes, in order, in the plural.
    **fixed. Options that the function does not take.
    """
    order = lists.split()
    names = [one.removesuffix("_list").removeprefix("state_").removesuffix("s") for one in order]

    def update(params: Any, grads: Any, *given: Any, **options: Any) -> None:
        kept = dict(zip(names, given, strict=False))
        kept |= {n: options.pop(one) for n, one in zip(names, order, strict=True) if one in options}
        for pair, parts in _PAIRS.items():
            if parts[0] in options:
                options[pair] = tuple(options.pop(part) for part in parts)
        optimizer = kind([zeros(0)])
        options = options_of({**optimizer.defaults, **fixed, **options}, False)
        recorded = options["differentiable"]
        arrays = optimizer._arrays(options)
        done = []
        for i, (param, grad) in enumerate(zip(params, grads, strict=True)):
            first = False
            for name in arrays:
                if kept[name][i] is None:
                    first = True
                    kept[name][i] = filled(param, optimizer._initial_array(name, options))
            numbers = [kept[name][i] for name in kind._numbers]
            row = Row(param, {}, numbers, [kept[name][i] for name in arrays], first)
            done += optimizer._computed(options, row, grad, recorded)
        for tensor, value in done:
            tensor.copy_(value)

    update.__name__ = update.__qualname__ = name
    return update


# -- helpers of rules ------------------------------------------------------------------------------


def decays(options: dict[str, Any]) -> tuple[Any, Any]:
    """Return weight decay as a factor of the parameters, and as a multiple added to gradients."""
    decay = options["weight_decay"]
    if decay == 0:
        return None, None
    if options.get("decoupled_weight_decay", False):
        return 1 - options["lr"] * decay, None
    return None, decay


def directed(U: Any, options: dict[str, Any], p: Any, g: Any, added: Any) -> Any:
    """Return the gradient, negated to maximise, plus the weight decay."""
    if options["maximize"]:
        g = U.neg(g)
    return g if added is None else U.add_(U.mul(p, added), g)


# -- tensors ---------------------------------------------------------------------------------------


def _computed(tensor: Any) -> Any:
    """Return a tensor in the form that rules compute with."""
    if tensor.is_complex():
        return view_as_real(tensor)
    return tensor.float() if tensor._payload.dtype.itemsize <= 2 else tensor
