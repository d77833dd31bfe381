import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.gradbench import inputs
from benchmarks.gradbench.protocol import EVALS, serve

ROOT = pathlib.Path(__file__).parents[2]

FUNCTIONS = {
    "ba": ("objective", "jacobian"),
    "det": ("primal", "gradient"),
    "gmm": ("objective", "jacobian"),
    "hello": ("square", "double"),
    "ht": ("objective", "jacobian"),
    "kmeans": ("cost", "dir"),
    "llsq": ("primal", "gradient"),
    "lse": ("primal", "gradient"),
    "lstm": ("objective", "jacobian"),
    "ode": ("primal", "gradient"),
    "particle": ("ff", "fr", "rf", "rr"),
    "saddle": ("ff", "fr", "rf", "rr"),
}
INPUTS = {
    "ba": inputs.ba(2, 3, 5),
    "det": inputs.det(3),
    "gmm": inputs.gmm(3, 4, 20),
    "hello": inputs.hello(),
    "ht": inputs.ht(40, 6, True),
    "kmeans": inputs.kmeans(4, 50, 3),
    "llsq": inputs.llsq(16, 5),
    "lse": inputs.lse(30),
    "lstm": inputs.lstm(2, 8),
    "ode": inputs.ode(6, 4),
    # at the goal, since the whole way takes minutes
    "particle": {"w": 0.2071918746486116},
    "saddle": {"start": [1e-6, 1e-6]},
}


def asked(*messages, compile=lambda function: function):
    """The responses to messages that are sent as lines of JSON."""
    lines = [json.dumps({"id": number, **message}) for number, message in enumerate(messages)]
    return [json.loads(response) for response in serve(lines, compile)]


def define(module):
    return {"kind": "define", "module": module}


def evaluate(module, function, input):
    plain = inputs.plain(input)
    return {"kind": "evaluate", "module": module, "function": function, "input": plain}


def value(module, function, input):
    """The value of a function, as a suite would get it."""
    defined, response = asked(define(module), evaluate(module, function, input))
    assert defined == {"id": 0, "success": True}
    assert response["success"], response["error"]
    return response["output"]


def shapes(output):
    if isinstance(output, dict):
        return {name: shapes(part) for name, part in output.items()}
    return np.shape(output)


def test_all_evals_are_there():
    assert set(EVALS) == set(FUNCTIONS)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("module", "function"), [(name, f) for name in FUNCTIONS for f in FUNCTIONS[name]]
)
def test_a_function_is_evaluated_and_timed(module, function):
    _, response = asked(define(module), evaluate(module, function, INPUTS[module]))
    assert response["success"], response["error"]
    (timing,) = response["timings"]
    assert timing["name"] == "evaluate"
    assert isinstance(timing["nanoseconds"], int)


def test_values_have_the_forms_that_the_suite_wants():
    def form(module, function):
        return shapes(value(module, function, INPUTS[module]))

    assert form("gmm", "objective") == form("lstm", "objective") == form("det", "primal") == ()
    by = {"alpha": (4,), "mu": (4, 3), "q": (4, 3), "l": (4, 3)}
    assert form("gmm", "jacobian") == by
    assert form("lstm", "jacobian") == (4 * 56 + 3 * 14,)
    assert form("kmeans", "dir") == (4, 3)
    assert form("ode", "primal") == form("ode", "gradient") == (6,)
    assert form("det", "gradient") == (9,)
    assert form("ht", "objective") == (18,)
    assert form("ht", "jacobian") == (18, 28)
    assert form("particle", "rr") == ()
    assert form("saddle", "rr") == (4,)


def test_jacobians_of_bundle_adjustment_show_their_beginning_and_end():
    # two rows of 15, and the last number
    output = value("ba", "jacobian", inputs.ba(2, 3, 20))
    assert shapes(output) == {"rows": (31,), "cols": (31,), "vals": (31,)}
    assert output["rows"][:3] == [0, 15, 30]
    assert output["rows"][-1] == 20 * 2 * 15 + 20
    assert output["cols"][:11] == [*range(11)]
    assert output["cols"][-1] == 11 * 2 + 3 * 3 + 20 - 1
    assert output["vals"][-1] == pytest.approx(-1.4)


def test_errors_of_bundle_adjustment_are_shown_once():
    output = value("ba", "objective", INPUTS["ba"])
    assert shapes(output["reproj_error"]["elements"]) == (2,)
    assert output["w_err"]["element"] == pytest.approx(0.51)
    assert output["reproj_error"]["repeated"] == output["w_err"]["repeated"] == 5


def test_hello_squares_and_doubles():
    assert value("hello", "square", 3.0) == 9.0
    assert value("hello", "double", 3.0) == 6.0


def test_a_function_runs_as_often_as_the_input_asks():
    runs = {**INPUTS["lse"], "min_runs": 5, "min_seconds": 0}
    _, response = asked(define("lse"), evaluate("lse", "primal", runs))
    assert len(response["timings"]) == 5


def test_a_function_runs_as_long_as_the_input_asks():
    runs = {**INPUTS["lse"], "min_runs": 1, "min_seconds": 0.01}
    _, response = asked(define("lse"), evaluate("lse", "primal", runs))
    times = [timing["nanoseconds"] for timing in response["timings"]]
    assert sum(times) >= 10**7 > sum(times[:-1])


def test_other_messages_are_acknowledged_and_the_last_one_ends_it():
    start, analysis = {"kind": "start", "eval": "hello"}, {"kind": "analysis", "of": 2}
    responses = asked(start, analysis, {"kind": "news"}, {"kind": "end"}, analysis)
    assert responses == [{"id": 0, "tool": "wengert"}, {"id": 1}, {"id": 2}, {"id": 3}]


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([define("none")], "there is no module 'none', only ba, det"),
        ([evaluate("lse", "primal", {})], "module 'lse' has not been defined"),
        ([define("lse"), evaluate("lse", "dual", {})], "no function 'dual', only primal, gradient"),
        ([define("lse"), evaluate("lse", "primal", {"y": 1})], "KeyError: 'x'"),
    ],
)
def test_what_goes_wrong_is_told_and_the_rest_goes_on(messages, says):
    *_, failed, after = asked(*messages, {"kind": "analysis"})
    assert failed["success"] is False
    assert says in failed["error"]
    assert "error" not in after


def test_functions_are_compiled_once_a_definition():
    compiled = []

    def compile(function):
        compiled.append(function)
        return function

    message = evaluate("lse", "primal", INPUTS["lse"])
    asked(define("lse"), message, message, compile=compile)
    assert len(compiled) == len(FUNCTIONS["lse"])


def test_the_program_answers_line_by_line():
    # a suite waits for each response before it sends the next message
    command = [sys.executable, "-m", "benchmarks.gradbench", "--eager"]
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, **pipes)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        messages = [{"kind": "start"}, define("hello"), evaluate("hello", "double", 4.0)]
        responses = []
        for number, message in zip(itertools.count(), [*messages, {"kind": "end"}], strict=False):
            process.stdin.write(json.dumps({"id": number, **message}) + "\n")
            process.stdin.flush()
            responses.append(json.loads(process.stdout.readline()))
    assert process.returncode == 0
    assert [response["id"] for response in responses] == [0, 1, 2, 3]
    assert responses[2]["output"] == 8.0
