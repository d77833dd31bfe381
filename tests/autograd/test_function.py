"""Test `autograd.Function`: operations with a user's forward and backward."""

import pytest

import wengert as wg
from wengert.autograd import Function, gradcheck, gradgradcheck


def leaf(values, dtype=wg.float64):
    return wg.tensor(values, dtype=dtype, requires_grad=True)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


def test_forward_and_backward():
    x = leaf([1.0, 2.0])
    y = Square.apply(x)
    assert y.tolist() == [1.0, 4.0]
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("function", [Square, Exp])
def test_any_order(function):
    x = leaf([0.5, 1.5])
    assert gradcheck(function.apply, x)
    assert gradgradcheck(function.apply, x)
    y = function.apply(x)
    for _ in range(2):
        (y,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    assert y.tolist() == pytest.approx([2.0, 2.0] if function is Square else x.exp().tolist())


def test_the_node_is_named_after_the_class():
    y = Square.apply(leaf([1.0]))
    assert y.grad_fn.name() == "SquareBackward"
    assert type(y.grad_fn).__name__ == "SquareBackward"
    assert repr(y) == "tensor([1.], dtype=torch.float64, grad_fn=<SquareBackward>)"
    ((producer, index),) = y.grad_fn.next_functions
    assert producer.name() == "torch::autograd::AccumulateGrad" and index == 0


def test_without_a_gradient_nothing_is_recorded():
    x = wg.tensor([1.0])
    assert Square.apply(x).grad_fn is None
    with wg.no_grad():
        assert Square.apply(leaf([1.0])).grad_fn is None


def test_forward_runs_without_recording():
    class Look(Function):
        @staticmethod
        def forward(ctx, x):
            assert not wg.is_grad_enabled()
            assert not (x * 2).requires_grad
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert not wg.is_grad_enabled()
            return grad * 2

    assert wg.is_grad_enabled()
    Look.apply(leaf([1.0])).sum().backward()
    assert wg.is_grad_enabled()


def test_backward_records_under_create_graph():
    class Look(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert wg.is_grad_enabled()
            return grad * 2

    x = leaf([1.0])
    wg.autograd.grad(Look.apply(x).sum(), x, create_graph=True)


def test_several_inputs_and_outputs():
    class SumAndProduct(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a + b, a * b

        @staticmethod
        def backward(ctx, by_sum, by_product):
            a, b = ctx.saved_tensors
            return by_sum + by_product * b, by_sum + by_product * a

    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    assert gradcheck(SumAndProduct.apply, (a, b))
    assert gradgradcheck(SumAndProduct.apply, (a, b))
    total, product = SumAndProduct.apply(a, b)
    assert total.grad_fn is product.grad_fn
    product.sum().backward()  # the other output's gradient is zeros
    assert a.grad.tolist() == [3.0, 4.0]


def test_arguments_that_are_no_tensors():
    class Power(Function):
        @staticmethod
        def forward(ctx, x, exponent, options):
            ctx.exponent, ctx.scale = exponent, options["scale"]
            ctx.save_for_backward(x)
            return x**exponent * ctx.scale

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.exponent * x ** (ctx.exponent - 1) * ctx.scale, None, None

    x = leaf([1.0, 2.0])
    assert gradcheck(lambda x: Power.apply(x, 3, {"scale": 2.0}), x)
    y = Power.apply(x, 3, {"scale": 2.0})
    assert len(y.grad_fn.next_functions) == 1


def test_needs_input_grad():
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.save_for_backward(a, b)
            return a * b * c

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.needs_input_grad)
            _, b = ctx.saved_tensors
            return grad * b, None, None

    Product.apply(leaf([1.0]), wg.tensor([2.0], dtype=wg.float64), 1.0).sum().backward()
    assert seen == [(True, False, False)]


def test_none_is_no_gradient():
    class First(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    a, b = leaf([1.0]), leaf([2.0])
    First.apply(a, b).sum().backward()
    assert a.grad.tolist() == [1.0] and b.grad is None


def test_setup_context():
    class Scale(Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.factor = inputs
            assert output.shape == inputs[0].shape

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    x = leaf([1.0, 2.0])
    assert gradcheck(lambda x: Scale.apply(x, 3.0), x)
    assert gradgradcheck(lambda x: Scale.apply(x, 3.0), x)


@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
def test_an_input_that_is_returned_is_not_saved_by_setup_context(save):
    class Same(Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            getattr(ctx, save)(output)

        @staticmethod
        def backward(ctx, grad):
            return grad

    for call in (Same.apply, wg.func.grad(lambda x: Same.apply(x).sum())):
        with pytest.raises(RuntimeError, match="An input that has been returned as-is"):
            call(leaf([1.0]))


def test_mark_non_differentiable():
    class SortOf(Function):
        @staticmethod
        def forward(ctx, x):
            index = x.argmax()
            mask = (x > 1).double()
            ctx.mark_non_differentiable(index, mask)
            return x * 2, index, mask

        @staticmethod
        def backward(ctx, grad, *others):
            return grad * 2

    x = leaf([1.0, 2.0])
    y, index, mask = SortOf.apply(x)
    assert y.requires_grad and not index.requires_grad and not mask.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_set_materialize_grads():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, one, two):
            seen.append((one is None, two is None))
            return one

    x = leaf([1.0])
    Two.apply(x)[0].sum().backward()
    assert seen == [(False, True)]


def test_mark_dirty():
    class DoubleInPlace(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf([1.0, 2.0])
    y = x * 1
    z = DoubleInPlace.apply(y)
    assert z is y
    assert y.grad_fn.name() == "DoubleInPlaceBackward"
    assert y._version >= 1
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_mark_dirty_of_a_leaf_is_refused():
    class DoubleInPlace(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        DoubleInPlace.apply(leaf([1.0]))


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @wg.autograd.function.once_differentiable
        def backward(ctx, grad):
            assert not wg.is_grad_enabled()
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    x = leaf([3.0])
    assert gradcheck(Once.apply, x)
    (g,) = wg.autograd.grad((Once.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was mark"
    ):
        g.sum().backward()


def test_once_differentiable_with_a_list_of_gradients():
    class Once(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        @wg.autograd.function.once_differentiable
        def backward(ctx, grads):
            return grads.pop() * 3

    x = leaf([3.0])
    (g,) = wg.autograd.grad((Once.apply(x) ** 2).sum(), x, create_graph=True)
    assert g.tolist() == [54.0]
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked"):
        g.sum().backward()


def test_a_list_of_gradients_in_transforms():
    class Square(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grads):
            (x,) = ctx.saved_tensors
            return grads.pop() * 2 * x

    x = wg.tensor([1.0, 2.0])
    assert wg.func.grad(lambda x: Square.apply(x).sum())(x).tolist() == [2, 4]
    assert wg.func.vmap(wg.func.grad(Square.apply))(x).tolist() == [2, 4]
    assert wg.func.vmap(wg.func.grad(wg.func.grad(Square.apply)))(x).tolist() == [2, 2]


def test_an_input_that_is_returned():
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf([1.0])
    y = Identity.apply(x)
    assert y is not x and y.grad_fn.name() == "IdentityBackward"
    y.sum().backward()
    assert x.grad.tolist() == [3.0]


# -- refusals -------------------------------------------------------------------------------------


def returning(make):
    class Returning(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, grad):
            return make(grad)

    return Returning.apply(leaf([1.0, 2.0]), leaf([3.0, 4.0])).sum()


def test_backward_must_return_as_many_gradients_as_there_were_inputs():
    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients"):
        returning(lambda g: g).backward()
    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients"):
        returning(lambda g: (g, g, g)).backward()
    returning(lambda g: (g, g, None)).backward()  # superfluous Nones are let pass


def test_a_gradient_must_have_its_inputs_shape():
    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0"):
        returning(lambda g: (g[:1].reshape(1, 1).expand(3, 3), g)).backward()


def test_a_gradient_must_be_a_tensor():
    with pytest.raises((TypeError, RuntimeError), match=r"[Vv]ariable|Tensor|tensor"):
        returning(lambda g: (2.0, g)).backward()


def test_the_culprit_is_named():
    with pytest.raises(RuntimeError, match="ReturningBackward"):
        returning(lambda g: g).backward()


def test_a_second_backward_is_refused():
    x = leaf([1.0])
    y = Square.apply(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_saved_tensors_are_watched():
    x = leaf([1.0, 2.0])
    y = Exp.apply(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_only_tensors_can_be_saved():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(TypeError, match="save_for_backward can only save variables"):
        Saves.apply(leaf([1.0]))


def test_none_can_be_saved():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            x, nothing = ctx.saved_tensors
            assert nothing is None and x.tolist() == [1.0]
            return grad

    Saves.apply(leaf([1.0])).sum().backward()


def test_a_function_is_not_called_by_its_constructor():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = Square()
    with pytest.raises((RuntimeError, TypeError)):
        function(leaf([1.0]))


def test_an_exception_in_backward_leaves_everything_as_it_was():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("here")

    x = leaf([1.0])
    with pytest.raises(KeyError):
        Fails.apply(x).sum().backward()
    assert x.grad is None and wg.is_grad_enabled()


def test_an_exception_in_forward_restores_the_mode():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("here")

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(KeyError):
        Fails.apply(leaf([1.0]))
    assert wg.is_grad_enabled()


# -- outputs that are not tensors ------------------------------------------------------------------


def test_backward_gets_a_gradient_for_each_output_also_for_what_is_no_tensor():
    seen = []

    class Several(Function):
        @staticmethod
        def forward(ctx, x, y, scale):
            return scale, x * scale, None, True, y * scale, "text", x

        @staticmethod
        def backward(ctx, *grads):
            seen.append(grads)
            return 2 * grads[1] + grads[6], 2 * grads[4], None

    x, y = (wg.ones(2, requires_grad=True) for _ in range(2))
    made = Several.apply(x, y, 2)
    assert (made[0], made[2], made[3], made[5]) == (2, None, True, "text")
    assert [made[i].output_nr for i in (1, 4, 6)] == [1, 4, 6]
    wg.autograd.backward([made[1].sum(), made[6].sum()])
    assert [None if g is None else g.tolist() for g in seen[0]] == [
        None,
        [1, 1],
        None,
        None,
        [0, 0],
        None,
        [1, 1],
    ]
    assert x.grad.tolist() == [3, 3]
    assert y.grad.tolist() == [0, 0]


@pytest.mark.parametrize("other", [None, 5, "text", [wg.ones(1)]])
@pytest.mark.parametrize("first", [True, False])
def test_of_a_tensor_and_something_else_gradients_do_not_shift(first, other):
    shown = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2, other) if first else (other, x * 2)

        @staticmethod
        def backward(ctx, *grads):
            assert len(grads) == 2
            assert grads[first] is None
            return grads[not first] * 2

    x = wg.ones(2, requires_grad=True)
    made = Two.apply(x)
    y = made[not first]
    assert made[first] is other
    y.grad_fn.register_prehook(lambda grads: shown.append([g is None for g in grads]))
    y.register_hook(lambda grad: shown.append(grad.tolist()))
    (y * 3).sum().backward()
    assert x.grad.tolist() == [6, 6]
    assert shown == [[3, 3], [first is False, first]]
    assert wg.autograd.grad(Two.apply(x)[not first].sum(), x)[0].tolist() == [2, 2]


def test_a_single_result_that_is_no_tensor_is_given_back():
    class Counts(Function):
        @staticmethod
        def forward(ctx, x):
            return 5

        @staticmethod
        def backward(ctx, grad):
            raise AssertionError

    assert Counts.apply(wg.ones(1, requires_grad=True)) == 5


class Stop(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return None


@pytest.mark.parametrize("create_graph", [False, True])
def test_zeros_in_place_of_none_are_tensors(create_graph):
    x = leaf([1.0, 2.0])
    (grad,) = wg.autograd.grad(Stop.apply(Square.apply(x)).sum(), x, create_graph=create_graph)
    assert isinstance(grad, wg.Tensor)
    assert grad.tolist() == [0.0, 0.0]
    (grad,) = wg.autograd.grad(Stop.apply(Exp.apply(x + x)).sum(), x, create_graph=create_graph)
    assert grad.tolist() == [0.0, 0.0]


def test_zeros_for_marked_outputs_may_be_declined():
    class Marked(Function):
        @staticmethod
        def forward(ctx, x, zeros):
            a, b = x.clone(), x.clone()
            ctx.mark_non_differentiable(b)
            if not zeros:
                ctx._materialize_non_diff_grads = False
            return a, b

        @staticmethod
        def backward(ctx, a, b):
            seen.append(b)
            return a, None

    seen = []
    x = wg.ones(2, requires_grad=True)
    for zeros in (True, False):
        Marked.apply(x, zeros)[0].sum().backward()
    assert seen[0].tolist() == [0, 0]
    assert seen[1] is None


def test_a_list_of_outputs_is_a_value_without_history():
    class Listed(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3]

    made = Listed.apply(wg.ones(2, requires_grad=True))
    assert isinstance(made, list)
    assert [(out.requires_grad, out.grad_fn) for out in made] == [(False, None)] * 2
    assert [out.tolist() for out in made] == [[2.0, 2.0], [3.0, 3.0]]
