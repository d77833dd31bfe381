"""The stubs of the idioms, whose functions are mostly made by tables and have no annotations."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from signatures import HOMES, INTS, PACKAGE, Form, P, annotated, completed, listed, says_nothing

from wengert.compat import jax
from wengert.compat.jax.classes import AnyArray, Array

TABLES = ("jax.lax", "jax.numpy", "jax.random")
"""The namespaces of idioms, in `wengert.compat`, whose functions are mostly made by tables."""
HOMES |= {
    "_Array": "wengert.compat.jax.typing",
    "_ArrayLike": "wengert.compat.jax.typing",
    "_DTypeLike": "wengert.compat.jax.typing",
    "_Tensor": "wengert.compat.tensorflow.eager",
}
ARRAYS = {
    **{f"wengert.compat.{space}": ("_Array", "_ArrayLike") for space in TABLES},
    "wengert.compat.tensorflow": ("_Tensor", "Any"),
}
"""The types of arrays, as results and as arguments, of idioms' functions without annotations."""
_LISTS = """array_split broadcast_arrays dsplit hsplit meshgrid split vsplit"""
_TUPLES = """diag_indices diag_indices_from divmod frexp histogramdd ix_ mask_indices modf nonzero
    tril_indices tril_indices_from triu_indices triu_indices_from unravel_index unstack"""
_OPEN = """all_gather all_to_all apply_along_axis associative_scan average cond custom_linear_solve
    custom_root dtype einsum_path finfo fori_loop frompyfunc get_printoptions gradient
    histogram histogram2d intersect1d linspace load map optimization_barrier pbroadcast
    pcast platform_dependent pmax pmean pmin polydiv polyfit ppermute printoptions
    promote_types psum psum_scatter pswapaxes pvary reduce reduce_window result_type scan
    sort stop_gradient switch unique unique_all unique_counts unique_inverse vectorize
    while_loop with_sharding_constraint"""
RESULTS = {
    **dict.fromkeys(_LISTS.split(), "list[_Array]"),
    **dict.fromkeys(_TUPLES.split(), "tuple[_Array, ...]"),
    **dict.fromkeys(_OPEN.split(), "Any"),
    **dict.fromkeys(["broadcast_shapes", "shape"], "tuple[_int, ...]"),
    **dict.fromkeys(["iscomplexobj", "isrealobj"], "_bool"),
    **dict.fromkeys(["ndim", "size"], "_int"),
    **dict.fromkeys(["save", "savez", "set_printoptions"], "None"),
}
"""The results of functions of JAX's tables other than arrays."""
_LIKE = """a a1 a2 ar1 ar2 arr array ary b beta condition element fp h indices input_tensor lhs m
    new_val obj on_false on_true operand other p q rhs scatter_indices tensor test_elements u
    updates v val vals values x x1 x2 xp y z"""
_MAYBE = "append default fill_value initial prepend sorter to_begin to_end weights where"
CONVERTING = ("asarray", "block", "piecewise")
"""Functions that take anything that can become an array."""
PARAMETERS = {
    **dict.fromkeys(_LIKE.split(), "_ArrayLike"),
    **dict.fromkeys(_MAYBE.split(), "_ArrayLike | None"),
    "axis": f"{INTS} | None",
    "axes": f"{INTS} | Sequence[Sequence[_int]] | None",
    **dict.fromkeys(["new_shape", "shape", "dimensions"], INTS),
    **dict.fromkeys(["dtype", "preferred_element_type"], "_DTypeLike | None"),
    **dict.fromkeys(["index_dtype", "new_dtype"], "_DTypeLike | None"),
    **dict.fromkeys(["keepdims", "copy"], "_bool | None"),
    **dict.fromkeys(["length", "size"], "_int | None"),
    **dict.fromkeys(["arrays", "tup"], "_ArrayLike | Sequence[_ArrayLike]"),
    **dict.fromkeys(["bins", "repeats"], "_int | _ArrayLike"),
    "name": "_str | None",
    "out": "None",
}
"""The types of parameters of idioms' functions without annotations, by name."""


def idioms() -> Iterator[str]:
    """Yield the namespaces of idioms whose names a type checker does not see.

    Besides `TABLES` these are the modules that only gather rows. A function that another module
    defines is imported from there. One that a table makes is written out with the signature that
    `inspect` finds, so that editors show its parameters and defaults.
    """
    yield from TABLES
    for path in sorted((PACKAGE / "compat").rglob("*.py")):
        home = ".".join(path.relative_to(PACKAGE / "compat").with_suffix("").parts)
        home = home.removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        if "gathered(" in text and not home.startswith("kit") and not defined_in(text):
            module = importlib.import_module(f"wengert.compat.{home}")
            # what is found on first use must be listed
            if not hasattr(module, "__getattr__") or "__dir__" in vars(module):
                yield home


def defined_in(text: str) -> set[str]:
    """The functions and classes that the text of a module defines, but for its ``__getattr__``."""
    kinds = ast.FunctionDef | ast.ClassDef
    names = {node.name for node in ast.parse(text).body if isinstance(node, kinds)}
    return {name for name in names if not name.startswith("__")}


@cache
def definitions(home: str) -> frozenset[str]:
    """The names that the text of a module defines, which a type checker sees."""
    path = importlib.import_module(home).__file__
    tree = ast.parse(Path(path).read_text(encoding="utf-8")) if path else ast.Module([], [])
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def form_of(function: Any, like: str) -> Form:
    """The parameters of a function of an idiom, with their types."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        given = inspect.signature(lambda *args, **kwargs: None).parameters.values()
    form: Form = []
    for one in given:
        kind = PARAMETERS.get(one.name, "Any")
        if one.kind in (P.VAR_POSITIONAL, P.VAR_KEYWORD):
            kind = "_ArrayLike" if hasattr(function, "nin") else "Any"
        elif kind == "Any" and type(one.default) in (bool, int, str):
            kind = f"_{type(one.default).__name__}"
        elif kind == "Any" and type(one.default) is float:
            kind = "_ArrayLike"
        kind = "Any" if "_ArrayLike" in kind and like == "Any" else kind
        if one.default is None and "None" not in kind and kind != "Any":
            kind += " | None"
        form.append((one, kind))
    return form


def is_open(function: Any) -> bool:
    """Whether the annotations of a function leave its result open."""
    try:
        return says_nothing(inspect.signature(function).return_annotation)
    except (TypeError, ValueError):
        return True


def idiom_line(space: str, name: str, value: Any) -> str:
    """The line of a stub for one name."""
    if value is AnyArray or value is Array:
        return f"from wengert.compat.jax.typing import Array as {name}"
    if isinstance(value, types.ModuleType):
        parent, _, own = value.__name__.rpartition(".")
        return f"from {parent} import {own} as {name}" if parent else f"import {own} as {name}"
    home, own = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    array, like = ARRAYS.get(space, ("Any", "Any"))
    tells = array != "_Array" or isinstance(value, type) or not is_open(value)
    if isinstance(value, type | types.FunctionType) and home.startswith("wengert.") and tells:
        for candidate in (name, own):
            if home != space and candidate in definitions(home):
                return f"from {home} import {candidate} as {name}"
    elif isinstance(value, type) and getattr(sys.modules.get(home), own, None) is value:
        return f"from {home} import {own} as {name}"
    if callable(value) and not isinstance(value, type):
        result = array if space.endswith("random") else RESULTS.get(name, array)
        like = "Any" if name in CONVERTING or result == "Any" else like
        return f"def {name}({listed(form_of(value, like))}) -> {result}: ..."
    kind = type(value)
    if kind.__module__ != "builtins":
        HOMES[f"_{kind.__name__}"] = kind.__module__
    return f"{name}: {'None' if value is None else f'_{kind.__name__}'}"


def idiom_stub(space: str) -> str:
    """The text of the stub of a namespace."""
    module = importlib.import_module(space)
    known = dir(module) if "__dir__" in vars(module) else module.__all__
    names = [name for name in known if not name.startswith("_")]
    # some dtypes exist once another package is imported
    lines = [idiom_line(space, name, getattr(module, name, None)) for name in names]
    if hasattr(module, "__version__"):
        lines.append("__version__: _str")
    return completed(space, "\n".join(lines))


# -- the class of JAX's arrays ---------------------------------------------------------------------

ATTRIBUTES = {
    **dict.fromkeys(["itemsize", "nbytes", "ndim", "size"], "_int"),
    **dict.fromkeys(["at", "aval", "device", "sharding"], "Any"),
    "dtype": "np.dtype[Any]",
    "shape": "tuple[_int, ...]",
}
"""The types of attributes other than arrays."""
METHODS = {
    **dict.fromkeys(["item", "tolist"], "Any"),
    **dict.fromkeys(["__divmod__", "__rdivmod__", "nonzero"], "tuple[Array, ...]"),
    "__array__": "np.ndarray[Any, Any]",
    "__iter__": "Iterator[Array]",
}
"""The results of methods other than arrays, where annotations do not say them."""
_SPECIAL = """abs add and array bool complex contains divmod eq float floordiv ge getitem gt hash
    index int invert iter le len lshift lt matmul mod mul ne neg or pos pow round rshift sub truediv
    xor"""


def array_stub() -> str:
    """The stub of ``jax.typing``, with the class of arrays as users see it."""
    lines = []
    special = {f"__{side}{name}__" for name in _SPECIAL.split() for side in ("", "r")}
    names = [name for name in dir(jax.numpy.ones(1)) if not name.startswith("_")]
    for name in [*sorted(special & vars(Array).keys()), *names]:
        method = getattr(Array, name)
        if not callable(method):
            kind = "_bool" if isinstance(method, bool) else ATTRIBUTES.get(name, "Array")
            lines += ["@property", f"def {name}(self) -> {kind}: ..."]
        else:
            form = [(P("self", P.POSITIONAL_ONLY), ""), *form_of(method, "ArrayLike")[1:]]
            said = inspect.signature(method).return_annotation
            kind = METHODS.get(name, "Array" if says_nothing(said) else annotated(said))
            note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            lines.append(f"def {name}({listed(form)}) -> {kind}: ...{note}")
    source = ast.parse((PACKAGE / "compat" / "jax" / "typing.py").read_text(encoding="utf-8"))
    aliases = [ast.unparse(node) for node in source.body if isinstance(node, ast.AnnAssign)]
    body = "\n    ".join(["class Array:", *lines])
    body = re.sub(r"\b_(Array|DType)Like", r"\1Like", "\n".join([body, *aliases]))
    return completed("wengert.compat.jax.typing", body)


def idiom_stubs() -> dict[Path, str]:
    """The text of the stub of each namespace, by its path."""
    made = {}
    for idiom in idioms():
        place = PACKAGE.joinpath("compat", *idiom.split("."))
        path = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
        made[path] = idiom_stub(f"wengert.compat.{idiom}")
    made[PACKAGE / "compat" / "jax" / "typing.pyi"] = array_stub()
    return made
