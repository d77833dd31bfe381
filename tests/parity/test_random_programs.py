"""Test random programs of elementwise operations, products, reductions and moves."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, derivatives, outcome, tensors

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
pytestmark = pytest.mark.torch

# every step maps one or two values to one; values stay of moderate size
UNARY = [
    *("a.sin()", "a.cos()", "a.tanh()", "a.sigmoid()", "(a * a + 1).sqrt()", "(a * a + 1).log()"),
    *("a.clamp(-2, 2)", "a.relu()", "-a", "a * 0.5", "1 - a", "a / 3", "a ** 2 / 4", "a.abs()"),
    *("a.clone()", "a.detach() * a", "2 / (a * a + 1)", "a.exp().clamp(max=5)", "a.erf()"),
]
BINARY = [
    *("a + b", "a - b", "a * b", "a / (b * b + 1)", "{t}.maximum(a, b)", "{t}.minimum(a, b)"),
    *("{t}.where(a > b, a, b)", "{t}.add(a, b, alpha=0.5)", "{t}.atan2(a, b * b + 1)"),
]
MOVES = [
    *("a.t() if a.dim() <= 2 else a.transpose(0, 1)", "a.reshape(-1)", "a.unsqueeze(0)"),
    *("a.flatten()", "a[0] if a.dim() else a", "a[..., -1:] if a.dim() else a", "a.squeeze()"),
    *("{t}.cat([a, a]) if a.dim() else a", "{t}.stack([a, a], -1) if a.dim() < 3 else a"),
    *("a.expand(2, *a.shape) if a.dim() < 3 else a", "a[::2] if a.dim() else a"),
]
REDUCTIONS = [
    *("a.sum()", "a.mean()", "a.sum(0) if a.dim() else a", "a.mean(-1, keepdim=True)"),
    *("a.amax(0) if a.dim() else a", "a.logsumexp(0) if a.dim() else a", "a.max() * 1"),
    *("a.softmax(-1) if a.dim() else a", "a.max(0).values if a.dim() else a", "a.norm() + a"),
    *("a.log_softmax(0) if a.dim() else a", "a.var(0, correction=0) if a.dim() else a"),
]
PRODUCTS = [
    "a @ a.t() / 4 if a.dim() == 2 else a",
    "{t}.dot(a, a) if a.dim() == 1 else a",
    "{t}.mv(a, a[0]) / 2 if a.dim() == 2 and a.shape[0] and a.shape[1] else a",
]
STEP = st.one_of(
    st.tuples(st.sampled_from(UNARY + MOVES + REDUCTIONS + PRODUCTS), st.integers(0, 99)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 99)),
)
SHAPE = st.sampled_from([(), (3,), (2, 3), (3, 1), (1, 3), (2, 2, 3)])


def run(module, steps, arrays):
    inputs = tensors(module, arrays)

    def body(t):
        values = list(inputs.values())
        for step in steps:
            code, *picks = step
            chosen = [values[-1 - pick % min(len(values), 4)] for pick in picks]
            if len(chosen) == 2 and not _broadcast(*chosen):
                continue
            names = dict(zip("ab", chosen, strict=False))
            values.append(eval(code.replace("{t}", "t"), {"t": t, **names}))
        return {"value": values[-1], **derivatives(module, inputs, values[-1])}

    return outcome(body, module)


def _broadcast(a, b):
    return all(m in (1, n) or n == 1 for m, n in zip(a.shape[::-1], b.shape[::-1], strict=False))


@hypothesis.settings(max_examples=200, deadline=None, derandomize=True)
@hypothesis.given(
    steps=st.lists(STEP, min_size=2, max_size=10),
    shapes=st.lists(SHAPE, min_size=1, max_size=3),
    seed=st.integers(0, 1000),
)
def test_random_program(steps, shapes, seed):
    rng = np.random.default_rng(seed)
    arrays = {f"x{i}": rng.standard_normal(shape) for i, shape in enumerate(shapes)}
    ours, theirs = run(wengert, steps, arrays), run(torch, steps, arrays)
    assert_same(ours, theirs, str(steps), rtol=1e-6, atol=1e-8, words=0)
