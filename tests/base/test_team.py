"""Test the threads that share work on large arrays: their number, their parts, and errors."""

import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.base import threads
from wengert.base.threads import share


@pytest.fixture(autouse=True)
def four_threads():
    before = wg.get_num_threads()
    wg.set_num_threads(4)
    yield
    wg.set_num_threads(before)


def run(code, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


# -- how many --------------------------------------------------------------------------------------


def test_the_number_is_what_was_set():
    wg.set_num_threads(3)
    assert wg.get_num_threads() == 3


@pytest.mark.parametrize("number", [0, -1, 2**65])
def test_a_number_that_is_no_positive_int_is_refused_and_changes_nothing(number):
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        wg.set_num_threads(number)
    assert wg.get_num_threads() == 4


@pytest.mark.parametrize("number", [2.0, "2", None, True])
def test_what_is_no_integer_is_refused(number):
    name = type(number).__name__
    with pytest.raises(RuntimeError, match=f"set_num_threads expects an int, but got {name}"):
        wg.set_num_threads(number)
    assert wg.get_num_threads() == 4


SHOWN = "import wengert as wg; print(wg.get_num_threads())"


def test_the_environment_says_how_many():
    assert run(SHOWN, OMP_NUM_THREADS="3") == "3"
    assert run(SHOWN, OMP_NUM_THREADS="5,2") == "5"
    assert run(SHOWN, OMP_NUM_THREADS="3", WENGERT_NUM_THREADS="7") == "7"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_otherwise_there_are_as_many_as_processors_that_may_be_used():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); " + SHOWN
    assert run(code) == "1"
    assert run(code, OMP_NUM_THREADS="many") == "1"


def test_no_thread_is_made_before_there_is_something_large():
    code = (
        "import _thread, time, wengert as wg; wg.set_num_threads(3)\n"
        "wg.ones(99_999).sin(); before = _thread._count()\n"
        "for _ in range(5): wg.ones(100_000).sin()\n"
        "time.sleep(1); print(before, _thread._count())"
    )
    assert run(code) == "0 2"


def test_one_thread_makes_no_other():
    code = (
        "import _thread, wengert as wg; wg.set_num_threads(1)\n"
        "wg.ones(1_000_000).sin(); print(_thread._count())"
    )
    assert run(code) == "0"


# -- who does what ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 9, 10, 19, 20, 21, 200, 1999])
def test_every_element_is_done_once_and_pieces_begin_at_multiples(size):
    done = np.zeros(size, int)
    starts = []

    def work(start, stop):
        starts.append(start)
        assert stop - start >= min(10, size)
        done[start:stop] += 1

    share(work, size, 10)
    assert (done == 1).all()
    assert all(start % 10 == 0 for start in starts)


def test_several_threads_take_part():
    # each piece waits until another one is under way, which one thread alone could not do
    meeting = threading.Barrier(2)
    share(lambda start, stop: meeting.wait(60), 20, 10)
    assert not meeting.broken


def test_work_within_work_is_done_by_the_thread_that_asks():
    done = np.zeros((8, 40), int)
    foreign = []

    def outer(start, stop):
        me = threading.get_ident()

        def inner(i, j):
            if threading.get_ident() != me:
                foreign.append(start)
            done[start:stop, i:j] += 1

        share(inner, 40, 10)

    share(outer, 8, 1)
    assert (done == 1).all() and not foreign


def test_threads_of_the_user_ask_at_the_same_time():
    x = np.linspace(0.0, 3.0, 200_000)
    expected = np.sin(x)
    wrong = []

    def ask():
        for _ in range(10):
            if not np.allclose(wg.from_numpy(x).sin().numpy(), expected, rtol=1e-14):
                wrong.append(1)

    users = [threading.Thread(target=ask, daemon=True) for _ in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join(120)
    assert not any(user.is_alive() for user in users) and not wrong


def test_a_helper_that_is_late_is_not_waited_for(monkeypatch):
    team = threads._Team()
    monkeypatch.setattr(threads, "_team", team)
    # a helper that never hears its call
    team.calls = [threads.allocate_lock() for _ in range(3)]
    done = np.zeros(100, int)

    def work(start, stop):
        done[start:stop] += 1

    share(work, 100, 10)
    share(work, 100, 10)
    assert (done == 2).all()


def test_where_no_thread_can_be_made_one_does_all(monkeypatch):
    def refuse(*args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    monkeypatch.setattr(threads, "_team", threads._Team())
    done = np.zeros(100, int)

    def work(start, stop):
        done[start:stop] += 1

    share(work, 100, 10)
    assert (done == 1).all()


def test_helpers_hold_no_array_when_they_are_done():
    class Held(np.ndarray):
        pass

    array = np.zeros(400).view(Held)
    gone = weakref.ref(array)

    def work(start, stop, array=array):
        array[start:stop] += 1

    share(work, 400, 10)
    del array, work
    for _ in range(1000):
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


# -- what goes wrong -------------------------------------------------------------------------------


def test_an_error_in_any_piece_is_raised_and_the_team_goes_on():
    for bad in range(0, 100, 10):

        def work(start, stop, bad=bad):
            if start <= bad < stop:
                raise KeyError(bad)

        with pytest.raises(KeyError, match=str(bad)):
            share(work, 100, 10)
    test_several_threads_take_part()


def test_an_interrupt_of_the_leading_thread_ends_the_work():
    me = threading.get_ident()
    done = []

    def work(start, stop):
        if threading.get_ident() == me:
            raise KeyboardInterrupt
        done.append(start)

    for _ in range(20):
        try:
            share(work, 100, 10)
        except KeyboardInterrupt:
            break
    else:
        pytest.fail("the leading thread took no piece in twenty times")
    test_several_threads_take_part()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_makes_a_team_of_its_own():
    code = (
        "import os, warnings, numpy as np, wengert as wg; wg.set_num_threads(2)\n"
        "warnings.simplefilter('ignore')\n"
        "x = wg.linspace(0, 3, 300_000); y = x.sin()\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(0 if wg.equal(x.sin(), y) else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert run(code) == "0"


def test_a_program_ends_with_threads_asleep_and_computes_at_exit():
    code = (
        "import atexit, wengert as wg; wg.set_num_threads(3); x = wg.ones(300_000)\n"
        "class Late:\n"
        "    def __del__(self): print('late', float(x.sin()[0]) > 0.8)\n"
        "late = Late()\n"
        "x.sin()\n"
        "atexit.register(lambda: print('exit', float(x.cos()[0]) > 0.5))"
    )
    assert run(code).splitlines() == ["exit True", "late True"]
