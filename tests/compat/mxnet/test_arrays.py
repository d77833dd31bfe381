"""Test ``mxnet.np`` and ``mxnet.nd``: dtypes, printing, shapes, errors."""

import inspect
import warnings

import numpy
import pytest

from support.alone import said
from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, nd, np, npx


def test_numbers_and_lists_are_float32_and_arrays_keep_their_dtype():
    assert np.array([1, 2]).dtype == numpy.float32
    assert np.array(numpy.array([1, 2])).dtype == numpy.int64
    assert np.arange(3).dtype == np.zeros(2).dtype == np.eye(2).dtype == numpy.float32
    assert np.array([1, 2], dtype="int32").dtype == numpy.int32
    assert nd.array(numpy.array([1.0])).dtype is numpy.float32
    assert np.full((2,), True).dtype == bool


def test_numpys_default_dtypes_can_be_chosen():
    npx.set_np(dtype=True)
    assert repr(np.array([1.5])) == "array([1.5])"
    assert (np.array([1.5]).dtype, np.arange(2).dtype) == (numpy.float64, numpy.int64)
    npx.set_np()
    assert np.array([1.5]).dtype == numpy.float32


def test_float64_comes_of_float64_only():
    i = np.array([1, 2], dtype="int32")
    f = np.array([0.5, 1.5])
    assert (i / i).dtype == (i + f).dtype == i.mean().dtype == numpy.float32
    assert (f + f.astype("float64")).dtype == numpy.float64
    assert (f * numpy.float64(2)).dtype == numpy.float32


def test_whole_numbers_stay_whole_and_a_lost_fraction_is_told():
    i = np.array([1, 2], dtype="int32")
    with pytest.warns(UserWarning, match="counts as 1"):
        assert repr(i + 1.5) == "array([2, 3], dtype=int32)"
    with pytest.warns(UserWarning, match="no fractions"):
        assert repr(np.exp(i)) == "array([2, 7], dtype=int32)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(i * 2.0) == "array([2, 4], dtype=int32)"


def test_arrays_print_as_mxnets():
    assert repr(np.arange(3)) == "array([0., 1., 2.])"
    assert repr(np.ones(2, dtype="float64")) == "array([1., 1.], dtype=float64)"
    assert repr(np.array([1]) > 0) == "array([ True])"
    assert str(np.arange(3)) == "[0. 1. 2.]"
    assert repr(nd.ones((1, 2))) == "\n[[1. 1.]]\n<NDArray 1x2 @cpu(0)>"
    assert f"{np.array(1.25):.1f} {np.ones(2)}" == "1.2 [1. 1.]"


def test_the_legacy_array_has_a_dimension_and_compares_to_numbers():
    x = nd.array([[1, 2], [3, 4]])
    assert x.sum().shape == x[0, 0].shape == nd.dot(x[0], x[0]).shape == (1,)
    assert (x > 2).asnumpy().tolist() == [[0, 0], [1, 1]]
    assert (x > 2).dtype is numpy.float32
    assert x.sum().asscalar() == 10
    assert x.argmax(axis=1).asnumpy().tolist() == [1, 1]
    assert nd.array([1, 3], dtype="int32").__truediv__(2).asnumpy().tolist() == [0, 1]


def test_an_array_of_numpys_kind_keeps_its_methods_beside_the_legacy_ones():
    x = np.arange(6)
    assert x.reshape(2, 3).mean().shape == ()
    assert type(x.reshape(-1, 2)) is np.ndarray
    assert x.flatten().shape == (6,)
    assert isinstance(x, nd.NDArray)
    with pytest.raises(AttributeError, match=r"np\.expand_dims"):
        x.expand_dims(0)
    with pytest.raises(AttributeError, match=r"x\.item\(\)"):
        x.asscalar()


def test_the_codes_of_legacy_shapes():
    x = nd.ones((2, 3, 4))
    assert x.reshape((0, -1)).shape == (2, 12)
    assert x.reshape((-2,)).shape == (2, 3, 4)
    assert x.reshape((-3, 0)).shape == (6, 4)
    assert x.reshape((-4, 1, -1, 0, 0)).shape == (1, 2, 3, 4)
    assert x.reshape(4, 6).shape == (4, 6)
    with pytest.raises(mx.MXNetError, match="Cannot reshape"):
        x.reshape((5, -1))


def test_legacy_products_reductions_and_slices():
    x = nd.arange(6).reshape((2, 3))
    assert nd.dot(x, x, transpose_b=True).shape == (2, 2)
    assert nd.sum(x, axis=0, exclude=True).asnumpy().tolist() == [3, 12]
    assert nd.concat(x, x).shape == (2, 6)
    assert nd.concat(x, x, dim=0).shape == (4, 3)
    assert [p.shape for p in nd.split(x, 3)] == [(2, 1)] * 3
    assert nd.slice(x, begin=(0, 1), end=(2, None)).asnumpy().tolist() == [[1, 2], [4, 5]]
    assert nd.slice_axis(x, axis=1, begin=0, end=1).shape == (2, 1)
    assert nd.broadcast_to(nd.ones((1, 3)), (2, 0)).shape == (2, 3)
    assert nd.take(x, nd.array([1, 1])).shape == (2, 3)
    with pytest.raises(mx.MXNetError, match="broadcast_mul broadcasts"):
        nd.elemwise_mul(x, nd.ones((1, 3)))


def test_results_can_be_written_into_arrays():
    x = nd.ones((2,))
    z = nd.zeros_like(x)
    assert nd.elemwise_add(x, x, out=z) is z
    assert z.asnumpy().tolist() == [2, 2]
    out = np.zeros(2)
    assert np.add(np.ones(2), 1, out=out) is out
    assert out.tolist() == [2, 2]


def test_floats_are_positions():
    x = np.array([10, 20, 30])
    assert x[np.array([2, 0])].tolist() == [30, 10]
    x[np.array([0, 1])] = 0
    assert x.tolist() == [0, 0, 30]
    assert nd.array([1, 2, 3])[nd.array([1])].asnumpy().tolist() == [2]
    assert [v.item() for v in x[::-1]] == [30, 0, 0]
    with pytest.raises(IndexError):
        x[5]


def test_shapes_that_do_not_fit_raise_mxnets_error():
    with pytest.raises(mx.MXNetError, match=r"operands could not be broadcast.*\[3\] \[2\]"):
        np.ones(3) + np.ones(2)
    with pytest.raises(mx.MXNetError):
        np.dot(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(mx.MXNetError):
        np.zeros(2)[:] = np.ones(3)


def test_truth_length_and_conversion():
    assert bool(np.array(1.0))
    assert int(np.array([3.7])) == 3
    with pytest.raises(ValueError, match="ambiguous"):
        bool(np.ones(2))
    with pytest.raises(TypeError, match="size-1"):
        float(np.ones(2))
    with pytest.raises(TypeError, match="unsized"):
        len(np.array(1))


def test_contexts():
    assert repr(mx.cpu()) == "cpu(0)"
    assert mx.cpu() == mx.Context("cpu") != mx.gpu()
    assert np.ones(2, ctx=mx.cpu()).ctx == mx.cpu()
    assert npx.num_gpus() == 0
    with mx.cpu(1):
        assert mx.current_context() == mx.cpu(1)
    for use in (
        lambda: np.ones(2, ctx=npx.gpu()),
        lambda: nd.array([1], mx.gpu(0)),
        lambda: np.ones(2).as_in_ctx(mx.gpu()),
    ):
        with pytest.raises(mx.MXNetError, match=r"GPU support is disabled.*CPU"):
            use()
    with mx.gpu(), pytest.raises(mx.MXNetError, match="GPU"):
        np.ones(2)
    x = np.ones(2)
    assert x.as_in_ctx(mx.cpu()) is x
    assert x.copyto(np.zeros(2)).tolist() == [1, 1]


def test_the_stream_is_its_own_and_starts_from_seed_0_in_each_process():
    code = (
        "import wengert.numpy; from wengert.compat.mxnet import np;"
        "wengert.numpy.random.seed(7); print(np.random.normal(size=4).tolist())"
    )
    printed = said(code)
    mx.random.seed(0)
    assert printed.strip() == str(np.random.normal(size=4).tolist())


def test_random_numbers_follow_the_seed_and_differentiate_by_their_parameters():
    mx.random.seed(3)
    first = np.random.normal(size=(2, 2))
    mx.random.seed(3)
    assert (np.random.normal(size=(2, 2)) == first).all()
    assert first.dtype == numpy.float32
    assert np.random.uniform(0, 1, (2, 3)).shape == (2, 3)
    assert nd.random.normal(shape=(4,)).shape == (4,)
    assert nd.random.uniform().shape == (1,)
    assert nd.random_normal(0, 1, shape=2).shape == (2,)
    assert np.random.randint(3, size=5).dtype == numpy.int64
    scale = np.array(2.0)
    scale.attach_grad()
    with autograd.record():
        y = np.random.normal(0.0, scale, size=3)
    y.backward()
    assert scale.grad.item() == pytest.approx(y.sum().item() / 2, rel=1e-5)
    x = np.arange(10)
    np.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(10))


def test_files_are_numpys(tmp_path):
    x, y = np.ones((2, 2)), np.arange(3)
    npx.save(tmp_path / "list", [x, y])
    assert [a.tolist() for a in npx.load(tmp_path / "list")] == [x.tolist(), y.tolist()]
    nd.save(tmp_path / "dict", {"w": nd.ones(2)})
    assert type(nd.load(tmp_path / "dict")["w"]) is nd.NDArray
    (tmp_path / "other").write_bytes(b"\x12\x01\x00\x00")
    with pytest.raises(mx.MXNetError, match=r"Invalid NDArray file format.*numpy\.savez"):
        nd.load(tmp_path / "other")


@pytest.mark.parametrize(
    ("module", "name", "cure"),
    [
        (mx, "sym", "recorded as they run"),
        (mx, "mod", "recorded as they run"),
        (np, "npv", "numpy_financial"),
        (npx, "rnn", "loop"),
        (nd, "RNN", "loop"),
        (mx.gluon, "model_zoo", "no trained models"),
        (mx.gluon.data.vision, "CIFAR10", "ArrayDataset"),
    ],
)
def test_what_is_not_offered_says_what_to_write(module, name, cure):
    with pytest.raises(AttributeError, match=f"{name}.*{cure}"):
        getattr(module, name)


@pytest.mark.parametrize("module", [mx, np, npx, nd, np.linalg, np.random, nd.random, mx.gluon])
def test_every_name_that_a_module_lists_is_there(module):
    for name in dir(module):
        assert getattr(module, name) is not None or name in ("__doc__", "__file__", "newaxis")


def test_methods_of_pytorch_that_write_are_not_there():
    with pytest.raises(AttributeError, match=r"x\[:\] = "):
        np.ones(2).add_(1)
    assert not [n for n in dir(np.ones(2)) if n.endswith("_") and not n.startswith("_")]


def test_the_legacy_control_flow_is_a_loop():
    data, state = nd.arange(4).reshape((4, 1)), nd.zeros((1,))
    data.attach_grad()
    with autograd.record():
        outputs, last = nd.contrib.foreach(lambda x, s: (x * s, s + x), data, state)
        y = outputs.sum() + last
    y.backward()
    assert data.grad.asnumpy().ravel().tolist() == [7, 6, 5, 4]
    steps, (i,) = nd.contrib.while_loop(
        lambda i: i < 3, lambda i: ([i], [i + 1]), [nd.array([0])], max_iterations=10
    )
    assert (steps[0].shape, i.asscalar()) == ((3, 1), 3)


def test_results_have_memory_of_their_own_and_slices_are_views():
    x = np.zeros((2, 3))
    for other in (x.reshape(3, 2), x.T, x.ravel(), np.expand_dims(x, 0), x[:, 1], x[::-1]):
        other[:] = 1
    assert x.sum() == 0
    x[1:][:] = 1
    assert x.sum() == 3
    y = nd.zeros((2, 3))
    y.reshape((3, 2))[0] = 1  # the one operation of legacy arrays that shares
    y[1][2][:] = 1
    y.T[:] = 5
    assert y.asnumpy().tolist() == [[1, 1, 0], [0, 0, 1]]


def test_where_two_are_equal_the_first_has_the_gradient():
    x, y = np.array([0.0, 2.0]), np.array([0.0, 1.0])
    for v in (x, y):
        v.attach_grad()
    with autograd.record():
        z = np.maximum(x, y) + np.minimum(x, y)
    z.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([2, 1], [0, 1])
    with autograd.record():
        z = np.maximum(x, 0)
    z.backward()
    assert x.grad.tolist() == [1, 1]
    assert np.isnan(np.maximum(np.array([numpy.nan, 1]), np.array([1, numpy.nan]))).all()


def test_functions_show_what_they_take():
    shown = {
        "dot": "(lhs, rhs, transpose_a=False, transpose_b=False, *, out=None)",
        "clip": "(data, a_min: 'float', a_max: 'float', *, out=None)",
        "tile": "(data, reps, *, out=None)",
        "sqrt": "(data, *, out=None)",
        "broadcast_add": "(lhs, rhs, *, out=None)",
        "lesser": "(lhs, rhs, *, out=None)",
    }
    for name, start in shown.items():
        assert str(inspect.signature(getattr(nd, name))).startswith(start)
    two = nd.array([1.0, 2.0])
    assert nd.broadcast_add(lhs=two, rhs=two).asnumpy().tolist() == [2.0, 4.0]
    assert nd.elemwise_mul(two, rhs=two).asnumpy().tolist() == [1.0, 4.0]
    chosen = nd.where(condition=nd.array([1, 0]), x=two, y=-two)
    assert chosen.asnumpy().tolist() == [1.0, -2.0]
    stack = nd.ones((1, 2, 2))
    assert nd.batch_dot(lhs=stack, rhs=stack).asnumpy().tolist() == [[[2.0, 2.0], [2.0, 2.0]]]
    drawn = "(loc=0.0, scale=1.0, shape=None, dtype=None, ctx=None, out=None)"
    assert str(inspect.signature(nd.random.normal)) == drawn
    with pytest.raises(TypeError, match=r"normal\(\): got an unexpected keyword argument 'sd'"):
        nd.random.normal(sd=1)


def test_functions_of_np_and_npx_show_numpys_signatures_and_types_are_types():
    shown = {np.sin: "(x, /, out", np.add: "(x1, x2, /, out", np.cumsum: "(a, axis=None, dtype"}
    shown |= {npx.softmax: "(data", npx.pick: "(data, index"}
    shown |= {np.eye: "(N, M=None, k=0, dtype=None, order='C', *, ctx=None)"}
    for function, start in shown.items():
        assert str(inspect.signature(function)).startswith(start)
    assert np.issubdtype(np.zeros(3).dtype, np.floating)
    assert np.zeros(3, dtype=np.half).dtype == np.float16


def test_chances_of_draws_are_refused():
    with pytest.raises(NotImplementedError, match=r"nd\.pick"):
        nd.random.multinomial(nd.array([0.5, 0.5]), get_prob=True)


@pytest.mark.parametrize("kind", [nd.array, np.array])
def test_remainders_of_divisions_by_zero_are_zero(kind):
    x = kind([1.0, -2.0, 5.0])
    assert (x % 0).asnumpy().tolist() == [0, 0, 0]
    assert (3.5 % kind([1.0, 0.0])).asnumpy().tolist() == [0.5, 0]
    assert (x % kind([0.0, 0.0, 3.0])).asnumpy().tolist() == [0, 0, 2]
    assert nd.modulo(nd.array([1.0]), 0).asnumpy().tolist() == [0]
    assert np.mod(np.array([1.0]), np.array([0.0])).asnumpy().tolist() == [0]


@pytest.mark.parametrize("space", [nd, np])
def test_the_array_has_the_gradient_where_it_equals_a_number(space):
    for name, slopes in (("maximum", [1, 0, 1]), ("minimum", [1, 1, 0])):
        for turned in (False, True):
            x = space.array([2.0, 1.0, 3.0])
            x.attach_grad()
            with autograd.record():
                y = getattr(space, name)(*((2, x) if turned else (x, 2)))
            y.backward()
            assert x.grad.asnumpy().tolist() == slopes


def test_a_number_beside_an_array_of_integers_is_cut_before_the_division():
    with pytest.warns(UserWarning, match="the number counts as 1"):
        assert (nd.array([7, -3], dtype="int32") / 1.5).asnumpy().tolist() == [7, -3]


def test_pooling_by_the_full_convention_keeps_windows_that_begin_in_the_padding():
    x = nd.array(numpy.arange(30.0).reshape(1, 1, 5, 6))
    settings = {"kernel": (2, 2), "stride": (2, 3), "pad": (1, 1), "pooling_convention": "full"}
    top = nd.Pooling(x, pool_type="max", **settings).asnumpy()
    assert top.shape == (1, 1, 4, 3)
    assert (top[0, 0, 3] == numpy.finfo(numpy.float32).min).all()
    for kind in ("avg", "sum", "lp"):
        assert not nd.Pooling(x, pool_type=kind, **settings).asnumpy()[0, 0, 3].any()
    wide = {"kernel": (2, 2), "stride": (2, 3), "pooling_convention": "full"}
    total = nd.Pooling(x, pool_type="sum", **wide).asnumpy()[0, 0]
    assert total.tolist() == [[14, 26, 0], [62, 74, 0], [49, 55, 0]]


def test_parts_at_indices_lose_the_axis_and_masks_keep_the_shape():
    x = nd.array([[1.0, 5.0, 3.0], [4.0, 0.0, 2.0]])
    parts = nd.split_v2(x, (1,), axis=0, squeeze_axis=True)
    assert [part.shape for part in parts] == [(3,), (3,)]
    assert nd.topk(x, axis=None, k=1, ret_typ="mask").asnumpy().tolist() == [[0, 1, 0], [0, 0, 0]]


def test_potri_reads_the_lower_triangle():
    lower = numpy.array([[2.0, 0.0], [1.0, 3.0]])
    inverse = numpy.linalg.inv(lower @ lower.T)
    found = nd.linalg.potri(nd.array(lower + 7 * numpy.eye(2, k=1)))
    assert numpy.allclose(found.asnumpy(), inverse)


def test_an_updater_keeps_the_state_of_each_weight():
    rule = mx.optimizer.create("sgd", learning_rate=1.0, momentum=0.5)
    update, w = mx.optimizer.get_updater(rule), nd.zeros(1)
    for _ in range(2):
        update(0, nd.ones(1), w)
    assert w.asnumpy().tolist() == [-2.5]
