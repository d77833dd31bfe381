"""Test that the compiler facets of records match their kernels."""

import math

import numpy as np
import pytest

from support.samples import samples, supports
from wengert.compiler.ir.facets import (
    COMBINES,
    COMMUTES,
    CYCLES,
    KEEPS_NAN,
    MAPS,
    REARRANGES,
    SIZE,
    having,
)

DTYPES = (np.float64, np.complex128)
COMBINED = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "or": np.logical_or,
    "and": np.logical_and,
    "count": np.add,
}


def of(facet):
    return pytest.mark.parametrize("prim", having(facet), ids=lambda prim: prim.name)


def drawn(prim):
    """Sample inputs of a record with the results of its kernel."""
    dtypes = [dtype for dtype in DTYPES if supports(prim, dtype)]
    assert dtypes, f"no sample of {prim.name}"
    for dtype in dtypes:
        for sample in samples(prim, dtype, np.random.default_rng(7)):
            with np.errstate(all="ignore"):
                yield sample, prim.kernel(*sample.arrays, **sample.params)


def test_records_say_no_other_words():
    for facet, words in (
        (REARRANGES, {"shape", "order", "kind"}),
        (COMBINES, set(COMBINED)),
        (SIZE, {"mask", "values"}),
    ):
        assert {facet[prim] for prim in having(facet)} <= words, facet.name


@of(COMMUTES)
def test_arguments_that_may_change_places_give_the_same(prim):
    for sample, result in drawn(prim):
        turned = prim.kernel(*sample.arrays[::-1], **sample.params)
        np.testing.assert_allclose(turned, result, rtol=1e-15)


@of(REARRANGES)
def test_what_rearranges_shows_every_element_once(prim):
    for sample, result in drawn(prim):
        (given,) = sample.arrays
        if REARRANGES[prim] == "shape":
            np.testing.assert_array_equal(result.ravel(), given.ravel())
        elif REARRANGES[prim] == "order":
            assert sorted(result.shape) == sorted(given.shape)
            np.testing.assert_array_equal(np.sort(result, None), np.sort(given, None))
        else:
            assert result.nbytes == given.nbytes
            assert np.ascontiguousarray(result).tobytes() == np.ascontiguousarray(given).tobytes()


@of(COMBINES)
def test_what_combines_elements_does_so_by_its_instruction(prim):
    how = COMBINES[prim]
    for sample, result in drawn(prim):
        (given,) = sample.arrays
        if how in ("max", "min") and not given.size:
            continue
        if "shape" in sample.params:
            given, axes = np.asarray(given), range(given.ndim)
            wide = (1,) * (given.ndim - len(sample.params["shape"])) + sample.params["shape"]
            axes = tuple(axis for axis in axes if wide[axis] == 1)
        else:
            axes = sample.params.get("dim", tuple(range(given.ndim)))
        given = given != 0 if how in ("or", "and", "count") else given
        dtype = np.int64 if how == "count" else None
        expected = COMBINED[how].reduce(given, axis=axes, dtype=dtype)
        np.testing.assert_allclose(result.ravel(), np.asarray(expected).ravel(), rtol=1e-12)


@pytest.mark.sampled(3)
@of(MAPS)
def test_what_maps_computes_each_element_from_those_at_its_place(prim):
    for sample, result in drawn(prim):
        wide = np.broadcast_arrays(*sample.arrays)
        assert result.shape == wide[0].shape
        for place in list(np.ndindex(result.shape))[:3]:
            with np.errstate(all="ignore"):
                one = prim.kernel(*[array[place].reshape(1) for array in wide], **sample.params)
            np.testing.assert_allclose(one[0], result[place], rtol=1e-9, atol=1e-12)


@of(CYCLES)
def test_what_the_c_library_computes_is_what_the_kernel_computes(prim):
    known = getattr(math, prim.name, None)
    if known is None:
        pytest.skip("the math module has none of that name")
    arguments = [1.3 if prim.name == "acosh" else 0.3, 0.7][: len(prim.args)]
    found = prim.kernel(*[np.array([value]) for value in arguments])
    np.testing.assert_allclose(found[0], known(*arguments), rtol=1e-13)


@of(KEEPS_NAN)
def test_nan_is_kept_by_all_that_depends_on_it(prim):
    looked = 0
    for sample, _ in drawn(prim):
        arrays, params = sample.arrays, sample.params
        for place, array in enumerate(arrays):
            for at in range(array.size if array.dtype.kind in "fc" else 0):
                results = []
                for number in (0.0, np.nan):
                    changed = [part.copy() for part in arrays]
                    changed[place].reshape(-1)[at] = number
                    with np.errstate(all="ignore"):
                        found = prim.kernel(*changed, **params)
                    results.append(found if isinstance(found, list | tuple) else [found])
                for without, held in zip(*results, strict=True):
                    looked += 1
                    assert (np.isnan(held) | (held == without) | np.isnan(without)).all()
    assert looked
