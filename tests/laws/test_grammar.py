"""Test that random programs contain every kind of object that the compiler can read."""

import contextvars
import gc
import sys
import types
from pathlib import Path

from wengert.compiler.objects import walker as objects

COMPILER_TESTS = Path(__file__).parents[1] / "compiler"
sys.path.insert(0, str(COMPILER_TESTS))

from random_memory import (  # noqa: E402
    ARRAY_WRITES,
    ARRAYS,
    FAILS,
    HELD,
    LIBRARIES,
    SHARED,
    SNAPSHOTS,
    WRITES,
)
from random_runs import space  # noqa: E402
from random_worlds import PLACES, Drawer  # noqa: E402

EVERYWHERE = {
    # what functions, classes and their objects consist of
    *(types.CodeType, types.BuiltinFunctionType, types.MethodDescriptorType, type),
    *(types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType),
    *(types.MethodWrapperType, types.ClassMethodDescriptorType, types.FunctionType, object),
    # a token has it without holding it
    type(contextvars.Token.MISSING),
}


def kinds_of(thing: object, depth: int, found: set[type]) -> None:
    """The types of an object and of what it consists of, with what they are built on."""
    kind = thing if isinstance(thing, type) else type(thing)
    found.update(kind.__mro__)
    if depth:
        for part in [*gc.get_referents(thing), kind]:
            if not isinstance(part, types.ModuleType) and part is not thing:
                kinds_of(part, depth - 1, found)


def test_every_kind_of_object_that_is_read_occurs_in_the_grammar():
    made = space()
    exec(LIBRARIES, made)
    found: set[type] = set(EVERYWHERE)
    for held in HELD.values():
        thing = eval(held.make.format(n=1), made)
        kinds_of(thing, 3, found)
    known = {*objects._READERS, *objects._BASES, *objects.VALUES}
    missing = sorted(kind.__module__ + "." + kind.__qualname__ for kind in known - found)
    assert not missing, f"random_memory.HELD has none of {', '.join(missing)}"


def test_all_that_the_grammar_has_is_drawn():
    """Whatever the balance is between what compiles and what does not."""
    found: set[object] = set()
    for seed in range(3000):
        drawer = Drawer(seed)
        drawer.text()
        found.update(one for one in drawer.picked if isinstance(one, str | tuple))
    lines = {*ARRAYS, *ARRAY_WRITES, *FAILS, *SHARED, *SNAPSHOTS, *WRITES}
    missing = {*HELD, *PLACES, *lines} - found
    assert not missing
