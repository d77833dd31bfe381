"""Test user-defined named operations with derivatives (`wengert.library`)."""

import uuid

import numpy as np
import pytest

import wengert as wg
from wengert import library


@pytest.fixture
def cube():
    @library.custom_op(f"here{uuid.uuid4().hex}::cube", mutates_args=())
    def function(x: wg.Tensor, scale: float = 1.0) -> wg.Tensor:
        return scale * x.detach() ** 3

    return function


def keep(ctx, inputs, output):
    x, ctx.scale = inputs
    ctx.save_for_backward(x)


def rule(ctx, g):
    return 3 * ctx.scale * ctx.saved_tensors[0] ** 2 * g, None


def test_the_rule_that_is_registered_is_the_derivative(cube):
    x = wg.randn(3, dtype=wg.float64, requires_grad=True)
    library.register_autograd(cube._qualname, rule, setup_context=keep)
    assert wg.equal(cube(x, 2.0), 2 * x**3) and wg.equal(cube(x), x**3)
    assert wg.autograd.gradcheck(lambda x: cube(x, scale=2.0), (x,))
    assert wg.autograd.gradgradcheck(cube, (x,))
    found = getattr(wg.ops, cube._namespace).cube
    assert found is cube is found.default


def test_without_a_rule_a_gradient_is_an_error(cube):
    y = cube(wg.ones(1, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.backward()


def test_a_batch_is_computed_by_its_rule(cube):
    calls = []

    @cube.register_vmap
    def batched(info, in_dims, x, scale):
        calls.append(info.batch_size)
        return scale * x**3, in_dims[0]

    x = wg.arange(6.0).reshape(2, 3)
    assert wg.equal(wg.vmap(cube)(x), x**3) and calls == [2]


def test_keywords_only_are_kept_apart():
    @library.custom_op(f"here{uuid.uuid4().hex}::f", mutates_args=())
    def f(x: wg.Tensor, *, by: float) -> wg.Tensor:
        return by * x

    seen = []

    def context(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), keyword_only_inputs))
        ctx.by = keyword_only_inputs["by"]

    f.register_autograd(lambda ctx, g: ctx.by * g, setup_context=context)
    x = wg.ones(2, requires_grad=True)
    f(x, by=3.0).sum().backward()
    assert x.grad.tolist() == [3, 3] and seen == [(1, {"by": 3.0})]


def test_arguments_are_written_to_where_that_is_said():
    @library.custom_op(f"here{uuid.uuid4().hex}::fill", mutates_args={"x"})
    def fill(x: wg.Tensor, value: float) -> None:
        x.fill_(value)

    x = wg.zeros(2)
    assert fill(x, 2.0) is None and x.tolist() == [2, 2] and x._version == 1
    with pytest.raises(RuntimeError, match="requires a gradient"):
        fill(wg.zeros(2, requires_grad=True), 1.0)
    with pytest.raises(RuntimeError, match="writes to arguments"):
        fill.register_autograd(rule)


def test_operations_are_defined_and_given_their_functions():
    name = f"here{uuid.uuid4().hex}"
    lib = library.Library(name, "FRAGMENT")
    lib.define("twice(Tensor x) -> Tensor")
    operation = getattr(wg.ops, name).twice
    with pytest.raises(NotImplementedError, match="no kernel for the CPU"):
        operation(wg.ones(1))
    lib.impl("twice", lambda x: 3 * x, "CUDA")
    with pytest.raises(NotImplementedError, match="no kernel for the CPU"):
        operation(wg.ones(1))
    lib.impl("twice", lambda x: 2 * x, "CPU")
    assert operation(wg.ones(1)).item() == 2
    lib.impl("thrice", lambda x: 3 * x, "CPU")  # before it is defined
    library.define(f"{name}::thrice", "(Tensor x) -> Tensor")
    assert getattr(wg.ops, name).thrice(wg.ones(1)).item() == 3
    kernel = library.triton_op(
        f"{name}::of_gpu", lambda x: x, mutates_args={}, schema="(Tensor x) -> Tensor"
    )
    assert kernel is getattr(wg.ops, name).of_gpu
    for call in (
        lambda: library.impl("aten::thrice", "CPU", abs),
        lambda: library.register_fake("no_namespace", abs),
        lambda: library.custom_op("no_namespace", abs),
        lambda: library.Library(name, "OTHER"),
        lambda: library.get_kernel("a", "b"),
    ):
        with pytest.raises((RuntimeError, ValueError)):
            call()


def test_a_declared_write_is_seen_by_the_graph():
    @wg.library.custom_op("writes::sine", mutates_args=("x", "others"))
    def sine(x: wg.Tensor, others: list[wg.Tensor]) -> None:
        for one in (x, *others):
            np.sin(one.numpy(), out=one.numpy())

    x, y, w = wg.ones(2), wg.ones(2), wg.ones(2, requires_grad=True)
    product = (w * x + w * y).sum()
    sine(x, [y])
    assert x._version == y._version == 1 and x.tolist() == y.tolist() == wg.ones(2).sin().tolist()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with pytest.raises(RuntimeError, match="requires a gradient"):
        sine(x, [w])
    with pytest.raises(ValueError, match="in mutates_args were not found"):
        wg.library.custom_op("writes::none", lambda x: None, mutates_args={"z"})


def test_the_context_of_a_derivative_is_set_up_only_where_there_will_be_one():
    calls = []

    @wg.library.custom_op("tests::shifted", mutates_args=(), tags=wg.Tag.pointwise)
    def shifted(x: wg.Tensor) -> wg.Tensor:
        return wg.from_numpy(x.numpy() + 1)

    shifted.register_autograd(
        lambda ctx, g: g, setup_context=lambda ctx, inputs, output: calls.append(output)
    )
    x = wg.ones(2, requires_grad=True)
    with wg.no_grad():
        assert not shifted(x).requires_grad
    assert shifted(x.detach()).tolist() == [2, 2] and not calls
    assert shifted(x).requires_grad and len(calls) == 1


def test_tensors_by_keyword_only_are_refused():
    @wg.library.custom_op("tests::scaled", mutates_args=())
    def scaled(x: wg.Tensor, *, y: wg.Tensor) -> wg.Tensor:
        return x * y

    with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
        scaled(wg.ones(2), y=wg.ones(2, requires_grad=True))


def test_libraries_as_decorators_and_for_a_while():
    with wg.library._scoped_library("tests_scoped", "FRAGMENT") as library:

        @wg.library.define(library, "twice(Tensor x) -> Tensor")
        def twice(x):
            return x * 2

        library.define("half(Tensor x) -> Tensor")

        @wg.library.impl(library, "half", "CPU")
        def half(x):
            return x / 2

        assert (
            wg.ops.tests_scoped.twice(wg.ones(1)) == 2 == 4 * wg.ops.tests_scoped.half(wg.ones(1))
        )
    assert not hasattr(wg.ops.tests_scoped, "twice")


def test_tensors_in_lists_have_gradients():
    space, needs = f"here{uuid.uuid4().hex}", []

    @library.custom_op(f"{space}::cat", mutates_args=())
    def cat(parts: list[wg.Tensor], weight: wg.Tensor, dim: int = 0) -> wg.Tensor:
        return weight * wg.cat(parts, dim)

    def context(ctx, inputs, output):
        ctx.sizes, ctx.dim = [part.shape[0] for part in inputs[0]], inputs[2]
        ctx.save_for_backward(*inputs[0], inputs[1])

    def backward(ctx, g):
        *parts, weight = ctx.saved_tensors
        needs.append(ctx.needs_input_grad)
        return list((weight * g).split(ctx.sizes)), (wg.cat(parts, ctx.dim) * g).sum()

    cat.register_autograd(backward, setup_context=context)
    x, y, weight = wg.ones(2, requires_grad=True), wg.ones(3), wg.tensor(2.0, requires_grad=True)
    cat([x, y], weight).mul(wg.arange(5.0)).sum().backward()
    assert (
        x.grad.tolist() == [0, 2] and weight.grad == 10 and needs == [([True, False], True, False)]
    )
    wide = [wg.randn(n, dtype=wg.float64, requires_grad=True) for n in (2, 1)]
    assert wg.autograd.gradcheck(lambda *xs: cat([*xs[:2]], xs[2]), (*wide, weight.double()))
    assert wg.vmap(lambda x: cat([x, y], weight))(wg.ones(4, 2)).shape == (4, 5)
    assert wg.func.grad(lambda x: cat([x, y], weight)[1])(wg.ones(2)).tolist() == [0, 2]


def test_the_gradients_of_a_list_of_results_are_a_list():
    @library.custom_op(f"here{uuid.uuid4().hex}::two", mutates_args=())
    def two(x: wg.Tensor) -> list[wg.Tensor]:
        return [x + 1, x + 2]

    two.register_autograd(lambda ctx, grads: grads[0] + 2 * grads[1])
    x = wg.ones(2, requires_grad=True)
    first, second = made = two(x)
    (first + 3 * second).sum().backward()
    assert isinstance(made, list) and x.grad.tolist() == [7, 7]


def test_the_results_of_a_list_within_a_tuple_have_gradients():
    @library.custom_op(f"here{uuid.uuid4().hex}::f", mutates_args=())
    def f(x: wg.Tensor, count: int) -> tuple[list[wg.Tensor], wg.Tensor]:
        return [x.clone() for _ in range(count)], 2 * x

    def kept(ctx, inputs, output):
        ctx.counts = len(output[0]), inputs[1]

    def rule(ctx, copies, double):
        assert ctx.counts == (len(copies), len(copies))
        return sum(copies) + 2 * double, None

    f.register_autograd(rule, setup_context=kept)
    for count in (1, 3):
        x = wg.ones(2, requires_grad=True)
        copies, double = f(x, count)
        assert type(copies) is list and double.grad_fn.name().endswith("_f_defaultBackward")
        (sum(copies) + double).sum().backward()
        assert x.grad.tolist() == [count + 2.0] * 2


def test_a_missing_argument_is_named(cube):
    with pytest.raises(RuntimeError, match=r"::cube\(\) is missing value for argument 'x'"):
        cube()


def test_wrong_numbers_of_gradients_are_errors(cube):
    @library.custom_op(f"here{uuid.uuid4().hex}::add", mutates_args=())
    def add(parts: list[wg.Tensor]) -> wg.Tensor:
        return parts[0] + parts[1]

    add.register_autograd(lambda ctx, g: [g])
    x = wg.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="same structure as the inputs"):
        add([x, x]).backward()
    # arguments that have their defaults may be left out
    cube.register_autograd(lambda ctx, g: 3 * g)
    cube(x).backward()
    assert x.grad == 3


def test_what_is_written_to_is_a_list_of_names():
    with pytest.raises(ValueError, match="a sequence of the names"):
        library.custom_op("here::written", lambda x: None, mutates_args="x")


def test_a_schema_is_inferred_from_annotations():
    def both(
        x: wg.Tensor, y: list[wg.Tensor | None], *, n: int = 3, to: wg.dtype = wg.float32
    ) -> tuple[wg.Tensor, bool]: ...

    infer = wg.library.infer_schema
    written = "(Tensor x, Tensor?[] y, *, SymInt n=3, ScalarType to=float32) -> (Tensor, bool)"
    assert infer(both, mutates_args=()) == written
    assert infer(both, mutates_args={"y"}, op_name="f").startswith("f(Tensor x, Tensor(a1!)?[] y")
    assert "(Tensor(a0!) x, Tensor(a1!)?[] y, *, SymInt n" in infer(both, mutates_args="unknown")
    library = wg.library.Library("inferred", "FRAGMENT")
    library.define("both" + written)
    library.impl("both", lambda x, y, *, n=3, to=wg.float32: (x * n, True), "CPU")
    assert wg.ops.inferred.both(wg.ones(1), [])[0] == 3


def test_a_schema_has_few_types():
    def other(x: wg.Tensor, y: dict, z: int = 2) -> None: ...

    def default(x: tuple[int, ...] = ()) -> None: ...

    def number(z: int) -> None: ...

    def nothing(x: wg.Tensor): ...

    def text(x: wg.Tensor) -> str: ...

    def sizes(x: wg.Tensor) -> tuple[wg.Tensor, list[int]]: ...

    for function, writes, message in (
        (lambda x: x, (), "Parameter x must have a type annotation"),
        (nothing, (), "No return type annotation"),
        (other, (), "y has unsupported type"),
        (text, (), "Return has unsupported type"),
        (sizes, (), "Return has unsupported type"),
        (other, {"w"}, "'w'} in mutates_args were not found"),
        (default, (), "unsupported default value type"),
        (number, {"z"}, "z in mutates_args is not a tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            wg.library.infer_schema(function, mutates_args=writes)


@pytest.mark.parametrize("needs", [False, True])
def test_a_result_that_shares_the_memory_of_an_argument_is_refused(needs):
    @wg.library.custom_op("aliased::same", mutates_args=())
    def same(x: wg.Tensor) -> wg.Tensor:
        return x.view(-1)

    with pytest.raises(RuntimeError, match="may not alias"):
        same(wg.ones(3, requires_grad=needs))


def test_an_operation_is_checked_against_its_definition(cube):
    x = wg.ones(3, requires_grad=True)
    names = ["test_schema", "test_autograd_registration", "test_faketensor"]
    wg.library.register_fake(cube, lambda x: wg.empty_like(x))
    wg.library.register_autograd(cube, rule, setup_context=keep)
    assert wg.library.opcheck(cube, (x,), test_utils=names) == dict.fromkeys(names, "SUCCESS")
    with pytest.raises(ValueError, match="names 'test_all'; there are"):
        wg.library.opcheck(cube, (x,), test_utils="test_all", raise_exception=False)
    assert x.grad is None
    wg.library.register_fake(cube, lambda x: x.new_empty((*x.shape, 1)))
    with pytest.raises(wg.library.OpCheckError, match=r"test_faketensor failed with .*faked as"):
        wg.library.opcheck(cube, (x,))

    wg.library.register_autograd(cube, lambda ctx, g: 1 / 0)
    with pytest.raises(wg.library.OpCheckError, match="test_autograd_registration failed with"):
        wg.library.opcheck(cube, (x,))

    @wg.library.custom_op("tests::writes", mutates_args=())
    def writes(x: wg.Tensor, y: wg.Tensor) -> wg.Tensor:
        return y.add_(1).clone()

    y = wg.ones(2)
    with pytest.raises(wg.library.OpCheckError, match="Argument y is not defined as mutable"):
        wg.library.opcheck(writes, (y, y))
    found = wg.library.opcheck(writes, (y,), {"y": y}, raise_exception=False)
    assert isinstance(found["test_schema"], RuntimeError) and y.tolist() == [1.0, 1.0]


def test_tensors_without_values_get_the_described_result():
    @wg.library.custom_op("tests::rows", mutates_args=())
    def rows(x: wg.Tensor) -> wg.Tensor:
        return wg.from_numpy(x.numpy()[:2].copy())

    rows.register_fake(lambda x: wg.empty(2, *x.shape[1:], dtype=x.dtype, device=x.device))
    made = rows(wg.empty(3, 4, device="meta"))
    assert (made.shape, made.device.type) == ((2, 4), "meta")
    assert made.dtype == wg.float32 and wg.equal(rows(wg.ones(3, 4)), wg.ones(2, 4))


def test_operations_say_their_schemas_and_check_their_arguments():
    @wg.library.custom_op("checked::scaled", mutates_args=())
    def scaled(x: wg.Tensor, by: float = 2.0) -> wg.Tensor:
        return x * by

    assert scaled.name() == wg.ops.checked.scaled.default.name() == "checked::scaled"
    assert scaled.overloads() == ["default"]
    assert scaled._schema == "checked::scaled(Tensor x, float by=2.0) -> Tensor"
    assert scaled(wg.ones(1), 3).item() == 3 and scaled(wg.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        scaled(1.0)
    with pytest.raises(RuntimeError, match="Expected a value of type 'float' for argument 'by'"):
        scaled(wg.ones(1), "a")
    wg.library.define("checked::told", "(Tensor x) -> Tensor")
    assert wg.ops.checked.told._schema == "checked::told(Tensor x) -> Tensor"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x, r"Parameter x must have a type annotation. Got func with signature \(x\)\)"),
        (
            lambda *x: x,
            "We do not support positional-only args, varargs, or varkwargs. Got func wi",
        ),
        (abs, "We do not support positional-only args, varargs, or varkwargs. Got func with"),
    ],
)
def test_an_operation_without_the_annotations_of_its_schema_is_refused(function, words):
    with pytest.raises(ValueError, match=rf"infer_schema\(func\): {words}"):
        library.custom_op("here::unannotated", function, mutates_args=())
    assert "here::unannotated" not in library._KNOWN
    if function is not abs:
        made = library.custom_op(
            "here::told", function, mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        assert made._schema == "here::told(Tensor x) -> Tensor"
