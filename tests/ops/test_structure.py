"""Test blocks, rotations, coordinates and copies, beyond the record table."""

import numpy as np
import pytest

import wengert as wg
from support.alone import said


def test_blocks_along_the_diagonal_take_the_common_dtype():
    made = wg.block_diag(wg.tensor([1, 2]), wg.ones(1, 1, dtype=wg.float64), wg.ones(1, 0))
    assert made.dtype == wg.float64
    assert made.tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]


def test_coordinates_of_positions():
    rows, columns = wg.unravel_index(wg.tensor([0, 4, 5]), (2, 3))
    assert rows.tolist() == [0, 1, 1] and columns.tolist() == [0, 1, 2]


def test_a_quarter_turn_four_times_is_none():
    x = wg.arange(6).reshape(2, 3)
    turned = x
    for _ in range(4):
        turned = wg.rot90(turned)
    assert wg.equal(turned, x)
    assert wg.equal(wg.rot90(x, 5), wg.rot90(x)) and wg.equal(wg.rot90(x, -1), wg.rot90(x, 3))


def test_numbers_do_not_widen_the_dtype_of_blocks():
    made = wg.block_diag(wg.ones(1, 2), wg.tensor(3, dtype=wg.int64), wg.tensor([4]))
    assert made.dtype == wg.float32
    assert made.tolist() == [[1, 1, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4]]


def test_each_block_gets_its_part_of_the_gradient():
    blocks = [wg.ones(shape, requires_grad=True) for shape in ((2, 1), (2,), ())]
    weights = wg.arange(16.0).reshape(4, 4)
    (wg.block_diag(*blocks) * weights).sum().backward()
    assert [b.grad.tolist() for b in blocks] == [[[0], [4]], [9, 10], 15]


def test_coordinates_are_of_int64_whatever_the_positions_are():
    (place,) = wg.unravel_index(wg.tensor([7], dtype=wg.uint8), 300)
    assert place.dtype == wg.int64 and place.tolist() == [7]


def test_one_tensor_or_several_get_more_dimensions():
    numbers, rows = wg.arange(3), wg.arange(6).reshape(2, 3)
    assert wg.atleast_1d(wg.tensor(1)).tolist() == [1]
    assert [t.tolist() for t in wg.atleast_2d(numbers, wg.tensor(7))] == [[[0, 1, 2]], [[7]]]
    assert [t.tolist() for t in wg.atleast_3d([numbers, rows])] == [
        np.atleast_3d(t.numpy()).tolist() for t in (numbers, rows)
    ]


def test_growing_a_tensor_copies_nothing():
    x = wg.zeros(2, 3)
    wg.atleast_3d(x)[0, 0, 0] = 5
    assert x[0, 0] == 5 and wg.atleast_2d(x) is x


def test_a_narrow_copy_has_memory_of_its_own():
    x = wg.zeros(3)
    made = x.narrow_copy(0, 1, 2)
    made.fill_(1)
    assert x.tolist() == [0, 0, 0]
    out = wg.empty(2)
    assert wg.narrow_copy(x, 0, 0, 2, out=out) is out and out.tolist() == [0, 0]


COPIES = {
    "alias_copy": (),
    "as_strided_copy": ((2,), (3,)),
    "detach_copy": (),
    "diagonal_copy": (),
    "expand_copy": ((2, 2, 3),),
    "permute_copy": ((1, 0),),
    "select_copy": (0, 1),
    "slice_copy": (1, 0, None, 2),
    "squeeze_copy": (),
    "t_copy": (),
    "transpose_copy": (0, 1),
    "unfold_copy": (1, 2, 1),
    "unsqueeze_copy": (0,),
    "view_copy": ((3, 2),),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shares_no_memory_and_lies_in_order(name):
    x = wg.arange(6.0).reshape(2, 3)
    copy = getattr(wg, name)(x, *COPIES[name])
    assert copy.is_contiguous() and not np.shares_memory(copy.numpy(), x.numpy())
    out = wg.empty(copy.shape)
    assert getattr(wg, name)(x, *COPIES[name], out=out) is out and wg.equal(out, copy)


def test_a_copy_is_differentiable_except_one():
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    wg.slice_copy(x, 1, 0, None, 2).sum().backward()
    assert x.grad.tolist() == [[1, 0, 1], [1, 0, 1]]
    assert not wg.detach_copy(x).requires_grad


def test_parts_are_copied_into_a_tensor_each():
    x, out = wg.arange(4.0).reshape(2, 2), [wg.empty(2), wg.empty(2)]
    assert wg.unbind_copy(x, out=out) is None
    assert [t.tolist() for t in out] == [[0, 1], [2, 3]]
    with pytest.raises(RuntimeError, match="expected an out= argument of size 2, got size 1"):
        wg.unbind_copy(x, out=out[:1])


def test_parts_apart_may_be_written_to():
    leaf = wg.ones(4, requires_grad=True)
    first, second = (leaf * 1).unsafe_split(2)
    first.mul_(3)
    (first.sum() + second.sum()).backward()
    assert leaf.grad.tolist() == [3, 3, 1, 1]
    assert len(leaf.unsafe_chunk(3)) == 2
    assert [len(t) for t in leaf.unsafe_split_with_sizes([1, 3])] == [1, 3]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: wg.block_diag([wg.ones(1)]), TypeError, "expected Tensor as element 0"),
        (lambda: wg.block_diag(wg.ones(1, 1, 1)), RuntimeError, "must have 2 or fewer dimensions"),
        (lambda: wg.broadcast_shapes((2,), (3,)), RuntimeError, "Attempting to broadcast a dimens"),
        (lambda: wg.broadcast_shapes((-2,)), ValueError, "a dimension with negative length"),
        (lambda: wg.rot90(wg.ones(2, 2), 1, (0, -2)), RuntimeError, "dims to be different"),
        (lambda: wg.rot90(wg.ones(2, 2), 1, (0, 2)), IndexError, "Dimension out of range"),
        (lambda: wg.rot90(wg.ones(2)), RuntimeError, "expected total dims >= 2"),
        (lambda: wg.unravel_index(wg.ones(1), 3), TypeError, "to be integer dtype"),
        (lambda: wg.unravel_index(wg.tensor(1), 3.0), TypeError, "int or sequence of ints"),
        (lambda: wg.unravel_index(wg.tensor(1), (3.0,)), TypeError, "only contain ints"),
        (lambda: wg.unravel_index(wg.tensor(1), (-3,)), ValueError, "cannot have negative values"),
        (lambda: wg.narrow_copy(wg.ones(2), 0, 0, -1), RuntimeError, r"start \(0\) \+ length"),
        (lambda: wg.slice_copy(wg.ones(())), IndexError, "cannot be applied to a 0-dim tensor"),
        (lambda: wg.slice_copy(wg.ones(2), step=0), RuntimeError, "slice step must be positive"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("w.select_scatter(w.zeros(2), w.ones(()), 0, 0)", [1.0, 0.0]),
        ("w.slice_copy(w.arange(2))", [0, 1]),
        (
            "w.nn.functional.pixel_shuffle(w.arange(4.).view(4, 1, 1), 2)",
            [[[0.0, 1.0], [2.0, 3.0]]],
        ),
        ("w.zeros(2).index_reduce(0, w.tensor([0]), w.ones(1), 'amax')", [1.0, 0.0]),
    ],
)
def test_a_function_brings_its_records_when_it_is_the_first_to_be_used(call, result):
    said(f"import wengert as w; assert {call}.tolist() == {result}")
