"""Draw the pictures of the documentation: `python docs/pictures.py` writes them to docs/images.

They are made by `wengert.viz` from programs that run here, so they show what the library does. The
charts of benchmarks are written by the benchmarks.
"""

import pathlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import wengert as wg
from wengert import nn, optim
from wengert.datasets import digits
from wengert.viz import curve, dependency_graph, draw, draw_program
from wengert.viz.svg_style import DARK, LIGHT, SERIES_DARK, SERIES_LIGHT

README = pathlib.Path(__file__).parents[1] / "README.md"
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw_it: Callable[[], object]) -> Callable[[], object]:
    """Have `draw_it` make the picture of its name."""
    PICTURES[draw_it.__name__] = draw_it
    return draw_it


@picture
def first() -> object:
    """The graph of the first example."""
    x = wg.tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = (x.sin() * x**2).sum()
    return draw(y)


@picture
def front() -> object:
    """The gradient of the first example, as the front page shows it."""

    def y(x: wg.Tensor) -> wg.Tensor:
        return (x.sin() * x**2).sum()

    return dependency_graph(y, wg.tensor([0.5, 1.0, 2.0]))


@picture
def square() -> object:
    """The first gradient of the quick start."""

    def y(x: wg.Tensor) -> wg.Tensor:
        squares = x**2
        return squares.sum()

    return dependency_graph(y, wg.tensor([1.0, 2.0, 3.0]))


def f(x: wg.Tensor) -> wg.Tensor:
    """A function whose dependency graph is drawn in many textbooks."""
    a = x**2
    b = wg.log(a)
    c = wg.sin(x)
    d = b * c
    e = 1 / x
    return d + e


@picture
def dependency() -> object:
    """A reverse sweep: adjoints in the boxes."""
    return dependency_graph(f, 2.0)


@picture
def forward() -> object:
    """A forward sweep: tangents in the boxes."""
    return dependency_graph(f, 2.0, mode="forward")


@picture
def tape() -> object:
    """What is recorded, and what is kept."""
    w = wg.tensor([0.5, -1.0], requires_grad=True)
    x = wg.tensor([1.0, 2.0])
    y = (w * x).tanh()
    return draw(y, params={"w": w, "y": y}, show="shape,saved")


class Right(wg.autograd.Function):
    """sinh, with what its derivative needs as further results."""

    @staticmethod
    def forward(ctx, x):
        """Sinh, and the two exponentials."""
        up, down = x.exp(), (-x).exp()
        ctx.save_for_backward(up, down)
        return (up - down) / 2, up, down

    @staticmethod
    def backward(ctx, grad, grad_up, grad_down):
        """The cotangent of x, of which the exponentials have shares."""
        up, down = ctx.saved_tensors
        return grad * (up + down) / 2 + grad_up * up - grad_down * down


class Wrong(wg.autograd.Function):
    """sinh, with what its derivative needs as attributes."""

    keeps_constants = True

    @staticmethod
    def forward(ctx, x):
        """Sinh alone."""
        ctx.up, ctx.down = x.exp(), (-x).exp()
        return (ctx.up - ctx.down) / 2

    @staticmethod
    def backward(ctx, grad):
        """The cotangent of x, as if the attributes did not depend on it."""
        return grad * (ctx.up + ctx.down) / 2


def _slope(function: Callable[[wg.Tensor], wg.Tensor]) -> object:
    x = wg.tensor(0.7, dtype=wg.float64, requires_grad=True)
    y = function(x)
    return draw(y, params={"x": x}, mode="double", show="shape")


@picture
def double_right() -> object:
    """The graph of a gradient that can be differentiated."""
    return _slope(lambda x: Right.apply(x)[0])


@picture
def double_wrong() -> object:
    """The graph of a gradient that cannot."""
    return _slope(Wrong.apply)


@picture
def collapsed() -> object:
    """A long loop as one box."""
    y = x = wg.tensor(0.5, requires_grad=True)
    for _ in range(5000):
        y = (y * 1.01).sin()
    return draw(y, params={"x": x})


@picture
def program() -> object:
    """What the compiler makes of a function."""

    def step(w: wg.Tensor, x: wg.Tensor, y: wg.Tensor) -> wg.Tensor:
        loss = ((x @ w - y) ** 2).mean()
        (slope,) = wg.autograd.grad(loss, w)
        return w - 0.1 * slope

    compiled = wg.compile(step, backend="numpy")
    compiled(wg.zeros(2, requires_grad=True), wg.ones(3, 2), wg.ones(3))
    return draw_program(compiled)


@picture
def lesson_dot() -> object:
    """The first gradient of the lessons."""

    def y(x: wg.Tensor) -> wg.Tensor:
        d = wg.dot(x, x)
        return 2 * d

    return dependency_graph(y, wg.arange(4.0))


@picture
def lesson_twice() -> object:
    """A value that is used three times."""

    def y(x: wg.Tensor) -> wg.Tensor:
        square = x * x
        return square + x

    return dependency_graph(y, 3.0)


@picture
def lesson_detach() -> object:
    """A product with a value that was cut off."""
    x = wg.arange(4.0, requires_grad=True)
    u = (x * x).detach()
    z = (u * x).sum()
    return draw(z, params={"x": x, "z": z}, show="shape,saved")


@picture
def lesson_loop() -> object:
    """A loop, as it ran."""
    a = wg.tensor(50.0, requires_grad=True)
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    return draw(b, params={"a": a, "b": b}, show="value")


@picture
def lesson_network() -> object:
    """The loss of a network of two layers."""
    x, y = wg.ones(64, 100), wg.ones(64, 10)
    w1 = wg.zeros(100, 50, requires_grad=True)
    w2 = wg.zeros(50, 10, requires_grad=True)
    loss = (((x @ w1).clamp(min=0) @ w2 - y) ** 2).sum()
    return draw(loss, params={"w1": w1, "w2": w2, "loss": loss})


class Legendre3(wg.autograd.Function):
    """The polynomial of degree 3."""

    @staticmethod
    def forward(ctx, x):
        """Its value."""
        ctx.save_for_backward(x)
        return 0.5 * (5 * x**3 - 3 * x)

    @staticmethod
    def backward(ctx, grad_output):
        """Its derivative, times the gradient of the result."""
        (x,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * x**2 - 1)


@picture
def lesson_function() -> object:
    """A custom Function among other operations."""
    x = wg.tensor([0.0, 1.0], requires_grad=True)
    y = Legendre3.apply(x).sum()
    return draw(y, params={"x": x, "y": y}, show="shape,saved")


def _descent(rate: float, momentum: float, steps: int = 60) -> list[float]:
    """Losses of a fit of a curve by gradient descent."""
    wg.manual_seed(0)
    x = wg.linspace(-1, 1, 50, dtype=wg.float64)
    features = wg.stack([x**n for n in range(4)], 1)
    target = wg.sin(3 * x)
    w = wg.zeros(4, dtype=wg.float64, requires_grad=True)
    speed = wg.zeros(4, dtype=wg.float64)
    losses = []
    for _ in range(steps):
        loss = ((features @ w - target) ** 2).mean()
        (slope,) = wg.autograd.grad(loss, w)
        with wg.no_grad():
            speed = momentum * speed - rate * slope
            w += speed
        losses.append(loss.item())
    return losses


@picture
def losses() -> object:
    """Three ways to go down."""
    return curve(
        {
            "rate 0.1": _descent(0.1, 0.0),
            "rate 0.5": _descent(0.5, 0.0),
            "rate 0.1, momentum 0.9": _descent(0.1, 0.9),
        },
        title="Fitting sin(3x) by a cubic",
        x="step",
        y="loss",
        size=(460, 340),
        log=True,
    )


def _training(make: Callable[[list[wg.Tensor]], optim.Optimizer]) -> list[float]:
    """Losses of a small network that learns to read digits, all of them in each step."""
    data = digits()
    images = wg.as_tensor(data.train_images[:300]).reshape(-1, 64).double()
    labels = wg.as_tensor(data.train_labels[:300]).long()
    wg.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()
    optimizer = make(list(model.parameters()))
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@picture
def optimisers() -> object:
    """The same network, three optimisers."""
    return curve(
        {
            "SGD, rate 0.1": _training(lambda p: optim.SGD(p, lr=0.1)),
            "the same with momentum 0.9": _training(lambda p: optim.SGD(p, lr=0.1, momentum=0.9)),
            "Adam, rate 0.01": _training(lambda p: optim.Adam(p, lr=0.01)),
        },
        title="Learning to read 300 digits",
        x="step",
        y="loss",
        size=(460, 340),
    )


def _rules(palette: dict[str, str], ours: str) -> str:
    return (
        f"#bars text {{ font: 12px sans-serif; fill: {palette['quiet']}; }}\n"
        f"#bars .heading {{ font-size: 16px; font-weight: 600; fill: {palette['ink']}; }}\n"
        f"#bars .paper {{ fill: {palette['paper']}; }}\n"
        f"#bars .bar {{ fill: {palette['line']}; }}\n"
        f"#bars .ours {{ fill: {ours}; }}\n"
    )


_LIGHT, _DARK = _rules(LIGHT, SERIES_LIGHT[0]), _rules(DARK, SERIES_DARK[0])
_BARS = f"\n{_LIGHT}@media (prefers-color-scheme: dark) {{\n{_DARK}}}\n"


@dataclass
class Bars:
    """A bar for each name; those that are longer than `most` are cut, and say so."""

    title: str
    values: dict[str, float]
    most: float

    def save(self, path: pathlib.Path) -> None:
        """Write the chart as SVG."""
        parts = [f'<text class="heading" x="24" y="38">{self.title}</text>']
        for at, (name, value) in enumerate(self.values.items()):
            y = 62 + 28 * at
            width = 360 * min(value, self.most) / self.most
            kind = "ours" if name.startswith("wengert") else "bar"
            shown = f"{value:g}" + (" (bar cut)" if value > self.most else "")
            parts += [
                f'<text x="150" y="{y + 14}" text-anchor="end">{name}</text>',
                f'<rect class="{kind}" x="160" y="{y}" width="{width:.1f}" height="20" rx="3"/>',
                f'<text x="{168 + width:.1f}" y="{y + 14}">{shown}</text>',
            ]
        height = 72 + 28 * len(self.values)
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" id="bars" viewBox="0 0 620 {height}" '
            f'width="620" height="{height}" role="img">\n<title>{self.title}</title>\n'
            f"<style>{_BARS}</style>\n"
            f'<rect class="paper" width="620" height="{height}" rx="8"/>\n'
            + "\n".join(parts)
            + "\n</svg>\n",
            encoding="utf-8",
        )


_SECONDS = 1.6
"""How long a step of a recording is shown."""


@dataclass
class Recording:
    """A picture of a graph that goes through the steps of its sweep, again and again."""

    drawing: Any

    def save(self, path: pathlib.Path) -> None:
        """Write an SVG that moves; where motion is not wanted, it stands still."""
        text = self.drawing.svg()
        steps = self.drawing.picture.steps
        (name,) = re.findall(r'class="wengert-picture" id="([^"]+)"', text)
        width, height = re.findall(r'viewBox="0 0 (\S+) (\S+)"', text)[0]
        forms = dict(re.findall(r'data-box="(\d+)"(?s:.*?)<rect class="form"([^>]*/>)', text))
        share = 100 / (len(steps) + 1)
        rules = [
            f"#{name} .step {{ opacity: 0; }}",
            f"#{name} .step rect {{ fill: none; stroke: #d9822b; stroke-width: 4; }}",
            f"@keyframes step {{ 0%, {share:.2f}% {{ opacity: 1 }} "
            f"{share + 0.01:.2f}%, 100% {{ opacity: 0 }} }}",
            "@media (prefers-reduced-motion: no-preference) {",
            f"#{name} .step {{ animation: step {_SECONDS * (len(steps) + 1):.1f}s infinite; }}",
            "}",
        ]
        lights, lines = [], []
        for at, step in enumerate(steps):
            when = f'class="step" style="animation-delay: {_SECONDS * at:.1f}s"'
            frames = "".join(f"<rect{forms[str(box)]}" for box in step.boxes)
            lights.append(f"<g {when}>{frames}</g>")
            lines.append(f'<text {when} x="24" y="{float(height):g}">{escape(step.text)}</text>')
        tall = f"{float(height) + 24:g}"
        text = text.replace(f'0 0 {width} {height}"', f'0 0 {width} {tall}"')
        text = text.replace(f'height="{height}"', f'height="{tall}"')
        text = text.replace('<g class="labels">', "\n".join([*lights, '<g class="labels">']))
        styled = "\n".join(["<style>", *rules, "</style>", *lines, "</svg>"])
        path.write_text(text.replace("</svg>", styled), encoding="utf-8")


@picture
def stepping() -> object:
    """A backward pass, step by step."""
    return Recording(dependency_graph(f, 2.0))


@picture
def beside() -> object:
    """A product of 8 elements beside other libraries, by the figures of the README."""
    lines = README.read_text(encoding="utf-8").splitlines()
    names = next(line for line in lines if line.startswith("| | wengert |"))
    row = next(line for line in lines if line.startswith("| · 8 elements |"))
    cells = [[cell.strip(" *") for cell in line.split("|")[2:-1]] for line in (names, row)]
    values = {
        re.sub("^compiled$", "wengert, compiled", n): float(v) for n, v in zip(*cells, strict=True)
    }
    title = "A product of 8 numbers, forward and backward; PyTorch = 1"
    return Bars(title, values, most=4)


def main(folder: pathlib.Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(exist_ok=True)
    for name, draw_it in PICTURES.items():
        draw_it().save(folder / f"{name}.svg")


if __name__ == "__main__":
    main(
        pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "images")
    )
