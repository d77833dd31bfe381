"""Test `draw`: the boxes, arrows and steps of a recorded graph, and their numbers."""

import sys
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.viz import Drawing, draw


def leaf(value=2.0):
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)


def picture(y, *args, **kwargs):
    return draw(y, *args, **kwargs).picture


def titles(picture, kind=None):
    return [box.title for box in picture.boxes if kind in (None, box.kind)]


def box(picture, title):
    (found,) = [box for box in picture.boxes if box.title == title]
    return found


def arrows(picture):
    return {
        (picture.boxes[a.tail].title, picture.boxes[a.head].title): a.label for a in picture.arrows
    }


def texts(picture):
    return [step.text for step in picture.steps]


class Cube(wg.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        Cube.calls += 1
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


# -- boxes and arrows ------------------------------------------------------------------------------


def test_leaves_operations_and_the_result_from_what_is_used_to_what_uses_it():
    x, w = leaf(), leaf(3.0)
    made = picture((x * w).sin(), params={"x": x, "w": w})
    assert [(b.kind, b.title) for b in made.boxes] == [
        ("leaf", "x"),
        ("leaf", "w"),
        ("operation", "mul"),
        ("operation", "sin"),
        ("result", "y"),
    ]
    assert set(arrows(made)) == {("x", "mul"), ("w", "mul"), ("mul", "sin"), ("sin", "y")}
    assert made.title == "Graph of y"
    assert made.mode == "backward"
    assert made.notes == []


def test_a_drawing_is_returned_and_shows_itself():
    x = leaf()
    drawing = draw(x.exp(), params={"x": x})
    assert isinstance(drawing, Drawing)
    assert "<svg" in drawing._repr_svg_()
    assert "exp" in drawing.html()


def test_operations_of_one_name_are_numbered():
    x = leaf()
    assert titles(picture(x.sin().sin() * x), "operation") == ["sin₁", "sin₂", "mul"]


def test_names_are_taken_from_a_dict_a_list_or_a_module():
    class Module:
        def named_parameters(self):
            return iter([("layer.weight", w)])

    w = leaf()
    assert titles(picture(w.exp(), {"weight": w}), "leaf") == ["weight"]
    assert titles(picture(w.exp(), [w]), "leaf") == ["param0"]
    assert titles(picture(w.exp(), Module()), "leaf") == ["layer.weight"]
    assert titles(draw(w.exp()).picture, "leaf") == ["w"]
    assert titles(picture(w.exp()), "leaf") == ["leaf"]  # `picture` has no such variable


def test_values_on_the_way_and_results_can_have_names():
    x = leaf()
    h = x.exp()
    y = h.sin()
    made = picture(y, {"x": x, "h": h, "loss": y})
    assert titles(made) == ["x", "h = exp", "loss = sin", "loss"]
    assert made.title == "Graph of loss"
    assert texts(made)[0] == "adjoint of loss = 1"


def test_what_is_named_and_not_in_the_graph_is_told():
    x, w = leaf(), leaf()
    assert picture(x.exp(), {"x": x, "w": w}).notes == ["Not in this graph: w."]


def test_several_results():
    x = leaf([1.0, 2.0])
    h = x.exp()
    made = picture((h.sum(), h.prod()), show="grad")
    assert titles(made, "result") == ["y[0]", "y[1]"]
    # the sweep starts from both: that of the sum of exp, and that of their product
    e = np.exp([1.0, 2.0])
    assert box(made, "exp").lines == [f"adjoint [{1 + e[1]:.5g}, {1 + e[0]:.5g}]"]


def test_two_uses_by_one_operation_are_one_arrow():
    x = leaf(3.0)
    made = picture(x * x, {"x": x}, show="local")
    assert arrows(made)["x", "mul"] == "3 (twice)"


def test_the_outputs_of_one_operation_are_told_apart():
    x = leaf([2.0, 3.0])
    a, b = x.unbind(0)
    made = picture(a * b, {"x": x}, show="value,grad")
    assert box(made, "unbind").lines == [
        "output 0: value 2",
        "output 0: adjoint 3",
        "output 1: value 3",
        "output 1: adjoint 2",
    ]
    assert texts(made)[1:] == [
        "mul: adjoints of unbind[0] += 3, unbind[1] += 2",
        "unbind: adjoint of x += [3, 2]",
    ]


# -- what boxes say --------------------------------------------------------------------------------


def test_shapes_are_found_for_values_that_nobody_kept():
    x = wg.ones(2, 3, requires_grad=True)
    made = picture(((x + 1).relu() * 2).sum(0), show="shape")
    assert [b.lines for b in made.boxes] == [["(2, 3)"]] * 4 + [["(3,)"]] * 2


def test_values_are_those_that_were_saved_and_what_follows_from_them():
    x = leaf(2.0)
    y = (x**2).log() * x.sin() + 1 / x
    made = picture(y, show="value")
    values = [float(line.split()[1]) for b in made.boxes for line in b.lines]
    log, sin = np.log(4.0), np.sin(2.0)
    wanted = [2, 4, log, sin, log * sin, 0.5, 0.5, log * sin + 0.5, log * sin + 0.5]
    np.testing.assert_allclose(values, wanted, rtol=1e-4)


def test_adjoints_are_the_gradients_of_the_values():
    x = leaf(2.0)
    a = x**2
    b = a.log()
    c = x.sin()
    y = b * c + 1 / x
    made = picture(y, {"x": x, "a": a, "b": b, "c": c}, show="grad")
    wanted = wg.autograd.grad(y, (x, a, b, c))
    for title, g in zip(("x", "a = pow", "b = log", "c = sin"), wanted, strict=True):
        assert box(made, title).lines == [f"adjoint {g.item():.5g}"]


def test_local_derivatives_stand_on_the_arrows():
    x = leaf(2.0)
    made = arrows(picture((x**2).log() * x.sin(), {"x": x}, show="local"))
    assert made["x", "pow"] == "4"
    assert made["pow", "log"] == "0.25"
    assert made["x", "sin"] == f"{np.cos(2.0):.5g}"
    assert made["log", "mul"] == f"{np.sin(2.0):.5g}"
    assert made["sin", "mul"] == f"{np.log(4.0):.5g}"


def test_local_derivatives_of_arrays():
    x = leaf([1.0, 2.0])
    m = leaf([[1.0, 2.0], [3.0, 4.0]])
    made = arrows(picture((m @ (x * x)).sum(), {"x": x, "m": m}, show="local"))
    assert made["x", "mul"] == "diag [1, 2] (twice)"
    assert made["mul", "mv"] == "[[1, 2], [3, 4]]"
    assert made["m", "mv"].startswith("matrix 2")
    assert made["mv", "sum"] == "[1, 1]"


def test_what_is_kept_and_how_much_that_is():
    x, data = wg.ones(3, requires_grad=True), wg.ones(3)
    made = picture((x * data).exp().sum(), {"x": x}, show="saved,bytes")
    assert box(made, "mul").lines == ["keeps other (3,)", "keeps 12 B"]
    assert box(made, "exp").lines == ["keeps result (3,)", "keeps 12 B"]
    assert box(made, "x").lines == ["12 B"]
    # data is not a vertex of the graph
    (kept,) = [b for b in made.boxes if b.kind == "saved"]
    assert kept.title == "other"
    (arrow,) = [a for a in made.arrows if a.kind == "saved"]
    assert made.boxes[arrow.head].title == "mul"


def test_details_tell_what_boxes_do_not():
    x = leaf(2.0)
    x.grad = wg.tensor(7.0, dtype=wg.float64)
    made = picture(x.exp(), {"x": x}, show="")
    assert made.boxes[0].lines == []
    details = box(made, "exp").details
    assert details["node"] == "ExpBackward0"
    assert details["shape"] == "()"
    assert details["dtype"] == "float64"
    assert details["value"] == box(made, "x").details["adjoint"] == "7.389056"
    assert box(made, "x").details[".grad"] == "7."


def test_the_line_is_shown_where_it_was_noted():
    x = leaf()
    line = sys._getframe().f_lineno + 1
    y = x.exp()  # here
    assert box(picture(y), "exp").details["line"] == f"test_draw.py:{line}  y = x.exp()  # here"
    assert "line" not in box(picture(x + 1), "add").details


def test_huge_arrays_are_summarised():
    x = wg.tensor(np.linspace(0.0, 1.0, 10**6), requires_grad=True)
    made = picture(x.sum(), {"x": x}, show="value,grad")
    assert made.boxes[0].lines == [
        "value 0 … 1, mean 0.5",
        "adjoint 1 … 1, mean 1",
    ]
    assert max(len(text) for b in made.boxes for text in b.details.values()) < 400


def test_values_that_are_not_finite():
    x = leaf([-1.0, 0.0, np.inf])
    with np.errstate(all="ignore"):
        y = x.log().sum()
    made = picture(y, {"x": x}, show="value,grad,local,bytes")
    assert box(made, "log").lines[0] == "value [nan, -inf, inf]"
    assert box(made, "sum").lines[0] == "value nan"
    many = wg.tensor([np.nan, np.inf] + [1.0] * 8, requires_grad=True)
    assert picture(many.exp(), show="value").boxes[0].lines == ["value 1 … 1, mean 1, 1 nan, 1 inf"]


def test_complex_values():
    z = wg.tensor(1 + 2j, requires_grad=True)
    made = picture((z * z).abs(), {"z": z}, show="value,grad,local")
    assert made.boxes[0].lines == ["value 1+2j", "adjoint 2+4j"]
    assert arrows(made)["z", "mul"] == "1+2j (twice)"
    # no one number is the derivative of the absolute value
    assert arrows(made)["mul", "abs"] == ""


# -- steps -----------------------------------------------------------------------------------------


def test_steps_follow_the_engine():
    x = leaf(2.0)
    y = (x**2).log() * x.sin()
    made = picture(y, {"x": x})
    assert texts(made) == [
        "adjoint of y = 1",
        f"mul: adjoints of log += {np.sin(2.0):.5g}, sin += {np.log(4.0):.5g}",
        f"sin: adjoint of x += {np.log(4.0) * np.cos(2.0):.5g}",
        f"log: adjoint of pow += {np.sin(2.0) / 4:.5g}",
        f"pow: adjoint of x += {np.sin(2.0):.5g}",
    ]
    ran = []
    for node in (y.grad_fn, *[node for node, _ in y.grad_fn.next_functions]):
        node.register_hook(lambda *_, node=node: ran.append(node.label))
    y.backward()
    assert ran == ["MulBackward0", "SinBackward0", "LogBackward0"]


def test_steps_name_the_boxes_and_arrows_at_work():
    x, w = leaf(), leaf()
    made = picture(x * w, {"x": x, "w": w})
    step = made.steps[1]
    assert {made.boxes[i].title for i in step.boxes} == {"mul", "x", "w"}
    assert {made.boxes[made.arrows[i].tail].title for i in step.arrows} == {"x", "w"}


def test_a_result_that_is_no_number_starts_from_ones_or_from_what_is_given():
    x = leaf([1.0, 2.0])
    made = picture(x * 3, {"x": x}, show="grad")
    assert box(made, "x").lines == ["adjoint [3, 3]"]
    assert "starts from ones" in made.notes[0]
    made = picture(x * 3, {"x": x}, show="grad", gradient=[1.0, 10.0])
    assert box(made, "x").lines == ["adjoint [3, 30]"]
    assert made.notes == []
    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) for y"):
        draw(x * 3, gradient=np.ones(3))
    with pytest.raises(ValueError, match="one entry for each of 2 outputs, not 1"):
        draw((x * 3, x), gradient=[np.ones(2)])


# -- modes -----------------------------------------------------------------------------------------


def test_the_graph_of_the_gradient_has_two_parts():
    x = leaf(2.0)
    made = picture(x.sin() * x, {"x": x}, mode="double", show="value")
    assert titles(made, "result") == ["y", "gradient of x"]
    wanted = np.cos(2.0) * 2 + np.sin(2.0)
    assert box(made, "gradient of x").lines == [f"value {wanted:.5g}"]
    parts = [b.details["part"] for b in made.boxes if b.kind == "operation"]
    assert parts == ["forward"] * 2 + ["backward"] * (len(parts) - 2)
    assert len(parts) > 4
    assert box(made, "sin").scope == ("forward",)
    assert box(made, "cos").scope == ("backward",)
    # the backward part uses values of the forward part
    assert ("sin", "mul₂") in arrows(made) or ("sin", "mul₃") in arrows(made)
    assert x.grad is None
    assert texts(made)[0].startswith("forward: ")
    assert texts(made)[-1].startswith("backward: ")


def test_a_gradient_that_is_constant_is_told():
    x = leaf()
    made = picture(x * 3, {"x": x}, mode="double", show="value")
    assert box(made, "gradient of x").lines == ["value 3"]
    assert made.notes == ["Constant, and so without a graph: gradient of x."]


def test_tangents_are_the_derivatives_along_the_way():
    x = leaf(2.0)
    made = picture((x**2).log() * x.sin(), {"x": x}, mode="forward", show="grad")
    log, sin, cos = np.log(4.0), np.sin(2.0), np.cos(2.0)
    wanted = [1, 4, 1, cos, sin + log * cos]
    found = [float(b.lines[0].removeprefix("tangent ")) for b in made.boxes if b.lines]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert texts(made)[0] == "tangent of x = 1"
    assert texts(made)[-1] == f"tangent of y = {sin + log * cos:.5g}"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(0).log().sum(),
        lambda x: (x.reshape(3, 1) @ x.reshape(1, 3)).tanh().mean(),
        lambda x: wg.cat([x, x[:2]]).prod(),
        lambda x: wg.where(x > 1, x.exp(), -x).cumsum(0)[-1],
        lambda x: Cube.apply(x).max(),
        lambda x: x.unbind(0)[0] * x.unbind(0)[2],
        lambda x: wg.stack([x, x * 2]).unbind(0)[1].prod(),
        lambda x: (x * wg.tensor([[1.0], [2.0]], dtype=wg.float64)).norm(),
        lambda x: x.std() + x.logsumexp(0),
    ],
)
def test_the_tangent_of_the_result_agrees_with_forward_mode(function):
    point = wg.tensor([0.5, 1.5, 2.5], dtype=wg.float64)
    direction = wg.tensor([1.0, -2.0, 0.5], dtype=wg.float64)
    x = point.clone().requires_grad_()
    made = picture(function(x), {"x": x}, mode="forward", show="grad", tangents={"x": direction})
    y = point.clone().requires_grad_()
    (g,) = wg.autograd.grad(function(y), y)
    wanted = float((g * direction).sum())
    assert made.notes == []
    assert float(made.steps[-1].text.rsplit(" ", 1)[1]) == pytest.approx(wanted, rel=1e-4)


def test_tangents_of_several_leaves():
    x, w = leaf(2.0), leaf(5.0)
    names = {"x": x, "w": w}
    made = picture(x * w, names, mode="forward")
    assert texts(made)[-1] == "tangent of y = 7"
    assert "derivatives in that direction" in made.notes[0]
    made = picture(x * w, names, mode="forward", tangents={"x": 1.0})
    assert texts(made)[-1] == "tangent of y = 5"
    assert texts(made)[1] == "tangent of w = 0"
    made = picture(x * w, names, mode="forward", tangents=[0.0, 1.0])
    assert texts(made)[-1] == "tangent of y = 2"
    with pytest.raises(ValueError, match="is for no leaf of this graph"):
        draw(x * w, names, mode="forward", tangents={"q": 1.0})
    with pytest.raises(ValueError, match=r"has the shape \(2,\), and x \(\)"):
        draw(x * w, names, mode="forward", tangents={"x": [1.0, 2.0]})


# -- graphs of all kinds ---------------------------------------------------------------------------


def test_a_leaf_and_a_constant_say_that_they_are():
    made = picture(leaf(), show="value")
    assert [b.kind for b in made.boxes] == ["leaf", "result"]
    assert made.notes == ["y is a leaf: no operation made it."]
    made = picture(wg.ones(2))
    assert [b.kind for b in made.boxes] == ["result"]
    assert made.notes[0].startswith("y is a constant: it does not require a gradient")
    for mode in ("double", "forward"):
        assert picture(wg.ones(2), mode=mode).notes[0].startswith("y is a constant")
        assert picture(leaf(), mode=mode).boxes


def test_a_graph_that_was_freed_is_drawn_and_says_so():
    x = leaf([1.0, 2.0])
    y = (x.exp() * x).sum()
    y.backward()
    for mode in ("backward", "double", "forward"):
        made = picture(y, {"x": x}, show="value,shape,grad,saved,local,bytes", mode=mode)
        assert titles(made, "operation") == ["exp", "mul", "sum"]
        assert any("has freed what this graph had saved" in note for note in made.notes)
        assert box(made, "x").lines[0] == "(2,)"
        assert box(made, "exp").lines[-1:] != ["keeps"]
    assert len(picture(y).steps) == 4


def test_a_value_that_was_written_to_is_not_shown_as_it_is_now():
    x = leaf(3.0)
    h = x * 2
    y = h.exp() * h
    with wg.no_grad():
        h.zero_()
    made = picture(y, {"x": x}, show="value,grad")
    assert not any(line.startswith("value 0") for b in made.boxes for line in b.lines)
    assert any("modified by an inplace operation" in note for note in made.notes)


def test_nothing_is_computed_from_a_leaf_that_has_changed():
    w = leaf(3.0)
    y = (w + 1).exp()
    with wg.no_grad():
        w.fill_(100.0)
    made = picture(y, {"w": w}, show="value")
    assert box(made, "w").lines == ["value 100"]
    assert box(made, "add").lines == []
    assert box(made, "exp").lines == [f"value {np.exp(4.0):.5g}"]


def test_leaves_have_the_names_of_variables_lists_and_modules():
    class Module:
        weight = leaf([3.0, 4.0])

        def named_parameters(self):
            return [("weight", self.weight)]

    net, pair, unused = Module(), [leaf([1.0, 2.0]), 5], leaf(7.0)
    made = draw((pair[0] * net.weight).sum()).picture
    assert titles(made, "leaf") == ["pair[0]", "net.weight"]
    assert not any("unused" in note for note in made.notes) and unused.grad is None
    made = draw((pair[0] * 2).sum(), mode="forward", tangents={"pair[0]": np.ones(2)}).picture
    assert made.steps[-1].text == "tangent of y = 4"


def test_results_have_the_names_of_variables():
    x = leaf([1.0, 2.0])
    loss, total = x.sum(), x.prod()
    made = draw(loss, params={"x": x}).picture
    assert (made.title, titles(made, "result")) == ("Graph of loss", ["loss"])
    assert titles(draw((loss, total)).picture, "result") == ["loss", "total"]
    assert titles(draw(x.mean()).picture, "result") == ["y"]


def test_what_follows_a_custom_function_has_shapes_and_its_steps_have_numbers():
    x = leaf([[1.0, 2.0]])
    made = draw((Cube.apply(x) @ leaf([[1.0], [1.0]])).sigmoid()).picture
    assert [b.lines[0] for b in made.boxes if b.kind == "operation"] == [
        "(1, 2)",
        "(1, 1)",
        "(1, 1)",
    ]
    assert all("?" not in line for b in made.boxes for line in b.lines)
    assert all("=" in step.text for step in made.steps)


def test_a_custom_function_is_a_box_and_runs_backwards_for_its_numbers():
    x = leaf(2.0)
    y = Cube.apply(x)
    made = picture(y, {"x": x}, show="shape,value,saved")
    assert box(made, "Cube").details["function"] == f"{__name__}.Cube"
    assert box(made, "Cube").lines == ["()", "value 8", "keeps saved_tensors[0] ()"]
    Cube.calls = 0
    made = picture(y, {"x": x}, show="grad,local")
    assert Cube.calls > 0
    assert box(made, "x").lines == ["adjoint 12"]
    assert arrows(made)["x", "Cube"] == "12"


def test_a_custom_function_that_raises_costs_the_numbers_only():
    class Broken(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("not today")

    made = picture(Broken.apply(leaf()), show="grad,local")
    assert titles(made, "operation") == ["Broken"]
    assert any("ZeroDivisionError: not today" in note for note in made.notes)
    assert any("local derivatives of Broken" in note for note in made.notes)


def test_hooks_do_not_run_and_the_reader_is_told():
    x = leaf(2.0)
    h = x.exp()
    h.register_hook(lambda g: pytest.fail("a hook ran"))
    h.retain_grad()
    made = picture(h * 3, {"x": x}, show="grad,local,value")
    assert "hooks" in box(made, "exp").details
    assert any("they did not run" in note for note in made.notes)
    assert h.grad is None
    assert x.grad is None


def test_a_write_through_a_view():
    x = leaf([1.0, 2.0])
    y = x * 2
    y[0] = x[1] * 3
    made = picture(y.sum(), {"x": x}, show="grad,shape,value,local,saved")
    assert box(made, "x").lines[:1] == ["(2,)"]
    assert "adjoint [0, 5]" in box(made, "x").lines
    assert any(title.startswith("write through a view") for title in titles(made))


def test_hooks_on_saved_tensors_are_not_called():
    x = leaf()
    with wg.autograd.graph.saved_tensors_hooks(
        lambda t: t, lambda t: pytest.fail("it was unpacked")
    ):
        y = x.exp()
    made = picture(y, {"x": x}, show="shape,value,saved", gradient=None, depth=0)
    assert titles(made, "operation") == ["exp"]


def test_drawing_leaves_no_trace():
    x = leaf()
    y = x.exp() * x
    with wg.no_grad():
        draw(y, show="value,grad,local")
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()
    assert x.grad is None
    y.backward()
    assert x.grad.item() == pytest.approx(3 * np.exp(2.0))


def test_any_mode_will_do():
    x = leaf()
    y = x.exp() * x
    for mode in (wg.no_grad(), wg.inference_mode(), wg.autograd.set_detect_anomaly(True)):
        with mode:
            made = picture(y, {"x": x}, show="grad,local")
            assert box(made, "x").lines == [f"adjoint {3 * np.exp(2.0):.5g}"]
            made = picture(y, {"x": x}, show="grad", mode="forward")
            assert texts(made)[-1] == f"tangent of y = {3 * np.exp(2.0):.5g}"
            made = picture(y, {"x": x}, show="value", mode="double")
            assert box(made, "gradient of x").lines[-1] == f"value {3 * np.exp(2.0):.5g}"


def test_values_inside_a_transform():
    made = []

    def f(x):
        y = (x * x).sum()
        made.append(picture(y, show="grad,shape,value,local,bytes"))
        return y

    wg.func.vmap(wg.func.grad(f))(wg.ones(3, 2))
    assert "operation" in {b.kind for b in made[0].boxes}
    assert any("inside a transform" in note for note in made[0].notes)


def test_numpys_warnings_do_not_come_through():
    x = leaf([0.0, 1.0])
    with np.errstate(all="ignore"):
        y = x.log().sum() / 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = picture(y, show="value,grad,local,shape,bytes,saved")
    assert any("inf" in str(box) for box in made.boxes)


# -- arguments -------------------------------------------------------------------------------------


def test_wrong_arguments_say_what_was_expected():
    x = leaf()
    with pytest.raises(
        ValueError, match=r"made of the words value, shape, .*; there is no 'color'"
    ):
        draw(x, show="value,color")
    with pytest.raises(ValueError, match="mode must be one of backward, double, forward"):
        draw(x, mode="sideways")
    with pytest.raises(ValueError, match="depth must not be negative"):
        draw(x, depth=-1)
    with pytest.raises(ValueError, match="limit must be at least 1"):
        draw(x, limit=0)
    with pytest.raises(TypeError, match=r"y\[1\] must be a Tensor .* not int"):
        draw((x, 1))
    with pytest.raises(TypeError, match=r"not function; for a function use dependency_graph"):
        draw(lambda: x)
    with pytest.raises(TypeError, match="is empty"):
        draw(())
    with pytest.raises(TypeError, match="params must be a dict from names to Tensors"):
        draw(x, params=3)
    with pytest.raises(TypeError, match=r"params\['w'\] must be a Tensor, not float"):
        draw(x, params={"w": 1.0})


def test_depth_without_lines_is_told():
    assert "depth has no effect" in picture(leaf().exp(), depth=1).notes[0]


def test_a_title_of_ones_own():
    assert picture(leaf(), title="Mine").title == "Mine"


def test_a_step_over_a_large_array_shows_its_range():
    x = wg.arange(10.0).requires_grad_()
    made = draw((x**2).sum()).picture
    assert texts(made)[1:] == [
        "sum: adjoint of pow += (1 … 1, mean 1)",
        "pow: adjoint of x += (0 … 18, mean 9)",
    ]
    made = draw((x**2).sum(), mode="forward").picture
    assert "tangent of pow = (0 … 18, mean 9)" in texts(made)
