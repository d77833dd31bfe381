"""Test that attributes of any name may be set on ctx."""

import pytest

import wengert as wg


def made(name):
    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, name, "mine")
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert getattr(ctx, name) == "mine"
            assert len(ctx.saved_tensors) == 1
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            assert getattr(ctx, name) == "mine"
            return t * 2

    return Twice


def names_of_nodes():
    node = made("free").apply(wg.ones(2, requires_grad=True)).grad_fn
    known = {
        name
        for cls in type(node).__mro__
        for name in (*vars(cls), *getattr(cls, "__annotations__", ()))
    }
    # PyTorch's own
    theirs = {"metadata", "name", "next_functions", "saved_tensors", "needs_input_grad"}
    return sorted(name for name in known - theirs if not name.startswith("_"))


@pytest.mark.parametrize("name", names_of_nodes())
def test_no_name_is_in_the_way(name):
    Twice, x = made(name), wg.ones(2, requires_grad=True)
    y = Twice.apply(x)
    y.register_hook(lambda g: None)
    y.grad_fn.register_hook(lambda a, b: None)
    y.sum().backward(create_graph=name != "release")
    assert x.grad.tolist() == [2.0, 2.0]
    assert wg.func.jvp(Twice.apply, (wg.ones(2),), (wg.ones(2),))[1].tolist() == [2.0, 2.0]


def test_they_are_there_on_the_node_and_until_ctx_is_gone():
    kept = []

    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.seq, ctx.other = 7, 8
            del ctx.other
            kept.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.seq += 1
            return g * 2

    y = Twice.apply(wg.ones(2, requires_grad=True))
    y.sum().backward()
    (ctx,) = kept
    assert vars(ctx) == {"seq": 8}
    assert not hasattr(y.grad_fn, "other")
    with pytest.raises(AttributeError, match=r"TwiceBackward.*no attribute 'other'"):
        ctx.other  # noqa: B018
    del y
    assert ctx.seq == 8
    assert ctx.name() == "TwiceBackward"
