"""Test indexing by tensors: byte masks, repeated indices, and empty vectors in `cat`."""

import numpy as np
import pytest

import wengert as wg
import wengert.numpy as wnp

BYTES = "indexing with dtype torch.uint8 is now deprecated"


@pytest.mark.parametrize("method", ["index_put", "index_put_", "setitem"])
def test_bytes_are_a_mask_wherever_an_index_is_taken(method):
    x = wg.arange(6.0)
    mask = wg.tensor([1, 0, 1, 0, 0, 1], dtype=wg.uint8)
    with pytest.warns(UserWarning, match=BYTES) as caught:
        assert x[mask].tolist() == [0.0, 2.0, 5.0]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=BYTES) as caught:
        if method == "setitem":
            x[mask] = wg.tensor([7.0, 8.0, 9.0])
        else:
            x = getattr(x, method)((mask,), wg.tensor([7.0, 8.0, 9.0]))
    assert caught[0].filename == __file__
    assert x.tolist() == [7.0, 1.0, 8.0, 3.0, 4.0, 9.0]


def test_a_mask_of_bytes_stands_beside_integers():
    x, mask = wg.zeros(2, 3), wg.tensor([1, 0], dtype=wg.uint8)
    with pytest.warns(UserWarning, match=BYTES):
        x.index_put_((mask, wg.tensor([0, 2])), wg.tensor(1.0))
    assert x.tolist() == [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("function", [wg.index_put, wg.Tensor.index_put_])
def test_a_mask_of_a_wrong_shape_is_refused_in_writing(function):
    for kind in (wg.bool, wg.uint8):
        with (
            pytest.warns(UserWarning) if kind is wg.uint8 else _nothing(),
            pytest.raises(IndexError, match="The shape of the mask"),
        ):
            function(wg.zeros(3), (wg.tensor([1, 0], dtype=kind),), wg.tensor(1.0))


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def test_a_condition_of_bytes_warns():
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        out = wg.where(wg.tensor([1, 0], dtype=wg.uint8), wg.tensor([1.0, 2.0]), 0.0)
    assert out.tolist() == [1.0, 0.0]


def test_numpys_names_take_bytes_for_positions():
    x = wnp.arange(6.0)
    assert x[np.array([1, 0, 2], np.uint8)].tolist() == [1.0, 0.0, 2.0]


# -- repeated indices ------------------------------------------------------------------------------

WEIGHTS = [1.0, 2.0, 4.0]


def _setitem(y, x):
    y[[0, 0]] = x


def _mixed(y, x):
    y.reshape(1, 3)[0, [0, 0]] = x


def _flat(y, x):
    y.flat[[0, 0]] = x


def _add(y, x):
    y[[0, 0]] += x


WRITES = {
    "setitem": _setitem,
    "an integer beside": _mixed,
    "flat": _flat,
    "add": _add,
    "put": lambda y, x: wnp.put(y, [0, 0], x),
    "put_along_axis": lambda y, x: wnp.put_along_axis(y, np.array([0, 0]), x, 0),
    "NumPy's put": lambda y, x: np.put(y, [0, 0], x),
}


@pytest.mark.parametrize("name", WRITES)
def test_of_repeated_indices_the_last_one_has_the_gradient_under_numpys_names(name):
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = wnp.zeros(3, dtype=np.float32)
    WRITES[name](y, x)
    assert y.tolist() == [2.0, 0.0, 0.0]
    (y * wg.tensor(WEIGHTS)).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_of_repeated_rows_the_last_one_has_the_gradient():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    y = wnp.zeros((2, 2), dtype=np.float32)
    y[[1, 0, 1]] = x
    assert y.tolist() == [[3.0, 4.0], [5.0, 6.0]]
    (g,) = wg.autograd.grad((y**2).sum(), x, create_graph=True)
    assert g.tolist() == [[0.0, 0.0], [6.0, 8.0], [10.0, 12.0]]
    (h,) = wg.autograd.grad(g.sum(), x)
    assert h.tolist() == [[0.0, 0.0], [2.0, 2.0], [2.0, 2.0]]


def test_a_number_for_repeated_places_has_the_gradient_of_each_place_once():
    x = wg.tensor(3.0, requires_grad=True)
    y = wnp.zeros(3, dtype=np.float32)
    y[[0, 0, 2]] = x
    (y * wg.tensor(WEIGHTS)).sum().backward()
    assert x.grad.item() == 5.0


def test_the_last_one_counts_under_transforms():
    def f(x, at):
        y = wnp.zeros(3, dtype=np.float32)
        y = y + 0 * x.sum()
        y[at] = x**2
        return (y * wg.tensor(WEIGHTS)).sum()

    x = wg.tensor([1.0, 2.0])
    expected = [0.0, 4.0]
    assert wg.func.grad(f)(x, [0, 0]).tolist() == expected
    jacobian = wg.func.jacfwd(f)(x, [0, 0])
    assert jacobian.tolist() == expected
    hessian = wg.func.hessian(f)(x, [0, 0])
    assert hessian.tolist() == [[0.0, 0.0], [0.0, 2.0]]


def test_pytorchs_names_give_each_repeated_index_a_gradient():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = wg.zeros(3)
    y[[0, 0]] = x
    (y * wg.tensor(WEIGHTS)).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


# -- empty vectors ---------------------------------------------------------------------------------


def test_an_empty_vector_that_is_joined_stays_in_the_graph():
    empty = wg.zeros(0, requires_grad=True)
    for others in ([wg.ones(2)], [wg.ones(2, 2)], [wg.ones(2, 3), wg.ones(1, 3)]):
        for tensors in ([empty, *others], [*others, empty]):
            out = wg.cat(tensors)
            assert out.tolist() == wg.cat(others).tolist() and out.requires_grad
            (g,) = wg.autograd.grad(out.sum(), empty)
            assert g.shape == (0,)
    out = wg.cat([empty, wg.ones(2, 3)], -1)
    assert out.requires_grad and out.shape == (2, 3)


# -- masks of other dtypes -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [wg.uint8, wg.int8, wg.int64, wg.float32])
def test_masks_consist_of_bools(kind):
    x, mask = wg.tensor([1.0, 2.0, 3.0]), wg.tensor([1, 0, 1]).to(kind)
    words = "_ only supports boolean masks, but got mask with dtype "
    for value in (5, wg.tensor(5.0)):
        for fill in (x.masked_fill, x.masked_fill_):
            with pytest.raises(RuntimeError, match=f"masked_fill{words}"):
                fill(mask, value)
    with pytest.raises(RuntimeError, match=f"masked_scatter{words}"):
        x.masked_scatter_(mask, x)
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.filterwarnings("ignore:indexing with dtype")
def test_one_number_is_not_written_where_bytes_are():
    x, mask = wg.tensor([[1.0, 2.0]]), wg.tensor([1, 0], dtype=wg.uint8)
    refused = pytest.raises(RuntimeError, match="but got mask with dtype unsigned char")
    for index in (mask[:1], (slice(None), mask)):
        with refused:
            x[index] = 5.0
    with refused:
        x.index_put_((None, mask), wg.tensor(5.0))
    with refused:
        wg.index_put(x, (None, mask), wg.tensor([5.0]))
    assert x.tolist() == [[1.0, 2.0]]
    # several numbers, and sums, go where bytes are not 0
    y = wg.zeros(2, 2)
    y[:, mask] = wg.tensor([[3.0], [4.0]])
    y.index_put_((None, mask), wg.tensor(1.0), accumulate=True)
    assert y.tolist() == [[4.0, 0.0], [5.0, 0.0]]


def test_narrow_integers_are_not_indices():
    x = wg.tensor([1.0, 2.0, 3.0])
    for kind in (wg.int8, wg.int16):
        at = wg.tensor([1, 0, 1], dtype=kind)
        with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or"):
            x[at]
        with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or"):
            x[at] = 1.0
        assert x[at[0]] == 2.0
    assert x[at.int()].tolist() == [2.0, 1.0, 2.0]


def test_a_mask_takes_one_number_of_any_dtype():
    mask = wg.tensor([True, False, True])
    assert wg.index_put(wg.ones(3), (mask,), wg.tensor(5)).tolist() == [5.0, 1.0, 5.0]
    x = wg.ones(2, 3)
    x[:, mask] = wg.tensor(2.5, dtype=wg.float64)
    assert x.tolist() == [[2.5, 1.0, 2.5]] * 2
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        wg.index_put(wg.ones(3), (mask,), wg.tensor(5), accumulate=True)


def test_values_are_added_again_for_each_row_of_an_index():
    at = np.arange(2)[:, None] * 16 + np.arange(32)
    wanted = np.bincount(at.reshape(-1), minlength=48).astype(float)
    for value in (np.ones(32), np.ones((1, 32)), np.ones((2, 1)), np.ones(1), np.ones(())):
        put = wg.index_put(
            wg.zeros(48, dtype=wg.float64),
            (wg.from_numpy(at),),
            wg.from_numpy(np.asarray(value)),
            accumulate=True,
        )
        assert put.tolist() == wanted.tolist()
        y = wg.zeros(48, dtype=wg.float64)
        np.maximum.at(y, at, value)
        assert y.tolist() == [1.0] * 48


@pytest.mark.parametrize("turned", [False, True])
def test_elements_by_masks_and_places_are_written_in_any_layout(turned):
    x, mask = wg.zeros(3, 4), wg.arange(12).reshape(3, 4) % 3 == 0
    place = x.T if turned else x
    place.masked_scatter_(mask.T if turned else mask, wg.arange(1.0, 13.0))
    expected = [[1, 0, 0, 4], [0, 0, 3, 0], [0, 2, 0, 0]]
    if not turned:
        expected = [[1, 0, 0, 2], [0, 0, 3, 0], [0, 4, 0, 0]]
    assert x.tolist() == expected
    place.put_(wg.tensor([-1, 1]), wg.tensor([8.0, 9.0]))
    assert x[2, 3] == 8 and (x[1, 0] if turned else x[0, 1]) == 9
    place.put_(wg.tensor([1, 1]), wg.tensor([8.0, 9.0]), accumulate=True)
    assert (x[1, 0] if turned else x[0, 1]) == 26
