"""One function run by every library: what differs between the libraries is written here, once.

A function is written against a namespace ``F`` and arrays: ``lambda F, x, w: F.sin(x) * w``. Each
library has a namespace, and an idiom to take one forward and one backward pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from _builds import BUILDS, Build
from _measure import OURS, chosen, clock, optional, use_wall_clock

# isort: split
import numpy as np

__all__ = [
    "JAX",
    "Function",
    "Passes",
    "contestant",
    "installed",
    "library",
    "passes_of",
    "use_threads",
]

JAX = ("jax (eager)", "jax (jit)")


@cache
def library(name: str) -> Any:
    """A library, on one thread and with doubles where it needs to be told; None: not installed."""
    found: Any = optional(name)
    if found is not None and name == "torch":
        found.set_num_threads(1)
    elif found is not None and name == "jax":
        found.config.update("jax_enable_x64", True)
    return found


def use_threads(count: int) -> None:
    """Let us and PyTorch compute large arrays with so many threads; time is the clock's then."""
    for build in BUILDS.values():
        build.package.set_num_threads(count)
    torch = library("torch")
    if torch is not None:
        torch.set_num_threads(count)
    use_wall_clock()


def installed(styles: Mapping[str, Any], peers: str | None) -> dict[str, tuple[Any, Any]]:
    """Library and style of the contestants that are asked for and there."""
    found = {}
    for name, style in chosen(styles, peers).items():
        lib = BUILDS[name] if name in BUILDS else library(name.split()[0])
        if lib is not None:
            found[name] = (lib, style)
    return found


Function = Callable[..., Any]
"""A function of a library's namespace and of its arrays."""
Step = Callable[[], tuple[float, float, list[Any]]]
"""One forward and one backward pass: the seconds of each, and the gradients."""


class Passes(NamedTuple):
    """What a library does with a function; None: what it cannot."""

    step: Step | None
    alone: Callable[[], Any]
    """A forward pass that is not recorded."""
    double: Callable[[], list[Any]] | None
    """Forward, backward, and backward through that; the last cotangents."""
    is_split: bool = True
    """Whether the two parts of a step can be told apart; else all of its time is the second."""


Style = Callable[[Any, Function, Sequence[Any], Any, Any], Passes]
"""What makes passes of a library, a function, its arrays, a cotangent, and items or None."""


def _loop(body: Callable[[Any, Any], Any], state: Any, items: Iterable[Any]) -> Any:
    for item in items:
        state = body(state, item)
    return state


def _names(source: Any, sigmoid: Function, quarters: Function, loop: Function) -> SimpleNamespace:
    return SimpleNamespace(
        sin=source.sin,
        exp=source.exp,
        log=source.log,
        tanh=source.tanh,
        sigmoid=sigmoid,
        quarters=quarters,
        loop=loop,
    )


def _torch_style(lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any) -> Passes:
    """PyTorch and we: the very same code."""
    names = _names(lib, lib.sigmoid, lambda a: a.chunk(4, 1), _loop)
    leaves = [lib.tensor(array).requires_grad_() for array in arrays]
    given = [names] if items is None else [names, [lib.tensor(item) for item in items]]
    seed = lib.tensor(g)
    ones = [lib.ones_like(leaf) for leaf in leaves]

    def step() -> tuple[float, float, list[Any]]:
        start = clock()
        y = function(*given, *leaves)
        middle = clock()
        y.backward(seed)
        del y
        end = clock()
        grads = [leaf.grad.numpy() for leaf in leaves]
        for leaf in leaves:
            leaf.grad = None
        return middle - start, end - middle, grads

    def alone() -> Any:
        with lib.no_grad():
            return function(*given, *leaves)

    def double() -> list[Any]:
        grads = lib.autograd.grad(function(*given, *leaves), leaves, seed, create_graph=True)
        return [g.numpy() for g in lib.autograd.grad(grads, leaves, ones)]

    return Passes(step, alone, double)


def _our_style(
    build: Build, function: Function, arrays: Sequence[Any], g: Any, items: Any
) -> Passes:
    with build.set_up():
        passes = _torch_style(build.package, function, arrays, g, items)
        for each in (passes.step, passes.alone, passes.double):
            each()  # all that is imported when it is first needed
    return passes


def _hips_style(lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any) -> Passes:
    anp: Any = optional("autograd.numpy")
    names = _names(
        anp, lambda a: 0.5 * (anp.tanh(0.5 * a) + 1), lambda a: anp.split(a, 4, 1), _loop
    )
    given = [names] if items is None else [names, list(items)]
    places = tuple(range(len(arrays)))
    tuples: Any = optional("autograd.builtins").tuple  # type: ignore[union-attr]  # installed
    ones = tuple(np.ones_like(array) for array in arrays)

    def step() -> tuple[float, float, list[Any]]:
        start = clock()
        vjp, y = lib.make_vjp(lambda *values: function(*given, *values), places)(*arrays)
        middle = clock()
        grads = vjp(g)
        del vjp, y
        return middle - start, clock() - middle, list(grads)

    def gradients(*values: Any) -> Any:
        vjp = lib.make_vjp(lambda *values: function(*given, *values), places)(*values)[0]
        return tuples(vjp(g))

    def double() -> list[Any]:
        return list(lib.make_vjp(gradients, places)(*arrays)[0](ones))

    return Passes(step, lambda: function(*given, *arrays), double)


def _mygrad_style(
    lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any
) -> Passes:
    def quarters(a: Any) -> list[Any]:
        wide = a.shape[1] // 4
        return [a[:, n * wide : (n + 1) * wide] for n in range(4)]

    names = _names(lib, lambda a: 0.5 * (lib.tanh(0.5 * a) + 1), quarters, _loop)
    given = [names] if items is None else [names, list(items)]
    leaves = [lib.tensor(array) for array in arrays]

    def step() -> tuple[float, float, list[Any]]:
        start = clock()
        y = function(*given, *leaves)
        middle = clock()
        y.backward(g)
        del y
        end = clock()
        grads = [leaf.grad for leaf in leaves]
        for leaf in leaves:
            leaf.null_grad()
        return middle - start, end - middle, grads

    def alone() -> Any:
        with lib.no_autodiff:
            return function(*given, *leaves)

    return Passes(step, alone, None)


def _candle_style(
    lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any
) -> Passes:
    """Forwards only: the Python package of candle has no derivatives."""
    kinds = {"float32": lib.f32, "float64": lib.f64}
    values = [lib.Tensor(array.tolist()).to_dtype(kinds[array.dtype.name]) for array in arrays]
    names = SimpleNamespace(sin=lib.Tensor.sin, exp=lib.Tensor.exp, log=lib.Tensor.log)
    return Passes(None, lambda: function(names, *values), None)


def _jax_names(lib: Any, loop: Function) -> SimpleNamespace:
    jnp = lib.numpy
    return _names(jnp, lib.nn.sigmoid, lambda a: jnp.split(a, 4, 1), loop)


def _jax_style(lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any) -> Passes:
    """JAX one operation at a time, as a debugger sees it."""
    jnp = lib.numpy
    names = _jax_names(lib, _loop)
    given = [names] if items is None else [names, jnp.asarray(items)]
    values, seed = [jnp.asarray(array) for array in arrays], jnp.asarray(g)
    ones = tuple(jnp.ones_like(value) for value in values)

    def step() -> tuple[float, float, list[Any]]:
        start = clock()
        y, vjp = lib.vjp(partial(function, *given), *values)
        y.block_until_ready()
        middle = clock()
        grads = lib.block_until_ready(vjp(seed))
        del vjp, y
        return middle - start, clock() - middle, list(grads)

    def gradients(*values: Any) -> Any:
        return lib.vjp(partial(function, *given), *values)[1](seed)

    def double() -> list[Any]:
        return list(lib.block_until_ready(lib.vjp(gradients, *values)[1](ones)))

    return Passes(step, lambda: function(*given, *values).block_until_ready(), double)


def _jit_style(lib: Any, function: Function, arrays: Sequence[Any], g: Any, items: Any) -> Passes:
    """JAX compiled, both passes into one program, with loops as `lax.scan`."""
    jnp = lib.numpy

    def scanned(body: Callable[[Any, Any], Any], state: Any, items: Any) -> Any:
        return lib.lax.scan(lambda state, item: (body(state, item), None), state, items)[0]

    names = _jax_names(lib, scanned)
    given = [names] if items is None else [names, jnp.asarray(items)]
    values, seed = [jnp.asarray(array) for array in arrays], jnp.asarray(g)
    ones = tuple(jnp.ones_like(value) for value in values)
    forward = lib.jit(partial(function, *given))

    def gradients(seed: Any, *values: Any) -> Any:
        return lib.vjp(partial(function, *given), *values)[1](seed)

    both = lib.jit(gradients)

    @lib.jit
    def second(seed: Any, ones: Any, *values: Any) -> Any:
        # what is not an argument would be computed while it is compiled
        return lib.vjp(partial(gradients, seed), *values)[1](ones)

    def step() -> tuple[float, float, list[Any]]:
        start = clock()
        grads = lib.block_until_ready(both(seed, *values))
        return 0.0, clock() - start, list(grads)

    def double() -> list[Any]:
        return list(lib.block_until_ready(second(seed, ones, *values)))

    return Passes(step, lambda: forward(*values).block_until_ready(), double, is_split=False)


STYLES: dict[str, Style] = {
    **dict.fromkeys(BUILDS, _our_style),
    "torch": _torch_style,
    "autograd": _hips_style,
    "mygrad": _mygrad_style,
    "jax (eager)": _jax_style,
    "jax (jit)": _jit_style,
    "candle": _candle_style,
}


def passes_of(
    case: str,
    function: Function,
    arrays: Sequence[Any],
    g: Any,
    items: Any = None,
    peers: str | None = None,
    without: Sequence[str] = ("candle",),
) -> dict[str, Passes]:
    """The passes of each library that is installed; all must come to our gradients.

    Parameters
    ----------
    case
        What is run, for the message if gradients differ.
    function
        ``function(F, *arrays)``, or ``function(F, items, *arrays)`` where there are `items`.
    arrays
        What derivatives are taken by.
    g
        The cotangent of the result.
    items
        An array whose rows ``F.loop`` goes over.
    peers
        Only these peers, separated by commas.
    without
        Contestants that do not take part.
    """
    styles = {name: style for name, style in STYLES.items() if name not in without}
    found = {
        name: style(lib, function, arrays, g, items)
        for name, (lib, style) in installed(styles, peers).items()
    }
    truth = found[OURS].step()[2]
    for peer, passes in found.items():
        for ours, theirs in zip(truth, passes.step()[2] if passes.step else truth, strict=True):
            if not np.allclose(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(ours).max()):
                sys.exit(f"{case}: the gradient of {peer} differs")
    return found


def contestant(passes: Passes, ops: int, repeats: int) -> Callable[[], Mapping[str, float]]:
    """Seconds per operation: forward, backward, both."""
    step: Any = passes.step

    def run() -> dict[str, float]:
        step()  # its own code back into the processor's caches, where the others have been
        forward = backward = 0.0
        for _ in range(repeats):
            there, back, _ = step()
            forward += there
            backward += back
        per = repeats * ops
        both = {"both": (forward + backward) / per}
        if not passes.is_split:
            return both
        return {"forward": forward / per, "backward": backward / per, **both}

    return run
