"""Test functions whose parameters are declared as text, for the idioms."""

import inspect

import pytest

from wengert.compat.kit.rows import shaped
from wengert.compat.kit.signatures import signed

given = signed("f", "x, /, axis=-1, *, dtype=int, where=None", dict)


def test_a_signature_is_read_as_python_reads_it():
    def wanted(x, /, axis=-1, *, dtype=int, where=None): ...

    assert inspect.signature(given) == inspect.signature(wanted)


def test_arguments_come_by_name_with_their_defaults():
    assert given(1, 2, where=3) == {"x": 1, "axis": 2, "dtype": int, "where": 3}
    assert given(1, axis=2) == {"x": 1, "axis": 2, "dtype": int, "where": None}


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((), {}, r"f\(\) missing a required argument: 'x'"),
        ((1, 2, 3), {}, "too many positional"),
        ((1, 2), {"axis": 3}, "multiple values for argument 'axis'"),
        ((1,), {"over": 3}, "unexpected keyword argument 'over'"),
        ((), {"x": 1}, "x"),
    ],
)
def test_what_does_not_fit_is_refused(args, options, message):
    with pytest.raises(TypeError, match=message):
        given(*args, **options)


def test_a_function_for_a_row_is_called_by_the_names_of_its_row():
    def family(a, b=1, *, c=2, name=None):
        """{name} of {0} and {1}."""
        return a, b, c, name

    made = shaped(family, "math.f(x, y=5)")
    assert made.__name__ == "f" and made.__doc__ == "f of x and y."
    assert str(inspect.signature(made)) == "(x, y=5, *, c=2, name=None)"
    assert made(0, y=7, c=3) == (0, 7, 3, None) and made(0) == (0, 5, 2, None)
