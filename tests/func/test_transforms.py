"""Test single transforms: closed-form values, containers, arguments and errors."""

import threading
from collections import namedtuple

import numpy as np
import pytest

import wengert as wg
from wengert import func
from wengert.tape.modes import current_mode

X = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
A = wg.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], dtype=wg.float64)
Pair = namedtuple("Pair", ["w", "b"])


def cubes(x):
    return (x**3).sum()


# -- values ----------------------------------------------------------------------------------------


def test_grad_and_its_forms():
    assert func.grad(cubes)(X).tolist() == [3.0, 12.0, 27.0]
    slope, value = func.grad_and_value(cubes)(X)
    again = func.value_and_grad(cubes)(X)
    assert (value.item(), again[0].item()) == (36.0, 36.0)
    assert slope.tolist() == again[1].tolist() == [3.0, 12.0, 27.0]


def test_grad_by_several_arguments_and_keywords():
    def f(a, b, *, scale):
        return (a * b * scale).sum()

    (left,) = func.grad(f, argnums=(0,))(X, 2 * X, scale=3)
    first, second = func.grad(f, argnums=(-1, 0))(X, 2 * X, scale=3)
    assert left.tolist() == [6.0, 12.0, 18.0]
    assert first.tolist() == [3.0, 6.0, 9.0]
    assert second.tolist() == [6.0, 12.0, 18.0]


def test_gradients_have_the_structure_of_the_arguments():
    params = {"layer": Pair(A, [X]), "none": None}
    grads = func.grad(lambda p: (p["layer"].w @ p["layer"].b[0]).sum())(params)
    assert set(grads) == {"layer", "none"}
    assert grads["none"] is None
    assert isinstance(grads["layer"], Pair)
    assert grads["layer"].w.tolist() == [X.tolist()] * 2
    assert grads["layer"].b[0].tolist() == A.sum(0).tolist()


def test_arrays_and_numbers_are_taken_as_tensors():
    assert func.grad(lambda x: x**2)(3.0).item() == 6.0
    assert func.grad(cubes)(np.array([1.0, 2.0])).tolist() == [3.0, 12.0]


def test_aux_is_handed_through():
    def f(x):
        return cubes(x), {"squares": x**2, "name": "f"}

    grads, aux = func.grad(f, has_aux=True)(X)
    assert grads.tolist() == [3.0, 12.0, 27.0]
    assert aux["squares"].tolist() == [1.0, 4.0, 9.0]
    assert aux["name"] == "f"
    assert not aux["squares"].requires_grad
    _, (value, _) = func.grad_and_value(f, has_aux=True)(X)
    (again, _), _ = func.value_and_grad(f, has_aux=True)(X)
    assert value.item() == again.item() == 36.0
    _, pull, kept = func.vjp(f, X, has_aux=True)
    assert pull(wg.tensor(1.0, dtype=wg.float64))[0].tolist() == [3.0, 12.0, 27.0]
    assert kept["name"] == "f"
    _, slope, kept = func.jvp(f, (X,), (X,), has_aux=True)
    assert slope.item() == 3 * 36.0
    assert kept["squares"].tolist() == [1.0, 4.0, 9.0]
    rows, kept = func.jacrev(lambda x: (x**2, x), has_aux=True)(X)
    assert rows.tolist() == np.diag([2.0, 4.0, 6.0]).tolist()
    assert kept.tolist() == X.tolist()
    columns, kept = func.jacfwd(lambda x: (x**2, x), has_aux=True)(X)
    assert columns.tolist() == rows.tolist()
    assert kept.tolist() == X.tolist()
    for x in (X, X[:1]):
        for transform in (func.jacrev, func.jacfwd):
            _, kept = transform(lambda x: (x**2, {"x": x, "name": "f"}), has_aux=True)(x)
            assert (kept["x"].tolist(), kept["name"]) == (x.tolist(), "f")


def test_vjp_can_be_called_again_and_mapped():
    (y, z), pull = func.vjp(lambda a, b: (a @ b, b * 2), A, X)
    ones = (wg.ones_like(y), wg.zeros_like(z))
    for _ in range(2):
        a, b = pull(ones)
        assert a.tolist() == [X.tolist()] * 2
        assert b.tolist() == A.sum(0).tolist()
    rows = func.vmap(lambda u: pull((u, wg.zeros_like(z)))[1])(wg.eye(2, dtype=wg.float64))
    assert rows.tolist() == A.tolist()


def test_a_real_primal_has_no_complex_tangent():
    x, tangent = wg.tensor([1.0, 2.0]), wg.tensor([1.0 + 2.0j, 3.0j])
    with pytest.raises(ValueError, match="Expected tangent to be real"):
        wg.func.jvp(wg.sin, (x,), (tangent,))
    assert wg.func.jvp(wg.sin, (x + 0j,), (wg.ones(2),))[1].dtype == wg.complex64


def test_jvp_and_linearize_give_directional_derivatives():
    tangents = (wg.ones_like(A), X)
    y, slope = func.jvp(lambda a, b: {"y": a @ b}, (A, X), tangents)
    assert y["y"].tolist() == (A @ X).tolist()
    assert slope["y"].tolist() == (X.sum() + A @ X).tolist()
    _, push = func.linearize(lambda a, b: {"y": a @ b}, A, X)
    for factor in (1.0, -2.0):
        moved = push(tangents[0] * factor, X * factor)["y"]
        assert moved.tolist() == (factor * slope["y"]).tolist()


def test_directions_have_the_shapes_and_dtypes_of_the_primals():
    _, push = func.linearize(lambda x: x * 2, wg.ones(2))
    wrong = [(wg.ones(3), "shape"), (wg.ones(1, 2), "shape")]
    wrong += [(wg.ones(2, dtype=dtype), "dtype") for dtype in (wg.int64, wg.float64, wg.complex64)]
    for tangent, what in wrong:
        with pytest.raises(
            RuntimeError, match=f"tangent:0 with {what} .* doesn't match the {what}"
        ):
            push(tangent)
    assert push(wg.ones(2)).tolist() == [2, 2]


def test_what_does_not_depend_on_the_primals_has_a_zero_tangent():
    _, slope = func.jvp(lambda x: A * 2, (X,), (X,))
    assert slope.tolist() == wg.zeros_like(A).tolist()
    with pytest.raises(RuntimeError, match="The output of f is independent of the inputs"):
        func.jvp(lambda x: A * 2, (X,), (X,), strict=True)
    assert func.grad(lambda x: A.sum())(X).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd, func.jacobian])
def test_jacobians_of_containers_by_containers(jacobian):
    def f(p, x):
        return {"y": p["a"] @ x, "s": (x.sum(),)}

    made = jacobian(f, argnums=(0, 1))({"a": A}, X)
    assert made["y"][0]["a"].shape == (2, 2, 3)
    np.testing.assert_array_equal(
        made["y"][0]["a"].numpy(), np.einsum("ij,k->ijk", np.eye(2), X.numpy())
    )
    assert made["y"][1].tolist() == A.tolist()
    assert made["s"][0][0]["a"].tolist() == wg.zeros_like(A).tolist()
    assert made["s"][0][1].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
def test_jacobian_from_either_side(mode):
    wide = func.jacobian(lambda x: A @ x, mode=mode)(X)
    tall = func.jacobian(lambda x: A.T @ x, mode=mode)(X[:2])
    assert wide.tolist() == A.tolist()
    assert tall.tolist() == A.T.tolist()


def test_jacobian_takes_the_cheaper_side():
    calls = []

    def f(x):
        calls.append(x.requires_grad)
        return x.sum().reshape(1)

    func.jacobian(f)(X)
    # reverse mode records; and before, the function was called once for the size of its output
    assert calls[-1]
    calls.clear()
    func.jacobian(lambda x: f(x) * wg.ones(5, dtype=wg.float64))(X[:1])
    assert not calls[-1]


def test_chunks_of_rows_give_the_same():
    for size in (1, 2, 100):
        assert (
            func.jacrev(lambda x: x**2, chunk_size=size)(X).tolist()
            == np.diag([2.0, 4.0, 6.0]).tolist()
        )


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x.min(0).values, ()),
        (lambda x: x.max(0, True).values, ()),
        (lambda x: x.max(0).values, (4,)),
        (wg.unique, (4,)),
        (wg.unique_consecutive, (4,)),
        (lambda x: wg.unique(x, return_inverse=True)[0], (2, 2)),
        (lambda x: wg.unique(x, dim=0), (2, 2)),
    ],
)
def test_both_modes_and_batches_agree_on_what_is_picked(function, shape):
    rng = np.random.default_rng(3)
    x, way = (wg.tensor(rng.standard_normal(shape)) for _ in range(2))
    y, pull = func.vjp(function, x)
    weights = wg.tensor(rng.standard_normal(tuple(y.shape)))
    slope = func.jvp(function, (x,), (way,))[1]
    assert slope.any()
    (gradient,) = pull(weights)
    wg.testing.assert_close((slope * weights).sum(), (gradient * way).sum())
    one = wg.tensor(1.0, dtype=wg.float64)
    deeper = func.jvp(lambda t: func.jvp(function, (x * t,), (way * t,))[1], (one,), (one,))[1]
    wg.testing.assert_close(deeper, slope)


@pytest.mark.parametrize("name", ["min", "max", "median", "cummax", "sort", "mode"])
def test_gradients_of_numbers_are_mapped(name):
    x = wg.tensor([3.0, -1.0])
    found = func.vmap(func.grad(lambda v: getattr(v * v, name)(0)[0]))(x)
    assert found.tolist() == [6.0, -2.0]


def test_second_derivatives():
    def f(x):
        return x[0] ** 2 * x[1] + x[2] ** 3

    expected = [[4.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 18.0]]
    assert func.hessian(f)(X).tolist() == expected
    assert func.hessian_diag(f)(X).tolist() == [4.0, 0.0, 18.0]
    assert func.laplacian(f)(X).item() == 22.0
    (gradient,), (product,) = func.hvp(f, (X,), (wg.ones_like(X),))
    assert gradient.tolist() == [4.0, 1.0, 27.0]
    assert product.tolist() == [6.0, 2.0, 18.0]


def test_the_hessian_by_several_arguments():
    made = func.hessian(lambda a, b: (a * b).sum() + (b**2).sum(), argnums=(0, 1))(X, X)
    eye = np.eye(3)
    for i, row in enumerate([[0 * eye, eye], [eye, 2 * eye]]):
        for j, block in enumerate(row):
            assert made[i][j].tolist() == block.tolist()


def test_complex_arguments():
    z = wg.tensor([1 + 2j, 3 - 1j], dtype=wg.complex128)
    # as in PyTorch: the direction of steepest ascent
    assert func.grad(lambda z: (z * z.conj()).real.sum())(z).tolist() == (2 * z).tolist()
    _, slope = func.jvp(lambda z: z * z, (z,), (wg.ones_like(z),))
    assert slope.tolist() == (2 * z).tolist()


# -- vmap ------------------------------------------------------------------------------------------


def test_vmap_over_any_dimensions():
    rows = func.vmap(lambda x: x.cumsum(0), in_dims=1, out_dims=1)(A)
    assert rows.tolist() == A.cumsum(0).tolist()
    assert func.vmap(lambda x: x.sum(), in_dims=-1)(A).tolist() == A.sum(0).tolist()
    both = func.vmap(lambda p, y: (p["x"] * y, p["x"].sum()), in_dims=({"x": 0}, None))
    product, total = both({"x": A}, X)
    assert product.tolist() == (A * X).tolist()
    assert total.tolist() == A.sum(1).tolist()
    shared, mapped = func.vmap(lambda x: (X * 2, x), out_dims=(None, -1))(A)
    assert shared.tolist() == (X * 2).tolist()
    assert mapped.tolist() == A.T.tolist()
    repeated = func.vmap(lambda x: X)(A)
    assert repeated.shape == (2, 3)


def test_vmap_does_not_map_keyword_arguments():
    made = func.vmap(lambda x, *, y: (x * y).sum())(A, y=X)
    assert made.tolist() == (A @ X).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_chunks_of_a_batch_give_the_same(size):
    x = wg.arange(12.0).reshape(4, 3)
    made = func.vmap(lambda v: (v.sum(), v * 2), out_dims=(0, 1), chunk_size=size)(x)
    assert made[0].tolist() == x.sum(1).tolist()
    assert made[1].tolist() == (2 * x).T.tolist()


def test_a_mapped_value_cannot_decide_or_be_read():
    with pytest.raises(RuntimeError, match="vmap: It looks like you're attempting to use a Tensor"):
        func.vmap(lambda x: x if x.sum() > 0 else -x)(A)
    for read in (lambda x: x.sum().item(), lambda x: x.tolist(), lambda x: x.numpy()):
        with pytest.raises(RuntimeError, match="vmap: It looks like you're"):
            func.vmap(lambda x, read=read: read(x))(A)
    assert current_mode() is None


def test_a_value_with_a_tangent_decides_and_is_not_copied_to_an_array():
    _, slope = func.jvp(lambda x: x * 2 if x.sum() > 0 else x * 5, (X,), (X,))
    assert slope.tolist() == (2 * X).tolist()
    with pytest.raises(RuntimeError, match="a tensor that carries a tangent"):
        func.jvp(lambda x: wg.tensor(x.numpy()), (X,), (X,))
    detached = func.jvp(lambda x: x * wg.tensor(x.detach().numpy()), (X,), (wg.ones_like(X),))
    assert detached[1].tolist() == X.tolist()


def test_results_that_share_memory_are_views_of_the_argument():
    x = wg.arange(24.0).view(2, 3, 4)
    z = wg.complex(x, -x)
    for f, given, place in (
        (lambda a: a[1:], x, x[:, 1:]),
        (lambda a: a.t(), x, x.mT),
        (lambda a: a.unbind()[1], x, x[:, 1]),
        (lambda a: a.real, z, z.real),
    ):
        y = func.vmap(f)(given)
        root = given if given._base is None else given._base
        assert y._base is root
        assert (y.shape, y.stride()) == (place.shape, place.stride())
        assert y.storage_offset() == place.storage_offset()
        assert wg.equal(y, place)
    moved = func.vmap(lambda a: a, in_dims=2)(x.clone())
    assert moved._base is not None
    own = x.clone()
    func.vmap(lambda a: a[1:])(own).zero_()
    assert own[:, 1:].count_nonzero() == 0
    assert func.vmap(lambda a: a * 2)(x)._base is None


def test_none_among_the_results_needs_a_dimension_of_none():
    for f in (lambda a: None, lambda a: (a, None)):
        with pytest.raises(ValueError, match=r"must only return Tensors, got type.*NoneType"):
            func.vmap(f)(A)
    shared, none = func.vmap(lambda a: (a, None), out_dims=(0, None))(A)
    assert none is None
    assert wg.equal(shared, A)


def test_values_of_transforms_print():
    texts = []

    def f(x):
        texts.append(repr(x))
        return x * 2

    x = wg.tensor([1.0, 2.0])
    func.vmap(f)(wg.ones(2, 1))
    func.jvp(f, (x,), (wg.ones(2),))
    func.jvp(func.vmap(f), (x,), (x,))
    func.grad(lambda x: f(x).sum())(x)
    assert texts == [
        "tensor([[1.],\n        [1.]], a batch of 2)",
        "tensor([1., 2.], tangent=tensor([1., 1.]))",
        "tensor([1., 2.], tangent=tensor([1., 2.]), a batch of 2)",
        "tensor([1., 2.], requires_grad=True)",
    ]


# -- errors ----------------------------------------------------------------------------------------

ERRORS = [
    (lambda: func.grad(lambda x: x)(X), RuntimeError, "Expected f(*args) to return a scalar"),
    (lambda: func.grad(lambda x: 1.0)(X), RuntimeError, "Expected f(*args) to return a Tensor"),
    (lambda: func.grad(cubes, argnums=1)(X), RuntimeError, "Got argnum=1, but only 1 positional"),
    (lambda: func.grad(cubes, argnums=(0, 0))(X), RuntimeError, "argnums elements must be unique"),
    (lambda: func.grad(cubes, argnums=())(X), RuntimeError, "argnums must be non-empty"),
    (lambda: func.grad(cubes, argnums=1.5)(X), RuntimeError, "argnums must be int or Tuple"),
    (lambda: func.grad(cubes, has_aux=True)(X), RuntimeError, "output of function f should be a"),
    (lambda: func.grad(cubes)(X.long()), RuntimeError, "only Tensors of floating point dtype"),
    (lambda: func.grad(cubes)("x"), ValueError, "Expected all inputs to be Tensors"),
    (lambda: func.vjp(lambda x: 1, X), RuntimeError, "expected f(*primals) to return only"),
    (lambda: func.vjp(cubes, X)[1](X, X), RuntimeError, "expected one cotangent"),
    (lambda: func.vjp(cubes, X)[1](X), RuntimeError, "Mismatch in shape"),
    (lambda: func.jvp(cubes, X, X), RuntimeError, "Expected primals to be a tuple"),
    (lambda: func.jvp(cubes, (X,), (X, X)), RuntimeError, "Expected primals and tangents to have"),
    (lambda: func.jvp(cubes, (X,), (A,)), RuntimeError, "Trying to set a forward gradient"),
    (lambda: func.jvp(lambda x: 1, (X,), (X,)), RuntimeError, "expected f(*primals) to return"),
    (lambda: func.vmap(cubes)(), ValueError, "vmap(cubes)(<inputs>): got no inputs"),
    (lambda: func.vmap(cubes, in_dims=None)(X), ValueError, "expected `in_dims` to be int or a"),
    (
        lambda: func.vmap(cubes, in_dims=(None,))(X),
        ValueError,
        "Expected at least one Tensor",
    ),
    (lambda: func.vmap(cubes, in_dims=(0, 0))(X), ValueError, "in_dims is not compatible with"),
    (lambda: func.vmap(cubes, in_dims=1)(X), ValueError, "Got in_dim=1 for some input, but"),
    (lambda: func.vmap(cubes)(3), ValueError, "Got in_dim=0 for an input but the input is of"),
    (lambda: func.vmap(wg.add)(X, A), ValueError, "Expected all tensors to have the same size"),
    (
        lambda: func.vmap(lambda x: 1)(X),
        ValueError,
        "vmap(<lambda>, ...): `<lambda>` must only return Tensors",
    ),
    (
        lambda: func.vmap(wg.sin, out_dims=None)(X),
        ValueError,
        "`sin` can not return a BatchedTensor",
    ),
    (lambda: func.vmap(wg.sin, out_dims=1)(X), IndexError, "Dimension out of range"),
    (lambda: func.vmap(wg.sin, randomness="no"), RuntimeError, "Only allowed values for random"),
    (lambda: func.vmap(wg.sin, chunk_size=0), ValueError, "chunk_size should be None or greater"),
    (
        lambda: func.jacrev(wg.sin, chunk_size=0),
        ValueError,
        "`chunk_size` should be greater than 0",
    ),
    (lambda: func.jacobian(cubes, mode="both"), ValueError, "mode must be 'auto'"),
]


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS, ids=range(len(ERRORS)))
def test_errors(call, kind, words):
    before = current_mode()
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
    assert current_mode() is before


def test_a_custom_function_without_a_rule_says_so():
    with pytest.raises(AttributeError, match="No VJP defined"):
        func.custom_vjp(wg.sin)(X)
    with pytest.raises(AttributeError, match="No JVP defined"):
        func.custom_jvp(wg.sin)(X)


TRANSFORMED = {
    "grad": lambda f: func.grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: func.vjp(f, X),
    "jvp": lambda f: func.jvp(f, (X,), (X,)),
    "vmap": lambda f: func.vmap(f)(X),
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(lambda x: f(x).sum())(X),
    "linearize": lambda f: func.linearize(f, X),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_an_exception_leaves_the_mode_as_it_was(name):
    def fail(x):
        raise KeyError("inside")

    for context in (wg.enable_grad, wg.no_grad):
        with context():
            before = current_mode()
            with pytest.raises(KeyError, match="inside"):
                TRANSFORMED[name](fail)
            assert current_mode() is before
    assert current_mode() is None


@pytest.mark.parametrize("name", ["jvp", "vmap", "jacfwd", "hessian"])
def test_a_value_that_escapes_is_refused(name):
    kept = []

    def f(x):
        kept.append(x * 2)
        return x * 3

    TRANSFORMED[name](f)
    for use in (lambda t: t + 1, lambda t: t.sum(), lambda t: t * t, lambda t: wg.stack([t, t])):
        with pytest.raises(RuntimeError, match="has ended was used outside of it"):
            use(kept[-1])


def test_transforms_are_those_of_a_thread():
    found = {}

    def work(number):
        x = X * number

        def f(v):
            barrier.wait()
            return (v**3).sum()

        found[number] = func.vmap(func.grad(f))(wg.stack([x, x])).tolist()

    barrier = threading.Barrier(2, timeout=20)
    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[1] == [[3.0, 12.0, 27.0]] * 2
    assert found[2] == [[12.0, 48.0, 108.0]] * 2
    assert current_mode() is None


def test_dimensions_of_results():
    found = func.vmap(lambda x: (x, "a"), out_dims=(0, None))(X)
    assert found[0].tolist() == X.tolist() and found[1] == "a"
    assert func.vmap(lambda x: None, out_dims=None, chunk_size=2)(X) is None
    assert func.vmap(lambda x: x, out_dims=(1,))(A).tolist() == A.T.tolist()
    with pytest.raises(ValueError, match="out_dims is not compatible with the structure of `out"):
        func.vmap(lambda x: x, out_dims=(0, 0))(X)
    with pytest.raises(ValueError, match="must be an int, None or a python collection of ints"):
        func.vmap(lambda x: x, out_dims="a")(X)


@pytest.mark.parametrize("output", [None, (), [], {}, "a"])
def test_outputs_that_are_not_tensors(output):
    what = "return only tensors" if output else "has non-empty output"
    for transform in (
        lambda f: func.jvp(f, (X,), (X,)), lambda f: func.vjp(f, X), lambda f: func.jacfwd(f)(X),
        lambda f: func.jacrev(f)(X), lambda f: func.hessian(f)(X),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=f"^(vjp|jvp).*{what}"):
            transform(lambda x: output)


def test_normal_numbers_under_transforms():
    def draw(mean):
        return wg.normal(mean, 1.0), wg.normal(wg.zeros(2), wg.ones(2))

    for found in func.vmap(draw, randomness="different")(wg.zeros(3, 2)):
        assert found.shape == (3, 2) and found.unique().numel() == 6
    _, same = func.vmap(lambda x: (x, draw(wg.zeros(2))[0]), randomness="same")(wg.zeros(3))
    assert same.unique().numel() == 2
    _, same = func.vmap(lambda x: (x, wg.rand(2)), randomness="same", chunk_size=2)(wg.zeros(5))
    assert same.unique().numel() == 2
    value, tangent = func.jvp(lambda x: wg.normal(x, x.abs()), (X,), (X,))
    assert value.shape == (3,) and tangent.tolist() == [0.0] * 3


def test_products_are_recorded_where_they_are_computed():
    x, w = (wg.tensor(number, requires_grad=True) for number in (3.0, 2.0))
    with wg.no_grad():
        value, pull = func.vjp(lambda a: a**2 * w, x)
        assert not value.requires_grad and not pull(wg.tensor(1.0))[0].requires_grad
    (slope,) = pull(wg.tensor(1.0))
    assert [g.item() for g in wg.autograd.grad(slope, (x, w))] == [4.0, 6.0]


def test_jvp_propagates_where_the_caller_does_not():
    x = wg.tensor(2.0)
    disabled = wg.autograd.forward_ad._set_fwd_grad_enabled

    def f(x):
        with disabled(False):
            kept = x**2
        return x**2 - kept

    with disabled(False):
        assert func.jvp(lambda x: x**2, (x,), (x,))[1].item() == 8.0
        assert func.hessian(lambda x: x**3)(x).item() == 12.0
        assert func.jvp(f, (x,), (x,))[1].item() == 8.0
    assert wg.autograd.forward_ad._is_fwd_grad_enabled()


@pytest.mark.parametrize("way", [func.jacrev, func.jacfwd])
def test_jacobians_of_complex_numbers_are_refused(way):
    with pytest.raises(RuntimeError, match="all inputs to be real"):
        way(wg.conj)(wg.tensor([1j]))
    # a gradient of the real part would be no Jacobian
    with pytest.raises(RuntimeError, match="all outputs to be real"):
        way(lambda x: x * 2j)(wg.tensor([1.0]))
