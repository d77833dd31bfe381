"""Test custom Functions that write to inputs, return them, or return views."""

import weakref

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


def view_function(t, pure):
    class First(t.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            ctx._is_pure_view = pure
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            First.calls += 1
            return t.cat([g, t.zeros_like(g)])

    return First


def test_a_pure_view_is_written_to_as_any_view(t):
    first = view_function(t, True)
    a = t.tensor([1.0, 2.0], requires_grad=True)
    b = a.clone()
    view = first.apply(b)
    view.mul_(3)
    assert first.calls == 0
    b.sum().backward()
    assert a.grad.tolist() == [3.0, 1.0]
    assert first.calls == 0


def test_a_pure_view_that_nobody_writes_to_has_its_own_derivative(t):
    first = view_function(t, True)
    a = t.tensor([1.0, 2.0], requires_grad=True)
    first.apply(a.clone()).sum().backward()
    assert first.calls == 1
    assert a.grad.tolist() == [1.0, 0.0]


def test_a_pure_view_has_one_input_and_one_output(t):
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx._is_pure_view = True
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, *g):
            return t.cat(g)

    with pytest.raises(RuntimeError, match="can only have one input Tensor and one output Tensor"):
        Two.apply(t.ones(2, requires_grad=True))


def test_a_view_made_in_a_function_of_what_has_no_history_is_not_written_to(t):
    first = view_function(t, False)
    b = t.ones(1, requires_grad=True)
    view = first.apply(t.ones(2))
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        view.mul_(b)
    view = t.ones(2, 1).unbind()[0]
    with pytest.raises(RuntimeError, match="a function that returns multiple views"):
        view.mul_(b)


@pytest.mark.parametrize("rewrite", ["t_", "squeeze_", "unsqueeze_", "transpose_"])
@pytest.mark.parametrize("kind", ["several", "function"])
def test_a_view_whose_shape_changed_unrecorded_is_what_it_was(t, rewrite, kind):
    base = t.ones(2, 3, requires_grad=True).clone()
    view = base.unbind()[0] if kind == "several" else view_function(t, False).apply(base)
    args = {"transpose_": (0, 0), "squeeze_": (0,), "unsqueeze_": (0,)}.get(rewrite, ())
    with t.no_grad():
        getattr(view, rewrite)(*args)
    reason = "returns multiple views" if kind == "several" else "inside a custom Function"
    with pytest.raises(RuntimeError, match=reason):
        view.add_(1)


def test_a_view_of_a_new_tensor_is_not_marked_as_written_to(t):
    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.clone().view_as(x)
            ctx.mark_dirty(out)
            return out

    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        Wrong.apply(t.ones(1, requires_grad=True).clone())


def test_both_names_of_the_reverse_rule_are_refused(t):
    class Both(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(t.ones(1, requires_grad=True)).backward()


@pytest.mark.parametrize("bound", [False, True])
def test_defaults_of_forward_are_given_to_setup_context(t, bound):
    def forward(x, power=3):
        return x**power

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.power = inputs[1]

    def backward(ctx, g):
        return g * ctx.power * ctx.saved_tensors[0] ** (ctx.power - 1), None

    class Power(t.autograd.Function):
        pass

    for rule in (forward, setup_context, backward):
        if bound:
            made = classmethod(lambda cls, *args, rule=rule: rule(*args))
            if rule is forward:
                made = classmethod(lambda cls, x, power=3: forward(x, power))
        else:
            made = staticmethod(rule)
        setattr(Power, rule.__name__, made)
    x = t.tensor(2.0, requires_grad=True)
    Power.apply(x).backward()
    assert x.grad == 12


def test_what_is_saved_may_be_let_go_of_when_it_is_read(t):
    class Reads(t.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x, times):
            ctx.save_for_backward(x)
            ctx.times = times
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            for _ in range(ctx.times):
                (x,) = ctx.saved_tensors
            gone = weakref.ref(x)
            del x
            assert gone() is None
            return g, None

    x = t.ones(2, requires_grad=True)
    Reads.apply(x.clone(), 1).sum().backward()
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Reads.apply(x.clone(), 2).sum().backward()


def boxed(t, backward, outputs=1, materialize=True):
    """A Function that multiplies by 2, 3 and so on, and takes its gradients in one list."""

    class Boxed(t.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            scaled = tuple(x * (2 + i) for i in range(outputs))
            return scaled if outputs > 1 else scaled[0]

    Boxed.backward = staticmethod(backward)
    return Boxed


@pytest.mark.parametrize("materialize", [True, False])
def test_gradients_may_come_in_a_list(t, materialize):
    def backward(ctx, grads):
        assert type(grads) is list and len(grads) == 2
        first, second = grads
        grads.clear()
        assert first.tolist() == [0, 0] if materialize else first is None
        return second * 3 if first is None else first * 2 + second * 3

    x = t.tensor([1.0, 2.0], requires_grad=True)
    Boxed = boxed(t, backward, 2, materialize)
    Boxed.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_what_leaves_the_list_of_gradients_is_gone(t):
    def backward(ctx, grads):
        (grad,) = grads
        twice, gone = grad * 2, weakref.ref(grad)
        grads.clear()
        del grad
        assert gone() is None
        return twice

    x = t.tensor([1.0, 2.0], requires_grad=True)
    Boxed = boxed(t, backward)
    Boxed.apply(Boxed.apply(x)).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_a_list_of_gradients_may_be_emptied_where_there_are_second_derivatives(t):
    def backward(ctx, grads):
        grad = grads.pop()
        return grad * 2

    x = t.tensor([1.0, 2.0], requires_grad=True)
    Boxed = boxed(t, backward)
    (grad,) = t.autograd.grad((Boxed.apply(x) ** 3).sum(), x, create_graph=True)
    assert grad.tolist() == [24, 96]
    assert t.autograd.grad(grad.sum(), x)[0].tolist() == [48, 96]


def test_what_was_written_to_and_has_no_derivative_is_detached(t):
    class Rounded_(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.round_()
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("there is nothing to run it")

    x = (t.tensor([1.25, 2.75], requires_grad=True) * 2).clone()
    before = x.grad_fn
    y = Rounded_.apply(x)
    assert y is not x and not y.requires_grad and y.is_leaf
    assert y.data_ptr() == x.data_ptr() and y.tolist() == x.tolist() == [2, 6]
    assert x.grad_fn is before and x._version == y._version == 2
    plain = t.tensor([1.25])
    assert Rounded_.apply(plain) is plain


def test_a_recorded_output_without_a_derivative_is_detached(t):
    class Halves(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                recorded = x.detach().requires_grad_() * 2
            ctx.mark_non_differentiable(recorded)
            return recorded, x * 3

        @staticmethod
        def backward(ctx, _, g):
            return 3 * g

    x = t.ones(2, requires_grad=True)
    recorded, tripled = Halves.apply(x)
    assert not recorded.requires_grad and recorded.is_leaf
    tripled.sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("grad", [3, "text", [1.0, 2.0]])
@pytest.mark.parametrize("needed", [True, False])
def test_a_gradient_is_a_tensor_also_where_nobody_asks_for_it(t, grad, needed):
    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, grad

    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=needed)
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got (int|str|list)\)"):
        Wrong.apply(x, y).sum().backward()


def test_what_was_written_to_is_gone_with_its_last_name(t):
    class Same_(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    def gone(view):
        x = t.ones(2, requires_grad=True).clone()
        x = x.view_as(x) if view else x
        Same_.apply(x)
        return weakref.ref(x)

    assert gone(False)() is None
    assert gone(True)() is None


@pytest.mark.parametrize("kind", ["float64", "float16"])
def test_a_gradient_of_another_dtype_is_converted(t, kind):
    class Half(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x / 2

        @staticmethod
        def backward(ctx, g):
            return (g / 2).to(getattr(t, kind))

    x = t.ones(2, requires_grad=True)
    Half.apply(x).sum().backward()
    assert x.grad.dtype is t.float32
    assert x.grad.tolist() == [0.5, 0.5]


def test_what_a_hook_refused_to_save_is_gone_with_its_last_name(t):
    seen = []

    class Keeps(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            seen.append(weakref.ref(y))
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = t.ones(2, requires_grad=True)
    t.utils.checkpoint.checkpoint(Keeps.apply, x, use_reentrant=False).sum().backward()
    assert [ref() for ref in seen] == [None, None]


def test_an_array_may_be_had_while_nothing_is_recorded(t):
    x = t.ones(2, requires_grad=True)
    with t.no_grad():
        array = x.numpy()
        array[0] = 3
    assert x.tolist() == [3.0, 1.0]
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
