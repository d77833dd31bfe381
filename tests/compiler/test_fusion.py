"""Test which operations fuse into one loop, which need buffers, and the report."""

import numpy as np
import pytest
from programs import Writer, results

from wengert.compiler.ir.programs import Loop, Program, Value

pytest.importorskip("llvmlite.binding")

from wengert.compiler.backends import llvm
from wengert.compiler.backends.affine import Counter, Index, linear, of, place_of
from wengert.compiler.backends.index_maps import splits

ALONG = {"dim": (1,), "keepdim": True}


def loops(program):
    """The extents of every nest, and the bytes of the arena."""
    description = llvm.build(program).describe()
    assert not description.kernels
    return [nest.extents for nest in description.loops], description.arena


def written(*shapes):
    rng = np.random.default_rng(0)
    w = Writer(*(rng.uniform(0.5, 1.5, shape) for shape in shapes))
    return w, *w.inputs


# -- loops ----------------------------------------------------------------------------------------


def test_a_chain_of_elementwise_steps_is_one_loop_without_memory():
    w, x, y = written((300, 40), (40,))
    z = w.exp(w.mul(w.sin(x), y))
    assert loops(w.program(w.add(z, x))) == ([(300, 40)], 0)


def test_outputs_of_one_chain_come_out_of_one_loop():
    w, x = written((5000,))
    y = w.exp(x)
    z = w.tanh(y)
    assert loops(w.program(y, z, w.sum(w.mul(y, z)))) == ([(5000,)], 0)


def test_views_need_no_loops_of_their_own():
    w, x = written((40, 60))
    y = w.exp(w.t(x))
    y = w.slice(w.flip(y, dims=(0,)), dim=0, start=2, end=50, step=3)
    y = w.view(w.unsqueeze(y, dim=1), shape=(16, 8, 5))
    assert loops(w.program(w.select(y, dim=1, index=3))) == ([(16, 5)], 0)


def test_a_softmax_is_one_loop_over_rows_whose_exponentials_stay_in_cache():
    w, x = written((500, 60))
    e = w.exp(w.sub(x, w.amax(x, **ALONG)))
    assert loops(w.program(w.div(e, w.sum_dim(e, **ALONG)))) == ([(500, 60)], 0)


def test_a_layer_norm_is_one_loop_over_rows():
    w, x, weight = written((500, 60), (60,))
    centre = w.sub(x, w.mul_scalar(w.sum_dim(x, **ALONG), other=1 / 60))
    variance = w.mul_scalar(w.sum_dim(w.mul(centre, centre), **ALONG), other=1 / 60)
    scale = w.reciprocal(w.sqrt(w.add_scalar(variance, other=1e-5)))
    assert loops(w.program(w.mul(w.mul(centre, scale), weight))) == ([(500, 60)], 0)


def test_sums_of_rows_and_of_columns_share_a_loop_with_what_is_summed():
    w, x = written((300, 200))
    y = w.tanh(x)
    rows = w.sum_dim(y, dim=(1,), keepdim=False)
    columns = w.sum_dim(y, dim=(0,), keepdim=False)
    assert loops(w.program(y, rows, columns, w.sum(y))) == ([(300, 200)], 0)


def test_what_needs_a_whole_sum_waits_for_it():
    w, x = written((5000,))
    y = w.exp(x)
    extents, arena = loops(w.program(w.div(y, w.sum(y))))
    assert extents == [(5000,), (5000,)]
    assert arena == 5000 * 8 // 64 * 64


def test_reading_at_another_place_parts_loops():
    w, x = written((5000,))
    y = w.exp(x)
    extents, _ = loops(w.program(w.add(y, w.flip(y, dims=(0,)))))
    assert extents == [(5000,), (5000,)]


def test_a_gather_is_fused_with_what_uses_it():
    w, x = written((300, 4))
    index = w.value(np.arange(200) % 300)
    y = w.index_select(x, index, dim=0)
    assert loops(w.program(w.sum_dim(w.mul(y, y), dim=(1,), keepdim=False))) == ([(200, 4)], 0)


def test_parts_of_a_concatenation_are_computed_where_they_belong():
    w, x, y = written((100, 3), (100, 4))
    z = w.cat(w.exp(x), w.sin(y), w.cos(y), x, dim=1)
    extents, arena = loops(w.program(z))
    assert [extents[0][0], arena] == [100, 0] and len(extents) == 1


def test_batched_products_share_the_loop_over_the_batch():
    w, x, y = written((20, 30, 40), (20, 40, 50))
    z = w.tanh(w.bmm(w.mul(x, x), y))
    extents, arena = loops(w.program(w.sum_dim(z, dim=(1,), keepdim=False)))
    assert [nest[0] for nest in extents] == [20]
    # one matrix of each kind, not twenty
    assert arena < (30 * 40 + 30 * 50) * 8 + 200


def test_numbers_and_tiny_arrays_need_no_arena():
    w, x, y = written((), (3,))
    z = w.mul(w.exp(x), w.sum(w.mul(y, x)))
    assert loops(w.program(z, w.add(y, z)))[1] == 0


# -- the arena ------------------------------------------------------------------------------------


def test_values_that_live_at_different_times_share_their_memory():
    w, x = written((1000,))
    y = x
    for _ in range(6):
        y = w.div(w.exp(y), w.sum(w.exp(y)))
    _, arena = loops(w.program(y))
    assert arena <= 3 * 1000 * 8 + 200


def test_a_carried_value_is_computed_where_it_was_if_nothing_reads_it_elsewhere():
    for reads_elsewhere in (False, True):
        body = Writer(np.ones(1000))
        (h,) = body.inputs
        other = body.flip(h, dims=(0,)) if reads_elsewhere else h
        inner = body.program(body.sub(h, body.mul(other, other)))
        start, end = (Value(np.dtype(float), (1000,)) for _ in range(2))
        program = Program([start], [Loop(9, inner, [start], [], [], [end])], [end])
        executable = llvm.build(program)
        assert executable.describe().arena == (8000 if reads_elsewhere else 0)
        x = np.random.default_rng(0).uniform(0.1, 0.5, 1000)
        np.testing.assert_allclose(executable([x])[0], results(program, [x])[0], 1e-12)


def test_sums_of_padded_arrays_need_no_memory():
    w, x = written((1000,))
    first, second = (
        w.slice(x, dim=0, start=0, end=999, step=1),
        w.slice(x, dim=0, start=1, end=1000, step=1),
    )
    apart = w.mul(w.sub(first, w.mul(second, second)), second)
    behind = {"shape": (1000,), "dim": 0, "step": 1}
    left = w.slice_backward(w.neg(apart), start=0, end=999, **behind)
    right = w.slice_backward(w.mul(apart, first), start=1, end=1000, **behind)
    assert loops(w.program(w.add(left, right))) == ([(1000,)], 0)


# -- what is told ---------------------------------------------------------------------------------


def test_a_description_names_steps_bytes_calls_and_kernels():
    w, x, y = written((200, 300), (300, 200))
    product = w.mm(x, y)
    order = w.argsort(w.exp(product), dim=1, descending=False)
    description = llvm.build(w.program(order, w.sum(product))).describe()
    assert "argsort" in description.kernels
    assert [nest.steps for nest in description.loops] == [("exp", "sum")]
    (nest,) = description.loops
    assert (nest.bytes_read, nest.bytes_written) == (200 * 200 * 8, 200 * 200 * 8 + 8)
    assert "by NumPy: argsort" in str(description)
    assert "200 x 200" in str(description)
    assert [call.split()[-1] for call in description.calls] == ["200x300x200"]


# -- indices --------------------------------------------------------------------------------------


def test_reshapes_that_split_dimensions_are_views_and_those_that_join_are_not():
    assert splits((6, 4), (2, 3, 4))
    assert splits((6, 4), (6, 1, 2, 2))
    assert splits((1, 6), (6,))
    assert not splits((2, 3), (6,))
    assert not splits((4, 6), (6, 4))


def test_the_place_of_a_number_is_the_one_whose_number_it_is():
    i, j = Counter(5), Counter(3)
    place = (of(i), of(j).times(2).moved(1))
    shape = (5, 6)
    assert place_of(linear(place, shape), shape) == place
    assert place_of(of(Counter(7)), shape) is None
    assert place_of(Index(17), shape) == (Index(2), Index(5))
