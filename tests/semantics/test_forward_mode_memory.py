"""Test tangents as tensors: their identity, shared memory, and writes."""

import contextlib

import pytest

# PyTorch compiles its rules when they are first used
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def pair(t, size=2):
    return t.arange(1.0, size + 1), t.full((size,), 3.0)


def test_unpacking_gives_the_same_tangent_each_time(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        assert fwd.unpack_dual(dual).tangent is slope
        made = dual * 2
        assert fwd.unpack_dual(made).tangent is fwd.unpack_dual(made).tangent
        assert fwd.unpack_dual(dual).primal is not fwd.unpack_dual(dual).primal


def test_a_write_to_a_dual_tensor_writes_to_both_parts(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        dual *= 2
        assert (x.tolist(), slope.tolist()) == ([2.0, 4.0], [6.0, 6.0])
        assert slope._version == 1
        assert fwd.unpack_dual(x).tangent is None
        primal, tangent = fwd.unpack_dual(dual)
        primal *= 2
        tangent *= 5
        assert dual.tolist() == [4.0, 8.0]
        assert fwd.unpack_dual(dual).tangent.tolist() == [30.0, 30.0]
        view = dual.narrow(0, 0, 1)
        view.mul_(0)
        assert (x.tolist(), slope.tolist()) == ([0.0, 8.0], [0.0, 30.0])


def test_a_write_to_what_unpacking_gave_is_one_to_the_whole(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        made = fwd.make_dual(x, slope) * 2
        same = made + 1
        fwd.unpack_dual(made).tangent.zero_()
        assert fwd.unpack_dual(made[1:]).tangent.tolist() == [0.0]
        # the tangent of a sum with a constant is another one
        assert fwd.unpack_dual(same).tangent.tolist() == [6.0, 6.0]
        made += same
        assert fwd.unpack_dual(same).tangent.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    "primal, tangent",
    [
        (lambda t: t.arange(4.0).view(2, 2).t(), lambda t: t.ones(2, 2)),
        (lambda t: t.arange(6.0)[:4].detach(), lambda t: t.ones(4)),
    ],
    ids=["order", "storage"],
)
def test_a_tangent_that_lies_otherwise_is_copied(t, primal, tangent):
    fwd, x, slope = t.autograd.forward_ad, primal(t), tangent(t)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        found = fwd.unpack_dual(dual).tangent
        assert found is not slope
        assert found.stride() == x.stride()
        found.mul_(2)
        assert (slope == 1).all()
        dual.view(-1) if x.is_contiguous() else dual.t().view(-1).mul_(3)
        assert (fwd.unpack_dual(dual).tangent == (2 if x.is_contiguous() else 6)).all()


def test_strides_reach_all_of_the_memory_of_both_parts(t):
    fwd, x = t.autograd.forward_ad, t.arange(5.0)[:4].detach()
    with fwd.dual_level():
        whole = fwd.make_dual(x, t.ones(4)).as_strided((5,), (1,), 0)
        assert whole.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert fwd.unpack_dual(whole).tangent.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_what_a_value_and_its_tangent_depend_on(t):
    fwd = t.autograd.forward_ad
    x, slope = t.ones(2, requires_grad=True), t.full((2,), 3.0, requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        primal, tangent = fwd.unpack_dual(dual)
        parts = [(primal, x, slope), (tangent, slope, x), (fwd.unpack_dual(dual * 2)[0], x, slope)]
        for part, known, other in parts:
            found = t.autograd.grad(
                part.sum(), (known, other), retain_graph=True, allow_unused=True
            )
            assert found[0] is not None
            assert found[1] is None


def test_detaching_in_place_drops_the_tangent(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope) * 1
        dual.detach_()
        assert fwd.unpack_dual(dual * 2).tangent is None


def test_levels_do_not_nest(t):
    fwd = t.autograd.forward_ad
    with fwd.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the mo"):
            fwd.enter_dual_level()
        assert fwd._current_level == 0
    assert fwd._current_level == -1


def test_a_primal_is_another_tensor_also_where_there_is_no_tangent(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        plain = t.ones(2)
        primal = fwd.unpack_dual(plain).primal
        plain.mul_(fwd.make_dual(x, slope))
        assert primal.tolist() == [1.0, 2.0]
        assert fwd.unpack_dual(primal).tangent is None
        assert fwd.unpack_dual(plain).tangent.tolist() == [3.0, 3.0]


def test_a_write_that_is_not_recorded_leaves_the_history_as_it_is(t):
    fwd, x = t.autograd.forward_ad, t.ones(2, requires_grad=True)
    with fwd.dual_level():
        y = x * 3
        with t.no_grad():
            y[0] = fwd.make_dual(t.tensor(5.0), t.tensor(2.0))
        assert y.tolist() == [5.0, 3.0]
        assert t.autograd.grad(y.sum(), x)[0].tolist() == [3.0, 3.0]


def doubled_past_the_graph(u):
    z = u * 1
    z.detach().mul_(2)
    return z * u


def test_what_is_detached_of_a_single_number_shows_its_memory(t):
    x, one = t.tensor(0.5), t.tensor(1.0)
    # z is u, with the value 2 u
    value, slope = t.func.jvp(doubled_past_the_graph, (x,), (one,))
    assert (value.item(), slope.item()) == (0.5, 1.5)
    fwd = t.autograd.forward_ad
    with fwd.dual_level():
        plain, dual = t.tensor(3.0), fwd.make_dual(x, one)
        primal = fwd.unpack_dual(plain).primal
        primal.add_(dual)
        assert plain.item() == 3.5


def test_in_a_mode_that_records_nothing_a_tangent_keeps_its_history(t):
    fwd, x = t.autograd.forward_ad, t.ones(2, requires_grad=True)
    slope = t.full((2,), 3.0, requires_grad=True)
    with fwd.dual_level():
        with t.no_grad():
            dual = fwd.make_dual(x, slope)
        tangent = fwd.unpack_dual(dual * dual).tangent
        found = t.autograd.grad(tangent.sum(), (x, slope), allow_unused=True)
        assert found[0] is None
        assert found[1].tolist() == [2.0, 2.0]


def test_a_leaf_that_is_a_tangent_is_not_written_to_with_a_history(t):
    fwd, x = t.autograd.forward_ad, t.ones(2, requires_grad=True) * 2
    slope = t.ones(2, requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        with contextlib.suppress(RuntimeError):
            dual.mul_(5)
        assert slope.is_leaf
        assert slope.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("after", [False, True], ids=["inside", "after"])
def test_a_recorded_write_is_known_on_both_sides_or_refused(t, after):
    fwd, w = t.autograd.forward_ad, t.tensor(2.0, requires_grad=True)

    def held(x):
        with fwd.dual_level():
            dual = fwd.make_dual(x, t.ones(2))
            return [dual, fwd.unpack_dual(dual).primal, fwd.unpack_dual(dual).tangent]

    if after:
        x = t.ones(2)
        shown = held(x)[:2]
        x.mul_(w)
        check_follows(t, shown, w)
        return
    with fwd.dual_level():
        for written in (0, 1):
            x, slope = t.ones(2), t.ones(2)
            dual = fwd.make_dual(x, slope)
            primal, found = fwd.unpack_dual(dual)
            (x if written else dual).mul_(w)
            check_follows(t, [x, dual, primal] + ([] if written else [found]), w)
        x, slope = t.ones(2), t.ones(2)
        dual = fwd.make_dual(x, slope)
        slope.mul_(w)
        assert x.requires_grad is False
        check_follows(t, [lambda: fwd.unpack_dual(dual * 1).tangent], w)


def check_follows(t, shown, w):
    for one in shown:
        try:
            value = one() if callable(one) else one
            (found,) = t.autograd.grad((value * 1).sum(), w, retain_graph=True)
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
        else:
            assert found.item() == 2.0


@pytest.mark.parametrize("name", ["vmap", "jvp"])
def test_a_recorded_write_to_an_argument_is_known_outside_or_refused(t, name):
    x, w = t.ones(2), t.tensor(2.0, requires_grad=True)

    def function(u):
        u.mul_(w)
        return u * 1

    if name == "jvp":
        t.func.jvp(function, (x,), (t.ones(2),))
    else:
        t.func.vmap(function)(x)
    assert x.tolist() == [2.0, 2.0]
    check_follows(t, [x], w)


def test_a_leaf_is_not_written_to_inside_of_a_transform(t):
    x = t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        t.func.vmap(lambda u: u.mul_(2))(x)
    assert x.tolist() == [1.0, 1.0]


def test_a_result_that_is_an_argument_follows_writes_or_refuses(t):
    x, w = t.ones(2), t.tensor(2.0, requires_grad=True)
    same = t.func.vmap(lambda u: u)(x)
    x.mul_(w)
    check_follows(t, [same], w)


def test_detached_tensors_know_nothing_of_writes(t):
    fwd, w = t.autograd.forward_ad, t.tensor(2.0, requires_grad=True)
    with fwd.dual_level():
        x = t.ones(2)
        first, second = x.detach(), x.detach()
        fwd.make_dual(first, t.ones(2))
        second.mul_(w)
        assert (first * 1).requires_grad is False
        assert x.tolist() == [2.0, 2.0]


def test_views_keep_their_tangents_where_the_whole_is_detached_or_that_is_refused(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope) * 1
        view = dual[1:]
        try:
            dual.detach_()
        except NotImplementedError as error:
            assert "detach_() of a tensor that carries a tangent" in str(error)
        assert fwd.unpack_dual(view * 2).tangent.tolist() == [6.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.mul_(3),
        lambda x: x.exp_(),
        lambda x: x.add_(x + 1),
        lambda x: x.copy_(x + 1),
        lambda x: x.clamp_(0, 1),
    ],
)
def test_what_shows_a_place_several_times_is_not_written(t, write):
    def widened(x):
        x = x.clone()
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write(x.expand(2, 2))
        wide = x.expand(2, 2)
        wide.zero_()
        wide[0] = 5.0
        return x

    with t.autograd.forward_ad.dual_level():
        x = t.autograd.forward_ad.make_dual(t.tensor([1.0, 2.0]), t.ones(2))
        primal, tangent = t.autograd.forward_ad.unpack_dual(widened(x))
    assert primal.tolist() == [5, 5] and tangent.tolist() == [0, 0]
    assert t.func.vmap(widened)(t.ones(3, 2)).tolist() == [[5, 5]] * 3
    assert t.func.jvp(widened, (t.ones(2),), (t.ones(2),))[1].tolist() == [0, 0]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda t, d: d * d,
        lambda t, d: d.sin(),
        lambda t, d: d**3,
        lambda t, d: d.norm(),
        lambda t, d: d.logsumexp(0),
        lambda t, d: d[1:] * d[:-1],
        lambda t, d: t.outer(d, d),
        lambda t, d: t.stack([d, d.cos()]).prod(0),
    ],
)
def test_a_write_to_a_tangent_that_the_graph_needs_is_an_error(t, function, late):
    fwd = t.autograd.forward_ad
    x = t.tensor([0.5, 1.5, 2.5], dtype=t.float64, requires_grad=True)
    slope = t.tensor([1.0, -2.0, 0.5], dtype=t.float64)
    with fwd.dual_level():
        y = function(t, fwd.make_dual(x, slope))
        if not late:
            slope.view(-1)[:2].mul_(3)
        tangent = fwd.unpack_dual(y).tangent
    if late:
        slope.view(-1)[:2].mul_(3)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        t.autograd.grad(tangent.sum(), x)


def test_a_write_to_a_tangent_that_the_graph_does_not_need_is_none(t):
    fwd = t.autograd.forward_ad
    x = t.tensor([0.5, 1.5], requires_grad=True)
    slope = t.tensor([1.0, -2.0])
    with fwd.dual_level():
        y = fwd.make_dual(x, slope) * x.detach()
        tangent = fwd.unpack_dual(y).tangent
        slope.mul_(3)
    assert tangent.tolist() == [0.5, -3.0]


def test_writes_reach_the_parts_of_a_result_without_dimensions(t):
    fwd, (x, slope) = t.autograd.forward_ad, pair(t)
    with fwd.dual_level():
        made = (fwd.make_dual(x, slope) ** 2).sum()
        fwd.unpack_dual(made).tangent.mul_(2)
        fwd.unpack_dual(made).primal.add_(1)
        primal, tangent = fwd.unpack_dual(made * 1)
    assert (primal.item(), tangent.item()) == (6.0, 36.0)


def test_rows_that_are_shortened_in_place_keep_their_tangents(t):
    fwd, table, rows = t.autograd.forward_ad, 3 * t.eye(3), t.tensor([0, 2])
    with fwd.dual_level():
        dual = fwd.make_dual(table, t.full((3, 3), 5.0))
        out = fwd.unpack_dual(t.nn.functional.embedding(rows, dual, max_norm=1.0))
        after = fwd.unpack_dual(dual)
    short = t.diag(t.tensor([1.0, 3.0, 1.0]))
    assert t.allclose(table, short) and t.allclose(after.primal, short)
    assert t.allclose(out.primal, short[rows]) and table._version == 1
    assert out.tangent.equal(t.full((2, 3), 5.0)) and after.tangent.equal(t.full((3, 3), 5.0))
