"""Test creation of tensors, counting, and writes to existing tensors."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("make", ["zeros", "ones", "empty", "eye", "full"])
def test_creates_in_the_dtype_of_out(t, make):
    out = t.ones(2, 2, dtype=t.int64)
    arguments = {"eye": (2,), "full": ((2, 2), 2.5)}.get(make, (2, 2))
    t.full((2, 2), 9)  # its memory is the next to be taken
    assert getattr(t, make)(*arguments, out=out) is out
    expected = {"zeros": [[0, 0], [0, 0]], "eye": [[1, 0], [0, 1]], "full": [[2, 2], [2, 2]]}
    assert out.tolist() == expected.get(make, [[1, 1], [1, 1]])
    with pytest.raises(RuntimeError, match="dtype Float does not match dtype of out"):
        getattr(t, make)(*arguments, out=out, dtype=t.float32)


@pytest.mark.parametrize("make", ["arange", "linspace"])
def test_series_fill_what_has_as_many_elements(t, make):
    x = t.zeros(2, 3)
    count = (4,) if make == "linspace" else ()
    getattr(t, make)(0, 3 if count else 4, *count, out=x.narrow(1, 1, 2))
    assert x.tolist() == [[0, 0, 1], [0, 2, 3]]


def test_strides_of_empty_tensors(t):
    assert t.zeros(2, 0, 3).stride() == (3, 3, 1)
    assert t.zeros(0, 3, 5).stride() == (15, 5, 1)
    assert t.zeros(0).stride() == (1,)
    assert t.cat([t.tensor([]), t.tensor([])], 1).shape == (0,)


def test_indices_out_of_range_are_counted_by_their_place(t):
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 1 with size 5"):
        t.zeros(5, 5)[0, 5]
    x = t.zeros(2, 3)
    x[t.tensor([1])] = t.ones(1, 1, 1, 3)
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        t.take_along_dim(x, t.zeros(2, 3, dtype=t.int32), 0)
    with pytest.raises(RuntimeError, match=r"storage_offset\(\) must be divisible by 2"):
        t.zeros(6)[1:5].view(t.float64)


def test_reductions_compute_in_the_dtype_of_out(t):
    x = t.tensor([[0.5, 0.5], [1.5, 2.0]])
    out = t.zeros(2, dtype=t.int64)
    assert t.sum(x, 1, out=out).tolist() == [0, 3]
    drawn = t.bernoulli(t.tensor([0.0, 1.0]), out=t.zeros(2, dtype=t.int64))
    assert drawn.tolist() == [0, 1]
    assert t.cumprod(x, 1, out=t.zeros(2, 2, dtype=t.int32)).tolist() == [[0, 0], [1, 2]]


def test_random_integers_up_to_the_largest(t):
    assert (t.zeros(9, dtype=t.int64).random_(2**62, None) >= 2**62).all()
    with pytest.raises(RuntimeError, match="cannot be converted to type double"):
        float(t.tensor(1.5j))
    assert t.repeat_interleave(t.tensor([1, 0, 2])).tolist() == [0, 2, 2]
    assert t.zeros(2).new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert t.zeros(2).new(size=(3, 4)).shape == (3, 4)
    assert t.masked.logsumexp(t.tensor([1j])).imag.item() == pytest.approx(1)


def test_named_results_are_trees(t):
    mapped = t.utils._pytree.tree_map(lambda x: x + 1, t.tensor([3.0, 4.0]).max(0))
    assert isinstance(mapped, t.return_types.max)
    assert mapped.values == 5 and mapped.indices == 2


def test_deterministic_debug_mode(t):
    t.set_deterministic_debug_mode("error")
    try:
        assert t.get_deterministic_debug_mode() == 2
        assert t.are_deterministic_algorithms_enabled()
    finally:
        t.set_deterministic_debug_mode(0)
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        t.set_deterministic_debug_mode(3)


def test_batches_are_normalised_with_a_positive_eps(t):
    with pytest.raises(ValueError, match="batch_norm eps must be positive during training"):
        t.nn.BatchNorm1d(3, eps=0.0)(t.ones(2, 3))
    assert t.nn.BatchNorm1d(3, eps=0.0).eval()(t.ones(2, 3)).equal(t.ones(2, 3))


def test_bounds_of_drawn_numbers_have_names_one_of_which_is_a_word_of_python(t):
    x = t.zeros(9)
    drawn = x.uniform_(**{"from": 2.0}, to=3.0)
    assert ((drawn >= 2) & (drawn < 3)).all()
    drawn = x.random_(**{"from": -3}, to=-1)
    assert ((drawn >= -3) & (drawn < -1)).all()
    assert ((x.random_(to=4) >= 0) & (x < 4)).all()


def test_bounds_of_uniform_numbers_are_finite_and_so_is_their_difference(t):
    x = t.ones(2)
    for low, high in ((-3e38, 3e38), (0.0, float("inf"))):
        with pytest.raises(RuntimeError):
            x.uniform_(low, high)
    with pytest.raises(RuntimeError, match="uniform_ expects to-from"):
        x.half().uniform_(-6e4, 6e4)
    assert x.uniform_(-1e38, 1e38).isfinite().all()


def test_complex_numbers_without_imaginary_part_are_numbers(t):
    x = t.tensor(2 + 0j)
    assert (int(x), float(x)) == (2, 2.0)
    for convert in (int, float):
        with pytest.raises(RuntimeError, match="value cannot be converted to type"):
            convert(x + 1j)


def test_functions_that_fill_all_elements_make_no_sparse_tensors(t):
    like = t.ones(3)
    makers = [
        lambda **options: t.ones(3, **options),
        lambda **options: t.full((3,), 2.0, **options),
        lambda **options: t.rand(3, **options),
        lambda **options: t.randperm(3, **options),
        lambda **options: t.arange(3, **options),
        lambda **options: t.eye(3, **options),
        lambda **options: t.ones_like(like, **options),
    ]
    for make in makers:
        assert make(layout=t.strided).layout is t.strided
        with pytest.raises(RuntimeError):
            make(layout=t.sparse_coo)
    with pytest.raises(RuntimeError, match="does not match layout of out"):
        t.zeros(3, layout=t.sparse_coo, out=like)
    assert t.zeros(3, layout=t.sparse_coo).layout is t.sparse_coo


def test_products_of_bytes_are_computed_in_int32(t):
    a = t.tensor([[127, 127], [-128, 3]], dtype=t.int8)
    found = t._int_mm(a, a)
    assert found.dtype is t.int32 and found.tolist() == [[-127, 16510], [-16640, -16247]]
    with pytest.raises(RuntimeError, match="Expected mat2 dtype to be"):
        t._int_mm(a, a.float())


@pytest.mark.parametrize("make", ["linspace", "logspace"])
def test_series_are_leaves_whatever_their_bounds_require(t, make):
    low, high = t.tensor(0.0, requires_grad=True), t.tensor(1.0, requires_grad=True)
    made = getattr(t, make)(low, high, 2)
    assert not made.requires_grad and t.equal(made, getattr(t, make)(0.0, 1.0, 2))


def test_limits_of_equal_types_are_equal(t):
    assert t.finfo() == t.finfo(t.float32) == t.finfo(t.complex64) != t.finfo(t.float64)
    assert t.iinfo(t.int8) == t.iinfo(t.int8) != t.iinfo(t.uint8)
    assert t.finfo(t.complex128).dtype == "float64" and t.finfo(t.float32).resolution == 1e-6
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType"):
        t.int8.to_complex()


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("end", [2**63, 1e300, 1.7e308])
@pytest.mark.parametrize("make", ["arange", "range"])
def test_more_elements_than_memory_has_addresses_are_refused(t, make, end):
    with pytest.raises(RuntimeError):
        getattr(t, make)(0, end, dtype=t.float64)
    with pytest.raises(RuntimeError):
        getattr(t, make)(0, -end, -1, dtype=t.float64)
