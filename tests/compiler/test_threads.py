"""Test first calls from several threads, and traces that are aborted."""

from __future__ import annotations

import threading

import pytest

import wengert as wg
from wengert.compiler.tracing.trace import Trace

BACKENDS = ["numpy", "llvm"]


def together(count, work):
    """What `work(k)` gives in as many threads, which begin at once."""
    gate, found, errors = threading.Barrier(count), [None] * count, []

    def run(k):
        gate.wait()
        try:
            found[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def plain(tensor):
    """Whether a tensor holds an array, and nothing of a trace."""
    return type(tensor._payload).__module__.startswith("numpy")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [4, 16])
def test_one_function_is_first_called_by_several_threads(count, backend):
    for _ in range(5):
        weight = wg.ones(3, requires_grad=True)

        def f(x, weight=weight):
            y = x
            for _ in range(6):
                y = (y * weight).sin() + weight.detach() * 0.5
            return y.sum() if y.sum() > 0 else y.mean()

        compiled = wg.compile(f, backend=backend)
        inputs = [wg.full((3,), 0.1 * k - 0.3, dtype=wg.float64) for k in range(count)]

        def work(k, compiled=compiled, inputs=inputs, weight=weight):
            values = []
            for _ in range(4):
                value = compiled(inputs[k])
                (slope,) = wg.autograd.grad(value, weight)
                values.append((value.item(), slope.tolist()))
            return values

        found = together(count, work)
        for k, values in enumerate(found):
            value = f(inputs[k])
            (slope,) = wg.autograd.grad(value, weight)
            for ours, gradient in values:
                assert ours == pytest.approx(value.item(), rel=1e-12)
                assert gradient == pytest.approx(slope.tolist(), rel=1e-5)
        assert plain(weight)
        assert all(map(plain, inputs))
        assert compiled.reason is None
        compiled(inputs[0])
        assert compiled.entries


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_environments_and_transforms_at_once(backend):
    shared = wg.arange(4.0)

    def f(x, n):
        for _ in range(n):
            x = x * shared + 1
        return x.sum()

    compiled = wg.compile(f, backend=backend, limit=32)

    def work(k):
        found = []
        for _ in range(3):
            if k % 4 == 3:
                batch = wg.ones(2, 4) * k
                found.append(wg.vmap(lambda row: compiled(row, k))(batch).sum().item())
            else:
                found.append(compiled(wg.ones(4) * k, k).item())
        return found

    for _ in range(3):
        found = together(12, work)
        for k, values in enumerate(found):
            wanted = f(wg.ones(4) * k, k).item() * (2 if k % 4 == 3 else 1)
            assert values == pytest.approx([wanted] * 3, rel=1e-5)
        assert plain(shared)
        compiled.forget()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_traced_function_may_wait_for_threads_that_call_compiled_functions(backend):
    weight = wg.ones(3)
    inner = wg.compile(lambda x: x * weight + 1, backend=backend)

    def f(x):
        seen = together(2, lambda k: inner(wg.ones(3) * k).sum().item())
        return x * sum(seen)

    compiled = wg.compile(f, backend=backend)
    with pytest.warns(UserWarning, match="is not compiled"):
        found = [compiled(wg.ones(3)).tolist() for _ in range(3)]
    assert found == [[9.0] * 3] * 3
    assert plain(weight)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, RecursionError])
def test_what_ends_a_trace_leaves_everything_as_it_was(kind, backend):
    weight, held = wg.ones(3, requires_grad=True), []
    fail = [True]

    def f(x):
        y = x * weight
        held.append(y)
        x.add_(1)
        if fail[0]:
            raise kind("stop")
        return y.sum()

    compiled = wg.compile(f, backend=backend)
    x = wg.zeros(3)
    with pytest.raises(kind):
        compiled(x)
    assert x.tolist() == [1.0] * 3
    assert all(map(plain, (x, weight, *held)))
    assert wg.is_grad_enabled()
    assert not wg.compiler.is_compiling()
    assert (held[0] * 2).tolist() == [0.0] * 3
    fail[0] = False
    held.clear()


@pytest.mark.parametrize("backend", BACKENDS)
def test_recursion_and_compiled_functions_within(backend):
    @wg.compile(backend=backend, options={"measure": False})
    def down(x, n):
        return x if n == 0 else down(x * 2, n - 1) + 1

    outer = wg.compile(lambda x: down(x, 3).sum(), backend=backend, options={"measure": False})
    for _ in range(3):
        assert outer(wg.ones(2)).item() == 22.0
        assert down(wg.ones(2), 2).tolist() == [6.0, 6.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_threads_use_tensors_of_a_traced_function_as_they_are(backend, monkeypatch):
    wg.manual_seed(0)
    net = wg.nn.Sequential(wg.nn.Linear(4, 3), wg.nn.Tanh(), wg.nn.LayerNorm(3))
    weight = net[0].weight
    x = wg.linspace(-1.0, 1.0, 8).reshape(2, 4)
    held, kept = [], []

    def eagerly(_):
        held.append(plain(weight))
        y = net(x)
        (slope,) = wg.autograd.grad((y**3).sum(), weight)
        with wg.no_grad():
            other = wg.zeros(3, 4).add_(weight)
            other[0] = weight[1]
            results = [y, slope, other.mul_(weight) + 0, weight[1:, ::2].contiguous()]
            results += [wg.cat([weight, other]), weight.sort(0).values, weight.max(1).values]
            results += [weight.detach(), weight[0], weight.t(), weight[weight > 0], weight.clone()]
            results += [wg.vmap(lambda row: row * row)(weight), wg.linalg.svd(weight)[1]]
            results += [wg.tensor(weight.tolist()), wg.tensor(weight.detach().numpy().copy())]
        kept.extend(results)
        return [result.tolist() for result in results]

    def f(x, weight):
        return (net(x) + weight.sum()).sum()

    wanted, value = eagerly(0), f(x, weight).item()
    seen = []
    here = Trace.here

    def stop(trace):
        # where the symbols are in their places
        if not seen:
            seen.append(None)
            seen.extend(together(2, eagerly))
        return here(trace)

    monkeypatch.setattr(Trace, "here", stop)
    compiled = wg.compile(f, backend=backend, options={"measure": False})
    assert compiled(x, weight).item() == pytest.approx(value, rel=1e-5, abs=1e-5)
    assert not all(held), "the other threads met no symbol"
    assert seen[1:] == [wanted] * 2
    assert all(map(plain, (*net.parameters(), x, *kept)))
    assert compiled(x, weight).item() == pytest.approx(value, rel=1e-5, abs=1e-5)
    assert compiled.reason is None
