"""Test the names of `torch.compile` and `torch.compiler` that programs use."""

import copy
import pickle
from typing import Any

import pytest

import wengert as wg
from wengert import nn

NUMPY: Any = {"backend": "numpy", "options": {"measure": False}}


def double(x):
    return x * 2


@pytest.mark.parametrize("backend", ["inductor", "aot_eager", "eager", "numpy"])
@pytest.mark.parametrize(
    "more",
    [
        {"mode": "max-autotune"},
        {"mode": "reduce-overhead", "dynamic": True},
        {"options": {"triton.cudagraphs": True, "epilogue_fusion": False}},
    ],
)
def test_arguments_of_compile(backend, more):
    f = wg.compile(double, backend=backend, **more)
    assert [f(wg.ones(2)).tolist() for _ in range(3)] == [[2.0, 2.0]] * 3


def test_aot_eager_runs_the_program_by_kernels():
    f = wg.compile(double, backend="aot_eager", options={"measure": False})
    f(wg.ones(2))
    assert "backend numpy" in str(f.explain())


def test_the_module_behind_a_compiled_one():
    module = nn.Linear(2, 1)
    assert wg.compile(module, backend="numpy")._orig_mod is module
    assert not hasattr(wg.compile(double, backend="numpy"), "_orig_mod")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_a_compiled_module_compile_their_own(again):
    module = wg.compile(nn.Linear(2, 1), **NUMPY)
    x = wg.ones(1, 2)
    y = module(x)
    copied = again(module)
    assert not copied.entries and module.entries
    with wg.no_grad():
        copied.weight += 1
    assert copied(x).item() == pytest.approx(y.item() + 2) and module(x).item() == y.item()
    assert "backend numpy" in str(copied.explain())


def seen(x):
    return x * (2 if wg.compiler.is_compiling() else 3)


def test_stances():
    f = wg.compile(seen, **NUMPY)
    with wg.compiler.set_stance("force_eager"):
        assert f(wg.ones(1)).tolist() == [3.0]
        assert not f.entries
    assert f(wg.ones(1)).tolist() == [2.0]
    with wg.compiler.set_stance("force_eager"):
        assert f(wg.ones(1)).tolist() == [3.0]
    with wg.compiler.set_stance("eager_on_recompile"):
        assert f(wg.ones(1)).tolist() == [2.0]
        assert f(wg.ones(2)).tolist() == [3.0, 3.0]
    with wg.compiler.set_stance("fail_on_recompile"):
        assert f(wg.ones(1)).tolist() == [2.0]
        with pytest.raises(RuntimeError, match=r"Detected recompile when torch\.compile stance"):
            f(wg.ones(2))
    with wg.compiler.set_stance("eager_then_compile"):
        assert f(wg.ones(2)).tolist() == [2.0, 2.0]
    assert len(f.entries) == 2


def test_stances_in_blocks_and_decorators():
    f = wg.compile(seen, **NUMPY)

    @wg.compiler.set_stance("force_eager")
    def plain(x):
        with wg.compiler.set_stance("default"):
            compiled = f(x)
        return compiled, f(x)

    assert f(wg.ones(1)).tolist() == [2.0]
    assert [found.tolist() for found in plain(wg.ones(1))] == [[2.0], [3.0]]
    wg.compiler.set_stance("force_eager")
    try:
        assert f(wg.ones(1)).tolist() == [3.0]
        assert wg.func.vmap(f)(wg.ones(1)).tolist() == [3.0]
    finally:
        wg.compiler.set_stance("default")
    assert f(wg.ones(1)).tolist() == [2.0]
    with pytest.raises(RuntimeError, match=r"invalid torch\.compile stance 'fast'"):
        wg.compiler.set_stance("fast")
    assert f(wg.ones(1)).tolist() == [2.0]


def test_dynamo():
    f = wg.compile(seen, **NUMPY)
    f(wg.ones(1))
    wg._dynamo.reset()
    assert not f.entries
    wg._dynamo.config.suppress_errors = True
    assert wg._dynamo.config.suppress_errors
    wg._dynamo.config.suppress_errors = False
    with pytest.raises(AttributeError, match=r"config\.nonsense does not exist"):
        wg._dynamo.config.nonsense = 1
    with pytest.raises(AttributeError, match=r"config\.nonsense does not exist"):
        _ = wg._dynamo.config.nonsense
    wg._dynamo.mark_dynamic(wg.ones(2), 0)
    with wg._dynamo.config.patch(recompile_limit=2):
        assert wg._dynamo.config.cache_size_limit == 2
        g = wg.compile(lambda x, n: x * n, **NUMPY)
    assert wg._dynamo.config.recompile_limit == 8
    for n in range(2):
        g(wg.ones(1), n)
    with pytest.warns(UserWarning, match="more than 2 kinds"):
        g(wg.ones(1), 2)


def test_a_graph_break_that_is_asked_for():
    def f(x):
        y = x * 2
        wg._dynamo.graph_break()
        return y + 1

    g = wg.compile(f, **NUMPY)
    assert [g(wg.ones(1)).tolist() for _ in range(3)] == [[3.0]] * 3
    assert g.reason is None
    with pytest.raises(wg.compiler.CompileError, match="graph_break"):
        wg.compile(f, fullgraph=True, **NUMPY)(wg.ones(1))
