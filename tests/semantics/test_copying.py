"""Test copies of tensors: shallow, deep, pickled, cloned; attributes and weak references."""

import copy
import gc
import pickle
import weakref

import pytest


def roundtrip(value, protocol=None):
    return pickle.loads(pickle.dumps(value, protocol))


def tripled(grad):
    return grad * 3


# -- copy.copy -------------------------------------------------------------------------------------


def test_a_copy_shares_memory_and_is_a_leaf_like_the_original(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    twin = copy.copy(x)
    assert twin is not x
    assert twin.data_ptr() == x.data_ptr()
    assert twin.requires_grad and twin.is_leaf and not twin._is_view()


def test_a_copy_has_no_gradient(t):
    x = t.ones(2, requires_grad=True)
    x.sum().backward()
    assert copy.copy(x).grad is None
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_copy_of_a_tensor_that_needs_no_gradient_needs_none(t):
    assert not copy.copy(t.ones(2)).requires_grad


def test_a_copy_has_the_same_attributes(t):
    x = t.ones(2)
    x.tags = ["a"]
    twin = copy.copy(x)
    assert twin.tags is x.tags
    twin.more = 1
    assert not hasattr(x, "more")


def test_a_gradient_arrives_at_the_copy_not_at_the_original(t):
    x = t.ones(2, requires_grad=True)
    twin = copy.copy(x)
    (twin * 3).sum().backward()
    assert twin.grad.tolist() == [3.0, 3.0]
    assert x.grad is None


# -- copy.deepcopy ---------------------------------------------------------------------------------


def test_a_deep_copy_has_its_own_memory_and_gradient(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.is_leaf
    assert twin.grad.tolist() == [2.0, 4.0]
    assert twin.grad is not x.grad
    with t.no_grad():
        twin += 1
        twin.grad.zero_()
    assert x.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_deep_copy_of_a_computed_tensor_is_refused(t):
    y = t.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(y)
    assert not copy.deepcopy(y.detach()).requires_grad


def test_a_deep_copy_keeps_what_is_one_tensor_one_tensor(t):
    x = t.ones(2, requires_grad=True)
    twins = copy.deepcopy({"a": x, "b": [x]})
    assert twins["a"] is twins["b"][0]
    assert twins["a"] is not x


def test_tensors_that_share_memory_share_it_in_a_deep_copy(t):
    base = t.arange(6.0)
    twin, part, shaped, detached = copy.deepcopy([base, base[2:4], base.view(2, 3), base.detach()])
    part[0] = 99
    assert twin.tolist() == [0.0, 1.0, 99.0, 3.0, 4.0, 5.0]
    assert shaped[0, 2].item() == 99.0
    assert detached[2].item() == 99.0
    assert base[2].item() == 2.0


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("first", [False, True])
def test_tensors_share_the_storages_that_are_copied_with_them(t, first):
    x = t.arange(6.0).reshape(2, 3)
    held = [x[1], x.storage(), x, x.untyped_storage()]
    copied = copy.deepcopy(held if first else held[::-1])
    row, typed, twin, untyped = copied if first else copied[::-1]
    twin.add_(1)
    assert row.tolist() == [4, 5, 6] and list(typed) == [1, 2, 3, 4, 5, 6]
    assert untyped.data_ptr() == twin.data_ptr() == typed.data_ptr()
    assert x.sum().item() == 15 and copy.deepcopy(typed)[0] == 1
    alone = copy.deepcopy(held[1])
    alone[0] = 7
    assert x[0, 0].item() == 0


def test_the_order_of_the_views_in_a_deep_copy_does_not_matter(t):
    base = t.arange(6.0)
    part, twin = copy.deepcopy([base[2:4], base])
    part[0] = 99
    assert twin[2].item() == 99.0


def test_views_in_a_deep_copy_are_no_views_of_each_other(t):
    base = t.arange(6.0)
    twin, part = copy.deepcopy([base, base[2:4]])
    assert part._base is None and not part._is_view()
    assert not twin._is_view()


@pytest.mark.parametrize("make", ["t", "permute", "expand", "step", "flipped"])
def test_a_deep_copy_keeps_values_and_layout(t, make):
    x = {
        "t": lambda: t.arange(6.0).reshape(2, 3).t(),
        "permute": lambda: t.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        "expand": lambda: t.arange(3.0).expand(2, 3),
        "step": lambda: t.arange(6.0).reshape(2, 3)[:, ::2],
        "flipped": lambda: t.arange(6.0).reshape(2, 3).flip(0),
    }[make]()
    twin = copy.deepcopy(x)
    assert twin.tolist() == x.tolist()
    assert twin.stride() == x.stride()
    assert twin.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_is_copied(t, dtype, shape):
    x = t.ones(shape, dtype=getattr(t, dtype))
    for twin in (copy.copy(x), copy.deepcopy(x), roundtrip(x)):
        assert twin.dtype == x.dtype and twin.shape == x.shape
        assert twin.tolist() == x.tolist()


def test_a_deep_copy_has_no_hooks(t):
    x = t.ones(2, requires_grad=True)
    x.register_hook(tripled)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.zero_())
    twin = copy.deepcopy(x)
    twin.sum().backward()
    assert twin.grad.tolist() == [1.0, 1.0]


def test_a_deep_copy_copies_attributes_too(t):
    x = t.ones(2)
    x.notes = ["a"]
    twin = copy.deepcopy(x)
    assert twin.notes == ["a"] and twin.notes is not x.notes


def test_a_deep_copy_requires_a_gradient_under_no_grad_too(t):
    x = t.ones(2, requires_grad=True)
    with t.no_grad():
        copies = copy.deepcopy(x), copy.copy(x)
    for y in copies:
        (y * 3).sum().backward()
    assert [y.grad.tolist() for y in copies] == [[3.0, 3.0]] * 2
    assert x.grad is None


def test_a_deep_copy_of_an_inference_tensor_is_an_ordinary_one(t):
    with t.inference_mode():
        x = t.ones(2) * 2
    twin = copy.deepcopy(x)
    assert not twin.is_inference()
    assert (twin.requires_grad_() * 2).requires_grad


# -- pickle ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_leaf_comes_back(t, protocol):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    twin = roundtrip(x, protocol)
    assert twin.tolist() == x.tolist()
    assert twin.requires_grad and twin.is_leaf
    (twin * 2).sum().backward()
    assert twin.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_pickle_leaves_the_gradient_out(t):
    x = t.ones(2, requires_grad=True)
    x.sum().backward()
    assert roundtrip(x).grad is None


def test_a_pickle_keeps_attributes_and_identity(t):
    x = t.ones(2)
    x.note = "a"
    first, second = roundtrip([x, x])
    assert first is second
    assert first.note == "a"


def test_a_pickle_keeps_the_layout(t):
    assert roundtrip(t.arange(6.0).reshape(2, 3).t()).stride() == (1, 3)


def test_pickling_a_leaf_with_hooks_warns_that_they_are_left_out(t):
    x = t.ones(2, requires_grad=True)
    x.register_hook(tripled)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        twin = roundtrip(x)
    twin.sum().backward()
    assert twin.grad.tolist() == [1.0, 1.0]


def test_what_was_pickled_can_be_written_to(t):
    twin = roundtrip(t.zeros(2, 2))
    twin[0] += 1
    assert twin.tolist() == [[1.0, 1.0], [0.0, 0.0]]


# -- clone -----------------------------------------------------------------------------------------


def test_a_clone_keeps_the_order_of_memory(t):
    x = t.arange(6.0).reshape(2, 3).t()
    assert x.clone().stride() == (1, 3)
    assert x.clone(memory_format=t.preserve_format).stride() == (1, 3)
    assert x.clone(memory_format=t.contiguous_format).stride() == (2, 1)
    assert x.clone(memory_format=t.contiguous_format).tolist() == x.tolist()


def test_a_clone_of_an_expanded_tensor_is_contiguous(t):
    x = t.arange(3.0).expand(2, 3)
    for copied in (x.clone(), x.double(), t.zeros_like(x)):
        assert copied.stride() == (3, 1)


def test_a_clone_can_have_its_channels_last(t):
    x = t.arange(120.0).reshape(2, 3, 4, 5)
    y = x.clone(memory_format=t.channels_last)
    assert y.stride() == (60, 1, 15, 3)
    assert y.tolist() == x.tolist()
    assert y.is_contiguous(memory_format=t.channels_last) and not y.is_contiguous()
    assert y.clone().stride() == y.stride()
    cube = t.zeros(2, 3, 4, 5, 6).clone(memory_format=t.channels_last_3d)
    assert cube.stride() == (360, 1, 90, 18, 3)


def test_a_part_of_an_image_with_its_channels_last_keeps_them_last(t):
    image = t.rand(2, 3, 8, 8).clone(memory_format=t.channels_last)
    pool, resize = t.nn.functional.max_pool2d, t.nn.functional.interpolate
    for part in (image[:, :, 1:-1, 1:-1], image[:, :, ::2, ::2], image[:1]):
        assert pool(part, 2).stride(1) == resize(part, scale_factor=2).stride(1) == 1
        assert part.to(memory_format=t.channels_last) is part
    for part in (image[0][None], image[:, :1, 1:], image[:, :, :0]):
        assert part.contiguous() is not part or part.is_contiguous()
        assert t.nn.functional.pad(part, (1, 1)).is_contiguous()


def test_the_step_of_a_dimension_that_was_inserted(t):
    x = t.zeros(2, 3, 4)
    assert x[None].stride() == x.unsqueeze(0).stride() == (24, 12, 4, 1)
    assert x[:, None, :, None].stride() == (12, 12, 4, 4, 1)
    assert x.mT[..., None].stride() == (12, 1, 4, 1)
    assert t.ones(5).expand(1, 5).stride() == (5, 1) and t.tensor(1.0)[None].stride() == (1,)


def test_a_gradient_flows_through_a_clone_in_another_order(t):
    x = t.arange(16.0).reshape(1, 2, 2, 4).requires_grad_()
    y = x.clone(memory_format=t.channels_last)
    assert y.grad_fn.name() == "CloneBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == (2 * x).tolist()


def test_a_memory_format_must_fit(t):
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        t.zeros(2, 3).clone(memory_format=t.channels_last)
    with pytest.raises(TypeError, match=r"clone\(\): argument 'memory_format' must be"):
        t.zeros(2, 3).clone(memory_format=3)


def test_contiguous_takes_a_memory_format(t):
    x = t.arange(48.0).reshape(2, 3, 2, 4)
    y = x.contiguous(memory_format=t.channels_last)
    assert y.stride() == (24, 1, 12, 3)
    assert y.contiguous(memory_format=t.channels_last) is y
    assert repr(t.channels_last) == "torch.channels_last"
    assert roundtrip(t.channels_last) is t.channels_last


# -- attributes and references ---------------------------------------------------------------------


def test_a_tensor_takes_attributes(t):
    x = t.ones(2)
    x.note = "a"
    assert x.note == "a" and vars(x) == {"note": "a"} and "note" in dir(x)
    del x.note
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'note'"):
        x.note  # noqa: B018


def test_results_do_not_inherit_attributes(t):
    x = t.ones(2)
    x.note = "a"
    assert not hasattr(x * 2, "note") and not hasattr(x.detach(), "note")


def test_a_property_without_a_setter_cannot_be_set(t):
    with pytest.raises(AttributeError):
        t.ones(2).shape = (1, 2)


def test_a_weak_reference_ends_with_its_tensor(t):
    x = t.ones(2)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None


def test_tensors_are_keys_by_identity(t):
    x, y = t.ones(()), t.ones(())
    assert len({x, y}) == 2
    names = weakref.WeakSet([x])
    assert hash(x) == hash(x)
    assert len(names) == 1
    del x
    gc.collect()
    assert len(names) == 0
