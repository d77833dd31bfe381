"""The dependency graph of a function, and two ways to differentiate along it.

    python dependency_graph.py            draws into a new temporary folder
    python dependency_graph.py pictures   draws into the folder pictures

Take f(x) = (log x^2) * sin x + 1 / x. A computer evaluates it in steps, each so simple that every
table lists its derivative. Draw the steps as a graph, with values in the boxes and local
derivatives on the arrows. By the chain rule, df/dx is the sum, over all paths from x to f, of the
product of the derivatives along the path. There are two orders in which to compute this sum:

* forward, from x to f: each box gets its tangent, the derivative of its value with respect to x;
* backward, from f to x: each box gets its adjoint, the derivative of f with respect to its value.

The program does both by hand, compares them with wengert, and draws both sweeps, as .svg and as
.html pages that you can step through.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import wengert as wg
from wengert.viz import dependency_graph, tree


def f(x):
    a = x**2
    b = wg.log(a)
    c = wg.sin(x)
    d = b * c
    e = 1 / x
    return d + e


def forward_by_hand(x):
    """Compute value and derivative together, from the first step to the last."""
    x_, (a, a_) = 1.0, (x**2, 2 * x)  # each value with its tangent
    b, b_ = math.log(a), a_ / a
    c, c_ = math.sin(x), math.cos(x) * x_
    d, d_ = b * c, b_ * c + b * c_
    e, e_ = 1 / x, -x_ / x**2
    return d + e, d_ + e_


def backward_by_hand(x):
    """Compute the value, and then the derivative from the last step to the first."""
    a = x**2
    b = math.log(a)
    c = math.sin(x)
    value = b * c + 1 / x
    of_f = 1.0
    of_d = of_e = of_f  # f = d + e
    of_x = of_e * -1 / x**2  # e = 1 / x
    of_b, of_c = of_d * c, of_d * b  # d = b * c
    of_x += of_c * math.cos(x)  # c = sin(x)
    of_a = of_b / a  # b = log(a)
    of_x += of_a * 2 * x  # a = x**2: the third use of x
    return value, of_x


def main(argv=()):
    parser = argparse.ArgumentParser(description="a dependency graph, swept in both directions")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder to draw into")
    folder = parser.parse_args(argv).folder or Path(tempfile.mkdtemp(prefix="dependency-graph-"))
    folder.mkdir(parents=True, exist_ok=True)
    point = 2.0

    print("f(x) = (log x^2) * sin x + 1 / x at x =", point)
    print()
    ways = {
        "forward, by hand": forward_by_hand(point),
        "backward, by hand": backward_by_hand(point),
    }
    x = wg.tensor(point, dtype=wg.float64, requires_grad=True)
    y = f(x)
    y.backward()
    ways["backward, recorded"] = (y.item(), x.grad.item())
    value, slope = wg.func.jvp(f, (x.detach(),), (wg.ones((), dtype=wg.float64),))
    ways["forward, recorded"] = (value.item(), slope.item())
    for way, (value, derivative) in ways.items():
        print(f"{way:<20} f = {value:.12f}   df/dx = {derivative:.12f}")
    print()

    print("What the backward pass walks:")
    print(tree(f(x), params={"x": x}))
    for mode in ("forward", "backward"):
        drawing = dependency_graph(f, point, mode=mode)
        print()
        print(f"The {mode} sweep:")
        for step in drawing.picture.steps:
            print("  ", step.text)
        for ending in ("svg", "html"):
            drawing.save(folder / f"{mode}.{ending}")
    print()
    print(f"drawn into {folder}: forward and backward, as .svg and .html")


if __name__ == "__main__":
    main(sys.argv[1:])
