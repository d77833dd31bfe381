"""Test `utils.benchmark`: timers and measurements."""

import pytest

import wengert as wg
from wengert.utils.benchmark import Measurement, Timer


def test_a_timer_runs_its_statement_as_often_as_it_is_told():
    calls = []
    timer = Timer("calls.append(x)", setup="x = 3", globals={"calls": calls}, label="appending")
    found = timer.timeit(10)
    assert set(calls) == {3}
    assert len(calls) >= 10
    assert (found.number_per_run, len(found.times), found.title) == (10, 1, "appending")


def test_statements_know_the_package_as_torch():
    assert Timer("assert torch.ones(2).numel() == 2", setup="torch.zeros(1)").timeit(1).times
    with pytest.raises(AttributeError, match="'int' object has no attribute 'ones'"):
        Timer("torch.ones(2)", globals={"torch": 3}).timeit(1)


def test_runs_go_on_until_the_time_is_up():
    ticks = iter(range(1000))
    timer = Timer("pass", timer=lambda: next(ticks))
    found = timer.blocked_autorange(min_run_time=3)
    assert found.raw_times == [1, 1, 1]
    assert found.mean == found.median == 1 / found.number_per_run


def test_what_a_measurement_says():
    found = Measurement(2, [2e-3, 4e-3, 6e-3], "f(x)", sub_label="small", description="ours")
    assert (found.mean, found.median, found.title) == (2e-3, 2e-3, "f(x): small")
    assert found.iqr == pytest.approx(1e-3)
    lines = repr(found).splitlines()
    assert lines[1:] == [
        "f(x): small",
        "ours",
        "  Median: 2.00 ms",
        "  IQR:    1.00 ms",
        "  3 measurements, 2 runs per measurement, 1 thread",
    ]


def test_threads_are_as_before():
    before = wg.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        Timer("1 / 0", num_threads=before + 1).timeit(1)
    assert wg.get_num_threads() == before


def test_only_python_is_timed():
    with pytest.raises(ValueError, match="only statements in Python"):
        Timer("f();", language="c++")


def test_measurements_are_set_side_by_side():
    from wengert.utils.benchmark import Compare, Measurement

    results = [
        Measurement(1, [t], "f(x)", "f", size, d, threads)
        for t, size, d, threads in (
            (2e-5, "small", "a", 1),
            (3e-5, "small", "b", 1),
            (1e-3, "large", "a", 1),
            (4e-5, "small", "a", 2),
        )
    ]
    table = Compare(results)
    lines = str(table).splitlines()
    assert lines[0].startswith("[-") and " f " in lines[0]
    assert [word.strip() for word in lines[1].split("|")] == ["", "a", "b"]
    assert lines[2].startswith("1 threads: --") and lines[5].startswith("2 threads: --")
    assert [word.strip() for word in lines[3].split("|")] == ["small", "20", "30"]
    assert [word.strip() for word in lines[4].split("|")] == ["large", "1000", ""]
    assert [word.strip() for word in lines[6].split("|")] == ["small", "40", ""]
    assert lines[-1] == "Times are in microseconds (us)."
    with pytest.raises(ValueError):
        table.extend_results([1])
