"""Test the profiler: recorded operations and their times."""

import json
import threading

import pytest

import wengert as wg
from wengert.profiler import ProfilerAction, profile, record_function, schedule


def step(x):
    (x * 2).sin().sum().backward()


def counts(prof):
    return {event.key: event.count for event in prof.key_averages()}


def test_operations_and_nodes_are_counted():
    x = wg.ones(3, requires_grad=True)
    with profile(record_shapes=True) as prof:
        for _ in range(2):
            step(x)
    step(x)
    names = ("aten::mul", "aten::sin", "aten::sum", "MulBackward0", "SinBackward0", "SumBackward0")
    assert counts(prof) == dict.fromkeys(names, 2)
    assert wg.equal(x.grad, 6 * wg.cos(wg.full((3,), 2.0)))
    sine = next(event for event in prof.events() if event.name == "aten::sin")
    assert sine.input_shapes == [[3]]


def test_times_of_what_is_inside_count_once():
    with profile() as prof, record_function("outer"):
        with record_function("inner"):
            wg.ones(1000).exp()
        wg.ones(10).exp()
    averages = {event.key: event for event in prof.key_averages()}
    outer, inner = averages["outer"], averages["inner"]
    assert outer.cpu_time_total > inner.cpu_time_total > inner.self_cpu_time_total > 0
    assert outer.cpu_time_total == pytest.approx(prof.self_cpu_time_total)
    assert averages["aten::exp"].count == 2
    assert averages["aten::exp"].cpu_time == averages["aten::exp"].cpu_time_total / 2


def test_the_table_is_sorted_and_cut():
    with profile() as prof:
        for _ in range(3):
            wg.ones(10).exp()
        wg.ones(10).sin()
    table = prof.key_averages().table(sort_by="count", row_limit=1, header="Mine")
    lines = table.splitlines()
    assert lines[0] == "Mine" and "# of Calls" in lines[2]
    assert lines[4].split()[0] == "aten::ones" and lines[4].split()[-1] == "4"
    assert "aten::sin" not in table and lines[-1].startswith("Self CPU time total: ")
    assert len({len(line) for line in lines[1:-1]}) == 1
    with pytest.raises(AttributeError):
        prof.key_averages().table(sort_by="beauty")


def test_traces_are_written(tmp_path):
    with profile(record_shapes=True) as prof:
        wg.ones(2).exp()
    prof.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["aten::ones", "aten::exp"]
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in events)
    handler = wg.profiler.tensorboard_trace_handler(str(tmp_path / "log"))
    with profile(on_trace_ready=handler):
        wg.ones(2).exp()
    assert len(list((tmp_path / "log").glob("*.pt.trace.json"))) == 1


def test_steps_follow_a_schedule():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    kinds = [plan(i).value for i in range(11)]
    assert kinds == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0]
    assert plan(4) is ProfilerAction.RECORD_AND_SAVE
    ready = []
    with profile(schedule=plan, on_trace_ready=lambda p: ready.append(counts(p))) as prof:
        for i in range(11):
            for _ in range(i):
                wg.ones(1).exp()
            prof.step()
    assert ready == [{"aten::ones": n, "aten::exp": n} for n in (3 + 4, 7 + 8)]


def test_nothing_is_left_behind():
    x = wg.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="on purpose"), profile() as prof:
        y = x.sin()
        with record_function("broken"):
            raise ValueError("on purpose")
    y.sum().backward()
    assert counts(prof) == {"aten::sin": 1, "broken": 1}
    assert wg.profiler._CLOCKS == []
    with profile(enabled=False) as off, wg.autograd.profiler.profile(False) as former:
        x.sin()
    assert not off.events() and not former.events()


def test_other_threads_are_not_seen():
    with profile() as prof:
        thread = threading.Thread(target=lambda: wg.ones(2).exp())
        thread.start()
        thread.join()
        wg.ones(2).sin()
    assert counts(prof) == {"aten::ones": 1, "aten::sin": 1}


def test_functions_are_decorated():
    @record_function("f")
    def f(n):
        return f(n - 1) if n else wg.ones(1).exp()

    with profile() as prof:
        f(2)
    assert counts(prof) == {"f": 3, "aten::ones": 1, "aten::exp": 1}


def test_a_profile_prints_as_its_table():
    with profile() as prof, record_function("outer"):
        wg.ones(2).sin()
    assert str(prof) == prof.table() and "outer" in str(prof)


def test_tools_of_gpus_are_refused():
    with pytest.raises(NotImplementedError, match=r"profiler\.profile"):
        wg.autograd.profiler.emit_nvtx()


def test_functions_that_consist_of_others_are_counted():
    layer, x, image = wg.nn.Linear(3, 2), wg.rand(2, 3), wg.rand(1, 1, 4, 4)
    with profile(record_shapes=True) as prof:
        layer(x).softmax(1)
        wg.nn.functional.conv2d(image, image)
        x.mul_(2)
        assert wg.autograd._profiler_enabled()
    assert not wg.autograd._profiler_enabled()
    names = ["linear", "t", "addmm", "softmax", "_softmax", "conv2d", "convolution", "mul_"]
    assert counts(prof) == {f"aten::{name}": 1 for name in names}
    events = {event.key: event for event in prof.events()}
    linear = events["aten::linear"]
    assert linear.input_shapes == [[2, 3], [2, 3], [2]]
    assert linear.start <= events["aten::addmm"].start <= events["aten::addmm"].end <= linear.end
