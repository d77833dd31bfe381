"""Test `autograd.explain`: each reason for a missing gradient, and the lines that cut graphs."""

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.tape import detachments

explain = wg.autograd.explain


@pytest.fixture(autouse=True)
def nothing_cut_before():
    """No cuts noted by other tests."""
    detachments._HERE.notes.clear()


def leaf(values=(1.0, 2.0)):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


def here(above=0):
    """File and line of the line that calls, or of one `above` it, as texts show them."""
    return f"test_explain.py:{inspect.currentframe().f_back.f_lineno - above}  "


def check(why, cause, *parts, connected=False, certain=True):
    assert why.cause == cause, why
    assert why.connected is connected
    assert why.certain is certain
    text = " ".join(str(why).split())
    for part in parts:
        assert " ".join(part.split()) in text, why


# -- there is a path -------------------------------------------------------------------------------


def test_connected():
    x = leaf()
    why = explain((x * x).sum(), x)
    check(why, "connected", "call output.backward()", connected=True)
    assert why.path == ("SumBackward0", "MulBackward0", "AccumulateGrad")
    assert repr(why) == str(why)


def test_connected_with_a_gradient_there():
    x = leaf()
    y = x.sum()
    y.backward()
    check(explain(y, x), "connected", "input.grad holds", connected=True)


def test_connected_names_a_hook_that_may_have_taken_the_gradient():
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda x: setattr(x, "grad", None))
    y = x.sum()
    y.backward()
    assert x.grad is None
    check(explain(y, x), "connected", "hooks that run after each pass", connected=True)


def test_connected_says_that_an_output_is_no_scalar():
    x = leaf()
    check(explain(x * 2, x), "connected", "output has 2 elements", connected=True)


def test_connected_to_itself():
    x = leaf()
    assert explain(x, x).path == ("AccumulateGrad",)


def test_connected_names_custom_functions():
    class Cut(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf()
    check(explain(Cut.apply(x).sum(), x), "connected", "backward may return None (Cut)",
          connected=True)  # fmt: skip


def test_connected_takes_the_shortest_path():
    x = leaf()
    y = x.exp().sin() * x
    assert explain(y, x).path == ("MulBackward0", "AccumulateGrad")


def test_not_a_leaf():
    x = leaf() * 0.1
    why = explain((x * x).sum(), x)
    check(why, "not_a_leaf", "MulBackward0 made it from float64 [2]", "retain_grad()",
          connected=True)  # fmt: skip
    x.retain_grad()
    check(explain((x * x).sum(), x), "connected", connected=True)


def test_freed():
    x = leaf()
    y = (x * x).sum()
    y.backward()
    why = explain(y, x)
    check(why, "freed", "values that MulBackward0 had saved", "retain_graph=True", connected=True)


def test_freed_shows_where_the_node_was_recorded_if_that_is_known():
    x = leaf()
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        mode = wg.autograd.detect_anomaly()
    with mode:
        y = (x * x).sum()
        place = here(above=1)
        y.backward()
    why = explain(y, x)
    check(why, "freed", place, connected=True)
    assert why.sites[0].startswith(place)


@pytest.mark.parametrize("several", [False, True])
def test_freed_custom_function(several):
    class Square(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x, x * 1) if several else x * x

        @staticmethod
        def backward(ctx, g, *_):
            return 2 * ctx.saved_tensors[0] * g

    x = leaf()
    y = Square.apply(x)
    y = (y[0] if several else y).sum()
    y.backward()
    check(explain(y, x), "freed", "SquareBackward", connected=True)


def test_freed_elsewhere_is_a_remark():
    x, w = leaf(), leaf()
    used = w * w
    used.sum().backward()
    y = (used + x).sum()
    why = explain(y, x)
    check(why, "connected", "backward() raises all the same, because of MulBackward0",
          connected=True)  # fmt: skip
    wg.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        (used + x).sum().backward()


def test_modified_in_place():
    x = leaf()
    y = x.exp()
    check(explain(y.sum(), x), "connected", connected=True)
    y.add_(1)
    why = explain(y.sum(), x)
    check(why, "modified_in_place", "needed by ExpBackward0", "changed by add_", connected=True)


def test_modified_in_place_through_a_view():
    x = leaf()
    y = x.exp()
    y[0].mul_(2)
    check(explain(y.sum(), x), "modified_in_place", "needed by ExpBackward0", connected=True)


def test_once_differentiable():
    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @wg.autograd.function.once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = leaf()
    (dx,) = wg.autograd.grad(Twice.apply(x).sum(), x, create_graph=True)
    check(explain(dx.sum(), x), "once_differentiable", "Twice", connected=True)


@pytest.mark.parametrize("operation", ["round", "floor", "ceil", "trunc", "sign"])
def test_zero(operation):
    x = leaf()
    y = getattr(x * 2, operation)().sum()
    why = explain(y, x)
    check(why, "zero", "constant except for jumps", y.grad_fn.next_functions[0][0].name(),
          connected=True)  # fmt: skip
    check(explain(y + x.sum(), x), "connected", connected=True)


# -- there is none ---------------------------------------------------------------------------------


def test_not_watched():
    x = wg.ones(2)
    check(explain((x * 2).sum(), x), "not_watched", "requires_grad=True where input is made")


def test_not_watched_integers():
    x = wg.tensor([1, 2])
    check(explain((x * 2).sum(), x), "not_watched", "input.float().requires_grad_()")


def test_not_watched_any_more():
    x = leaf()
    y = (x * 2).sum()
    x.requires_grad_(False)
    check(explain(y, x), "not_watched", "was switched off since")


CUTS = {
    ".detach()": lambda y: y.detach(),
    ".detach_()": lambda y: y.clone().detach_(),
    ".data": lambda y: y.data,
    ".numpy()": lambda y: wg.from_numpy(y.numpy(force=True)),
    ".tolist()": lambda y: wg.tensor(y.tolist()),
    ".item()": lambda y: wg.tensor(y.item()),
    "float()": lambda y: wg.tensor(float(y)),
    "int()": lambda y: wg.tensor(int(y)) * 1.0,
    "complex()": lambda y: wg.tensor(complex(y)),
    "asarray(t)": lambda y: wg.asarray(y, requires_grad=False),
    "Variable(t)": lambda y: wg.autograd.Variable(y),
}


@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.parametrize("with_graph", [False, True])
def test_detached(kind, with_graph):
    x = leaf(3.0)
    y = x * 2
    z = CUTS[kind](y)
    out = z * leaf(1.0) if with_graph else z * 2
    why = explain(out, x)
    # clone() has made a node that is gone
    if kind == ".detach_()" and not with_graph:
        check(why, "no_graph", kind, "is not known", certain=False)
        assert why.sites == ()
        return
    # the product with a leaf holds what was cut; numbers are copies
    certain = with_graph and kind in detachments.SHARING
    if kind == ".detach_()":
        check(why, "no_path", kind, "is not known", certain=False)
        return
    check(why, "detached", kind, "clone() copies within the graph", certain=certain)
    assert len(why.sites) == 1
    assert why.sites[0].startswith("test_explain.py:")
    assert why.sites[0].endswith(f'"{kind}": {inspect.getsource(CUTS[kind]).strip()}'[-10:])


def test_detached_shows_file_and_line():
    x = leaf()
    y = x * 2
    z = y.detach()
    place = here(above=1)
    why = explain(z.view(2), x)
    check(why, "detached", f".detach()  {place}z = y.detach()", "trains nothing")
    assert why.sites == (f"{place}z = y.detach()",)


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.filterwarnings("ignore:Converting a tensor")
def test_detached_by_tensor():
    x = leaf(3.0)
    y = x * 2
    check(explain(wg.tensor(y), x), "detached", "tensor(t)", here(), certain=False)
    check(explain(wg.tensor([y, y]), x), "detached", "tensor([t])", here(), "stack() joins",
          certain=False)  # fmt: skip
    check(explain(x.new_tensor(y), x), "detached", ".new_tensor(t)", here(), certain=False)


def test_detached_by_numpy_under_no_grad():
    x = leaf()
    y = x * 2
    with wg.no_grad():
        z = wg.from_numpy(np.asarray(y))
    check(explain(z, x), "detached", "np.asarray()", here(above=1))


def test_detached_leaf():
    x = leaf()
    check(explain(x.detach() * leaf(), x), "detached", here())


def test_detached_from_one_of_several_outputs():
    x = leaf()
    a, b = x.unbind()
    check(explain(b.detach() * leaf(5.0), a), "no_path")
    check(explain(a.detach() * leaf(5.0), a), "detached")


def test_detached_value_that_is_gone_is_not_known():
    x = leaf()
    why = explain((x * 2).detach().sum(), x)
    check(why, "no_graph", here(above=1), "is not known", certain=False)
    why = explain(((x * 2).detach() * leaf()).sum(), x)
    check(why, "no_path", here(above=1), "is not known", certain=False)
    assert why.sites == ()


def test_detached_memory_of_the_input_by_a_cut_that_is_forgotten():
    x = leaf()
    z = x.detach()
    detachments._HERE.notes.clear()
    check(explain(z, x), "detached", "shares the memory of input")


def test_cuts_of_unrelated_tensors_are_not_blamed():
    x, w, v = leaf(), leaf(), leaf()
    y = w * 2
    y.detach()
    check(explain((v * v).sum(), x), "no_path")


def test_cuts_after_the_output_are_not_blamed():
    x, w = leaf(), leaf()
    y = (w * w).sum()
    later = y * 2
    float(y)
    later.detach()
    why = explain(y, x)
    check(why, "no_path")
    assert why.sites == ()


def test_numbers_are_blamed_last():
    x = leaf(3.0)
    y = x * 2
    z = y.detach()
    place = here(above=1)
    print(float(y))
    for out, certain in ((z, True), (z * 2, False)):
        why = explain(out, x)
        check(why, "detached", certain=certain)
        assert why.sites == (f"{place}z = y.detach()",)


CASTS = {
    ".long()": lambda y: y.long(),
    ".int()": lambda y: y.int(),
    ".bool()": lambda y: y.bool(),
    ".to(int32)": lambda y: y.to(wg.int32),
    "argmax()": lambda y: y.argmax(),
    "argmin()": lambda y: wg.argmin(y),
}


@pytest.mark.parametrize("kind", CASTS)
def test_cast(kind):
    x = leaf()
    y = x * 2
    z = CASTS[kind](y)
    kind_of_values = "boolean" if kind == ".bool()" else "integer"
    why = explain(z, x)
    check(why, "cast", kind, f"is {kind_of_values}", "softmax for argmax")
    assert why.sites[0].startswith("test_explain.py:")
    why = explain(z.double() * leaf(5.0), x)
    check(why, "cast", kind, "softmax for argmax", certain=False)
    assert why.sites[0].startswith("test_explain.py:")


def test_cast_by_comparison():
    x = leaf()
    check(explain(x > 1, x), "cast", "is boolean", "sigmoid for a comparison")


def test_conversion_between_floats_is_no_cut():
    x = leaf()
    assert explain(x.float().sum(), x).cause == "connected"
    assert not detachments.recent()


def test_no_grad_keeps_nothing_so_it_is_not_blamed():
    x = leaf()
    with wg.no_grad():
        place = here(above=1)
        y = x * 2
    why = explain(y.sum(), x)
    check(why, "no_graph", "Why is not known", f"no_grad()  {place}with wg.no_grad():",
          certain=False)  # fmt: skip
    assert why.sites == ()


def test_no_grad_of_a_view_is_certain():
    x = leaf()
    with wg.no_grad():
        pass
    with wg.no_grad():
        y = x[0]
        place = here(above=1)
    with wg.no_grad():
        pass
    why = explain(y, x)
    check(why, "no_grad", place, "a view that was made while nothing was recorded")
    assert why.sites == (f"{place}y = x[0]",)


def test_no_grad_of_a_view_in_the_graph():
    x, w = leaf(), leaf(5.0)
    with wg.no_grad():
        y = x[0]
        place = here(above=1)
    check(explain(y * w, x), "no_grad", place, "ends also at a view")
    check(explain(y * w, w), "connected", connected=True)
    why = explain(y * w, leaf())
    check(why, "no_path", "is not known", certain=False)
    assert why.sites == ()
    check(explain(y * w, y), "no_grad", "requires_grad is True, and no gradient arrives")


def test_no_grad_of_a_view_of_what_was_computed():
    x, w = leaf(), leaf(5.0)
    y = x * 2
    with wg.no_grad():
        v = y[1]
        place = here(above=1)
        u = w.view(1)
    for out in (v * w, v * u.sum() * w):
        why = explain(out, x)
        check(why, "no_grad", place)
        assert why.sites == (f"{place}v = y[1]",)


def test_switches_are_candidates_by_every_name():
    x = leaf()
    with wg.set_grad_enabled(False):
        place = here(above=1)
        y = x * 2

    @wg.no_grad()
    def double(x):
        return x * 2

    y = double(x)
    called = here(above=1)
    why = explain(y, x)
    check(why, "no_graph", "set_grad_enabled(False)", place, f"{called}y = double(x)",
          certain=False)  # fmt: skip
    assert why.sites == ()
    with wg.set_grad_enabled(True), wg.enable_grad():
        pass
    assert len(detachments.recent()) == 2


def test_no_grad_now():
    x = leaf()
    with wg.no_grad():
        detachments._HERE.notes.clear()
        check(explain(x * 2, x), "no_graph", "Recording is switched off here")


# -- wrong blame -----------------------------------------------------------------------------------


def test_several_no_grad_blocks_of_which_one_is_on_the_path():
    x, w = leaf(), leaf()
    with wg.no_grad():
        w.mul_(0.9)
    with wg.no_grad():
        y = x * 2
    with wg.no_grad():
        w * 2
    for out in (y, y * 3, y * w):
        why = explain(out, x)
        assert why.cause == ("no_path" if out.requires_grad else "no_graph")
        assert not why.certain
        assert why.sites == ()


@pytest.mark.parametrize(
    "cut", [lambda t: t.detach(), lambda t: t.data, lambda t: t.numpy(force=True)]
)
def test_a_block_beside_a_cut_that_is_held_is_not_named(cut):
    x, w = leaf(), leaf()
    y = x * 2
    with wg.no_grad():
        w.mul_(0.9)
    z = wg.as_tensor(cut(y))
    with wg.no_grad():
        w.mul_(0.9)
    w.detach()
    for out in (z, z[0], z * w, (z * w).sum() * 3, z.clone().copy_(z) * w + z * w):
        why = explain(out, x)
        check(why, "detached")
        assert "no_grad" not in str(why)
        assert "w.detach()" not in str(why)
        assert len(why.sites) == 1


def test_memory_is_compared_by_its_elements():
    x = leaf((1.0, 2.0, 3.0, 4.0))
    y = x * 2
    even, odd = y[::2], y[1::2]
    even.data.numpy()
    z = odd.detach()
    place = here(above=1)
    why = explain(z, x)
    check(why, "detached")
    assert why.sites == (f"{place}z = odd.detach()",)


def test_a_cut_to_log_is_no_certain_cause():
    x, w = leaf(), leaf()
    y = x * 2
    y.detach()
    with wg.no_grad():
        z = y * 2
    for out in (z, z.sum(), z * w, wg.ones(2), w * w):
        assert not explain(out, x).certain, out


def test_an_integer_does_not_name_a_cut_that_gives_none():
    x, w = leaf(), leaf()
    x.detach()
    w.long()
    why = explain((x > 1) * 1, x)
    check(why, "cast")
    assert why.sites == ()
    assert "w.long()" not in str(why)
    assert "x.detach()" not in str(why)


def test_a_conversion_and_a_detach_are_not_told_apart():
    x = leaf()
    y = x * 2
    y.long()
    z = y.detach().exp()
    check(explain(z, x), "no_graph", ".long()", ".detach()", certain=False)


def test_a_leaf_that_requires_no_gradient_is_the_cause_whatever_was_cut():
    x, w = wg.ones(2), leaf()
    with wg.no_grad():
        w.mul_(0.9)
    w.detach()
    why = explain((x * w).sum(), x)
    check(why, "not_watched")
    assert "no_grad" not in str(why)
    assert "detach" not in str(why)


def test_a_leaf_made_without_recording_is_an_end_of_the_graph():
    x = leaf()
    with wg.no_grad():
        made = (x * 2).requires_grad_()
    why = explain(made * 3, x)
    check(why, "no_path", "is not known", certain=False)
    assert why.sites == ()
    with wg.no_grad():
        x.mul_(1.0)
    check(explain(made * 3, made), "connected", connected=True)
    check(explain(x * 3, x), "connected", connected=True)


def test_a_detached_leaf_that_requires_a_gradient_again_is_known_by_its_memory():
    x, w = leaf(), leaf()
    with wg.no_grad():
        w.mul_(0.9)
    y = x * 2
    made = y.detach().requires_grad_()
    place = here(above=1)
    why = explain((made * 3).sum(), x)
    check(why, "detached", place, "held still")
    assert "no_grad" not in str(why)


def test_a_result_computed_twice_is_explained_by_itself():
    x = leaf()
    with wg.no_grad():
        first = x * x
    second = x * x
    check(explain(first, x), "no_graph", certain=False)
    check(explain(second.sum(), x), "connected", connected=True)
    third = (x * x).detach()
    again = x * x
    check(explain(again.sum(), x), "connected", connected=True)
    assert not explain(third.exp(), x).certain


def test_an_earlier_tensor_that_was_logged_is_not_taken_for_the_same():
    w, other = leaf(), leaf()
    y = (w * w).sum()
    print(w.detach())
    check(explain(y, other), "no_path", "A leaf of the shape of input is among them")


def test_inference_mode():
    x = leaf()
    with wg.no_grad():
        pass
    with wg.inference_mode():
        place = here(above=1)
        y = x * 2
    why = explain(y, x)
    check(why, "no_grad", "made in inference mode", f"inference_mode()  {place}")
    assert len(why.sites) == 1
    with wg.inference_mode():
        pass
    assert explain(y, x).sites == ()


def test_what_the_library_switches_off_is_not_noted():
    class Square(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf()
    Square.apply(x).sum().backward()
    with wg.no_grad(), wg.no_grad():
        pass
    assert [cut.kind for cut in detachments.recent()] == ["no_grad()"]


def test_create_graph():
    x = leaf()
    (x * x).sum().backward()
    check(explain(x.grad, x), "create_graph", "create_graph=True to backward()")


def test_no_path():
    x, w = leaf((1.0, 2.0, 3.0)), leaf()
    why = explain((w * w).sum(), x)
    check(why, "no_path", "ends at: float64 [2]", "allow_unused=True")
    assert why.path == ()
    assert why.sites == ()


def test_no_path_mentions_a_leaf_of_the_same_shape():
    check(explain(leaf().sum(), leaf()), "no_path", "A leaf of the shape of input is among them")


def test_no_path_lists_where_recording_was_off():
    x, w = leaf(), leaf((1.0,))
    with wg.no_grad():
        place = here(above=1)
    check(explain((w * w).sum(), x), "no_path", "recording was switched off", place, certain=False)


def test_no_path_from_another_output_of_the_same_node():
    a, b = leaf().unbind()
    assert explain(a, b).cause == "no_path"
    assert explain(b, b).cause == "not_a_leaf"


def test_no_path_from_a_leaf():
    x = leaf()
    loss = wg.tensor(1.0, requires_grad=True)
    check(explain(loss, x), "no_path", "output is a leaf", "trains nothing")


def test_no_graph():
    x = leaf()
    y = wg.ones(2).sum()
    check(explain(y, x), "no_graph", "nothing was recorded", "Was output computed from input")


def test_overwritten():
    x = leaf()
    y = (x * x).sum()
    x = x * 0.1
    why = explain(y, x)
    check(why, "overwritten", "x = x * 0.1", "from which input was made", "no_grad()")


def test_overwritten_by_a_new_leaf():
    w = leaf()
    y = (w * w).sum()
    y.backward()
    new = w.detach().requires_grad_()
    check(explain(y, new), "overwritten", "a step of an optimizer")
    w.grad = None
    new = (w.detach() * 0.9).requires_grad_()
    check(explain(y, new), "no_path", "is it an earlier one of its name?")


def test_not_overwritten_by_what_came_before():
    x = leaf()
    unused = x * 0.1
    assert explain((x * x).sum(), unused).cause == "no_path"


def test_arguments_must_be_tensors():
    with pytest.raises(TypeError, match="input must be a Tensor, not float"):
        explain(leaf(), 1.0)
    with pytest.raises(TypeError, match="output must be a Tensor, not ndarray"):
        explain(np.ones(1), leaf())


# -- the notes -------------------------------------------------------------------------------------


def test_the_error_of_backward_shows_the_cuts():
    x = leaf(2.0)
    p = (x * 3).detach()
    place = here(above=1)
    for _ in range(3):
        float(x)
    with pytest.raises(RuntimeError, match="does not require grad and does not") as info:
        (p * p).backward()
    text = str(info.value)
    assert f".detach()  {place}p = (x * 3).detach()" in text
    assert "float(x)  (3 times)" in text
    assert text.index("float()") < text.index(".detach()")
    assert "trains nothing" in text


def test_the_error_of_backward_without_cuts_lists_what_cuts():
    with pytest.raises(RuntimeError, match="no input had requires_grad=True"):
        wg.ones(()).backward()


def test_the_error_of_backward_of_integers():
    with pytest.raises(RuntimeError, match="integer values carry no gradient"):
        leaf().argmax().backward()


def test_the_error_of_backward_says_that_recording_is_off():
    with wg.no_grad(), pytest.raises(RuntimeError, match="Recording is switched off here"):
        (leaf(1.0) * 2).backward()


def test_the_error_of_grad_names_explain():
    with pytest.raises(RuntimeError, match=r"appears to not have been used in the graph.*explain"):
        wg.autograd.grad(leaf(1.0) * 2, leaf(1.0))


def test_notes_keep_nothing_alive():
    x = leaf()
    big = x * 2
    node, tensor, source = weakref.ref(big.grad_fn), weakref.ref(big), weakref.ref(x)
    gc.disable()
    try:
        big.detach()
        x.detach()
        a, b = x.unbind()
        a.detach()
        del big, x, a, b
        assert node() is None
        assert tensor() is None
        assert source() is None
    finally:
        gc.enable()
    assert [cut._edge for cut in detachments.recent()] == [None] * 3


def test_notes_are_the_last_sixteen():
    x = leaf(1.0)
    x.detach()
    for _ in range(16):
        float(x)
    assert [cut.kind for cut in detachments.recent()] == ["float()"] * 16


def test_threads_do_not_mix():
    x = leaf()
    found = {}
    barrier = threading.Barrier(4, timeout=60)

    def work(i):
        y = x * i
        operation = (".detach()", ".data")[i % 2]
        for _ in range(5):
            barrier.wait()
            CUTS[operation](y)
        barrier.wait()
        found[i] = {cut.kind for cut in detachments.recent()}

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: {".detach()"}, 1: {".data"}, 2: {".detach()"}, 3: {".data"}}
    assert not detachments.recent()


def test_a_cut_that_no_line_of_python_called_is_not_noted():
    import _thread

    x, done = leaf(1.0), threading.Event()

    class Told(list):
        def __del__(self):
            done.set()

    told = Told()
    _thread.start_new_thread(x.detach, ())
    _thread.start_new_thread(wg.no_grad().__enter__, ())
    _thread.start_new_thread(told.clear, ())
    del told
    assert done.wait(60)
    assert not detachments.recent()


def test_a_subclass_shows_the_users_line():
    class Mine(wg.Tensor):
        pass

    x = leaf().as_subclass(Mine)
    y = x * 2
    y.detach()
    assert here(above=1) in detachments.told(detachments.recent())[0]


def test_deep_graphs():
    x, w = leaf(1.0), leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    z = y.detach()
    why = explain(y, x)
    assert len(why.path) == 100_001
    assert "(99994 more)" in str(why)
    assert explain(y, w).cause == "no_path"
    assert explain(z * w, x).cause == "detached"
