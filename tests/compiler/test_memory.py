"""Test that compiled functions write to arguments with shared memory as eager ones do."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import wengert as wg

BACKENDS = ["numpy", "llvm"]

# -- programs that write ---------------------------------------------------------------------------


def scaled(x, y):
    x.mul_(2)
    return y * 1


def added(x, y):
    x.add_(y)
    return x + y


def copied(x, y):
    x.copy_(y * 3)
    return x - y


def sliced(x, y):
    x[0].mul_(3)
    y[1].add_(1)
    return x.sum() + y[0]


def assigned(x, y):
    x[1] = y[0] * 2
    y[:, 0] = 7.0
    return x * y


def swapped(x, y):
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)
    return x - 2 * y


def accumulated(x, y):
    for _ in range(3):
        x.add_(y, alpha=0.5)
    return x.sum()


def stepped(x, y):
    old = y.clone()
    with wg.no_grad():
        x.sub_(0.5 * y)
        y.mul_(0.9)
    return y - old


def old_and_new(x, y):
    before = y + 0
    number = y.sum().item()
    x.mul_(2)
    return before, number, y * 2


def by_data(x, y):
    x.data.add_(1)
    y.data.mul_(2)
    return x * 2 + y


def indexed(x, y):
    x[wg.tensor([0, 1]), wg.tensor([1, 0])] = 5.0
    x[x > 4] = -1.0
    return y * 2


def through_views(x, y):
    part = y.t()
    row = part[0]
    x.add_(10)
    row.mul_(2)
    return row * 1, part.sum()


def returned_views(x, y):
    x.mul_(2)
    return x[0], y.view(-1) if y.is_contiguous() else y, x


def returned_itself(x, y):
    y.add_(1)
    return x, y, y * 2


def only_reads(x, y):
    return x * y + 1


def decided(x, y):
    x.add_(1)
    if y.sum() > 10:
        y.mul_(0.5)
    return y + x


def read_before(x, y):
    before = y.sin()
    x.mul_(0.5)
    return before + y


def into_out(x, y):
    wg.mul(y, 2.0, out=x)
    wg.add(x, y, out=y)
    return x + y, wg.sub(x, y, out=wg.empty(0))


PROGRAMS = [
    *(scaled, added, copied, sliced, assigned, swapped, accumulated, stepped, old_and_new),
    *(by_data, indexed, through_views, returned_views, returned_itself, only_reads, decided),
    *(read_before, into_out),
]

# -- ways to share ---------------------------------------------------------------------------------


def window(base, offset, strides, shape=(2, 2)):
    size = base.itemsize
    return np.lib.stride_tricks.as_strided(base[offset:], shape, [s * size for s in strides])


def pair(first, second):
    """Two arrays by offset and strides, in elements, over one memory."""

    def make():
        base = np.arange(1.0, 17.0)
        x, y = (wg.from_numpy(window(base, *place)) for place in (first, second))
        return x, y, base

    return make


def separate():
    x, y = wg.tensor([[1.0, 2.0], [3.0, 4.0]]), wg.tensor([[0.5, -1.0], [2.0, 3.0]])
    return x, y, x, y


def same():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    return x, x, x


def data():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    return x, x.data, x


def detached():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    return x.detach(), x, x


def viewed():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    return x, x.view(2, 2), x


def transposed():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    return x, x.t(), x


def rows_of_a_base():
    base = wg.arange(8.0).reshape(4, 2)
    return base[:2], base[1:3], base


def parts_of_a_hidden_base():
    base = wg.arange(8.0).reshape(2, 4)
    return base[:, :2].detach(), base[:, 1:3].detach(), base


def bytes_below():
    memory = bytearray(np.arange(1.0, 9.0).tobytes())
    x = wg.frombuffer(memory, dtype=wg.float64, count=4).view(2, 2)
    y = wg.frombuffer(memory, dtype=wg.float64, count=4, offset=16).view(2, 2)
    return x, y, np.frombuffer(memory, np.float64)


def other_bytes():
    base = np.zeros(40, np.uint8)
    base[:32] = np.arange(1.0, 5.0).view(np.uint8)
    x = wg.from_numpy(base[:32].view(np.float64).reshape(2, 2))
    y = wg.from_numpy(base[4:36].view(np.float32)[:4].reshape(2, 2))
    return x, y, base


WAYS = {
    "separate": separate,
    "same": same,
    "data": data,
    "detached": detached,
    "viewed": viewed,
    "transposed": transposed,
    "rows of a base": rows_of_a_base,
    "parts of a hidden base": parts_of_a_hidden_base,
    "bytes": bytes_below,
    "other bytes": other_bytes,
    "numpy, the same": pair((0, (2, 1)), (0, (2, 1))),
    "overlapping": pair((0, (2, 1)), (2, (2, 1))),
    "backwards": pair((2, (2, 1)), (0, (2, 1))),
    "one element": pair((0, (2, 1)), (3, (2, 1))),
    "between each other": pair((0, (4, 2)), (1, (4, 2))),
    "transposed arrays": pair((0, (2, 1)), (0, (1, 2))),
    "strided": pair((0, (4, 1)), (0, (4, 2))),
    "apart in one memory": pair((0, (2, 1)), (8, (2, 1))),
    "not contiguous": pair((0, (4, 1)), (8, (1, 2))),
    "negative": pair((0, (2, 1)), (3, (-2, -1))),
    "expanded": pair((0, (2, 1)), (0, (0, 1))),
    "expanded, apart": pair((0, (2, 1)), (9, (0, 1))),
}


def numbers(thing):
    """Values of a result or of memory, whatever holds them."""
    if isinstance(thing, tuple):
        return [numbers(part) for part in thing]
    if isinstance(thing, wg.Tensor):
        return thing.detach().numpy().tolist()
    return thing.tolist() if isinstance(thing, np.ndarray) else thing


def outcome(function, x, y):
    try:
        return "gave", numbers(function(x, y))
    except (RuntimeError, ValueError) as error:
        return "raised", type(error)


def run(function, order):
    """What a series of calls does: outcomes, and all memory after each."""
    made = {name: WAYS[name]() for name in dict.fromkeys(order)}
    found = []
    for name in order:
        x, y, *memory = made[name]
        found.append((name, outcome(function, x, y), [numbers(part) for part in memory]))
    return found


def check(program, order, backend):
    compiled = wg.compile(program, backend=backend, limit=64, options={"measure": False})
    ours, eager = run(compiled, order), run(program, order)
    for k, (mine, wanted) in enumerate(zip(ours, eager, strict=True)):
        assert repr(mine) == repr(wanted), (program.__name__, k, order[: k + 1])


def moved_after(base, view, x):
    shown = view[1:]
    view.data = view.data * 2
    return shown, x * 2


def moved_before(base, view, x):
    view.data = view.data * 2
    return view[1:]


def moved_base(base, view, x):
    base.data = base.data + 1
    return view[1:], x * 2


def exchanged(base, view, x):
    base.data, view.data = view.data.clone(), base.data
    return x * 2, base[1:], view[1:]


def detached(base, view, x):
    shown = view.detach()
    view.data = view.data + 1
    return shown, x * 2


def only_shown(base, view, x):
    return view[1:], base[1:], x * 2


MOVES = [moved_after, moved_before, moved_base, exchanged, detached, only_shown]


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("program", MOVES, ids=lambda p: p.__name__)
def test_results_show_the_memory_that_tensors_had_or_have_got(program, grad, backend):
    def story(compiled):
        base = wg.arange(12.0).reshape(3, 4)
        view = base.T[1]

        def function(x):
            return program(base, view, x)

        used = wg.compile(function, backend=backend) if compiled else function
        found = []
        for turn in range(4):
            x = wg.full((3,), turn + 1.0, requires_grad=grad)
            made = used(x)
            made = made if isinstance(made, tuple) else (made,)
            found.append([t.tolist() for t in (*made, base, view)])
            for n, t in enumerate(made):
                t.data.add_(n + 1)
            found.append([t.tolist() for t in (*made, base, view)])
            if turn == 2:
                # a view that shows memory of its base no more
                view.data = view.data + 0.5
        return found

    assert story(True) == story(False)


NAMES = [name for name in WAYS if not name.startswith("expanded")]


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.* is not compiled for such inputs:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_calls_with_memory_shared_in_some_ways(program, backend):
    rng = random.Random(f"{program.__name__} {backend}")
    first, *others = rng.sample(NAMES, 4 if backend == "llvm" else 8)
    check(program, [first, first, *others, first, *others[::-1]], backend)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.* is not compiled for such inputs:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_calls_with_memory_shared_in_any_way(program, backend):
    for k in range(0, len(NAMES), 4 if backend == "numpy" else 11):
        # traced in one way, called in all others, twice
        turned = NAMES[k:] + NAMES[:k]
        check(program, [turned[0], turned[0], *turned, *turned[::-1]], backend)


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_memory_that_an_argument_shows_several_times(program, backend):
    for name in ("expanded", "expanded, apart"):
        check(program, ["separate", "separate", name, name, "separate"], backend)
        check(program, [name, name, "separate", name], backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_without_a_model_lets_only_such_calls_run_as_they_are(backend):
    compiled = wg.compile(scaled, backend=backend, options={"measure": False})
    for way in ("separate", "data"):
        compiled(*WAYS[way]()[:2])
    with pytest.warns(UserWarning, match="not compiled for such inputs, but runs as it is"):
        compiled(*WAYS["other bytes"]()[:2])
    x, y, base = WAYS["other bytes"]()
    made, known = scaled(x, y), base.tolist()
    x, y, base = WAYS["other bytes"]()
    assert compiled(x, y).tolist() == made.tolist()
    assert base.tolist() == known
    assert compiled.reason is None
    before = compiled.explain().traces
    compiled(*WAYS["separate"]()[:2])
    assert compiled.explain().traces == before
    assert "that share memory it runs as it is" in str(compiled.explain())
    strict = wg.compile(scaled, backend=backend, fullgraph=True)
    with pytest.raises(wg.compiler.CompileError, match="elements of another kind"):
        strict(*WAYS["other bytes"]()[:2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")  # the bytes of others
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_each_way_after_each(program, backend):
    for first, second in itertools.permutations(WAYS, 2):
        check(program, [first, first, second, second, first], backend)
