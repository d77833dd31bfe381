"""Test interpolation and sampling against PyTorch: values, derivatives, errors."""

import itertools

import numpy as np
import pytest

import wengert
from support.parity import assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

OURS = wengert.nn.functional
RNG = np.random.default_rng(13)
ARRAYS = {
    "v": RNG.standard_normal((2, 3, 9)),
    "x": RNG.standard_normal((2, 3, 7, 6)),
    "z": RNG.standard_normal((1, 2, 3, 4, 5)),
    "w": RNG.standard_normal((1, 2, 90, 70)),
    "m": RNG.standard_normal((2, 2, 3)),
    "M": RNG.standard_normal((1, 3, 4)),
}
FORMS = """
F.interpolate(v, 13); F.interpolate(v, scale_factor=0.45); F.interpolate(x, (3, 11))
F.interpolate(x, scale_factor=(2.0, 1.5)); F.interpolate(z, scale_factor=2); F.interpolate(w, 40)
F.interpolate(v, 13, mode='nearest-exact'); F.interpolate(x, (3, 11), mode='nearest-exact')
F.interpolate(z, 4, mode='nearest-exact'); F.interpolate(x, scale_factor=0.5, mode='nearest-exact')
F.interpolate(v, 13, mode='linear'); F.interpolate(v, 4, mode='linear', align_corners=True)
F.interpolate(v, scale_factor=1.7, mode='linear'); F.interpolate(v, 1, mode='linear')
F.interpolate(v, scale_factor=1.7, mode='linear', recompute_scale_factor=True)
F.interpolate(x, (3, 11), mode='bilinear')
F.interpolate(x, 14, mode='bilinear', align_corners=True)
F.interpolate(x, scale_factor=(0.6, 2.3), mode='bilinear'); F.interpolate(w, 100, mode='bilinear')
F.interpolate(w, scale_factor=2.6, mode='bilinear'); F.interpolate(w, (30, 140), mode='bilinear')
F.interpolate(x, (3, 11), mode='bicubic'); F.interpolate(x, 14, mode='bicubic', align_corners=True)
F.interpolate(w, scale_factor=0.4, mode='bicubic'); F.interpolate(w, 130, mode='bicubic')
F.interpolate(z, (5, 3, 8), mode='trilinear')
F.interpolate(z, 6, mode='trilinear', align_corners=True); F.interpolate(v, 4, mode='area')
F.interpolate(x, (14, 4), mode='area'); F.interpolate(z, 2, mode='area')
F.interpolate(x, (3, 9), mode='bilinear', antialias=True)
F.interpolate(w, 20, mode='bilinear', antialias=True)
F.interpolate(x, (3, 9), mode='bicubic', antialias=True)
F.interpolate(w, 20, mode='bicubic', antialias=True)
F.interpolate(x, (3, 9), mode='bicubic', antialias=True, align_corners=True)
F.interpolate(w, (20, 90), mode='lanczos', antialias=True); F.upsample(x, 4)
F.upsample_nearest(x, scale_factor=2); F.upsample_bilinear(x, (5, 9))
F.affine_grid(m, (2, 1, 3, 4), align_corners=False)
F.affine_grid(M, (1, 1, 2, 3, 4), align_corners=True); F.affine_grid(m, (2, 1, 3, 4))
F.affine_grid(m, (2, 1, 3)); F.affine_grid(M, (2, 1, 3, 4)); F.affine_grid(m, (2, 1, 0, 4))
F.affine_grid(m, (3, 1, 2, 4), align_corners=False); F.interpolate(x); F.interpolate(x, 3, 2)
F.interpolate(x, (3,)); F.interpolate(x, 0); F.interpolate(x, 3, mode='linear')
F.interpolate(v, 3, mode='bicubic'); F.interpolate(x, 3, mode='?')
F.interpolate(x, 3, align_corners=True); F.interpolate(x, 3, antialias=True); F.interpolate(v[0], 3)
F.interpolate(x[:, :0], 3); F.interpolate(x.long(), 3, mode='bicubic')
F.interpolate(x, scale_factor=0.1)
"""


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        # weights in float32 differ by the rounding of the scale
        tolerance = 1e-9 if dtype == "float64" else 1e-4
        results = (evaluated(form, t, ARRAYS, dtype) for t in (wengert, torch))
        assert_same(*results, f"{form} ({dtype})", tolerance, tolerance)


SAMPLING = list(
    itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    )
)


@pytest.mark.parametrize("mode, padding, align", SAMPLING, ids=str)
def test_sampling(mode, padding, align):
    planes = [
        ((2, 3, 7, 6), (2, 5, 4, 2)),
        ((1, 1, 40, 40), (1, 2, 3, 2)),
        ((1, 2, 1, 3), (1, 9, 9, 2)),
    ]
    if mode != "bicubic":
        planes += [((1, 2, 3, 4, 5), (1, 4, 3, 2, 3)), ((70, 2, 6, 5), (70, 20, 30, 2))]
    for shape, points in planes:
        x, grid = RNG.standard_normal(shape), RNG.uniform(-1.4, 1.4, points)
        weights = RNG.standard_normal((*shape[:2], *points[1:-1]))
        found = []
        for module, functions in ((wengert, OURS), (torch, torch.nn.functional)):
            t, where, g = (module.from_numpy(a.copy()) for a in (x, grid, weights))
            t.requires_grad_()
            where.requires_grad_()
            value = functions.grid_sample(t, where, mode, padding, align)
            grads = module.autograd.grad(value, (t, where), g)
            found.append([v.detach().numpy() for v in (value, *grads)])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-8, 1e-10, err_msg=f"{shape}")


def test_bytes():
    x = RNG.integers(0, 256, (2, 3, 9, 14), dtype=np.uint8)
    for options in (
        {"size": (5, 20)},
        {"scale_factor": 2, "mode": "nearest-exact"},
        {"size": (5, 20), "mode": "bilinear"},
        {"size": (20, 6), "mode": "bicubic"},
    ):
        ours = OURS.interpolate(wengert.from_numpy(x), **options).numpy()
        theirs = torch.nn.functional.interpolate(torch.from_numpy(x), **options).numpy()
        # PyTorch rounds weights to 16 bits
        assert np.abs(ours.astype(int) - theirs).max() <= ("bi" in options.get("mode", ""))


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [5, 16, 28, 33])
def test_a_map_that_moves_nothing_has_the_gradient_of_pytorch(size, align):
    # the points lie on elements, where rounding decides between two slopes
    found = []
    for library in (torch, wengert):
        functions = library.nn.functional
        theta = library.eye(2, 3).reshape(1, 2, 3).requires_grad_()
        image = (library.arange(size * size) % 7.0).reshape(1, 1, size, size)
        grid = functions.affine_grid(theta, (1, 1, size, size), align_corners=align)
        sampled = functions.grid_sample(image, grid, align_corners=align)
        (sampled * image).sum().backward()
        found.append((grid.tolist(), theta.grad.numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-4, atol=0.01)
