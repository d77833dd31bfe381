"""Test `dependency_graph`: names, formulas, values and derivatives of an evaluation."""

import importlib.util
import inspect
import math
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from wengert.viz import Drawing, dependency_graph

X = 2.0
LOG, SIN, COS = math.log(X * X), math.sin(X), math.cos(X)
SLOPE = SIN * 2 / X + LOG * COS - 1 / X**2
"""The derivative of the exercise's function."""


def exercise(x):
    a = x**2
    b = wg.log(a)
    c = wg.sin(x)
    d = b * c
    e = 1 / x
    return d + e


def picture(f, *args, **kwargs):
    return dependency_graph(f, *args, **kwargs).picture


def titles(picture):
    return [box.title for box in picture.boxes]


def quantity(picture, word):
    """What the boxes say about one word, by the name of their value."""
    return {
        box.title.split(" = ")[0]: float(box.details[word])
        for box in picture.boxes
        if word in box.details
    }


def arrows(picture):
    return {
        (
            picture.boxes[a.tail].title.split(" = ")[0],
            picture.boxes[a.head].title.split(" = ")[0],
        ): a.label
        for a in picture.arrows
    }


def texts(picture):
    return [step.text for step in picture.steps]


# -- the exercise ----------------------------------------------------------------------------------


def test_each_value_has_a_box_with_its_name_and_its_formula():
    made = picture(exercise, X)
    assert titles(made) == [
        "x",
        "a = x ** 2",
        "b = log(a)",
        "c = sin(x)",
        "d = b * c",
        "e = 1 / x",
        "exercise = d + e",
    ]
    assert [box.kind for box in made.boxes] == ["leaf", *["value"] * 5, "result"]
    assert made.title == "exercise at x = 2: reverse sweep"
    assert made.notes == []


def test_the_values_are_those_of_the_function():
    values = quantity(picture(exercise, X), "value")
    wanted = {
        "x": X,
        "a": X * X,
        "b": LOG,
        "c": SIN,
        "d": LOG * SIN,
        "e": 1 / X,
        "exercise": LOG * SIN + 1 / X,
    }
    assert values == pytest.approx(wanted, rel=1e-6)


def test_the_adjoints_are_the_derivatives_of_the_result():
    adjoints = quantity(picture(exercise, X), "adjoint")
    wanted = {
        "exercise": 1.0,
        "d": 1.0,
        "e": 1.0,
        "b": SIN,
        "c": LOG,
        "a": SIN / X**2,
        "x": SLOPE,
    }
    assert adjoints == pytest.approx(wanted, rel=1e-5)


def test_the_tangents_are_the_derivatives_by_the_argument():
    made = picture(exercise, X, mode="forward")
    wanted = {
        "x": 1.0,
        "a": 2 * X,
        "b": 2 / X,
        "c": COS,
        "d": SIN * 2 / X + LOG * COS,
        "e": -1 / X**2,
        "exercise": SLOPE,
    }
    assert quantity(made, "tangent") == pytest.approx(wanted, rel=1e-5)
    assert made.mode == "forward"


def test_the_local_derivatives_stand_on_the_arrows():
    assert arrows(picture(exercise, X)) == {
        ("x", "a"): "2 * x = 4",
        ("a", "b"): "1 / a = 0.25",
        ("x", "c"): f"cos(x) = {COS:.5g}",
        ("b", "d"): f"c = {SIN:.5g}",
        ("c", "d"): f"b = {LOG:.5g}",
        ("x", "e"): "-1 / x ** 2 = -0.25",
        ("d", "exercise"): "1",
        ("e", "exercise"): "1",
    }


def test_the_reverse_sweep_step_by_step():
    assert texts(picture(exercise, X)) == [
        "adjoint of exercise = 1",
        "adjoint of d += adjoint of exercise = 1",
        "adjoint of e += adjoint of exercise = 1",
        "adjoint of x += adjoint of e * (-1 / x ** 2) = -0.25",
        f"adjoint of b += adjoint of d * c = {SIN:.5g}",
        f"adjoint of c += adjoint of d * b = {LOG:.5g}",
        f"adjoint of x += adjoint of c * cos(x) = {LOG * COS:.5g}",
        f"adjoint of a += adjoint of b * (1 / a) = {SIN / 4:.5g}",
        f"adjoint of x += adjoint of a * (2 * x) = {SIN:.5g}",
    ]


def test_the_forward_sweep_step_by_step():
    assert texts(picture(exercise, X, mode="forward")) == [
        "tangent of x = 1",
        "tangent of a = tangent of x * (2 * x) = 4",
        "tangent of b = tangent of a * (1 / a) = 1",
        f"tangent of c = tangent of x * cos(x) = {COS:.5g}",
        f"tangent of d = tangent of b * c + tangent of c * b = {SIN + LOG * COS:.5g}",
        "tangent of e = tangent of x * (-1 / x ** 2) = -0.25",
        f"tangent of exercise = tangent of d + tangent of e = {SLOPE:.5g}",
    ]


def test_steps_light_up_what_they_speak_of():
    made = picture(exercise, X)
    step = made.steps[4]
    assert [made.boxes[i].title for i in step.boxes] == ["d = b * c", "b = log(a)"]
    (arrow,) = step.arrows
    assert made.boxes[made.arrows[arrow].tail].title == "b = log(a)"


def test_the_lines_of_the_program_are_known():
    first = inspect.getsourcelines(exercise)[1]
    made = picture(exercise, X)
    lines = [box.details.get("line") for box in made.boxes]
    assert lines == [
        None,
        f"test_dependency_graph.py:{first + 1}  a = x**2",
        f"test_dependency_graph.py:{first + 2}  b = wg.log(a)",
        f"test_dependency_graph.py:{first + 3}  c = wg.sin(x)",
        f"test_dependency_graph.py:{first + 4}  d = b * c",
        f"test_dependency_graph.py:{first + 5}  e = 1 / x",
        f"test_dependency_graph.py:{first + 6}  return d + e",
    ]


def test_the_example_draws_both_sweeps(tmp_path, capsys):
    path = Path(__file__).parents[2] / "examples" / "dependency_graph.py"
    spec = importlib.util.spec_from_file_location("example_dependency_graph", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main([str(tmp_path / "pictures")])
    files = sorted(file.name for file in (tmp_path / "pictures").iterdir())
    assert files == ["backward.html", "backward.svg", "forward.html", "forward.svg"]
    said = capsys.readouterr().out
    assert said.count(f"df/dx = {SLOPE:.12f}") == 4
    assert str(tmp_path) in said


def test_it_draws():
    drawing = dependency_graph(exercise, X)
    assert isinstance(drawing, Drawing)
    assert "d = b * c" in drawing.svg()


# -- formulas ------------------------------------------------------------------------------------


def labels(f, *args):
    """The local derivatives' formulas, without their values."""
    return [a.label.rpartition(" = ")[0] for a in picture(f, *args).arrows if " = " in a.label]


@pytest.mark.parametrize(
    ("f", "formulas"),
    [
        (lambda x: x.asin(), ["1 / sqrt(1 - x ** 2)"]),
        (lambda x: x.atan(), ["1 / (1 + x ** 2)"]),
        (lambda x: x.log10(), ["1 / (x * log(10))"]),
        (lambda x: x.sigmoid(), ["f * (1 - f)"]),
        (lambda x: x.rsqrt(), ["-f ** 3 / 2"]),
        (lambda x: x.abs(), ["sgn(x)"]),
        (lambda x: x.relu(), ["where(f <= 0, 0, 1)"]),
        (lambda x: x**0.5, ["1 / (2 * sqrt(x))"]),
        (lambda x: 3**x, ["f * log(3)"]),
        (lambda x: 5 / (x + 1), ["-5 / v1 ** 2"]),
        (wg.nn.functional.silu, ["sigmoid(input) * (1 + input * (1 - sigmoid(input)))"]),
        (lambda x: wg.erf(x), ["2 * exp(-x ** 2) / sqrt(pi)"]),
        (lambda x: wg.lgamma(x), ["digamma(x)"]),
        (lambda x: wg.polygamma(2, x), ["polygamma(x, n=3)"]),
        (lambda x: wg.nn.functional.leaky_relu(x, 0.25), ["where(x > 0, 1, 0.25)"]),
    ],
)
def test_a_derivative_is_its_rule(f, formulas):
    assert labels(f, 0.5) == formulas


@pytest.mark.parametrize(
    ("f", "formulas"),
    [
        (lambda x, y: x**y, ["y * x ** (y - 1)", "f * log(x)"]),
        (lambda x, y: wg.atan2(x, y), ["y / (x ** 2 + y ** 2)", "-x / (x ** 2 + y ** 2)"]),
        (lambda x, y: wg.hypot(x, y), ["x / f", "y / f"]),
        (lambda x, y: wg.logaddexp(x, y), ["sigmoid(x - y)", "sigmoid(y - x)"]),
        (
            lambda x, y: wg.maximum(x, y),
            [
                "where(x < y, 0, where(x == y, 0.5, 1))",
                "where(y < x, 0, where(y == x, 0.5, 1))",
            ],
        ),
    ],
)
def test_a_derivative_by_each_argument_is_its_rule(f, formulas):
    assert labels(f, 0.5, 1.5) == formulas


def test_what_is_made_of_operators_is_written_with_them():
    def f(x, y, z):
        a = wg.addcmul(x, y, z, value=2)
        b = wg.lerp(a, y, 0.25)
        c = wg.add(b, z, alpha=3)
        d = wg.fmod(c, 5.0)
        return d % 3

    assert titles(picture(f, 1.0, 2.0, 3.0))[3:] == [
        "a = x + y * z * 2",
        "b = a + 0.25 * (y - a)",
        "c = b + z * 3",
        "d = fmod(c, 5)",
        "f = d % 3",
    ]


def test_products_of_matrices_and_vectors():
    w, v = np.ones((2, 2)), np.ones(2)
    back = texts(picture(lambda w, v: wg.mv(w, v), w, v))
    assert back[2].startswith("adjoint of v += w.T @ adjoint of f = ")
    there = texts(picture(lambda w, v: wg.mv(w, v), w, v, mode="forward"))
    assert there[-1] == "tangent of f = tangent of w @ v + w @ tangent of v = [4, 4]"
    # the derivative is a vector: the tangent is its product with it, not one for each element
    there = texts(picture(lambda w, v: wg.dot(w, v), v, v, mode="forward"))
    assert there[-1] == "tangent of f = tangent of w @ v + w @ tangent of v = 4"
    back = texts(picture(lambda w, v: wg.dot(w, v), v, v))
    assert back[1] == "adjoint of w += adjoint of f * v = [1, 1]"
    # a product of vectors broadcasts, but not element by element
    made = picture(lambda v, w: wg.linalg.cross(v, w), np.ones(3), np.arange(3.0))
    assert all(arrow.label.startswith("matrix 3 ") for arrow in made.arrows)
    assert texts(made)[1].startswith("adjoint of v += linalg_cross(w, adjoint of f, dim=0) = ")
    back = texts(picture(lambda z, w: z @ w, w * 1j, w * 1j))
    assert back[1].startswith("adjoint of z += adjoint of f @ conj(w).T = ")


# -- names -----------------------------------------------------------------------------------------


def test_values_without_a_variable_are_numbered():
    made = picture(lambda x: (x**2).log() * x.sin() + x**-1, X)
    assert titles(made) == [
        "x",
        "v1 = x ** 2",
        "v2 = log(v1)",
        "v3 = sin(x)",
        "v4 = v2 * v3",
        "v5 = x ** -1",
        "f = v4 + v5",
    ]
    assert arrows(made)["x", "v5"] == "-1 / x ** 2 = -0.25"


def test_one_variable_for_several_values():
    def f(x):
        y = x
        for _ in range(3):
            y = y.sin()
        return y

    assert titles(picture(f, X)) == ["x", "y = sin(x)", "y₂ = sin(y)", "y₃ = sin(y₂)"]


def test_an_argument_that_is_given_another_value():
    def f(x):
        x = x * 3
        return x.exp()

    assert titles(picture(f, X)) == ["x", "x₂ = x * 3", "f = exp(x₂)"]


def test_variables_of_the_caller_name_what_a_function_returns():
    def g(u):
        return u.sin()

    def f(x):
        first = g(x)
        second = g(first) + 1
        return second  # noqa: RET504 - the variable is what is tested

    assert titles(picture(f, X)) == ["x", "first = sin(x)", "v1 = sin(first)", "second = v1 + 1"]


def test_the_variable_that_the_drawing_is_put_in_names_nothing():
    made = dependency_graph(lambda x: x.sin(), X)
    assert titles(made.picture) == ["x", "f = sin(x)"]


def test_two_variables_for_one_value_and_one_for_two():
    def f(x):
        a = b = x.exp()
        c, d = wg.stack([a, b]).unbind(0)
        return c * d

    made = picture(f, X)
    assert titles(made) == ["x", "a = exp(x)", "v1 = stack(a, a)", "c, d = unbind(v1)", "f = c * d"]
    assert arrows(made)["c, d", "f"].startswith("d = ")


def test_names_can_be_given_in_order_or_changed():
    wanted = ["x", "p = x ** 2", "q = log(p)", "c = sin(x)", "d = q * c", "e = 1 / x"]
    assert titles(picture(exercise, X, names=["p", "q"]))[:-1] == wanted
    assert titles(picture(exercise, X, names={"a": "p", "b": "q"}))[:-1] == wanted
    with pytest.raises(ValueError, match=r"other names for \['z'\].* called x, a, b, c, d, e"):
        dependency_graph(exercise, X, names={"z": "w"})
    with pytest.raises(ValueError, match="a list of at most 5 names"):
        dependency_graph(exercise, X, names=list("abcdefgh"))
    with pytest.raises(ValueError, match="a list of at most 5 names"):
        dependency_graph(exercise, X, names="ab")


def test_functions_without_source():
    scope = {}
    exec("def f(x):\n    a = x.sin()\n    return a * x", scope)
    assert titles(picture(scope["f"], X)) == ["x", "a = sin(x)", "f = a * x"]


def test_a_function_of_the_library_itself():
    assert titles(picture(wg.exp, X))[1].endswith("exp(input)")


def test_what_a_function_uses_without_being_given_it():
    weight = wg.tensor(3.0, dtype=wg.float64, requires_grad=True)
    data = wg.tensor(5.0, dtype=wg.float64)
    made = picture(lambda x: x * weight + data, X)
    assert titles(made) == ["x", "weight", "v1 = x * weight", "f = v1 + data"]
    assert quantity(made, "adjoint")["weight"] == X
    assert weight.grad is None


# -- arguments and results -------------------------------------------------------------------------


def test_arguments_of_all_kinds():
    def f(params, n, flag):
        assert n == 2
        assert flag is None
        return (params["w"] * params["b"][0]).sum() ** n

    made = picture(f, {"w": np.ones(3), "b": [2.0]}, 2, None)
    assert titles(made)[:2] == ["params['w']", "params['b'][0]"]
    assert made.boxes[0].lines == ["value [1, 1, 1]", "adjoint [24, 24, 24]"]


def test_integers_alone_are_differentiated_by():
    assert quantity(picture(lambda x: x * x, 3), "adjoint")["x"] == 6


def test_a_tensor_keeps_its_dtype_and_its_graph_apart():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    made = picture(lambda x: (x * x).sum(), x * 3)
    assert made.boxes[0].details["dtype"] == "float32"
    assert titles(made)[0] == "x"
    assert x.grad is None


def test_arrays_of_wengert_numpy_stay_what_they_are():
    met = []

    def f(x):
        met.append(type(x))
        y = np.sin(x)
        return y.sum(axis=0)

    made = picture(f, wg.numpy.array([1.0, 2.0]))
    assert met == [wg.numpy.ndarray]
    assert titles(made) == ["x", "y = sin(x)", "f = sum(y)"]


def test_numpys_functions_on_tensors():
    made = picture(lambda x: np.exp(x) * np.float64(2.0), X)
    assert titles(made) == ["x", "v1 = exp(x)", "f = v1 * 2"]


def test_several_results():
    def f(x):
        return {"p": x * x, "q": x.exp()}

    made = picture(f, X)
    assert titles(made) == ["x", "f['p'] = x * x", "f['q'] = exp(x)"]
    assert [box.kind for box in made.boxes] == ["leaf", "result", "result"]
    assert quantity(made, "adjoint")["x"] == pytest.approx(2 * X + math.exp(X))
    made = picture(f, X, gradient={"p": 0.0, "q": 1.0})
    assert quantity(made, "adjoint")["x"] == pytest.approx(math.exp(X))
    with pytest.raises(ValueError, match="returned 2 tensors, but gradient holds 1"):
        dependency_graph(f, X, gradient=1.0)


def test_tangents_of_several_arguments():
    def f(x, y):
        return x * y

    assert texts(picture(f, X, 5.0, mode="forward", tangents=(1.0, 0.0)))[-1] == (
        "tangent of f = tangent of x * y + tangent of y * x = 5"
    )
    made = picture(f, X, 5.0, mode="forward")
    assert texts(made)[-1].endswith("= 7")
    assert "derivatives in that direction" in made.notes[0]
    with pytest.raises(ValueError, match="2 arguments to differentiate by, but 1 tangents"):
        dependency_graph(f, X, 5.0, mode="forward", tangents=(1.0,))
    with pytest.raises(ValueError, match=r"tangents has the shape \(2,\) for x"):
        dependency_graph(f, X, 5.0, mode="forward", tangents=(np.ones(2), 0.0))


def test_a_result_that_does_not_depend_on_the_arguments():
    made = picture(lambda x: wg.tensor(3.0), X)
    assert [box.kind for box in made.boxes] == ["result"]
    assert made.notes == [
        "f is a constant: it does not depend on the arguments.",
        "Not used: x.",
    ]


def test_a_function_that_returns_its_argument():
    made = picture(lambda x: x, X)
    assert [box.kind for box in made.boxes] == ["leaf", "result"]
    assert texts(made) == ["adjoint of x = 1"]


def test_a_layer_of_a_network():
    def layer(x, w, b):
        z = x @ w + b
        return z.tanh()

    made = picture(layer, np.ones((1, 2)), np.ones((2, 2)), np.zeros(2))
    assert titles(made)[2:] == ["v1 = x @ w", "b", "z = v1 + b", "layer = tanh(z)"]
    slope = 1 - math.tanh(2.0) ** 2
    assert texts(made)[-2:] == [
        f"adjoint of x += adjoint of v1 @ w.T = [[{2 * slope:.5g}, {2 * slope:.5g}]]",
        "adjoint of w += x.T @ adjoint of v1 = "
        f"[[{slope:.5g}, {slope:.5g}], [{slope:.5g}, {slope:.5g}]]",
    ]
    assert "starts from ones" in made.notes[0]
    made = picture(layer, np.ones((1, 2)), np.ones((2, 2)), np.zeros(2), mode="forward")
    assert "tangent of v1 = tangent of x @ w + x @ tangent of w = [[4, 4]]" in texts(made)


# -- programs of all kinds -------------------------------------------------------------------------


class Square(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_custom_functions(mode):
    def f(x):
        s = Square.apply(x)
        t = Square.apply(s)
        return t + 1

    made = picture(f, X, mode=mode)
    assert titles(made) == ["x", "s = Square(x)", "t = Square(s)", "f = t + 1"]
    assert arrows(made)["s", "t"] == "8"
    assert list(quantity(made, "value").values()) == [2, 4, 16, 17]
    word = "adjoint" if mode == "backward" else "tangent"
    assert list(quantity(made, word).values()) == (
        [32, 8, 1, 1] if mode == "backward" else [1, 4, 32, 32]
    )


def test_values_that_are_written_to_later_are_shown_as_they_were():
    def f(x):
        y = x * 2
        y.mul_(x)
        z = y + x
        y.add_(1)
        return z

    made = picture(f, 3.0)
    assert titles(made) == ["x", "y = x * 2", "v1 = y * x", "z = v1 + x"]
    assert list(quantity(made, "value").values()) == [3, 6, 18, 21]
    assert quantity(made, "adjoint")["x"] == 13


@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_a_program_that_cannot_be_differentiated_is_drawn_without_the_sweep(mode):
    def f(x):
        y = x * 2
        z = y * x
        y.add_(1)
        return z

    made = picture(f, 3.0, mode=mode)
    assert titles(made) == ["x", "y = x * 2", "z = y * x"]
    assert list(quantity(made, "value").values()) == [3, 6, 18]
    assert "modified by an inplace operation" in made.notes[0]
    assert len(made.steps) >= 3


def test_branches_follow_the_values():
    def f(x):
        return x * 2 if x > 0 else -x

    assert titles(picture(f, 1.0))[-1] == "f = x * 2"
    assert titles(picture(f, -1.0))[-1] == "f = -x"


def test_a_number_divided_by_a_value_is_one_box_unless_its_parts_have_names():
    def f(x):
        r = wg.reciprocal(x)
        return r * 3

    assert titles(picture(f, X)) == ["x", "r = 1 / x", "f = r * 3"]
    made = picture(lambda x: 3 / x, X)
    assert titles(made) == ["x", "f = 3 / x"]
    assert arrows(made) == {("x", "f"): "-3 / x ** 2 = -0.75"}
    assert texts(made)[1] == "adjoint of x += adjoint of f * (-3 / x ** 2) = -0.75"
    made = picture(lambda x: 3 / x, X, mode="forward")
    assert quantity(made, "tangent")["f"] == -0.75


def test_complex_values():
    made = picture(lambda z: (z * z).exp(), 1 + 2j)
    assert texts(made)[1].startswith("adjoint of v1 += adjoint of f * conj(f) = ")
    z = 1 + 2j
    slope = 2 * z * np.exp(z * z)
    assert complex(made.boxes[0].details["adjoint"].replace(" ", "")) == pytest.approx(
        np.conj(slope), rel=1e-4
    )
    made = picture(lambda z: z.abs(), 1 + 2j, mode="forward")
    assert arrows(made) == {("z", "f"): ""}
    assert texts(made)[-1] == "tangent of f = tangent of z * ∂f/∂z = 0.44721"


def test_nan_is_shown():
    with np.errstate(all="ignore"):
        made = picture(lambda x: x.log(), -1.0)
    assert made.boxes[1].lines == ["value nan", "adjoint 1"]


def test_arrays_are_shown_by_their_elements_or_in_short():
    made = picture(lambda x: (x * 2).sum(), np.arange(3.0))
    assert made.boxes[1].lines == ["value [0, 2, 4]", "adjoint [1, 1, 1]"]
    made = picture(lambda x: (x * 2).sum(), np.arange(1000.0))
    assert made.boxes[1].lines[0] == "value 0 … 1998, mean 999"


def test_a_long_loop_is_collapsed():
    def f(x):
        for _ in range(1000):
            x = x.sin() * 0.5 + x
        return x

    for mode in ("backward", "forward"):
        made = picture(f, 1.0, mode=mode)
        assert len(made.boxes) == 3
        assert made.boxes[1].count == 1000
        assert made.steps
        assert "drawn as one box each" in made.notes[0]


def test_calls_can_be_collapsed():
    def inner(x):
        return x.sin().cos()

    def f(x):
        return inner(x) * 2

    assert titles(picture(f, X, depth=0))[1] == "inner()"
    assert len(titles(picture(f, X, depth=1))) == 4


def test_nothing_stays_behind():
    x = wg.tensor(2.0, requires_grad=True)
    with wg.no_grad():
        dependency_graph(exercise, x)
        assert not wg.is_grad_enabled()
    assert x.grad is None
    assert not wg.is_anomaly_enabled()

    def fails(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        dependency_graph(fails, X)
    assert not wg.is_anomaly_enabled()
    assert titles(picture(exercise, X))[1] == "a = x ** 2"


@pytest.mark.parametrize(
    ("inner", "slope"),
    [
        (lambda x: wg.func.grad(lambda t: t.sin())(x), -SIN),
        (lambda x: wg.func.vmap(lambda t: t.sin() * t)(x.reshape(1)).sum(), SIN + X * COS),
        (lambda x: wg.func.jvp(wg.exp, (x,), (x,))[1], math.exp(X) * (1 + X)),
        (lambda x: wg.autograd.grad(x.sin(), x, create_graph=True)[0], -SIN),
    ],
)
def test_derivatives_and_batches_within_the_function(inner, slope):
    made = picture(lambda x: inner(x) * 3, X)
    assert float(made.boxes[0].details["adjoint"]) == pytest.approx(3 * slope, rel=1e-5)
    assert made.notes == []
    made = picture(lambda x: inner(x) * 3, X, mode="forward")
    assert made.boxes
    assert wg.rand(2).shape == (2,)  # the transforms have ended


def test_what_would_add_to_gradients_is_not_run():
    weight = wg.tensor(3.0, dtype=wg.float64, requires_grad=True)
    checkpoint = wg.utils.checkpoint.checkpoint

    def f(x):
        return checkpoint(lambda t: t * weight, x, use_reentrant=True)

    made = picture(f, X)
    assert weight.grad is None
    assert "use_reentrant=False" in made.notes[0]
    made = picture(lambda x: checkpoint(lambda t: t * weight, x, use_reentrant=False), X)
    assert quantity(made, "adjoint")["x"] == 3.0


def test_hooks_do_not_run():
    def f(x):
        y = x * 2
        y.register_hook(lambda g: pytest.fail("a hook ran"))
        return y * y

    assert quantity(picture(f, 3.0), "adjoint")["x"] == 24


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="f must be a function, not Tensor; for a tensor use draw"):
        dependency_graph(wg.ones(2))
    with pytest.raises(ValueError, match="mode must be 'backward' or 'forward', not 'double'"):
        dependency_graph(exercise, X, mode="double")
    with pytest.raises(ValueError, match="there is no 'color'"):
        dependency_graph(exercise, X, show="color")
    with pytest.raises(TypeError, match=r"must return a Tensor .*, but returned float"):
        dependency_graph(lambda x: 3.0, X)
    with pytest.raises(TypeError, match="returned no Tensor"):
        dependency_graph(lambda x: None, X)
