"""Test padding, pixel shuffles and structural operations: values, derivatives, nodes, errors."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, derivatives, evaluated, forms, outcome, tensors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(22)
ARRAYS = {
    "v": RNG.standard_normal((2, 3, 5)),
    "x": RNG.standard_normal((2, 2, 4, 3)),
    "z": RNG.standard_normal((1, 2, 3, 4, 3)),
    "p": RNG.standard_normal((2, 4, 2, 6)),
    "a": RNG.standard_normal((2, 3)),
    "u": RNG.standard_normal(3),
    "s": np.array(RNG.standard_normal()),
    "n": RNG.integers(0, 4, (2, 3)),
    "m": RNG.random((2, 3)) > 0.5,
}
FORMS = """
F.pad(x, (1, 2)); F.pad(x, (1, 0, 2, 1), value=2.5); F.pad(x, (-1, 2, 1, -2)); F.pad(s, ())
F.pad(u, [2, 1], 'constant', None); F.pad(n, (1, 1), value=7.9); F.pad(m, (0, 2), value=True)
F.pad(z, (1, 1, 0, 2, 1, 0), 'reflect'); F.pad(z[0], (1, 1, 2, 0, 1, 1), 'replicate')
F.pad(z, (2, 1, 0, 3, 1, 0), 'circular'); F.pad(v, (4, 3), 'reflect')
F.pad(v, (7, 0), 'replicate'); F.pad(v, (5, 2), 'circular'); F.pad(v[0], (-2, 2), 'reflect')
F.pad(v, (3, -2), 'replicate'); F.pad(v, (-1, -1), 'circular'); F.pad(v, (2, -2), 'circular')
F.pad(x, (2, 1, 3, 0), 'reflect'); F.pad(x, (2, -1, 6, 0), 'replicate')
F.pad(x[:0], (1, 1, 1, 1), 'reflect'); F.pad(n, (1, 1), 'circular')
F.pad(x.transpose(2, 3), (1, 2, 1, 2), 'reflect'); F.pad(v, (9, -12), 'replicate'); F.pad(x, (1,))
F.pad(u, (1, 1, 1, 1)); F.pad(v, (5, 0), 'reflect'); F.pad(v, (6, 0), 'circular')
F.pad(u, (1, 1), 'reflect'); F.pad(x, (1, 1), 'edge'); F.pad(v, (1, 1), 'circular', 2.0)
F.pad(v, (-3, -2), 'replicate'); F.pad(v[:, :, :0], (1, 1), 'reflect'); F.pad(x, 2)
F.pad(m, (1, 1), 'reflect'); t.constant_pad_nd(u, (1, 1), 4); t.constant_pad_nd(u, (1,))
F.pixel_shuffle(p, 2); F.pixel_unshuffle(p, 2); F.channel_shuffle(p, 2); t.pixel_shuffle(p[0], 2)
F.pixel_shuffle(p, 3); F.pixel_unshuffle(p, 5); F.channel_shuffle(p, 3); F.pixel_shuffle(a, 1)
F.one_hot(n); F.one_hot(n, 6); F.one_hot(n[0, 0], 4); F.one_hot(n, 1); F.one_hot(-n); F.one_hot(a)
t.block_diag(a, u, s); t.block_diag(a, n); t.block_diag(n, s); t.block_diag(v); t.block_diag()
t.block_diag(a[:0], a, a[:, :0]); t.block_diag([a]); t.rot90(x, 1, (2, 3)); t.rot90(a, -1)
t.rot90(a, 2); t.rot90(a, 4); t.rot90(u); t.rot90(a, 1, (0, 0)); t.rot90(a, 1, (0, 5))
t.diagflat(a, -1); s.diagflat(); t.atleast_1d(s); t.atleast_2d(s, u); t.atleast_3d([s, u, a, v])
a.narrow_copy(1, 1, 2); a.narrow_copy(1, 1, 3); a.narrow_copy(1, 1, -1)
t.broadcast_shapes((2, 1), 3, (1, 1, 1)); t.broadcast_shapes((2,), (3,))
t.broadcast_shapes((-2,)); t.unravel_index(n, (2, 2)); t.unravel_index(a, 6)
t.unravel_index(n, (2, 2.0)); t.unravel_index(n, (2, -2)); s.is_nonzero(); a.is_nonzero()
"""


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        results = (evaluated(form, t, ARRAYS, dtype) for t in (wengert, torch))
        assert_same(*results, f"{form} ({dtype})", 1e-5 if dtype == "float32" else 1e-9, 1e-7)


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_every_width_of_a_dimension(mode):
    for size in (1, 3, 4):
        array = RNG.standard_normal((1, 2, size))
        for before in range(-size, size + 3):
            for after in range(-size, size + 3):
                results = []
                for module in (wengert, torch):
                    inputs = tensors(module, {"x": array})

                    def body(module, inputs=inputs, widths=(before, after)):
                        value = module.nn.functional.pad(inputs["x"], widths, mode)
                        return {"value": value, **derivatives(module, inputs, value)}

                    results.append(outcome(body, module))
                assert_same(*results, f"{mode} {size} {before} {after}", 1e-9, 1e-12)
