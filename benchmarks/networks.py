"""Training steps of seven kinds of networks: forward, backward, and the optimiser.

Each network is written once in PyTorch's idiom and runs with us, compiled and as it is, and with
PyTorch; JAX runs it as a function of its parameters under `jit`. All start from the same weights,
work in float32 on one thread, in turns, and must agree on the losses of the first steps. ``first``
is what the first calls of a step take together, those that compile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from _measure import OURS, arguments, chosen, clock, measure, optional, ratio, report, rows

# isort: split
import numpy as np
from _networks_jax import FUNCTIONS

import wengert as wg

EAGER = "wengert (eager)"
RATE, MOMENTUM = 0.01, 0.9
CHECKED = 5
"""So many steps must have the same losses."""
ENOUGH = 0.05
"""Seconds that a contestant works in a round, at least."""

Loss = Callable[[], Any]
Step = Callable[[], Any]


class Task(NamedTuple):
    """A network, and the loss of one batch."""

    model: Any
    data: tuple[Any, ...]
    loss: Callable[..., Any]


def batch(lib: Any, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [lib.from_numpy(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]


def labels(lib: Any, count: int, *shape: int) -> Any:
    return lib.from_numpy(np.random.default_rng(1).integers(0, count, shape))


def perceptron(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional
    model = nn.Sequential(
        *(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    )
    (x,) = batch(lib, (64, 784))
    return Task(model, (x, labels(lib, 10, 64)), lambda x, y: F.cross_entropy(model(x), y))


def convolutional(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 7 * 7, 10)),
    )
    (x,) = batch(lib, (32, 1, 28, 28))
    return Task(model, (x, labels(lib, 10, 32)), lambda x, y: F.cross_entropy(model(x), y))


def residual(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc,name-defined]  # the class of either library
        def __init__(self, width: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.first_norm = nn.BatchNorm2d(width)
            self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.second_norm = nn.BatchNorm2d(width)

        def forward(self, x: Any) -> Any:
            h = F.relu(self.first_norm(self.first(x)))
            return F.relu(x + self.second_norm(self.second(h)))

    class Network(nn.Module):  # type: ignore[misc,name-defined]  # the class of either library
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 16, 3, padding=1)
            self.blocks = nn.Sequential(Block(16), Block(16))
            self.head = nn.Linear(16, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.blocks(F.relu(self.stem(x))).mean((2, 3)))

    model = Network()
    (x,) = batch(lib, (16, 3, 16, 16))
    return Task(model, (x, labels(lib, 10, 16)), lambda x, y: F.cross_entropy(model(x), y))


def lstm(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional
    model = nn.ModuleDict(
        {"cells": nn.LSTM(16, 64, batch_first=True), "head": nn.Linear(64, 1)},
    )
    x, y = batch(lib, (16, 20, 16), (16, 1))

    def loss(x: Any, y: Any) -> Any:
        states, _ = model["cells"](x)
        return F.mse_loss(model["head"](states[:, -1]), y)

    return Task(model, (x, y), loss)


def transformer(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = nn.ModuleDict(
        {
            "encoder": nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
            "head": nn.Linear(64, 1),
        }
    )
    x, y = batch(lib, (8, 16, 64), (8, 1))

    def loss(x: Any, y: Any) -> Any:
        return F.mse_loss(model["head"](model["encoder"](x).mean(1)), y)

    return Task(model, (x, y), loss)


def gpt(lib: Any) -> Task:
    nn, F = lib.nn, lib.nn.functional
    length, width, heads, tokens = 32, 64, 4, 65

    class Block(nn.Module):  # type: ignore[misc,name-defined]  # the class of either library
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.register_buffer("mask", lib.tril(lib.ones(length, length)))

        def forward(self, x: Any) -> Any:
            count = x.shape[0]
            q, k, v = (
                part.view(count, length, heads, width // heads).transpose(1, 2)
                for part in self.qkv(self.norm1(x)).split(width, dim=2)
            )
            scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
            weights = scores.masked_fill(self.mask == 0, float("-inf")).softmax(-1)
            mixed = (weights @ v).transpose(1, 2).reshape(count, length, width)
            x = x + self.out(mixed)
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Network(nn.Module):  # type: ignore[misc,name-defined]  # the class of either library
        def __init__(self) -> None:
            super().__init__()
            self.token, self.place = nn.Embedding(tokens, width), nn.Embedding(length, width)
            self.block, self.norm = Block(), nn.LayerNorm(width)
            self.head = nn.Linear(width, tokens)

        def forward(self, x: Any) -> Any:
            h = self.token(x) + self.place(lib.arange(length))
            return self.head(self.norm(self.block(h)))

    model = Network()
    text = labels(lib, tokens, 8, length + 1)

    def loss(text: Any) -> Any:
        return F.cross_entropy(model(text[:, :-1]).reshape(-1, tokens), text[:, 1:].reshape(-1))

    return Task(model, (text,), loss)


def physics(lib: Any) -> Task:
    """A network that is to solve the heat equation: its loss holds second derivatives."""
    nn = lib.nn
    model = nn.Sequential(
        *(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    )
    x, t = batch(lib, (256, 1), (256, 1))
    x.requires_grad_()
    t.requires_grad_()

    def loss(x: Any, t: Any) -> Any:
        u = model(lib.cat((x, t), 1))
        by_x, by_t = lib.autograd.grad(u.sum(), (x, t), create_graph=True)
        (by_xx,) = lib.autograd.grad(by_x.sum(), x, create_graph=True)
        return (by_t - 0.1 * by_xx).square().mean()

    return Task(model, (x, t), loss)


NETWORKS: dict[str, Callable[[Any], Task]] = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "residual": residual,
    "lstm": lstm,
    "transformer": transformer,
    "gpt": gpt,
    "physics": physics,
}


def weights_of(task: Task) -> dict[str, Any]:
    return {name: value.detach().numpy() for name, value in task.model.state_dict().items()}


def with_weights(task: Task, weights: Mapping[str, Any], lib: Any) -> Task:
    state = {name: lib.from_numpy(np.array(value)) for name, value in weights.items()}
    task.model.load_state_dict(state)
    return task


def torch_style(lib: Any, task: Task, compile: Callable[[Loss], Loss] | None = None) -> Step:
    """PyTorch and we: the very same code."""
    optimiser = lib.optim.SGD(task.model.parameters(), lr=RATE, momentum=MOMENTUM)
    loss_of = task.loss if compile is None else compile(task.loss)

    def step() -> Any:
        optimiser.zero_grad()
        loss = loss_of(*task.data)
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step


def jax_style(name: str, weights: Mapping[str, Any], data: tuple[Any, ...]) -> Step:
    """JAX as its users run it: the whole step compiled, the old state given away."""
    jax: Any = optional("jax")
    fixed = {k: v for k, v in weights.items() if k.rsplit(".", 1)[-1] in _BUFFERS}
    state = {k: jax.numpy.asarray(v) for k, v in weights.items() if k not in fixed}
    velocity = {k: jax.numpy.zeros_like(v) for k, v in state.items()}
    inputs = [jax.numpy.asarray(value.detach().numpy()) for value in data]
    function = FUNCTIONS[name]

    def update(state: Any, velocity: Any) -> Any:
        loss, grads = jax.value_and_grad(function)(state, *inputs)
        velocity = {k: MOMENTUM * velocity[k] + grads[k] for k in state}
        return loss, {k: state[k] - RATE * velocity[k] for k in state}, velocity

    compiled = jax.jit(update, donate_argnums=(0, 1))
    held = [state, velocity]

    def step() -> Any:
        loss, *held[:] = compiled(*held)
        return jax.block_until_ready(loss)

    return step


_BUFFERS = frozenset({"mask", "running_mean", "running_var", "num_batches_tracked"})


def contestants(name: str, options: argparse.Namespace) -> dict[str, Step]:
    make, torch = NETWORKS[name], optional("torch")
    wg.manual_seed(0)
    weights = weights_of(make(wg))

    def ours() -> Task:
        return with_weights(make(wg), weights, wg)

    makers: dict[str, Callable[[], Step]] = {
        OURS: lambda: wg.compile(torch_style(wg, ours())),
        EAGER: lambda: torch_style(wg, ours()),
    }
    if torch is not None:
        torch.set_num_threads(1)
        makers["torch"] = lambda: torch_style(torch, with_weights(make(torch), weights, torch))
        if options.torch_compile:
            makers["torch (compile)"] = lambda: torch_style(
                torch, with_weights(make(torch), weights, torch), torch.compile
            )
    if optional("jax") is not None:
        makers["jax (jit)"] = lambda: jax_style(name, weights, ours().data)
    return {who: make() for who, make in chosen(makers, options.peers).items()}


def seconds(step: Step, repeats: int = 1) -> float:
    start = clock()
    for _ in range(repeats):
        step()
    return (clock() - start) / repeats


def begun(name: str, there: Mapping[str, Step]) -> dict[str, list[float]]:
    """How long the first steps take; leave with a message unless all have the same losses."""
    truth, firsts = None, {}
    for who, step in there.items():
        start = clock()
        losses = np.array([float(step()) for _ in range(CHECKED)])
        firsts[who] = [clock() - start]
        truth = losses if truth is None else truth
        if not np.allclose(losses, truth, rtol=1e-3):
            sys.exit(f"{name}: {who} has other losses: {losses}, not {truth}")
    return firsts


def runner(step: Step) -> Callable[[], Mapping[str, float]]:
    repeats = max(1, round(ENOUGH / seconds(step, 5)))
    return lambda: {"step": seconds(step, repeats)}


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="gpt,lstm", help="only these networks")
    parser.add_argument("--torch-compile", action="store_true", help="PyTorch compiled, too")


def main() -> None:
    options = arguments(__doc__, more)
    lines = []
    for name in NETWORKS if options.only is None else options.only.split(","):
        there = contestants(name, options)
        firsts = begun(name, there)
        times = measure({who: runner(step) for who, step in there.items()}, options.rounds)
        lines += rows(name, times)
        lines += rows(name, {who: {"first": of} for who, of in firsts.items()})
    report("Training steps", "ms a step", 1e3, lines, options.json)
    if not options.json and all("torch" in line.times for line in lines):
        for line in lines:
            if line.phase == "step":
                part = ratio(line.times[OURS], line.times["torch"])
                print(f"{line.case}: {part:.2f} of PyTorch's time")


if __name__ == "__main__":
    main()
