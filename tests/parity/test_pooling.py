"""Test pooling against PyTorch: values, indices, two orders of derivatives, errors."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, derivatives, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

OURS = wengert.nn.functional
RNG = np.random.default_rng(12)
# ties, NaNs and infinities among few values
ROUGH = RNG.integers(-2, 3, (2, 3, 7, 6)).astype(float)
ROUGH[RNG.random(ROUGH.shape) < 0.1] = np.nan
ROUGH[RNG.random(ROUGH.shape) < 0.2] = -np.inf
ARRAYS = {
    "v": RNG.standard_normal((2, 3, 9)),
    "x": RNG.standard_normal((2, 3, 7, 6)),
    "z": RNG.standard_normal((2, 2, 5, 4, 6)),
    "r": ROUGH,
    "big": RNG.standard_normal((300, 2, 19, 12)),
    "n": RNG.integers(-9, 9, (2, 3, 5, 6)),
    "s": RNG.random((2, 3, 2)),
    "S": RNG.random((2, 2, 3)),
}
FORMS = """
F.max_pool1d(v, 2); F.max_pool1d(v, 3, 2, 1); F.max_pool1d(v, 2, 1, 0, 3); F.max_pool1d(v[0], 2)
F.max_pool1d(v, 4, 3, 2, 1, True); F.max_pool1d(v, 3, return_indices=True)
F.max_pool2d(x, 2); F.max_pool2d(x, 3, 2, 1); F.max_pool2d(x, 3, 1, 1); F.max_pool2d(x, (2, 3), 1)
F.max_pool2d(x, 2, ceil_mode=True); F.max_pool2d(x, 3, 2, 1, 2, True); F.max_pool2d(x, (7, 6))
F.max_pool2d(x, 2, return_indices=True); F.max_pool2d(x[0], [2, 1]); F.max_pool2d(n, 2)
F.max_pool2d(r, 2); F.max_pool2d(r, 3, 1, 1, return_indices=True); F.max_pool2d(r[:, :, :6], 3)
F.max_pool2d_with_indices(r, 2, 2, 1, 2); F.max_pool2d(big, 3, 2, 1, return_indices=True)
F.max_pool2d(big, 2)[:2]; F.max_pool2d(big[:, :, :12], 12, return_indices=True)
F.max_pool3d(z, 2); F.max_pool3d(z, (3, 2, 2), 1, 1, return_indices=True); F.max_pool3d(z[0], 2)
F.avg_pool1d(v, 2); F.avg_pool1d(v, 3, 2, 1); F.avg_pool1d(v, 3, 2, 1, True, False)
F.avg_pool2d(x, 2); F.avg_pool2d(x, 3, 2, 1); F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
F.avg_pool2d(x, 3, 2, 1, True); F.avg_pool2d(x, 3, 2, 1, True, False); F.avg_pool2d(x[0], (7, 6))
F.avg_pool2d(x, 2, divisor_override=3); F.avg_pool2d(n, 2); F.avg_pool2d(big, 3, 2, 1)
F.avg_pool3d(z, 2); F.avg_pool3d(z, 3, 2, 1, True, False); F.avg_pool3d(z[0], (2, 1, 3), 1)
F.lp_pool1d(v, 2, 3); F.lp_pool2d(x, 2, 2); F.lp_pool2d(x, 2, (2, 3), 1, True); F.lp_pool3d(z, 2, 2)
F.lp_pool2d(x.abs(), 3, 2); F.lp_pool2d(x, 1, 2)
F.lp_pool1d(v, float("inf"), 3); F.lp_pool2d(x, float("inf"), 2, 1, True)
F.lp_pool2d(x, -float("inf"), 2); F.lp_pool3d(z, float("inf"), 2)
F.adaptive_avg_pool1d(v, 4); F.adaptive_avg_pool2d(x, 1); F.adaptive_avg_pool2d(x, (3, None))
F.adaptive_avg_pool2d(x, (9, 4)); F.adaptive_avg_pool3d(z, 3); F.adaptive_avg_pool2d(big, 5)
F.adaptive_max_pool1d(v, 4); F.adaptive_max_pool2d(x, (3, 4), return_indices=True)
F.adaptive_max_pool2d(x, 1); F.adaptive_max_pool2d(r, (3, 4), return_indices=True)
F.adaptive_max_pool3d(z, (2, 3, 4)); F.adaptive_max_pool2d(big, (5, 5), return_indices=True)
F.max_unpool1d(*F.max_pool1d(v, 2, return_indices=True), 2)
F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(7, 6))
F.max_unpool3d(*F.max_pool3d(z, 2, return_indices=True), 2)
F.fractional_max_pool2d(x, 2, 3, return_indices=True, _random_samples=s.detach())
F.fractional_max_pool2d(x, 3, output_ratio=(0.5, 0.6), _random_samples=s.detach())
F.fractional_max_pool3d(z, 2, (2, 2, 4), _random_samples=S.detach())
F.local_response_norm(x, 2); F.local_response_norm(v, 3, 0.2, 0.5, 2.0); F.local_response_norm(z, 4)
F.max_pool2d(x, 0); F.max_pool2d(x, 9); F.max_pool2d(x, 2, padding=2); F.max_pool2d(v[0], 2)
F.max_pool1d(v.detach(), 0); F.max_pool1d(v.detach(), 20); F.max_pool1d(x, 2)
F.avg_pool2d(x, 2, divisor_override=0); F.avg_pool2d(x, 2, 0); F.avg_pool1d(x, 2)
F.avg_pool3d(z, 6); F.adaptive_avg_pool2d(x, (1, 2, 3)); F.adaptive_max_pool2d(x, -1)
F.adaptive_avg_pool3d(x, (2, 2, 2, 2)); F.max_unpool2d(x, x, 2); F.lp_pool2d(x, 0, 2)
F.fractional_max_pool2d(x, 2); F.fractional_max_pool2d(x, 2, 7); F.local_response_norm(v[0], 2)
"""


def derive(module, inputs, value):
    # what is large or has NaNs has a test of its own
    return derivatives(module, inputs, value) if {"big", "r"}.isdisjoint(inputs) else {}


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        results = (evaluated(form, t, ARRAYS, dtype, derive) for t in (wengert, torch))
        assert_same(*results, f"{form} ({dtype})", 1e-8, 1e-10)


@pytest.mark.parametrize("name", ["r", "big"])
def test_gradients_of_many_planes_and_of_nans(name):
    x = ARRAYS[name]
    for arguments in ((2,), (3, 2, 1), (3, 1, 1), (x.shape[2:],)):
        weights = RNG.standard_normal(
            torch.nn.functional.max_pool2d(torch.from_numpy(x), *arguments).shape
        )
        for function in ("max_pool2d", "avg_pool2d")[: 1 + (name == "big")]:
            grads = []
            for module, functions in ((wengert, OURS), (torch, torch.nn.functional)):
                t = module.from_numpy(x.copy()).requires_grad_()
                value = getattr(functions, function)(t, *arguments)
                value.backward(module.from_numpy(weights))
                grads.append(t.grad.numpy())
            np.testing.assert_allclose(*grads, 1e-9, 1e-12, err_msg=f"{function} {arguments}")
