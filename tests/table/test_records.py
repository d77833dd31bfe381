"""Run every check on every record of the table."""

from functools import partial

import numpy as np
import pytest

from support.checks import CHECKS, _derivatives
from support.samples import samples, supports
from wengert.autograd import gradgradcheck
from wengert.interp.eager import K
from wengert.prims.whole import TABLE
from wengert.tape import compiled

# they have no second derivative, or none: tests/ops and tests/distributions have theirs
BY_HAND = {"ctc_loss", "ctc_posterior", "_standard_gamma", "_standard_gamma_grad"}
BY_HAND |= {"_dirichlet_grad", "_sample_dirichlet", "binomial"}

# half of the time of all is theirs
LONG = {"second_order", "complex_second_order"}
CHECKED = [
    pytest.param(check, marks=pytest.mark.sampled(12)) if check in LONG else check
    for check in CHECKS
]
# where modules are compiled, the steps of other records are in Python, and tested there
RECORDS = [
    pytest.param(name, marks=pytest.mark.sampled(12))
    if compiled.IS_COMPILED
    and not (compiled.compiled_maker(TABLE[name]) or name in compiled._recorded.NODES)
    else name
    for name in TABLE
    if name not in BY_HAND
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("check", CHECKED)
@pytest.mark.parametrize("name", RECORDS)
def test_record(name, check):
    CHECKS[check](TABLE[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TABLE if name not in BY_HAND])
def test_forward_over_reverse_against_differences(name):
    _derivatives(TABLE[name], np.float64, partial(gradgradcheck, check_fwd_over_rev=True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_kernels_take_the_dtypes_that_are_tested(dtype):
    for prim in TABLE.values():
        if supports(prim, dtype):
            sample = next(samples(prim, np.dtype(dtype), np.random.default_rng(0)))
            found = prim.kernel(*sample.arrays, **sample.params)
            asked = sample.params.get("dtype") or dtype
            for one in found if isinstance(found, tuple) else (found,):
                kind = np.asarray(one).dtype
                as_precise = kind.kind not in "fc" or np.finfo(kind).bits == np.finfo(asked).bits
                assert kind.kind in "biufc" and as_precise, (prim.name, kind)


def test_kernels_that_are_written_out_warn_as_frames_of_the_library_which_are_silent():
    scopes = [getattr(getattr(K, name), "__globals__", {}) for name in TABLE]
    assert {scope.get("__name__", "").split(".")[0] for scope in scopes if scope} == {"wengert"}


def test_a_kernel_that_no_longer_takes_a_dtype_is_noticed(monkeypatch):
    prim = TABLE["tanh"]

    def kernel(self):
        if self.dtype.kind == "c":
            raise TypeError("ufunc 'tanh' not supported for the input types")
        return np.tanh(self)

    monkeypatch.setattr(prim, "kernel", kernel)
    assert supports(prim, np.complex128)
    with pytest.raises(TypeError, match="not supported for the input types"):
        test_kernels_take_the_dtypes_that_are_tested("complex128")
