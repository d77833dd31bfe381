"""Test native forms of convolutions against the kernels that they replace."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from support.native_forms import step_of, whole
from wengert.compiler.codegen.native import convolution as native_convolution
from wengert.prims.whole import TABLE

f2, f4, f8 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")


def drawn(*shape, seed=0, dtype=f8):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def native(name, *arrays, **params):
    return whole(*step_of(name, arrays, params))


def agrees(name, *arrays, **params):
    found = native(name, *arrays, **params)
    assert found is not None
    result, failed = found
    assert not failed
    with np.errstate(all="ignore"):
        wanted = TABLE[name].kernel(*arrays, **params)
    tight = 100 * np.finfo(wanted.dtype).eps
    np.testing.assert_allclose(result, wanted, tight, tight * 10, strict=True)


def windowed(dims, **params):
    common = {"stride": (1,) * dims, "padding": (0,) * dims, "dilation": (1,) * dims, "groups": 1}
    return common | params


def all_agree(shape, weight, dtype=f8, **params):
    """The convolution of arrays of these shapes agrees, and so do its derivatives."""
    x, w, b = (drawn(*s, seed=k, dtype=dtype) for k, s in enumerate((shape, weight, weight[:1])))
    window = windowed(x.ndim - 2, **params)
    plain = {"transposed": False, "output_padding": (0,) * (x.ndim - 2)}
    agrees("convolution", x, w, b, **window, **plain)
    agrees("convolution_without_bias", x, w, **window, **plain)
    y = TABLE["convolution_without_bias"].kernel(x, w, **window, **plain)
    g = drawn(*y.shape, seed=3, dtype=dtype)
    agrees("correlate", x, w, **window, size=g.shape[2:])
    agrees("correlate_weight", x, g, **window, size=w.shape[2:])
    agrees("correlate_input", g, w, **window, size=x.shape[2:])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 14, 16, 17, 31, 33, 50, 64, 100])
def test_lines_of_all_lengths(length, dtype):
    all_agree((2, 2, 4, length), (3, 2, 3, 3), dtype, padding=(1, 1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("planes", [1, 3, 4, 8, 9, 13, 20])
def test_all_numbers_of_planes(planes):
    all_agree((2, planes, 3, 9), (planes, planes, 2, 3), padding=(1, 1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 8])
def test_all_numbers_of_lines(lines):
    all_agree((1, 2, lines, 5), (2, 2, 1, 3))


def test_one_and_three_dimensions():
    all_agree((3, 2, 21), (4, 2, 5), padding=(2,))
    all_agree((2, 3, 4, 3, 9), (4, 3, 2, 3, 3), padding=(1, 1, 0))
    all_agree((2, 2, 5, 4, 9), (2, 2, 2, 3, 2), stride=(2, 1, 3), padding=(1, 1, 1))


def test_strides_dilations_and_groups():
    all_agree((2, 4, 9, 20), (6, 4, 3, 3), stride=(2, 2), padding=(1, 1))
    all_agree((2, 4, 9, 20), (6, 2, 3, 3), stride=(1, 3), padding=(0, 2), groups=2)
    all_agree((2, 4, 9, 20), (4, 1, 3, 2), dilation=(2, 3), groups=4)
    all_agree((1, 2, 11, 20), (3, 2, 3, 3), stride=(2, 3), dilation=(3, 2), padding=(2, 2))
    # the stride divides the dilation: there is one phase
    all_agree((1, 2, 11, 20), (3, 2, 2, 3), stride=(2, 2), dilation=(2, 4), padding=(1, 3))


def test_windows_of_single_elements():
    all_agree((2, 5, 4, 6), (3, 5, 1, 1))
    all_agree((2, 5, 4, 7), (3, 5, 1, 1), stride=(2, 2))
    all_agree((2, 5, 4, 6), (3, 5, 1, 1), padding=(1, 1))


def test_more_padding_than_the_kernel_reaches():
    all_agree((1, 1, 3, 3), (2, 1, 2, 2), padding=(3, 4))


def test_sizes_that_cut_off_and_elements_that_are_left_out():
    x, w = drawn(2, 1, 6, 9), drawn(2, 1, 2, 3, seed=1)
    for size, padding in (
        ((2, 3), (0, 0)),
        ((3, 4), (-1, -2)),
        ((9, 12), (1, 1)),
        ((2, 2), (9, 0)),
    ):
        window = windowed(2, padding=padding)
        agrees("correlate", x, w, size=size, **window)
        g = drawn(2, 2, *size, seed=2)
        agrees("correlate_weight", x, g, size=(2, 3), **window)
        agrees("correlate_input", g, w, size=(6, 9), **window)


def test_transposed():
    x, w, b = drawn(2, 4, 5, 6), drawn(4, 3, 3, 2, seed=1), drawn(6, seed=2)
    window = windowed(2, padding=(1, 0), dilation=(1, 2), groups=2)
    agrees("convolution", x, w, b, **window, transposed=True, output_padding=(0, 0))
    window["stride"] = (2, 1)
    for more in (0, 1):
        agrees("convolution", x, w, b, **window, transposed=True, output_padding=(more, 0))
    # results that no tap takes part in are a bias, which is left to the kernel
    window["stride"] = (5, 1)
    given = {"transposed": True, "output_padding": (0, 0)}
    agrees("convolution_without_bias", x, w, **window, **given)
    assert native("convolution", x, w, b, **window, **given) is None


def test_what_is_not_a_window_has_no_share_in_infinities():
    x, w = drawn(2, 2, 5, 13), drawn(3, 2, 3, 3, seed=1)
    x[0, 0, 2, 12] = np.inf
    x[1, 1, 4, 0] = np.nan
    g = drawn(2, 3, 3, 11, seed=2)
    window = windowed(2)
    agrees("correlate", x, w, size=(3, 11), **window)
    agrees("correlate_weight", x, g, size=(3, 3), **window)
    g[0, 1, 0, 10] = -np.inf
    agrees("correlate_weight", drawn(2, 2, 5, 13), g, size=(3, 3), **window)
    agrees("correlate_input", g, w, size=(5, 13), **window)


def test_several_images_at_a_time():
    all_agree((13, 2, 6, 6), (8, 2, 3, 3), f4, padding=(1, 1))
    all_agree((5, 8, 30, 40), (8, 8, 3, 3), f4, padding=(1, 1))


def test_registers_of_all_lengths(monkeypatch):
    # another processor's tiles, as far as this one can compute them
    for size in (16, 32, 64):
        monkeypatch.setattr(native_convolution, "register_bytes", lambda size=size: size)
        all_agree((2, 3, 5, 23), (9, 3, 3, 3), f4, padding=(1, 1))
        all_agree((2, 3, 5, 7), (5, 3, 3, 3), f8, stride=(1, 2))


@pytest.mark.parametrize(
    ("planes", "size", "natively"), [(64, 16, False), (64, 17, True), (63, 16, True)]
)
def test_gradients_of_weights_of_many_planes_at_few_places_are_left_to_blas(planes, size, natively):
    x, g = drawn(1, planes, size, size, dtype=f4), drawn(1, 64, size, size, dtype=f4)
    window = windowed(2, size=(3, 3), padding=(1, 1))
    assert (native("correlate_weight", x, g, **window) is not None) == natively


def test_what_is_left_to_the_kernels(monkeypatch):
    monkeypatch.setattr(native_convolution, "register_bytes", lambda: 64)
    window = windowed(2, size=(4, 4), padding=(1, 1))
    for shape, weight, dtype in (
        ((2, 1, 4, 4), (1, 1, 3, 3), f2),
        ((0, 1, 4, 4), (1, 1, 3, 3), f4),
        ((2, 1, 4, 4), (0, 1, 3, 3), f4),
        # vectors would be a quarter full, and there is much to do
        ((64, 64, 4, 4), (64, 64, 3, 3), f4),
    ):
        x, w = drawn(*shape, dtype=dtype), drawn(*weight, dtype=dtype)
        g = np.zeros((shape[0], weight[0], 4, 4), dtype)
        assert native("correlate", x, w, **window) is None
        assert native("correlate_weight", x, g, **{**window, "size": (3, 3)}) is None
    # a box that is too large
    x, w = drawn(1, 1, 1100, 1100, dtype=f4), drawn(1, 1, 3, 3, dtype=f4)
    assert native("correlate", x, w, **windowed(2, size=(1098, 1098))) is None


def test_of_different_dtypes_there_is_none():
    x, w, b = drawn(1, 1, 4, 4, dtype=f4), drawn(1, 1, 3, 3), drawn(1)
    plain = {**windowed(2), "transposed": False, "output_padding": (0, 0)}
    assert native("convolution", x.astype(f8), w, b.astype(f4), **plain) is None
