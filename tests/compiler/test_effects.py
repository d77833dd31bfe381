"""Test side effects of ordinary functions: counters, records, logs (NOTE [effects])."""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import io
import logging
import operator
import re
import threading
import time
import warnings

import numpy as np
import pytest

import wengert as wg

CASES = {}
COUNT = 0
TOTAL = 0.0
LOSSES = []
HISTORY = {"loss": [], "grad": []}
LOGGER = logging.getLogger("wengert.tests.effects")


def case(compiles):
    """Register a factory of (function, what it leaves behind), with whether it is compiled."""

    def register(make):
        CASES[make.__name__] = make, compiles
        return make

    return register


def work(x):
    return (x * 2 + 1).square().sum()


@case(True)
def counter_of_a_module():
    global COUNT
    COUNT = 0

    def f(x):
        global COUNT
        COUNT += 1
        return work(x)

    return f, lambda: COUNT


@case(True)
def bits_of_a_counter():
    global COUNT
    COUNT = 0

    def f(x):
        global COUNT
        COUNT += 1
        bits = (COUNT & 1) + (2 | COUNT % 4) + (COUNT ^ 1) % 2 + (~COUNT & 1)
        return work(x * (bits + (1 << COUNT % 2) + (COUNT % 2 >> 1)))

    return f, lambda: COUNT


@case(True)
def counter_of_a_closure():
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return work(x) * calls

    return f, lambda: calls


class Trainer:
    limit = 3

    def __init__(self):
        self.calls = 0
        self.total = 0.0
        self.best = float("inf")
        self.losses = []
        self.last = None
        self.history = collections.defaultdict(list)
        self.lock = io.StringIO()

    def counted(self, x):
        self.calls += 1
        return work(x)

    def every_third(self, x):
        self.calls += 1
        if self.calls % self.limit == 0:
            return work(x) * 10
        return work(x)

    def summed(self, x):
        loss = work(x)
        self.total += loss.item()
        self.calls += 1
        return loss / self.calls, self.total / self.calls

    def averaged(self, x):
        loss = work(x)
        self.total = 0.9 * self.total + 0.1 * loss.item()
        return loss

    def bettered(self, x):
        loss = work(x)
        if loss.item() < self.best:
            self.best = loss.item()
            self.calls = 0
        else:
            self.calls += 1
        return loss

    def recorded(self, x):
        loss = work(x)
        self.losses.append(loss.item())
        return loss

    def remembered(self, x):
        self.last = work(x).item()
        return x + 1

    def kept(self, x):
        self.last = x.square()
        return self.last.sum(), self.last

    def filed(self, x):
        loss = work(x)
        self.history["loss"].append(loss.item())
        self.history["size"].append((self.calls, x.sum().item()))
        self.calls += 1
        return loss

    def decayed(self, x):
        rate = 0.5 / (1 + self.calls)
        self.calls += 1
        return x * rate

    def summary(self):
        """Reads what others write, and is not called."""
        return sum(self.losses) / len(self.losses), open(self.last), vars(self)


def method(name, compiles=True):
    def make():
        trainer = Trainer()
        state = ("calls", "total", "best", "losses", "last", "history")
        return getattr(trainer, name), lambda: [getattr(trainer, key) for key in state]

    make.__name__ = f"method_{name}"
    return case(compiles)(make)


for name in ("counted", "every_third", "summed", "averaged", "bettered", "recorded"):
    method(name)
for name in ("remembered", "kept", "filed", "decayed"):
    method(name)


@case(True)
def accuracy():
    right = {"n": 0, "of": 0}

    def f(x):
        right["n"] += (x > 0.4).sum().item()
        right["of"] += len(x)
        return x * (right["n"] / right["of"])

    return f, lambda: right


@case(True)
def list_of_a_module():
    LOSSES.clear()

    def f(x):
        loss = work(x)
        LOSSES.append(loss.item())
        return loss

    return f, lambda: list(LOSSES)


@case(True)
def dictionary_of_lists():
    for part in HISTORY.values():
        part.clear()

    def f(x):
        loss = work(x)
        HISTORY["loss"].append(loss.item())
        record = HISTORY["grad"]
        record.append(x.abs().max().item())
        return loss

    return f, lambda: HISTORY


@case(True)
def list_of_a_closure():
    found = []

    def f(x):
        y = x * 3
        found.append(y)
        found.append(y.detach())
        found.extend([float(y.sum()), "end"])
        return y

    return f, lambda: [t.tolist() if hasattr(t, "tolist") else t for t in found]


@case(True)
def records_as_dictionaries():
    found = []
    step = {"n": 0}

    def f(x):
        loss = work(x)
        step["n"] += 1
        found.append({"step": step["n"], "loss": loss.item(), "tags": ["a", step["n"] * 2]})
        return loss

    return f, lambda: (found, step)


@case(True)
def items_of_a_dictionary():
    state = {"calls": 0, "last": 0.0, "name": "run"}

    def f(x):
        state["calls"] += 1
        state["last"] = work(x).item()
        return x * state["calls"]

    return f, lambda: state


@case(True)
def items_of_a_list():
    counts = [0, 0]

    def f(x):
        counts[0] += 1
        counts[1] += 2
        return x + counts[1]

    return f, lambda: counts


@case(True)
def arguments():
    found, state = [], {"n": 0}

    def g(x, found, state):
        found.append(x.sum().item())
        state["n"] += 1
        return x + state["n"]

    def wrap(compiled):
        return lambda x: compiled(x, found, state)

    g.wrap = wrap
    return g, lambda: (found, state)


@case(True)
def a_dataclass():
    @dataclasses.dataclass
    class Progress:
        step: int = 0
        loss: float = 0.0
        seen: list = dataclasses.field(default_factory=list)

    progress = Progress()

    def f(x):
        progress.step += 1
        progress.loss = work(x).item()
        progress.seen.append(progress.loss)
        return x * progress.step

    return f, lambda: dataclasses.astuple(progress)


@case(True)
def two_names_of_one_list():
    first = []
    holder = {"second": first}

    def f(x):
        first.append(x[0].item())
        holder["second"].append(x[1].item())
        return x

    return f, lambda: (first, holder)


@case(False)
def reads_what_it_writes():
    found = []

    def f(x):
        found.append(x.sum().item())
        return x * sum(found) / len(found)

    return f, lambda: found


@case(False)
def bounded_window():
    found = []

    def f(x):
        found.append(x.sum().item())
        if len(found) > 3:
            found.pop(0)
        return x * 2

    return f, lambda: found


@case(True)
def printed_counter():
    state = {"n": 0}

    def f(x):
        state["n"] += 1
        print("step", state["n"], f"{work(x).item():.3f}")
        return x * 2

    return f, lambda: state


@case(True)
def a_flag_set_once():
    state = {"ready": False, "scale": None}

    def f(x):
        if not state["ready"]:
            state["scale"] = 3.0
            state["ready"] = True
        return x * state["scale"]

    return f, lambda: state


@case(True)
def constants_that_are_set():
    state = {"mode": "train", "old": "a"}

    def f(x):
        state["old"], state["mode"] = state["mode"], "train"
        return x * 2

    return f, lambda: state


@case(True)
def logged():
    def f(x):
        loss = work(x)
        LOGGER.debug("loss %f", loss.item())
        return loss

    return f, lambda: None


@case(False)
def logged_aloud():
    def f(x):
        loss = work(x)
        LOGGER.info("loss %.3f of %s", loss.item(), x)
        LOGGER.info(f"again {loss.item():.2f}")
        return loss

    return f, lambda: None


@case(False)
def warned():
    def f(x):
        warnings.warn("deprecated", UserWarning, stacklevel=1)
        return work(x)

    return f, lambda: None


@case(True)
def reached_and_not_used():
    class Model:
        def __init__(self):
            self.file = io.BytesIO()
            self.stack = contextlib.ExitStack()
            self.weight = wg.tensor([1.0, 2.0, 3.0])

        def save(self):
            self.file.write(open)

        def step(self, x):
            return self.weight * x

    return Model().step, lambda: None


@case(True)
def tolist_that_is_kept():
    found = []

    def f(x):
        found.append(x.tolist())
        return x * 2

    return f, lambda: found


@case(False)
def array_of_objects():
    def f(x):
        return np.array([x.sum().item(), "a"], dtype=object), x * 2

    return f, lambda: None


@case(False)
def timed():
    spent = []

    def f(x):
        start = time.perf_counter()
        y = work(x)
        spent.append(time.perf_counter() - start)
        return y

    return f, lambda: len(spent)


@case(False)
def a_cache_by_value():
    cache = {}

    def f(x):
        key = x[0].item()
        if key not in cache:
            cache[key] = key * 2
        return x * cache[key]

    return f, lambda: cache


@case(False)
def a_set_that_grows():
    seen = set()

    def f(x):
        seen.add(x.sum().item())
        return x * 2

    return f, lambda: sorted(seen)


@case(True)
def two_outcomes_that_raise():
    calls = [0]

    def f(x):
        calls[0] += 1
        if x.sum() > 40:
            raise ValueError(calls[0])
        calls[0] += 1
        return x * 2

    return f, lambda: calls


INPUTS = [[1.0, 2.0, 3.0], [2.0, 0.5, -1.0], [20.0, 30.0, 4.0], [0.1, 0.2, 0.3]] * 2


def played(name, compiled, grad):
    """What a case returns, shows and leaves behind in eight calls, and its explanation."""
    make, _ = CASES[name]
    function, state = make()
    wrap = getattr(function, "wrap", lambda f: f)
    made = (
        wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
        if compiled
        else function
    )
    call = wrap(made)
    noted = []
    handler = logging.Handler()
    handler.emit = lambda record: noted.append(
        (record.getMessage(), record.levelname, record.lineno, record.funcName)
    )
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for values in INPUTS:
                x = wg.tensor(values, requires_grad=grad)
                try:
                    result = call(x)
                except ValueError as error:
                    result = repr(error)
                flat = result if isinstance(result, tuple) else (result,)
                noted += [part.tolist() if hasattr(part, "tolist") else part for part in flat]
                if grad and isinstance(flat[0], wg.Tensor) and flat[0].requires_grad:
                    flat[0].sum().backward()
                    noted.append(x.grad.tolist())
                noted.append(re.sub("grad_fn=<[A-Za-z0-9]*>", "recorded", repr(state())))
    finally:
        LOGGER.removeHandler(handler)
    noted += [(str(w.message), w.filename, w.lineno) for w in caught]
    return noted, out.getvalue(), made.explain() if compiled else None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CASES)
def test_effects_are_those_of_the_function(name):
    for grad in (False, True):
        expected, shown, _ = played(name, False, grad)
        found, printed, explanation = played(name, True, grad)
        assert found == expected
        assert printed.replace("CompiledBackward", "SumBackward0") == shown
    compiles = CASES[name][1]
    assert (explanation.reason is None) == compiles, explanation


READS = {
    "length": lambda kept, x: x * len(kept),
    "truth": lambda kept, x: x if kept else -x,
    "last": lambda kept, x: x + kept[-1],
    "is it": lambda kept, x: (x, kept),
    "returned": lambda kept, x: kept,
    "equal": lambda kept, x: x * (kept == [1.0]),
    "joined": lambda kept, x: x * sum([0.0, *kept]) + sum(operator.add([1.0], kept)),
    "stacked": lambda kept, x: x * wg.tensor(kept).sum(),
    "NumPy": lambda kept, x: x * float(np.array(kept).sum()),
    "text": lambda kept, x: (x, str(kept)),
    "copied": lambda kept, x: (x, copy.copy(kept), copy.deepcopy(kept)),
    "exact": lambda kept, x: x * 2 if type(kept) is list else x,
    "in another": lambda kept, x: (x, {"a": [kept]}),
    "pattern": lambda kept, x: matched(kept, x),
    "cleared": lambda kept, x: (x, kept.clear()),
    "popped": lambda kept, x: x * kept.pop(0),
    "inserted": lambda kept, x: (x, kept.insert(0, 1.5)),
    "sorted": lambda kept, x: (x, kept.sort()),
}


def matched(kept, x):
    match kept:
        case [first, *_]:
            return x + first
    return x


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", READS)
def test_a_list_that_is_read_is_known(name):
    def story(compiled):
        kept, more = [], []

        def f(x):
            if x.sum() > 0:
                kept.append(x.sum().item())
                more.append(kept[0] if name == "first" else 1)
            return READS[name](kept, x)

        call = (
            wg.compile(f, backend="numpy", options={"measure": False, "quiet": True})
            if compiled
            else f
        )
        told = []
        for values in INPUTS:
            result = call(wg.tensor(values))
            told.append((repr(result), repr(kept), type(result) is tuple or result is kept))
        return told, more

    assert story(True) == story(False)


def test_numbers_are_those_of_Python():
    """Arithmetic of numbers in places that change, whatever they are."""

    def story(compiled):
        state = {"n": 0, "r": 0.5, "out": None, "m": 1, "far": 2**31 - 2}

        def f(x):
            n, r = state["n"], state["r"]
            state["n"] = n * 3 - 7 if n < 10**6 else -n // 11
            state["r"] = r * n - (n - 3) / 7 if abs(r) < 1e6 else 1 / (2 + n % 5)
            state["m"] = state["m"] * 3 % 1000 + (n > 4) - (n % -4)
            state["far"] += 1
            state["out"] = (n // 4, n % 7, n / 8, 5 // (n or 1), -n, abs(n), n == r, r < n, n < 2.5)
            return x * state["r"] + n

        call = (
            wg.compile(f, backend="numpy", options={"measure": False, "quiet": True}, limit=99)
            if compiled
            else f
        )
        return [(call(wg.tensor([1.0, 2.0])).tolist(), repr(state)) for _ in range(40)]

    assert story(True) == story(False)


def test_threads_count_all_calls():
    state = {"n": 0, "seen": []}

    @wg.compile(backend="numpy", options={"measure": False})
    def f(x):
        state["n"] += 1
        state["seen"].append(x.sum().item())
        return x * 2

    def run():
        for _ in range(50):
            f(wg.ones(3))

    threads = [threading.Thread(target=run) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert state == {"n": 200, "seen": [3.0] * 200}


def test_what_it_adds_is_what_it_returns():
    kept = []

    @wg.compile(backend="numpy", options={"measure": False})
    def f(x):
        y = x * 2
        kept.append(y)
        kept.append(x)
        return y

    for _ in range(4):
        x = wg.ones(2, requires_grad=True)
        y = f(x)
        assert kept[-2] is y and kept[-1] is x
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
    assert f.explain().reason is None


class Device:
    """Has what is not known to the walker, and ways to come to it."""

    def __init__(self):
        self.stream = io.StringIO()
        self.scale = wg.tensor(2.0)
        self.log = []

    def write_all(self):
        self.log.append(self.stream.getvalue())

    @property
    def name_it(self):
        self.log.append(1)
        return 3.0

    def __repr__(self):
        return "device"


def matched_by_name(device, x):
    match device:
        case Device(name_it=3.0):
            return x * 2
    return x


WAYS = {
    "attribute": lambda d, x: x * len(d.stream.getvalue()),
    "getattr": lambda d, x: x * len(getattr(d, "str" + "eam").getvalue()),
    "vars": lambda d, x: x * len(vars(d)["stream"].getvalue()),
    "method": lambda d, x: (d.write_all(), x * 2)[1],
    "method of a string": lambda d, x: (operator.methodcaller("write_all")(d), x * 2)[1],
    "property": lambda d, x: x * d.name_it,
    "format": lambda d, x: x * float(f"{d.name_it}"),
    "pattern": matched_by_name,
    "copy": lambda d, x: x * len(copy.copy(d).stream.getvalue()),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_is_reached_is_known_where_it_is_used(name):
    def story(compiled):
        device = Device()
        use = WAYS[name]

        def f(x):
            return use(device, x) + device.scale

        call = (
            wg.compile(f, backend="numpy", options={"measure": False, "quiet": True})
            if compiled
            else f
        )
        told = []
        for number in range(5):
            device.stream.write("a")
            told.append((call(wg.tensor([1.0, 2.0])).tolist(), repr(device.log), number))
        return told

    assert story(True) == story(False)


def test_places_behind_lists_that_grow():
    first, second, third = Trainer(), Trainer(), {"n": 0}

    @wg.compile(backend="numpy", options={"measure": False})
    def f(x):
        first.losses.append([x.sum().item()])
        second.calls += 1
        second.losses.append(2.0)
        third["n"] += second.calls
        return x * third["n"]

    for _ in range(6):
        f(wg.ones(2))
    assert (len(first.losses), second.calls, second.losses, third) == (6, 6, [2.0] * 6, {"n": 21})
    assert f.explain().traces == 1


def test_a_number_that_is_set_to_what_it_was():
    state = {"t": 0.0}

    @wg.compile(backend="numpy", options={"measure": False})
    def f(x):
        state["t"] += x.sum().item()
        return x * 2

    found = []
    for values in ([0.0, 0.0], [1.0, -1.0], [1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [1.0, 1.0]):
        f(wg.tensor(values))
        found.append(state["t"])
    assert found == [0.0, 0.0, 3.0, 10.0, 10.0, 12.0]
