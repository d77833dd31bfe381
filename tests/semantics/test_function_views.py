"""Custom Functions that write to their inputs, hand them back, or return views."""

import pytest


def functions(t):
    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Flat(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(2, 2)

    class Halves(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[0], x[1]

        @staticmethod
        def backward(ctx, g, h):
            return t.stack([g, h])

    class Double_(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class DoubleAndMore_(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x, x + 1

        @staticmethod
        def backward(ctx, g, h):
            return 2 * (g + h)

    class Square_(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.clone())
            ctx.mark_dirty(x)
            return x.mul_(x.clone())

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            return y, y

        @staticmethod
        def backward(ctx, g, h):
            return 3 * (g + h)

    class Argmax(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            i, y = x.argmax(), x * 2
            z = x * 5
            ctx.mark_non_differentiable(z)
            return y, i, z

        @staticmethod
        def backward(ctx, g, gi, gz):
            assert gz is not None and (gz == 0).all()
            return 2 * g

    found = dict(locals())
    return type("Functions", (), {k: v for k, v in found.items() if k != "t"})


def base(t):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64, requires_grad=True)
    return x, x * 1


# -- inputs handed back, and views -----------------------------------------------------------------


def test_an_input_handed_back_is_another_tensor_over_the_same_memory(t):
    x, b = base(t)
    y = functions(t).Same.apply(b)
    assert y is not b and y._is_view() and y._base is b
    assert y.grad_fn.name() == "SameBackward"
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_an_input_without_gradient_handed_back(t):
    a = t.zeros(2)
    y = functions(t).Same.apply(a)
    y.add_(1)
    assert a.tolist() == [1.0, 1.0] and not y.requires_grad


@pytest.mark.parametrize("name", ["Same", "Flat"])
def test_what_a_function_returned_of_its_input_refuses_writes(t, name):
    x, b = base(t)
    y = getattr(functions(t), name).apply(b)
    with pytest.raises(RuntimeError, match=f"Output 0 of {name} is a view and is being modified"):
        y.mul_(2)
    assert b.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    y.sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("name", ["Same", "Flat"])
def test_a_write_to_the_input_loses_what_a_function_returned_of_it(t, name):
    _, b = base(t)
    y = getattr(functions(t), name).apply(b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        y * 2


def test_views_returned_by_a_function_carry_its_gradient(t):
    x, b = base(t)
    first, second = functions(t).Halves.apply(b)
    assert first._base is b and second._base is b
    (first * 2 + second * 5).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [5.0, 5.0]]


def test_several_views_returned_by_a_function_refuse_writes(t):
    _, b = base(t)
    first, _ = functions(t).Halves.apply(b)
    with pytest.raises(RuntimeError, match="Output 0 of Halves is a view and is being modified"):
        first.add_(1)


def test_one_result_returned_twice(t):
    x, b = base(t)
    y, z = functions(t).Twice.apply(b)
    (y * 2 + z).sum().backward()
    assert x.grad is not None and set(x.grad.view(-1).tolist()) <= {3.0, 6.0, 9.0}


def test_outputs_without_a_derivative(t):
    x, b = base(t)
    y, i, z = functions(t).Argmax.apply(b)
    assert y.requires_grad and not i.requires_grad and not z.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


# -- writes ----------------------------------------------------------------------------------------


def test_a_dirty_input_is_returned_itself(t):
    x, b = base(t)
    y = functions(t).Double_.apply(b)
    assert y is b and b.grad_fn.name() == "Double_Backward"
    assert b.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    (b * b).sum().backward()
    assert x.grad.tolist() == [[8.0, 16.0], [24.0, 32.0]]


def test_a_dirty_view_rewrites_the_history_of_its_base(t):
    x, b = base(t)
    row = b[0]
    y = functions(t).Double_.apply(row)
    assert y is row and row.grad_fn.name() == "AsStridedBackward0"
    assert b.grad_fn.name() == "torch::autograd::CopySlices"
    (b * b).sum().backward()
    assert x.grad.tolist() == [[8.0, 16.0], [6.0, 8.0]]


def test_views_of_a_dirty_base_follow(t):
    x, b = base(t)
    row = b[0]
    functions(t).Double_.apply(b)
    assert row.tolist() == [2.0, 4.0]
    row.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [0.0, 0.0]]


def test_second_derivatives_through_a_dirty_input(t):
    x, b = base(t)
    y = functions(t).Double_.apply(b).pow(3).sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    assert t.allclose(g, 24 * x.detach() ** 2) and t.allclose(h, 48 * x.detach())


def test_a_dirty_view_allows_one_output_only(t):
    _, b = base(t)
    with pytest.raises(RuntimeError, match="If your Function modifies inplace an input that is a"):
        functions(t).DoubleAndMore_.apply(b[0])


def test_a_dirty_base_with_another_output(t):
    x, b = base(t)
    y, z = functions(t).DoubleAndMore_.apply(b)
    assert y is b
    (y + z).sum().backward()
    assert x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_a_dirty_leaf_is_refused(t):
    x, _ = base(t)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        functions(t).Double_.apply(x)


def test_a_dirty_view_of_a_leaf_is_refused(t):
    x, _ = base(t)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        functions(t).Double_.apply(x[0])


def test_one_of_several_views_as_dirty_input_is_refused(t):
    _, b = base(t)
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns"):
        functions(t).Double_.apply(b.unbind(0)[0])


def test_a_dirty_input_without_gradient(t):
    a = t.ones(2)
    y = functions(t).Double_.apply(a)
    assert y is a and a.tolist() == [2.0, 2.0] and not y.requires_grad


def test_a_dirty_input_under_no_grad(t):
    x, _ = base(t)
    with t.no_grad():
        functions(t).Double_.apply(x)
    assert x.tolist() == [[2.0, 4.0], [6.0, 8.0]] and x.is_leaf


def test_a_write_to_a_saved_input_is_noticed(t):
    x, b = base(t)
    y = functions(t).Square_.apply(b.clone())
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_a_saved_input_changed_after_the_call_is_noticed(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * g * x * x

    _, b = base(t)
    y = Cube.apply(b).sum()
    b.add_(1)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        y.backward()
