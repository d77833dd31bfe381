"""Test convolutions, transposed ones, `unfold` and `fold`: forms, nodes, edges and errors."""

import numpy as np
import pytest

import wengert
from support.parity import Failure, assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(12)


def _complex(*shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


ARRAYS = {
    "l": RNG.standard_normal((2, 4, 7)),
    "x": RNG.standard_normal((2, 4, 5, 6)),
    "v": RNG.standard_normal((1, 2, 4, 3, 4)),
    "e": RNG.standard_normal((0, 4, 5, 6)),
    "L": RNG.standard_normal((6, 4, 3)),
    "G": RNG.standard_normal((6, 2, 2)),
    "D": RNG.standard_normal((4, 1, 3)),
    "W": RNG.standard_normal((6, 4, 3, 3)),
    "H": RNG.standard_normal((6, 2, 2, 3)),
    "E": RNG.standard_normal((4, 1, 3, 4)),
    "I": RNG.standard_normal((3, 4, 1, 1)),
    "V": RNG.standard_normal((3, 2, 2, 3, 2)),
    "T": RNG.standard_normal((4, 3, 3, 2)),
    "S": RNG.standard_normal((4, 2, 3)),
    "U": RNG.standard_normal((2, 3, 2, 1, 3)),
    "b": RNG.standard_normal(6),
    "a": RNG.standard_normal(3),
    "t_": RNG.standard_normal((5, 2, 4)),
    "K": RNG.standard_normal((3, 4, 3)),
    "z": _complex(2, 2, 4, 5),
    "Z": _complex(3, 2, 3, 2),
    "y": _complex(3),
    "f": RNG.standard_normal((2, 12, 20)),
    "n": RNG.integers(-4, 4, (1, 2, 4, 4)),
    "N": RNG.integers(-4, 4, (2, 2, 3, 3)),
    "m": RNG.random((1, 1, 3, 3)) > 0.5,
}

FORMS = """
F.conv1d(l, L); F.conv1d(l, L, b); F.conv1d(l, L, b, 2, 1)
F.conv1d(l, G, b, groups=2, dilation=3); F.conv1d(l, D, None, 1, 1, 1, 4)
F.conv1d(l, L, padding='same'); F.conv1d(l, G, groups=2, padding='same'); F.conv1d(l[0], L, b)
F.conv1d(l, L, padding=(2,)); F.conv1d(l, L, stride=[3]); t.conv1d(l, L); F.conv2d(x, W)
F.conv2d(x, W, b); F.conv2d(x, W, b, 2, 1); F.conv2d(x, W, padding=(1, 2))
F.conv2d(x, W, stride=(2, 1), padding=1); F.conv2d(x, W, dilation=2, padding=2)
F.conv2d(x[1], W, b); F.conv2d(x, H, b, groups=2)
F.conv2d(x, H, groups=2, stride=2, dilation=(1, 2), padding=2)
F.conv2d(x, E, groups=4, padding=1); F.conv2d(x, E, groups=4, stride=2, padding=1); F.conv2d(x, I)
F.conv2d(x, I, a, 2); F.conv2d(x, I, padding=1); F.conv2d(e, W, b, padding=1)
F.conv2d(x, W, b, padding='same'); F.conv2d(x, H, groups=2, padding='same', dilation=(1, 2))
F.conv2d(x, W, padding='valid', stride=2); F.conv2d(input=x, weight=W, bias=b, stride=1, groups=1)
F.conv2d(x.transpose(2, 3), W, b, padding=1); F.conv2d(x[..., ::2], W, padding=1)
t.conv2d(x, W, b); F.conv2d(z, Z); F.conv2d(z, Z, y, 2, 1); F.conv2d(n, N)
F.conv2d(n, N, padding=2, stride=3); F.conv3d(v, V); F.conv3d(v, V, a, (2, 1, 1), 1)
F.conv3d(v[0], V, a, padding=(1, 1, 0)); F.conv3d(v, V, padding='same')
t.conv3d(v, V, dilation=(2, 1, 1)); F.conv_transpose1d(l, S)
F.conv_transpose1d(l, S, None, 2, 1, 1); t.conv_transpose1d(l[0], S)
F.conv_transpose1d(l, S, b[:4], groups=2, stride=3, dilation=2); F.conv_transpose2d(x, T)
F.conv_transpose2d(x, T, a, 2, 1, (1, 0)); F.conv_transpose2d(x[0], T, a)
F.conv_transpose2d(x, T, dilation=(2, 3), output_padding=(1, 2))
F.conv_transpose2d(x, T, padding=2); F.conv_transpose2d(x, T, b, groups=2, stride=2)
F.conv_transpose2d(x, T, stride=(3, 4)); F.conv_transpose2d(x, E, groups=4, stride=2, padding=1)
F.conv_transpose2d(x, I.transpose(0, 1)); F.conv_transpose2d(e, T, a)
F.conv_transpose2d(z, Z.transpose(0, 1), y, 2); t.conv_transpose2d(n, N); F.conv_transpose3d(v, U)
F.conv_transpose3d(v, U, a, 2, 1, 1); t.conv_transpose3d(v[0], U); t.conv_tbc(t_, K, a)
t.conv_tbc(t_, K, a, 1); F.unfold(x, 2); F.unfold(x, (2, 3), 1, 1, 2)
F.unfold(x[0], 3, dilation=(1, 2), padding=(0, 2)); F.unfold(z, 2); F.unfold(m, 2); F.unfold(e, 3)
F.unfold(x, 1); F.unfold(x, (5, 6)); F.unfold(x.transpose(1, 2), 2); F.fold(f, (5, 6), 2)
F.fold(f, (9, 10), 2, stride=2); F.fold(f[0], (8, 7), (2, 3), (2, 1), (1, 0), (2, 1))
F.fold(f, (4, 5), 1); F.fold(F.unfold(x, 3, padding=1), (5, 6), 3, padding=1)
"""

# where we mean to differ, and how
DIFFERENT = {
    "F.conv2d(z, Z)": "PyTorch composes complex convolutions of real ones, with other nodes",
    "F.conv2d(z, Z, y, 2, 1)": "as above",
    "F.conv_transpose2d(z, Z.transpose(0, 1), y, 2)": "as above",
    "t.conv_tbc(t_, K, a)": "PyTorch has a node for it",
    "t.conv_tbc(t_, K, a, 1)": "PyTorch has a node for it",
}

ERRORS = """
F.conv2d(x, I[:, :2]); F.conv2d(x, L); F.conv2d(l, L); F.conv2d(x[0, 0], W); F.conv2d(v, W)
F.conv2d(x, L, stride=(1,)); F.conv2d(x, L, None, (1,), (0,), (1,)); F.conv1d(x, L)
F.conv2d(x, W[..., :0]); F.conv2d(x, W, dilation=9); F.conv2d(x, W.repeat(1, 1, 3, 3))
F.conv1d(l, L.repeat(1, 1, 4)); F.conv2d(x, W, a); F.conv2d(x, W, b[:, None])
F.conv2d(x, W.float()); F.conv2d(x, W, b.float()); F.conv2d(z, W); F.conv2d(z, Z, a)
F.conv2d(x, N); F.conv2d(n, N.bool()); F.conv2d(m, m); F.conv2d(x, W, stride=0)
F.conv2d(x, W, stride=-1); F.conv2d(x, W, padding=-1); F.conv2d(x, W, dilation=0)
F.conv2d(x, W, groups=0); F.conv2d(x, H, groups=4); F.conv2d(x, I, groups=4); F.conv2d(x, W[:0])
F.conv2d(x, W, stride=(1, 1, 1)); F.conv2d(x, W, padding=()); F.conv2d(x, W, stride=1.5)
F.conv2d(x, W, stride=(1, 1.5)); F.conv2d(x, W, padding='sam')
F.conv2d(x, W, padding='same', stride=2); F.conv2d(x[:, :, :0], I)
F.conv2d(x[:, :, :0], I, padding=1); F.conv2d([1.0], W); F.conv2d(x, 'a'); F.conv2d(x, W, [1.0])
F.conv2d(x, W, groups=1.5); F.conv_transpose2d(x, W); F.conv_transpose2d(x, S)
F.conv_transpose2d(x, T, b); F.conv_transpose2d(x, T, output_padding=1)
F.conv_transpose2d(x, T, output_padding=-1); F.conv_transpose2d(x, T, stride=2, output_padding=2)
F.conv_transpose2d(x, T, padding=5); F.conv_transpose2d(x, T, padding='same')
F.conv_transpose2d(x, T, groups=3); F.conv_transpose2d(x, T.float())
F.conv_transpose2d(x[:, :, :0], T); F.conv_transpose2d(x, T, output_padding=(0, 0, 0))
t.conv_tbc(t_, K[:, :3], a); t.conv_tbc(t_, K, b); F.unfold(v, 2); F.unfold(x, 9); F.unfold(x, 0)
F.unfold(x, 2, stride=0); F.unfold(x, 2, dilation=0); F.unfold(x, 2, padding=-1)
F.unfold(x, (2,)); F.unfold(x, 'a'); F.unfold(n, 2); F.unfold(x[:, :0], 2); F.fold(f, 9, 5)
F.fold(f, (4, 5), 2); F.fold(f[0, 0], (5, 6), 2); F.fold(f, (5, 6), 0)
F.fold(f, (5, 6), 2, stride=0); F.fold(f, (5, 6), 2, padding=-1); F.fold(f, (5,), 2)
F.fold(n[0], 4, 1)
"""


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        ours, theirs = (
            evaluated(form, t, ARRAYS, dtype, node=form not in DIFFERENT) for t in (wengert, torch)
        )
        assert not isinstance(theirs, Failure), theirs
        rtol = 1e-4 if dtype == "float32" else 1e-9
        assert_same(ours, theirs, f"{form} ({dtype})", rtol, 1e-1 * rtol)


@pytest.mark.parametrize("form", forms(ERRORS))
def test_refusal(form):
    ours, theirs = (evaluated(form, t, ARRAYS) for t in (wengert, torch))
    assert isinstance(theirs, Failure), theirs
    assert_same(ours, theirs, form)
