"""Test the contract of ``mxnet.autograd``: recording, and where gradients are stored."""

import copy
import pickle
import threading

import numpy
import pytest

import wengert as wg
from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, nd, np
from wengert.compat.mxnet.state import CLEARED


def variable(values=(1.0, 2.0, 3.0), grad_req="write"):
    x = np.array(values)
    x.attach_grad(grad_req)
    return x


def test_the_gradient_is_there_as_zeros_once_it_is_attached():
    x = variable()
    assert repr(x.grad) == "array([0., 0., 0.])"
    assert np.array([1.0]).grad is None


def test_the_gradient_is_one_array_that_a_backward_pass_writes_into():
    x = variable()
    before = x.grad
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    assert x.grad is before
    assert before.tolist() == [2, 4, 6]
    with autograd.record():
        y = x.sum()
    y.backward()
    assert before.tolist() == [1, 1, 1]


def test_add_adds_until_the_gradient_is_set_to_zeros():
    x = variable(grad_req="add")
    for _ in range(3):
        with autograd.record():
            y = x * x
        y.backward()
    assert x.grad.tolist() == [6, 12, 18]
    x.grad[:] = 0
    with autograd.record():
        y = x * x
    y.backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_null_leaves_the_gradient_alone():
    x, w = variable(grad_req="null"), variable()
    with autograd.record():
        y = x * w
    y.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([0, 0, 0], [1, 2, 3])


def test_a_gradient_that_the_heads_do_not_depend_on_stays_as_it_is():
    x, other = variable(), variable()
    other.grad[:] = 5
    with autograd.record():
        y = x * 2
    y.backward()
    assert other.grad.tolist() == [5, 5, 5]


def test_nothing_is_recorded_outside_of_record():
    x = variable()
    y = x * 2
    with autograd.record():
        z = x * y
    z.backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_wengert_records_as_ever_while_mxnet_does_not():
    x = variable()
    x * 2
    t = wg.ones(2, requires_grad=True)
    assert (t * 2).requires_grad
    assert wg.is_grad_enabled()


def test_what_is_computed_under_pause_is_constant():
    x = variable()
    with autograd.record():
        y = x * 2
        with autograd.pause():
            w = y * 3
        z = y * w
    z.backward()
    assert x.grad.tolist() == [12, 24, 36]


def test_backward_runs_inside_and_outside_of_record():
    x = variable()
    with autograd.record():
        (x * x).backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_a_second_pass_raises_unless_the_graph_was_retained():
    x = variable()
    with autograd.record():
        y = x.sum()  # whose node has saved nothing
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(mx.MXNetError, match=r"(?s)^Check failed: !AGInfo.*used up"):
        y.backward()


def test_arrays_of_a_graph_that_is_used_up_are_constants():
    x = variable()
    with autograd.record():
        y = x * x
        z = y * 2
    z.backward()
    with autograd.record():
        w = y * x
    w.backward()
    assert x.grad.tolist() == [1, 4, 9]
    with autograd.record():
        v = y * 3
    with pytest.raises(mx.MXNetError, match="Cannot differentiate node"):
        v.backward()


def test_graphs_that_are_used_up_are_forgotten():
    x = variable()
    count = len(CLEARED)
    for _ in range(20):
        with autograd.record():
            y = np.exp(x).sum()
        y.backward()
    assert len(CLEARED) <= count + 5


def test_a_graph_beside_the_one_that_was_walked_can_still_be_walked():
    x = variable()
    with autograd.record():
        y = x * x
        u = y.detach()
        z = u * x
    z.backward()
    assert (x.grad == u).all()
    y.backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_backward_of_what_was_not_recorded_says_what_to_do():
    x = variable()
    with pytest.raises(mx.MXNetError, match=r"attach_grad\(\), then compute it inside"):
        (x * 2).backward()
    with pytest.raises(mx.MXNetError, match=r"heads\[1\]"), autograd.record():
        autograd.backward([x * 1, np.ones(2)])
    with pytest.raises(mx.MXNetError, match="int32, which has no gradient"):
        np.ones(2, dtype="int32").backward()


def test_a_failed_pass_changes_no_gradient_and_no_mode():
    x = variable()
    with autograd.record():
        y = x * x
        z = x + 2
    x[:] = 7
    with pytest.raises(mx.MXNetError, match="modified by an inplace operation"):
        autograd.backward([y, z])
    assert x.grad.tolist() == [0, 0, 0]
    assert not autograd.is_recording()
    assert not autograd.is_training()
    z.backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_attaching_a_gradient_to_an_intermediate_array_detaches_it():
    x = variable()
    with autograd.record():
        y = 3 * x
        y.attach_grad()
        z = 4 * y + 2 * x
    z.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([2, 2, 2], [4, 4, 4])


def test_a_view_with_a_gradient_of_its_own_is_detached_from_its_base():
    x = variable()
    with autograd.record():
        part = x[1:]
        part.attach_grad()
        y = (part * x[1:]).sum()
    y.backward()
    assert (x.grad.tolist(), part.grad.tolist()) == ([0, 2, 3], [2, 3])


def test_heads_of_several_elements_count_as_their_sum_or_by_head_gradients():
    x = variable()
    with autograd.record():
        y = x * x
    y.backward(np.array([10, 1, 0.1]))
    assert x.grad.tolist() == pytest.approx([20, 4, 0.6])
    with autograd.record():
        y, z = x * x, x.sum()
    autograd.backward([y, z], [None, np.array(100.0)])
    assert x.grad.tolist() == [102, 104, 106]


def test_head_gradients_must_fit():
    x = variable()
    with autograd.record():
        y = x * x
    with pytest.raises(mx.MXNetError, match=r"Shape inconsistent: head_grads\[0\]"):
        y.backward(np.ones(2))
    with pytest.raises(TypeError, match="got list"):
        y.backward([1, 2, 3])
    with pytest.raises(AssertionError, match="same length"):
        autograd.backward([y], [np.ones(3), np.ones(3)])
    y.backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_a_variable_itself_may_be_a_head():
    x = variable()
    x.backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_modes_nest_and_are_restored_after_exceptions():
    def now():
        return autograd.is_recording(), autograd.is_training()

    with autograd.record():
        assert now() == (True, True)
        with autograd.pause():
            assert now() == (False, False)
            with autograd.train_mode():
                assert now() == (False, True)
        with autograd.predict_mode():
            assert now() == (True, False)
        with autograd.pause(train_mode=True):
            assert now() == (False, True)
    with autograd.record(train_mode=False):
        assert now() == (True, False)
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert now() == (False, False)
    scope = autograd.record()
    with scope, scope:
        pass
    assert now() == (False, False)


def test_modes_can_be_set_by_functions():
    assert autograd.set_recording(True) is False
    assert autograd.set_training(True) is False
    assert (autograd.is_recording(), autograd.is_training()) == (True, True)
    assert autograd.set_recording(False) is True
    assert autograd.set_training(False) is True


def test_modes_belong_to_a_thread():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_mark_variables_attaches_arrays_of_ones_own():
    x, y = nd.ones(2), nd.ones(2)
    dx, dy = nd.zeros(2), nd.ones(2)
    autograd.mark_variables([x, y], [dx, dy], ["write", "add"])
    with autograd.record():
        z = 3 * x + 5 * y
    z.backward()
    assert (dx.asnumpy().tolist(), dy.asnumpy().tolist()) == ([3, 3], [6, 6])
    with pytest.raises(mx.MXNetError, match="as many"):
        autograd.mark_variables([x, y], [dx])
    with pytest.raises(mx.MXNetError, match="shape"):
        autograd.mark_variables(x, nd.ones(3))
    with pytest.raises(KeyError, match="grad_reqs"):
        autograd.mark_variables(x, dx, "read")
    assert x.grad is dx


def test_grad_returns_new_arrays_in_a_list_and_writes_to_none():
    x, w = variable(), variable()
    with autograd.record():
        y = x * w
    found = autograd.grad(y, [x, w])
    assert [g.tolist() for g in found] == [[1, 2, 3], [1, 2, 3]]
    assert x.grad.tolist() == [0, 0, 0]
    with autograd.record():
        y = x * x
    (dx,) = autograd.grad(y, x, head_grads=np.array([1, 10, 100]))
    assert dx.tolist() == [2, 40, 600]


def test_grad_by_an_intermediate_array():
    x = variable()
    with autograd.record():
        y = x * x
        z = y * y
    (dy,) = autograd.grad(z, y)
    assert dy.tolist() == [2, 8, 18]


def test_derivatives_of_higher_order():
    x = variable()
    with autograd.record():
        y = x**4
        (d1,) = autograd.grad(y, x, create_graph=True)
        (d2,) = autograd.grad(d1, x, create_graph=True)
    d2.backward()
    assert (d1.tolist(), d2.tolist()) == ([4, 32, 108], [12, 48, 108])
    assert x.grad.tolist() == [24, 48, 72]


def test_grad_by_what_is_not_reached_says_which():
    x, other = variable(), variable()
    with autograd.record():
        y = x * x
    with pytest.raises(mx.MXNetError, match="2-th variable because it is unreachable"):
        autograd.grad(y, [x, other], retain_graph=True)
    with pytest.raises(mx.MXNetError, match="no attached gradient"):
        autograd.grad(y, np.ones(2))
    with pytest.raises(AssertionError, match="empty list"):
        autograd.grad(y, [])
    assert autograd.grad(y, x)[0].tolist() == [2, 4, 6]


def test_arrays_are_filled_part_by_part_inside_of_record():
    def program(np, x):
        y = np.zeros(4)
        y[0] = x[0]
        for i in range(1, 4):
            y[i] = np.tanh(y[i - 1]) * x[1] + x[2] ** 2
        y[1:3] *= x[0]
        return (y[::-1] * np.array([1.0, 2.0, 3.0, 4.0])).sum()

    x = variable([0.3, -0.7, 1.1])
    with autograd.record():
        z = program(np, x)
    z.backward()
    t = wg.numpy.array([0.3, -0.7, 1.1]).requires_grad_()
    program(wg.numpy, t).backward()
    assert x.grad.asnumpy() == pytest.approx(t.grad.numpy(), rel=1e-5)


def test_an_array_with_a_gradient_refuses_to_be_written_to_inside_of_record():
    x = variable()
    with autograd.record():
        for write in (lambda: x.__setitem__(0, 1.0), lambda: x.__iadd__(1)):
            with pytest.raises(mx.MXNetError, match="Assigning to NDArrays that are already"):
                write()
        with autograd.pause():
            x += 1
    assert x.tolist() == [2, 3, 4]


def test_parameters_are_updated_in_place_outside_of_record():
    w = variable([2.0])
    for _ in range(50):
        with autograd.record():
            loss = (w - 5) ** 2
        loss.backward()
        w[:] = w - 0.1 * w.grad
    assert w.tolist() == pytest.approx([5], abs=1e-3)


def test_a_long_chain_is_walked():
    x = variable()
    with autograd.record():
        y = x
        for _ in range(50_000):
            y = y + 1
    y.backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_copies_have_no_history_and_no_gradient():
    x = variable()
    with autograd.record():
        y = x * 2
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.deepcopy(y)):
        assert twin.grad is None
        assert type(twin) is type(x)
    assert copy.deepcopy(x).tolist() == x.tolist()
    with autograd.record():
        z = x.copy() * 3
    z.backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_drop_grad_makes_a_constant_again():
    x = variable()
    x.drop_grad()
    assert x.grad is None
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError):
        y.backward()


def test_a_wrong_request_is_refused_and_changes_nothing():
    x = variable()
    with pytest.raises(KeyError, match="'write', 'add' or 'null'"):
        x.attach_grad("often")
    with pytest.raises(mx.MXNetError, match="dense"):
        x.attach_grad(stype="row_sparse")
    assert x.grad_req == "write"


def test_numpys_own_functions_are_recorded_inside_of_record_only():
    x = variable()
    with autograd.record():
        y = numpy.sin(x) + numpy.sum(x)
        with pytest.raises(TypeError, match="losing its gradient"):
            numpy.asarray(y)
    y.backward()
    assert x.grad.asnumpy() == pytest.approx(numpy.cos([1.0, 2.0, 3.0]) + 3, rel=1e-5)
    assert type(numpy.sin(x)) is np.ndarray
    assert numpy.asarray(x).tolist() == [1, 2, 3]
