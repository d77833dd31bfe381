"""sin and its derivative, found by a backward pass, and plotted.

    python plot_sine.py             prints a table
    python plot_sine.py sine.png    draws the two curves into a file, with matplotlib

One backward pass gives the derivative at all points: every value depends only on its own point, so
the gradient of the sum of the values holds the derivative at each. After `detach` a tensor needs no
gradient, and matplotlib takes it like an array.
"""

import argparse
import importlib.util
import sys

import wengert as wg


def curve(count):
    """Return points between -2π and 2π, with sin and its derivative there."""
    x = wg.linspace(-2 * wg.pi, 2 * wg.pi, count, dtype=wg.float64, requires_grad=True)
    y = wg.sin(x)
    y.sum().backward()
    return x.detach(), y.detach(), x.grad


def table(x, y, slope):
    """Return the curves as text: a row for each point, with a bar for the slope."""
    print("       x    sin(x)     slope")
    for point, value, tilt in zip(x, y, slope, strict=True):
        bar = " " * round(8 + 8 * tilt.item()) + "*"
        print(f"{point:8.3f}{value:10.4f}{tilt:10.4f}   |{bar}")


def plot(path):
    """Draw the curves into a file; return False if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    figure = importlib.import_module("matplotlib.figure").Figure()  # for files, without a window
    axes = figure.add_subplot()
    x, y, slope = curve(400)
    axes.plot(x, y, label="sin(x)")
    axes.plot(x, slope, "--", label="its derivative, by a backward pass")
    axes.set_ylim(-1.1, 1.6)  # room for the legend
    axes.legend(loc="upper right")
    figure.savefig(path)
    return True


def main(argv=()):
    parser = argparse.ArgumentParser(description="sin and its derivative, by a backward pass")
    parser.add_argument("path", nargs="?", help="a file to draw into, such as sine.png")
    path = parser.parse_args(argv).path
    if path is not None and plot(path):
        print(f"drawn into {path}")
        return
    if path is not None:
        print("matplotlib is not installed (pip install matplotlib), so here is a table:")
    x, y, slope = curve(17)
    table(x, y, slope)
    print("largest difference from cos:", f"{(slope - x.cos()).abs().max().item():.1e}")


if __name__ == "__main__":
    main(sys.argv[1:])
