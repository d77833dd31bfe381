"""Test views: memory shared with their base, and writes through each of them."""

import pickle

import pytest

VIEWS = {
    "view": (lambda x: x.view(6), "ViewBackward0"),
    "reshape": (lambda x: x.reshape(3, 2), "ViewBackward0"),
    "flatten": (lambda x: x.flatten(), "ViewBackward0"),
    "unflatten": (lambda x: x.unflatten(1, (3, 1)), "ViewBackward0"),
    "view_as": (lambda x: x.view_as(x), "ViewBackward0"),
    "expand": (lambda x: x.expand(4, 2, 3), "ExpandBackward0"),
    "transpose": (lambda x: x.transpose(0, 1), "TransposeBackward0"),
    "permute": (lambda x: x.permute(1, 0), "PermuteBackward0"),
    "movedim": (lambda x: x.movedim(0, 1), "PermuteBackward0"),
    "swapaxes": (lambda x: x.swapaxes(0, 1), "TransposeBackward0"),
    "t": (lambda x: x.t(), "TBackward0"),
    "T": (lambda x: x.T, "PermuteBackward0"),
    "mT": (lambda x: x.mT, "TransposeBackward0"),
    "integer": (lambda x: x[1], "SelectBackward0"),
    "select": (lambda x: x.select(1, 2), "SelectBackward0"),
    "slice": (lambda x: x[:, 1:], "SliceBackward0"),
    "narrow": (lambda x: x.narrow(1, 0, 2), "SliceBackward0"),
    "steps": (lambda x: x[:, ::2], "SliceBackward0"),
    "diagonal": (lambda x: x.diagonal(), "DiagonalBackward0"),
    "unsqueeze": (lambda x: x.unsqueeze(1), "UnsqueezeBackward0"),
    "squeeze": (lambda x: x.unsqueeze(1).squeeze(1), "SqueezeBackward1"),
    "None": (lambda x: x[None], "UnsqueezeBackward0"),
    "unbind": (lambda x: x.unbind(0)[1], "UnbindBackward0"),
    "split": (lambda x: x.split(2, dim=1)[0], "SplitBackward0"),
    "chunk": (lambda x: x.chunk(3, dim=1)[2], "SplitBackward0"),
}
ONE_OF_SEVERAL = {"unbind", "split", "chunk"}
OVERLAPPING = {"expand"}
WRITABLE = sorted(set(VIEWS) - ONE_OF_SEVERAL - OVERLAPPING)
KINDS = sorted(VIEWS)


def base(t):
    x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=t.float64, requires_grad=True)
    return x, x * 1


def weights(t, like):
    return t.arange(1.0, like.numel() + 1, dtype=t.float64).reshape(like.shape)


# -- what they share -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_knows_its_base(t, kind):
    make, node = VIEWS[kind]
    _, b = base(t)
    v = make(b)
    assert v._is_view() and v._base is b
    assert v.requires_grad and not v.is_leaf
    assert v.grad_fn.name().split("::")[-1] == node


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_shares_memory_and_version(t, kind):
    b = t.zeros(2, 3, dtype=t.float64)
    v = VIEWS[kind][0](b)
    b.add_(1)
    assert (v == 1).all() and v._version == b._version == 1


@pytest.mark.parametrize("kind", WRITABLE)
def test_a_write_through_a_view_reaches_the_base(t, kind):
    b = t.zeros(2, 3, dtype=t.float64)
    v = VIEWS[kind][0](b)
    v.fill_(2)
    assert b.sum().item() == 2 * v.numel() and b._version == v._version == 1


def test_a_view_of_a_view_has_the_same_base(t):
    _, b = base(t)
    assert b[0][1:]._base is b


def test_a_view_of_a_leaf_is_part_of_the_graph(t):
    x, _ = base(t)
    v = x[0]
    assert v._base is x and not v.is_leaf


def test_what_is_computed_is_no_view(t):
    _, b = base(t)
    for y in (b + 1, b.clone(), b.sum(0), b[[0, 1]], b[b > 2]):
        assert not y._is_view() and y._base is None


def test_detached_memory_is_shared_and_no_view(t):
    _, b = base(t)
    d = b.detach()
    d.zero_()
    assert (b == 0).all() and b._version == 1
    assert not d._is_view() and not d.requires_grad


def test_contiguous_gives_the_tensor_itself_where_it_is(t):
    _, b = base(t)
    assert b.contiguous() is b
    assert not b.t().contiguous()._is_view()


# -- gradients through writes ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITABLE)
def test_the_gradient_of_the_base_after_a_write_through_a_view(t, kind):
    x, b = base(t)
    v = VIEWS[kind][0](b)
    v.mul_(3)
    assert b.grad_fn.name() == "torch::autograd::CopySlices"
    (b * weights(t, b)).sum().backward()
    seen = t.zeros(2, 3, dtype=t.float64)
    VIEWS[kind][0](seen).fill_(1)
    assert t.equal(x.grad, weights(t, b) * (1 + 2 * seen))


@pytest.mark.parametrize("kind", WRITABLE)
def test_the_gradient_of_a_view_after_a_write_to_its_base(t, kind):
    x, b = base(t)
    v = VIEWS[kind][0](b)
    b.mul_(3)
    assert v.grad_fn.name() == "AsStridedBackward0"
    (g,) = t.autograd.grad(v.sum(), x)
    seen = t.zeros(2, 3, dtype=t.float64)
    VIEWS[kind][0](seen).fill_(3)
    assert t.equal(g, seen)


@pytest.mark.parametrize("kind", WRITABLE)
def test_second_derivatives_through_a_write(t, kind):
    x, b = base(t)
    v = VIEWS[kind][0](b)
    v.mul_(v.detach() * 0 + 2).sin_()
    y = (b * b).sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    # where the view looks y is sin(2 x) ** 2, and x ** 2 elsewhere
    seen = t.zeros(2, 3, dtype=t.float64)
    VIEWS[kind][0](seen).fill_(1)
    want = seen * 8 * t.cos(4 * x.detach()) + (1 - seen) * 2
    assert t.allclose(h, want)


def test_siblings_see_a_write_through_each_other(t):
    x, b = base(t)
    first, row = b.view(6), b[0]
    row.mul_(10)
    assert first[:3].tolist() == [10.0, 20.0, 30.0]
    (g,) = t.autograd.grad(first.sum(), x)
    assert g.tolist() == [[10.0] * 3, [1.0] * 3]


def test_writes_at_any_depth_and_in_any_order(t):
    x, b = base(t)
    row = b[1]
    part = row[1:]
    part.mul_(2)
    b.add_(1)
    row.mul_(part.detach().sum())
    part.pow_(2)
    b[0] = part.sum()
    y = (b * weights(t, b)).sum()
    (g,) = t.autograd.grad(y, x)
    c = 10 + 12 + 2
    p = [c * (2 * v + 1) for v in (5.0, 6.0)]
    slope = [2 * q * 2 * c for q in p]
    assert g.tolist() == [[0.0] * 3, [4.0 * c, (5 + 6) * slope[0], (6 + 6) * slope[1]]]


def test_a_write_through_a_view_of_what_needed_no_gradient(t):
    x, _ = base(t)
    b = t.zeros(2, 3, dtype=t.float64)
    v = b[1]
    v.add_(x[0])
    assert b.requires_grad and v.requires_grad
    b.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3, [0.0] * 3]


def test_a_view_that_was_dropped_leaves_its_write_behind(t):
    x, b = base(t)
    b[0].mul_(5)
    b[1].mul_(7)
    b.sum().backward()
    assert x.grad.tolist() == [[5.0] * 3, [7.0] * 3]


def test_a_retained_gradient_is_that_of_the_value_after_the_write(t):
    _, b = base(t)
    b.retain_grad()
    b[0].mul_(5)
    (b * 2).sum().backward()
    assert b.grad.tolist() == [[2.0] * 3, [2.0] * 3]


# -- views that cannot follow ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(ONE_OF_SEVERAL))
def test_one_of_several_views_refuses_to_be_written_to(t, kind):
    _, b = base(t)
    v = VIEWS[kind][0](b)
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns"):
        v.mul_(2)
    assert b.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] and b._version == 0


@pytest.mark.parametrize("kind", sorted(ONE_OF_SEVERAL))
def test_one_of_several_views_is_written_to_where_nothing_is_recorded(t, kind):
    b = t.zeros(2, 3)
    VIEWS[kind][0](b).add_(1)
    assert b.sum() > 0
    _, b = base(t)
    v = VIEWS[kind][0](b)
    with t.no_grad():
        v.zero_()
    assert b._version == 1


USES = {
    "grad_fn": lambda v: v.grad_fn,
    "is_leaf": lambda v: v.is_leaf,
    "product": lambda v: v * 2,
    "view": lambda v: v[...],
    "sum": lambda v: v.sum(),
    "clone": lambda v: v.clone(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", sorted(ONE_OF_SEVERAL))
def test_one_of_several_views_is_lost_to_the_graph_when_its_base_is_written_to(t, kind, use):
    _, b = base(t)
    v = VIEWS[kind][0](b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
        USES[use](v)


@pytest.mark.parametrize("kind", sorted(ONE_OF_SEVERAL))
def test_a_lost_view_can_still_be_read(t, kind):
    _, b = base(t)
    v = VIEWS[kind][0](b)
    b.zero_()
    assert v.requires_grad and v.detach().sum() == 0
    with t.no_grad():
        assert (v + 1).sum() == v.numel()


def test_a_view_of_one_of_several_refuses_too(t):
    _, b = base(t)
    v = b.unbind(0)[0][1:]
    with pytest.raises(RuntimeError, match="Output 0 of Slice is a view and is being modified"):
        v.add_(1)


def no_grad_view(t, b):
    with t.no_grad():
        return b[0]


def test_a_view_made_without_recording_requires_what_its_base_does(t):
    _, b = base(t)
    v = no_grad_view(t, b)
    assert v.requires_grad and v.is_leaf and v.grad_fn is None and v._base is b
    assert not no_grad_view(t, b.detach()).requires_grad


def test_no_gradient_arrives_at_a_view_made_without_recording(t):
    x, b = base(t)
    v = no_grad_view(t, b)
    (v * 2).sum().backward()
    assert v.grad is None and x.grad is None
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        v.sum().detach().backward()


def test_a_view_made_without_recording_refuses_recorded_writes(t):
    _, b = base(t)
    v = no_grad_view(t, b)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
        v.mul_(2)
    with t.no_grad():
        v.mul_(2)
    assert b[0].tolist() == [2.0, 4.0, 6.0]


def test_a_view_made_without_recording_is_lost_when_its_base_is_written_to(t):
    _, b = base(t)
    v = no_grad_view(t, b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or"):
        v * 2


def test_a_view_of_a_view_made_without_recording(t):
    _, b = base(t)
    v = no_grad_view(t, b)[1:]
    with pytest.raises(RuntimeError, match="Output 0 of Slice is a view of a view which was"):
        v.mul_(2)


def test_a_view_made_in_inference_mode_refuses_too(t):
    _, b = base(t)
    with t.inference_mode():
        v = b[0]
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being"):
        v.mul_(2)


# -- leaves ----------------------------------------------------------------------------------------


def test_a_view_of_a_leaf_refuses_writes(t):
    x, _ = base(t)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x[0].mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x[0] = 1.0
    with t.no_grad():
        x[0].mul_(2)
        x[1] = 0.0
    assert x.tolist() == [[2.0, 4.0, 6.0], [0.0, 0.0, 0.0]] and x._version == 2


def test_asking_a_base_for_gradients_after_a_view_was_made(t):
    b = t.zeros(2, 3)
    v = b[0]
    b.requires_grad_()
    assert v.requires_grad and v.is_leaf and v.grad_fn is None


def test_a_view_follows_a_write_of_before_its_base_required_gradients(t):
    b = t.zeros(2, 3)
    v, whole = b[0], b.view(6)
    b.add_(1)
    b.requires_grad_()
    assert v.requires_grad and not v.is_leaf
    assert type(v.grad_fn).__name__ == type(whole.grad_fn).__name__ == "AsStridedBackward0"
    (v * 3 + whole[:3]).sum().backward()
    assert b.grad.tolist() == [[4.0] * 3, [0.0] * 3]


def test_a_view_made_after_the_write_is_no_part_of_the_graph(t):
    b = t.zeros(2, 3)
    b.add_(1)
    v = b[0]
    b.requires_grad_()
    assert v.is_leaf and v.grad_fn is None


# -- overlapping memory ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda t, v: v.add_(1),
        lambda t, v: v.mul_(2),
        lambda t, v: v.sin_(),
        lambda t, v: v.copy_(t.ones(2, 3)),
        lambda t, v: v.clamp_(min=0),
        lambda t, v: v.fill_(t.tensor(1.0)),
        lambda t, v: v.normal_(),
    ],
)
def test_memory_shown_several_times_refuses_writes(t, write):
    b = t.zeros(3)
    v = b.expand(2, 3)
    with pytest.raises(RuntimeError, match="unsupported operation: more than one element of the"):
        write(t, v)
    assert b.tolist() == [0.0] * 3 and b._version == 0


# PyTorch says that some of them will be refused one day
@pytest.mark.filterwarnings("ignore:Use of:UserWarning")
@pytest.mark.parametrize(
    "write",
    [
        lambda t, v: v.fill_(1),
        lambda t, v: v.masked_fill_(t.tensor([True, True, True]), 1),
        lambda t, v: v.masked_fill_(t.tensor([[True], [False]]), 1),
        lambda t, v: v.masked_fill_(t.tensor([[True], [False]]), t.tensor(1.0)),
        lambda t, v: v.index_fill_(0, t.tensor([0]), 1),
        lambda t, v: v.index_fill_(0, t.tensor([0]), t.tensor(1.0)),
        lambda t, v: v.index_put_((t.tensor([0]),), t.ones(3)),
        lambda t, v: v.__setitem__(0, 1.0),
    ],
)
def test_writes_that_may_hit_a_place_several_times(t, write):
    b = t.zeros(3)
    write(t, b.expand(2, 3))
    assert b.tolist() == [1.0] * 3


def test_an_expansion_that_repeats_nothing_takes_writes(t):
    x, b = base(t)
    b.expand(1, 2, 3).mul_(2)
    b.sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2


# -- odd shapes ------------------------------------------------------------------------------------


def test_empty_and_scalar_views(t):
    x = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    b = x * 1
    b.view(1).mul_(3)
    b.sum().backward()
    assert x.grad.item() == 3.0
    e = t.zeros(0, 3, dtype=t.float64, requires_grad=True)
    c = e * 1
    c[:, 1].mul_(2)
    c.sum().backward()
    assert e.grad.shape == (0, 3)


def test_a_base_that_does_not_lie_in_order(t):
    x, _ = base(t)
    b = (x * 1).t()
    c = b.clone()
    c[1].mul_(2)
    b[0].add_(c[1])
    assert b._base is not None
    b.sum().backward()
    assert x.grad.tolist() == [[1.0, 3.0, 1.0], [1.0, 3.0, 1.0]]


def test_integers_are_written_through_views_without_history(t):
    b = t.arange(6).reshape(2, 3)
    b.t()[0] = 9
    assert b.tolist() == [[9, 1, 2], [9, 4, 5]] and not b.requires_grad


def test_hooks_on_a_view_made_without_recording_never_run(t):
    _, b = base(t)
    v = no_grad_view(t, b)
    seen = []
    v.register_hook(seen.append)
    v.retain_grad()
    handle = t.autograd.graph.register_multi_grad_hook((v,), seen.append, mode="any")
    (v * 2).sum().backward()
    handle.remove()
    assert seen == [] and v.grad is None


def reshaped_views(t):
    factors = t.arange(1.0, 7.0)

    def base_written(b):
        v = b.view(-1)
        b.t_()
        v.mul_(factors)
        return b

    def view_read(b):
        v = b.view(-1)
        b.t_()
        b.mul_(factors.view(3, 2))
        return v

    def one_row(b):
        v = b[0]
        b.unsqueeze_(0)
        v.mul_(factors[:3])
        return b

    def one_row_turned(b):
        v = b[0]
        b.t_()
        v.mul_(factors[:3])
        return b

    def view_of_view(b):
        v = b.view(3, 2)
        w = v[0]
        v.t_()
        w.mul_(factors[:2])
        return v

    def twice(b):
        b.t_()
        v = b[0]
        b.t_()
        v.mul_(factors[:2])
        return b

    return [base_written, view_read, one_row, one_row_turned, view_of_view, twice]


@pytest.mark.parametrize(
    "number, expected",
    list(
        enumerate(
            [
                [[0, 8, 48], [4, 45, 150]],
                [[0, 3, 20], [18, 64, 150]],
                [[0, 2, 12], [9, 16, 25]],
                [[0, 8, 48], [1, 9, 25]],
                [[0, 18, 1], [16, 4, 25]],
                [[0, 1, 4], [18, 16, 25]],
            ]
        )
    ),
)
def test_views_stay_what_they_are_of_the_memory_when_their_base_gets_another_shape(
    t, number, expected
):
    a = t.arange(6.0).reshape(2, 3).requires_grad_()
    out = reshaped_views(t)[number](a.clone())
    weights = t.arange(6.0).reshape(out.shape) ** 2
    (out * weights).sum().backward()
    assert a.grad.tolist() == expected


def test_views_of_a_tensor_without_history_stay_what_they_are_of_the_memory(t):
    x = t.arange(6.0).reshape(2, 3)
    v = x.view(-1)
    x.t_()
    w = t.ones(6, requires_grad=True)
    v.mul_(w)
    (x * t.arange(6.0).view(3, 2)).sum().backward()
    assert w.grad.tolist() == [0, 2, 8, 3, 12, 25]


def test_a_leaf_whose_shape_changes_unrecorded_is_the_same_leaf(t):
    p = t.nn.Parameter(t.ones(2, 3))
    with t.no_grad():
        p.t_()
    assert p.is_leaf and p.shape == (3, 2)
    (p * 2).sum().backward()
    assert p.grad.tolist() == [[2.0, 2.0]] * 3


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_views_made_unrecorded_are_lost_when_their_base_gets_another_shape(t, mode):
    a = t.ones(2, 3, requires_grad=True).clone()
    with getattr(t, mode)():
        v = a.view(-1)
    a.t_()
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modi"):
        v * 2


@pytest.mark.parametrize("rewrite", ["t_", "squeeze_"])
def test_tensors_of_inference_mode_keep_their_shape_outside_of_it(t, rewrite):
    with t.inference_mode():
        x = t.ones(2, 3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        getattr(x, rewrite)()


# -- histories rebuilt --------------------------------------------------------------------------


def names_from(tensor):
    """The names of the nodes from a view to the write, by the first edge of each."""
    names, node = [], tensor.grad_fn
    while node.name() not in ("torch::autograd::CopySlices", "MulBackward0"):
        names.append(node.name())
        node = node.next_functions[0][0]
    return names


def test_views_are_replayed_on_request(t):
    force, enabled = t.autograd._force_original_view_tracking, t.autograd.is_view_replay_enabled

    def written(v):
        out = v.clone().t().view(2, 3, 1)
        out.mul_(v.detach().t().unsqueeze(2))
        return out

    x = t.arange(6.0).reshape(3, 2).requires_grad_()
    assert names_from(written(x)) == ["AsStridedBackward0"]
    with force(True):
        assert enabled()
        out = written(x)
        assert names_from(out) == ["ViewBackward0", "TBackward0"]
        out.sum().backward()
    assert not enabled()
    assert x.grad.tolist() == x.tolist()
    assert names_from(written(x)) == ["AsStridedBackward0"]


def test_view_replay_set_as_a_function_ends_with_the_context_around(t):
    force, enabled = t.autograd._force_original_view_tracking, t.autograd.is_view_replay_enabled
    x = t.ones(2, 2, requires_grad=True)
    with force(False):
        force(True)
        out = x.clone().view(-1)
        out.add_(1)
        assert names_from(out) == ["ViewBackward0"]
    assert not enabled()


def test_a_base_that_is_written_to_replays_its_views(t):
    x = t.ones(4, requires_grad=True)
    with t.autograd._force_original_view_tracking(True):
        base = x.clone()
        view = base.view(2, 2)[0]
        base.mul_(3)
        assert names_from(view) == ["SelectBackward0", "ViewBackward0"]
        (view * t.tensor([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 6.0, 0.0, 0.0]


def test_a_view_that_was_not_recorded_is_detached_with_its_base(t):
    x = t.ones(3, requires_grad=True)
    y = x * 2
    with t.no_grad():
        v = y[1:]
    w = y[:2]
    y.detach_()
    assert (y.requires_grad, v.requires_grad, w.requires_grad) == (False, False, True)
    v.mul_(3)
    assert y.tolist() == [2, 6, 6]


def test_views_follow_a_base_whose_shape_was_changed(t):
    x = t.ones(2, 2)
    view = x[0:1]
    x.unsqueeze_(0)
    assert view._base is x
    assert not x._is_view()
    x.requires_grad_()
    assert view.requires_grad
    (found,) = t.autograd.grad((view * 3).sum() + x.sum(), x)
    assert found.tolist() == [[[4.0, 4.0], [1.0, 1.0]]]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.unsqueeze_(1),
        lambda x: x.squeeze_(),
        lambda x: x.squeeze_(1),
        lambda x: x.t_() if x.dim() < 3 else x.transpose_(0, 2),
        lambda x: x.swapaxes_(0, -1),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 3)])
def test_writes_after_a_change_of_shape_reach_views_and_base(t, change, shape):
    w = t.arange(1.0, 7.0).view(shape).requires_grad_()
    x = w * 1
    view = x[1:].flatten()[1:]
    flat = x.view(-1)
    change(x)
    change(x)
    flat[1:].mul_(2)
    x.mul_(3)
    view.mul_(5)
    assert x.flatten().sort().values.tolist() == [3.0, 12.0, 18.0, 24.0, 150.0, 180.0]
    (found,) = t.autograd.grad(view.sum(), w, retain_graph=True)
    assert found.flatten().tolist() == [0.0, 0.0, 0.0, 0.0, 30.0, 30.0]
    (found,) = t.autograd.grad(x.sum(), w)
    assert found.flatten().tolist() == [3.0, 6.0, 6.0, 6.0, 30.0, 30.0]


def test_a_tensor_with_history_and_views_is_detached_after_a_change_of_shape(t):
    x = t.ones(2, 2, requires_grad=True) * 2
    view = x[0:1]
    x.unsqueeze_(0)
    x.detach_()
    assert not x.requires_grad
    assert view.tolist() == [[2.0, 2.0]]


def test_reversing_other_than_two_dimensions_warns_once(t):
    import warnings

    before = t.is_warn_always_enabled()
    t.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            shapes = [t.ones(size).T.shape for size in ((2, 3), (1, 2, 3), (2,), ())]
    finally:
        t.set_warn_always(before)
    assert shapes == [(3, 2), (3, 2, 1), (2,), ()]
    words = ["The use of `x.T` on tensors of dimension other than 2"] * 2
    words.append("Tensor.T is deprecated on 0-D tensors")
    assert len(seen) == 3
    assert all(str(one.message).startswith(word) for one, word in zip(seen, words, strict=True))


def test_a_cast_that_discards_imaginary_parts_warns(t):
    import warnings

    before = t.is_warn_always_enabled()
    z = t.tensor([1 + 2j])
    casts = [lambda: z.to(t.float32), lambda: z.int(), lambda: t.zeros(1).copy_(z)]
    quiet = [lambda: z.bool(), lambda: z.real, lambda: z.to(t.complex128), lambda: z.abs()]
    t.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert [cast().item() for cast in casts] == [1, 1, 1] and len(seen) == 3
            assert all(make() is not None for make in quiet) and len(seen) == 3
    finally:
        t.set_warn_always(before)
    assert {str(one.message)[:40] for one in seen} == {"Casting complex values to real discards "}


# -- writes through a detached tensor --------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda b: b.split(2), lambda b: b.chunk(2), lambda b: b.unbind()])
@pytest.mark.parametrize("late", [False, True], ids=["detached before", "detached after"])
@pytest.mark.parametrize("part", [False, True], ids=["whole", "part"])
def test_a_write_through_a_detached_tensor_invalidates_views_of_several(t, make, late, part):
    base = t.ones(4, 2, requires_grad=True) * 1
    before = base.detach()
    views = make(base)
    detached = base.detach() if late else before
    (detached[:1] if part else detached).mul_(2)
    assert views[0].detach().reshape(-1)[0].item() == 2
    with pytest.raises(RuntimeError, match=r"Output 1 of \w+ is a view and its base or another"):
        views[1] * 2


def test_a_write_through_a_detached_view_invalidates_the_view_itself(t):
    base = t.ones(4, requires_grad=True) * 1
    first, second = base.split(2)
    second.detach().mul_(2)
    for index, view in enumerate((first, second)):
        with pytest.raises(RuntimeError, match=f"Output {index} of Split is a view and its base"):
            view.sum()
    with t.no_grad():
        assert (first.sum().item(), second.sum().item()) == (2, 4)


def test_a_write_through_a_detached_tensor_invalidates_views_made_without_recording(t):
    leaf = t.ones(4, requires_grad=True)
    with t.no_grad():
        view = leaf[:2]
    leaf.detach().mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or"):
        view * 2


def test_views_of_several_that_need_no_gradient_follow_writes_through_detached_tensors(t):
    base = t.ones(4)
    first, _ = base.split(2)
    base.detach().mul_(2)
    assert (first * 2).tolist() == [4, 4]


def test_a_tensor_with_views_of_several_pickles_after_a_write(t):
    base = t.ones(4, requires_grad=True)
    with t.no_grad():
        views = base.split(2)
        base.mul_(2)
    again = pickle.loads(pickle.dumps(base))
    assert again.tolist() == [2, 2, 2, 2]
    base.detach().mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or"):
        views[0] * 2
