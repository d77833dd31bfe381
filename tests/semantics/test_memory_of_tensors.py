"""Test `set_`, `resize_`, `resize_as_` and `empty_strided`, which change a tensor's memory."""

import pytest


def test_a_new_shape_keeps_elements_in_the_order_of_memory(t):
    x = t.arange(6.0)
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    # the memory is still there
    assert x.resize_(6).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert x.resize_(9).shape == (9,)
    assert x[:6].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_new_shape_counts_as_a_write_and_the_same_shape_does_not(t):
    x, y = t.rand((1,)), t.randn((3,))
    x.resize_((1, 2))
    assert x._version == 1
    x.resize_as_(y)
    assert x._version == 2
    x.resize_((3,))
    x.resize_as_(y)
    assert x._version == 2


def test_what_was_saved_of_a_tensor_that_is_resized_is_refused(t):
    x, w = t.ones(4), t.ones(4, requires_grad=True)
    y = (x * w).sum()
    x.resize_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_tensors_that_require_grad_are_resized_in_inference_mode_alone(t):
    x = t.ones(2, requires_grad=True)
    for resized in (
        lambda: x.resize_(1),
        lambda: x.resize_(2),
        lambda: (x * 1).resize_as_(x),
    ):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            resized()
    with t.inference_mode():
        x = t.ones(1, 2, 3, requires_grad=True).resize_(1, 2)
        assert x.is_inference() and x.requires_grad and x.shape == (1, 2)


def test_set_shares_the_memory_of_its_source(t):
    x, y = t.zeros(1), t.ones(2, 3)
    assert x.set_(y) is x
    assert x.shape == (2, 3) and x.data_ptr() == y.data_ptr()
    x[0, 0] = 5.0
    assert y[0, 0] == 5.0


def test_a_parameter_may_be_set_to_a_part_of_itself(t):
    p = t.nn.Parameter(t.ones(16))
    for size in (15, 14):
        with t.no_grad():
            p.set_(p[1:])
            p.grad = None
        t.cat((p, p)).sum().backward()
        assert p.grad.tolist() == [2.0] * size


def test_what_was_saved_of_a_tensor_that_is_set_is_refused(t):
    x, w = t.full((2,), 3.0), t.ones(2, requires_grad=True)
    y = (x * w).sum()
    x.set_(t.ones(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_leaf_is_not_set_while_operations_are_recorded(t):
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        t.ones(2, requires_grad=True).set_(t.zeros(2))


def test_dtypes_must_be_the_same(t):
    with pytest.raises(RuntimeError, match="Could not set tensor of type"):
        t.ones(2).set_(t.ones(2, dtype=t.float64))


def test_new_memory_is_filled_where_results_must_not_depend_on_it(t):
    settings = t.utils.deterministic
    t.use_deterministic_algorithms(True)
    try:
        assert settings.fill_uninitialized_memory is True
        made = [t.empty(2, dtype=kind) for kind in (t.float32, t.complex64, t.bfloat16)]
        made += [t.empty_like(t.ones(2)), t.ones(0).resize_(2), t.empty_strided((2,), (3,))]
        made += [t.empty_permuted((2, 1), (1, 0))]
        assert all(one.isnan().all() for one in made)
        assert t.empty(1, dtype=t.int8).item() == 127 and t.empty(1, dtype=t.bool).item() is True
        assert t.ones(1).resize_(2)[0] == 1
        settings.fill_uninitialized_memory = False
        assert not settings.fill_uninitialized_memory
        assert t._C._get_deterministic_fill_uninitialized_memory() is False
        memory = t.full((4,), 3.0).resize_(2)
        assert memory.tolist() == [3.0, 3.0]
    finally:
        settings.fill_uninitialized_memory = True
        t.use_deterministic_algorithms(False)


def test_dimensions_may_lie_in_another_order(t):
    x = t.empty_permuted((2, 3, 5), (0, 2, 1), dtype=t.int64)
    assert x.stride() == (15, 1, 3) and x.dim_order() == (0, 2, 1) and x.dtype is t.int64
    with pytest.raises(RuntimeError, match="Number of dimensions in size does not match"):
        t.empty_permuted((2, 3), (0,))
    with pytest.raises(RuntimeError, match="Duplicate dim not allowed"):
        t.empty_permuted((2, 3), (0, 0))


def test_an_order_that_is_not_the_only_one_is_refused(t):
    assert t.empty(2, 3, 5, 7).dim_order(ambiguity_check=True) == (0, 1, 2, 3)
    x, formats = t.empty(1, 2, 3, 4), [t.contiguous_format, t.channels_last]
    assert x.dim_order() == x.dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    for unclear, check in ((x, True), (t.empty(2, 1, 2, 2), formats)):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            unclear.dim_order(ambiguity_check=check)
    with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
        x.dim_order(ambiguity_check="no")


def test_steps_between_elements_may_be_chosen(t):
    x = t.empty_strided((2, 2), (4, 2))
    assert x.stride() == (4, 2)
    x.copy_(t.ones(2, 2)).requires_grad_()
    (x * t.ones(2, 2)).sum().backward()
    assert x.grad.stride() == (2, 1)
    with pytest.raises(RuntimeError, match="must match dimensionality of strides"):
        t.empty_strided((2, 2), (1,))


def test_memory_is_pinned_only_where_there_is_an_accelerator(t):
    x = t.ones(2)
    assert not (x.is_pinned() or x.is_nested or x.is_mkldnn or x.is_xla or x.is_mps or x.is_xpu)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        x.pin_memory()


def test_memory_is_resized_in_another_order(t):
    x = t.arange(12).resize_(1, 3, 2, 2, memory_format=t.channels_last)
    assert x.stride() == (12, 1, 6, 3) and x[0, 1].tolist() == [[1, 4], [7, 10]]
    y = t.arange(2).resize_as_(x, memory_format=t.preserve_format)
    assert y.stride() == x.stride() and y[0, :2, 0, 0].tolist() == [0, 1]
    for words, size, order in (
        ("numel: integer multiplication overflow", (2**60, 2**60), t.contiguous_format),
        ("Unsupported memory format", (4,), t.preserve_format),
        ("required rank 4", (4,), t.channels_last),
    ):
        with pytest.raises(RuntimeError, match=words):
            t.arange(3).resize_(size, memory_format=order)


def test_a_boolean_factor_keeps_booleans(t):
    yes = t.tensor(True)
    assert t.add(yes, yes, alpha=True).item() is True
    assert t.add(t.tensor(False), True, alpha=True).item() is True
    for first, second in ((t.tensor(1), 1), (t.tensor(1.0), yes), (yes, 1), (1, 1)):
        with pytest.raises(RuntimeError, match="Boolean alpha only supported"):
            t.add(first, second, alpha=True)
