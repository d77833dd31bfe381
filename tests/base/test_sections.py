"""Test the expansion of docstring placeholders: `wengert.base.sections`."""

import inspect
import sys
import types

import pytest

from wengert.base.sections import fill_sections

SOURCE = '''
def sum(input, dim, *, keepdim=False, out=None):
    """The sum.

    Parameters
    ----------
    %(input, dim)s
    keepdim : bool. Whether one stays.

    %(returns_view, raises_dim)s
    ValueError: If all is wrong: text
        that goes on.

    Examples
    --------
    >>> wg.sum(np.ones(2))
    """

class Sum:
    """A sum.

    Parameters
    ----------
    name: What it is called.
    last_epoch : int
        As it was.
    """

    def __init__(self, name, last_epoch, inplace=False): ...

    @staticmethod
    def apply(out):
        """Apply.

        Parameters
        ----------
        x : Tensor or f(x). The first.

        Examples
        --------
        >>> import wengert as wg
        >>> wg.f()
        """
'''
SUM = """The sum.

Parameters
----------
input : Tensor
    Of any shape.
dim : int
    The dimension.
keepdim : bool
    Whether one stays.
out : Tensor, optional
    Where to write the result; outside the graph only.

Returns
-------
Tensor
    A view. Differentiable.

Raises
------
IndexError
    If the dimension is out of range.
ValueError
    If all is wrong: text that goes on.

Examples
--------
>>> import wengert as wg
>>> import numpy as np
>>> wg.sum(np.ones(2))"""
CLASS = """A sum.

Parameters
----------
name
    What it is called.
last_epoch : int
    As it was.
inplace : bool
    Whether to write the result into the input."""
METHOD = """Apply.

Parameters
----------
x : Tensor or f(x)
    The first.
out : Tensor, optional
    Where to write the result; outside the graph only.

Examples
--------
>>> import wengert as wg
>>> wg.f()"""


def filled(source, name="wengert.sample"):
    module = types.ModuleType(name)
    exec(source, vars(module))
    fill_sections(vars(module))
    return module


def test_docstrings_are_written_in_full():
    module = filled(SOURCE)
    assert inspect.getdoc(module.sum) == SUM
    assert inspect.getdoc(module.Sum) == CLASS
    assert inspect.getdoc(module.Sum.apply) == METHOD
    assert inspect.getdoc(vars(module.Sum)["apply"]) == METHOD


REFERRING = """
class Loss:
    \"""A loss: what it does.

    Parameters
    ----------
    weight : Tensor. Its weight.

    Raises
    ------
    ValueError: If it is negative.

    Examples
    --------
    >>> 1
    \"""

class Same:
    \"""Another loss; arguments as for `Loss`.

    It is longer.

    Examples
    --------
    >>> 2

    >>> 3
    \"""

class More:
    \"""A third; arguments as for `Loss`, and one more.

    Parameters
    ----------
    %(dim)s
    \"""

def other(x):
    \"""A function; arguments as for `elsewhere`.\"""
"""
ENTRIES = """
Parameters
----------
weight : Tensor
    Its weight.
"""
RAISES = """
Raises
------
ValueError
    If it is negative."""


def test_a_docstring_has_the_entries_of_what_it_refers_to():
    module = filled(REFERRING)
    same = (
        f"Another loss.\n\nIt is longer.\n{ENTRIES}{RAISES}\n\nExamples\n--------\n>>> 2\n\n>>> 3"
    )
    assert inspect.getdoc(module.Same) == same
    dim = "dim : int\n    The dimension.\n"
    assert inspect.getdoc(module.More) == f"A third.\n{ENTRIES}{dim}{RAISES}"
    assert module.other.__doc__ == "A function; arguments as for `elsewhere`."


def test_long_entries_are_wrapped_again():
    head = 'def f(x):\n    """F.\n\n    Parameters\n    ----------\n    x : int.'
    module = filled(f'{head}{" word" * 12}\n       {" word" * 12}\n    """\n')
    # since 3.13 the compiler takes the margin away
    margin = "" if sys.version_info >= (3, 13) else " " * 4
    words = (100 - len(margin) - 4) // len(" word")
    first, second = (f"{margin}   {' word' * count}" for count in (words, 24 - words))
    assert f"\n{margin}x : int\n{first}\n{second}\n" in module.f.__doc__


def test_what_is_in_full_stays():
    module = filled(SOURCE)
    fill_sections(vars(module))
    assert inspect.getdoc(module.sum) == SUM
    assert inspect.getdoc(module.Sum) == CLASS


@pytest.mark.parametrize(
    ("name", "code", "imported"),
    [
        ("wengert.nn", "wg.f(np.a)", ["import wengert as wg", "import numpy as np"]),
        ("wengert.nn", "f(x=wg.f)", ["import wengert as wg"]),
        ("wengert.nn", "f(x.wg.f)", []),
        ("wengert.nn", "import numpy as np, wengert as wg\n    >>> wg.f(np.a)", []),
        ("wengert.nn", "f\n    np.float64(1.0)", []),
        ("wengert.numpy.random", "np.f", ["import wengert.numpy as np"]),
        ("wengert.compat.tensorflow.x", "tf.f()", ["import wengert.compat.tensorflow as tf"]),
        ("wengert.compat.mxnet", "mx.f()", ["from wengert.compat import mxnet as mx"]),
        ("wengert.compat.jax", "jax.f(jnp.a)", ["from wengert.compat import jax"]),
        ("wengert.compat.autograd", "grad(f)(x)", ["from wengert.compat.autograd import grad"]),
        ("wengert.compat.autograd", "multigrad(f)(x)", []),
    ],
)
def test_examples_import_what_they_call(name, code, imported):
    module = filled(f'def f():\n    """F.\n\n    >>> {code}\n    """\n', name)
    lines = [line[4:] for line in inspect.getdoc(module.f).splitlines()[2:]]
    assert lines[: len(imported)] == imported
    assert lines[-1].split(".")[-1] == code.split(".")[-1]


def test_functions_of_tensorflow_have_names_of_no_effect():
    source = (
        'def f(x, name=None):\n    """F.\n\n    Parameters\n    ----------\n    x: X.\n    """\n'
    )
    assert "name : str, optional\n" in filled(source, "wengert.compat.tensorflow.x").f.__doc__
    assert "name" not in filled(source).f.__doc__
