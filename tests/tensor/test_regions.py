"""Test operations that are refused or invalidated when a tensor's memory is replaced."""

import pytest

import wengert as wg


def test_memory_that_others_share_does_not_grow():
    x = wg.arange(3.0)
    array = x.numpy()
    with pytest.raises(RuntimeError, match="which cannot follow"):
        x.resize_(5)
    assert array.tolist() == x.tolist() == [0.0, 1.0, 2.0] and x._version == 0


@pytest.mark.parametrize("change", [lambda x: x.resize_(2), lambda x: x.set_(wg.zeros(2))])
def test_views_of_the_former_shape_are_spoiled(change):
    x = wg.arange(3.0)
    view = x[1:]
    change(x)
    with pytest.raises(RuntimeError, match="take the view again"):
        view * wg.ones(2, requires_grad=True)


def test_views_get_no_other_memory():
    with pytest.raises(RuntimeError, match=r"is not supported for a view"):
        wg.ones(3)[1:].set_(wg.zeros(2))
    with pytest.raises(RuntimeError, match=r"beyond|out of bounds"):
        wg.ones(3)[1:].resize_(3)


def test_a_resized_view_is_one_of_the_same_base():
    x = wg.arange(6.0)
    y, z, w = x.view(2, 3), x[1:3], wg.ones(1, requires_grad=True)
    assert y.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and z.resize_(3).tolist() == [1, 2, 3]
    assert y._base is z._base is x and y.resize_(2, 3).tolist() == x.view(2, 3).tolist()
    x.mul_(w)
    (y.sum() + z.sum()).backward()
    assert w.grad.item() == 15 + 6
    images = wg.arange(8.0).reshape(1, 2, 2, 2)
    images.resize_(1, 2, 2, 2, memory_format=wg.channels_last)
    assert images.stride() == (8, 1, 4, 2) and images[0, 1].tolist() == [[1, 3], [5, 7]]


def test_a_graph_that_saved_the_source_is_told_too():
    source, w = wg.ones(2), wg.ones(2, requires_grad=True)
    y = (source * w).sum()
    x = wg.zeros(1).set_(source)
    x.mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_gradients_of_the_former_shape_are_refused():
    p = wg.ones(3, requires_grad=True)
    y = (p + 1).sum()
    with wg.no_grad():
        p.set_(wg.ones(5))
    with pytest.raises(RuntimeError, match="shape"):
        y.backward()
    assert p.grad is None


SETS = [lambda x: wg.zeros(3).set_(x), lambda x: x.set_(x)]


@pytest.mark.parametrize("change", [lambda x: x.resize_(1), *SETS])
def test_values_of_transforms_are_refused(change):
    with pytest.raises(RuntimeError, match="is not supported under a transform"):
        wg.vmap(change)(wg.ones(2, 3))


def test_a_function_that_resizes_memory_runs_as_it_is():
    x = wg.ones(2, 3)
    with pytest.warns(UserWarning, match="runs as it is: it uses resize_"):
        made = wg.compile(lambda x: x.resize_(1))(x)
    assert made is x and x.shape == (1,)


@pytest.mark.parametrize("change", SETS)
def test_a_function_that_sets_memory_runs_as_it_is(change):
    compiled = wg.compile(change)
    with pytest.warns(UserWarning, match="set_\\(\\) gives a tensor other memory"):
        for _ in range(3):
            x = wg.ones(2, 3)
            made = compiled(x)
            x[0, 0] = 5
            assert made.tolist() == x.tolist()


def test_a_function_that_resizes_a_tensor_of_outside_runs_as_it_is():
    x = wg.arange(6.0)

    def function(y):
        x.resize_(3)
        return y + x.sum()

    with pytest.warns(UserWarning, match="runs as it is: it uses resize_"):
        assert wg.compile(function)(wg.ones(1)).tolist() == [4.0]
    assert x.shape == (3,)


def test_memory_with_gaps_grows():
    x = wg.empty_strided((2, 3), (1, 2)).fill_(2.0).resize_(3, 4)
    assert x.flatten()[:6].tolist() == [2.0] * 6 and x.stride() == (4, 1)
    assert wg.empty_strided((2,), (0,)).fill_(1.0).resize_(4).shape == (4,)


def test_a_tensor_that_was_made_smaller_keeps_its_memory_when_it_grows():
    x = wg.arange(4.0).resize_(1).resize_(6)
    assert x.tolist()[:4] == [0.0, 1.0, 2.0, 3.0]
