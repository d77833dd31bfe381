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
from wengert.compat.tensorflow import infix
from wengert.compat.tensorflow.eager import Tensor
from wengert.compat.tensorflow.variable import Variable

TABLES = ("jax.lax", "jax.numpy", "jax.random")
"""The namespaces of idioms, in `wengert.compat`, whose functions are mostly made by tables."""
HOMES |= {
    "_Array": "wengert.compat.jax.typing",
    "_ArrayLike": "wengert.compat.jax.typing",
    "_DTypeLike": "wengert.compat.jax.typing",
    "_NDArray": "wengert.compat.mxnet.arrays",
    "_DType": "wengert.compat.tensorflow.dtypes",
    "_Tensor": "wengert.compat.tensorflow.typing",
    "_TensorLike": "wengert.compat.tensorflow.typing",
    "_TensorShape": "wengert.compat.tensorflow.shapes",
    "_Variable": "wengert.compat.tensorflow.variable",
}
ARRAYS = {
    **{f"wengert.compat.{space}": ("_Array", "_ArrayLike") for space in TABLES},
    "wengert.compat.mxnet.ndarray": ("_NDArray", ""),
    **{
        f"wengert.compat.tensorflow{part}": ("_Tensor", "")
        for part in ("", ".bitwise", ".image", ".linalg", ".math", ".nn", ".signal")
    },
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
_PARTS = "SliceChannel dynamic_partition identity_n meshgrid shape_n split split_v2 unstack"
_OTHERS = """Assert BatchNorm Custom NotDifferentiable as_dtype assert_equal assert_greater
    assert_less assert_rank batch_norm broadcast_arrays case clip_by_global_norm cond
    custom_gradient eig eigh executing_eagerly foldl foldr function get_logger get_static_value
    grad_pass_through gradients hessians init_scope inside_function is_tensor load lu map_fn
    moments no_gradient normalize numpy_function print py_function qr recompute_grad save scan
    slogdet svd switch_case top_k topk unique unique_with_counts vectorized_map waitall
    weighted_moments while_loop"""
PARTS, OTHERS = _PARTS.split(), _OTHERS.split()
"""The functions of TensorFlow and MXNet that return lists, and what no rule says."""
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


STARS = (P.VAR_POSITIONAL, P.VAR_KEYWORD)
CLASSES = (
    *(
        f"tensorflow.keras.{part}"
        for part in ("callbacks", "constraints", "layers", "losses", "optimizers")
    ),
    *("tensorflow.initializers", "tensorflow.keras.regularizers", "tensorflow.keras.schedules"),
    *(f"mxnet.{part}" for part in ("gluon.loss", "gluon.rnn", "initializer", "lr_scheduler")),
    *("mxnet.metric", "mxnet.ndarray", "mxnet.optimizer"),
)
"""The namespaces of classes whose arguments are written as text."""


def idioms() -> Iterator[str]:
    """Yield the namespaces of idioms whose names a type checker does not see.

    Besides `TABLES` and `CLASSES` these are the modules that only gather rows. A function that
    another module defines is imported from there. One that a table makes is written out with the
    signature that `inspect` finds, so that editors show its parameters and defaults.
    """
    yield from TABLES
    for path in sorted((PACKAGE / "compat").rglob("*.py")):
        home = ".".join(path.relative_to(PACKAGE / "compat").with_suffix("").parts)
        home = home.removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        gathers = "gathered(" in text and not home.startswith("kit") and not defined_in(text)
        if gathers or home in CLASSES:
            module = importlib.import_module(f"wengert.compat.{home}")
            found = getattr(module, "__getattr__", None)
            # what is found on first use must be listed
            refuses = getattr(found, "__qualname__", "").startswith(("absence.", "refusing."))
            if (
                found is None
                or "__dir__" in vars(module)
                or (refuses and hasattr(module, "__all__"))
            ):
                yield home


def defined_in(text: str) -> set[str]:
    """The functions and classes that the text of a module defines, but for its ``__getattr__``."""
    kinds = ast.FunctionDef | ast.ClassDef
    names = {node.name for node in ast.parse(text).body if isinstance(node, kinds)}
    return {name for name in names if not name.startswith("__")}


@cache
def definitions(home: str) -> frozenset[str]:
    """The names that the text of a module defines, which a type checker sees."""
    # some modules are names only, as ``mxnet.nd`` in tracebacks
    path = getattr(sys.modules.get(home), "__file__", None)
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
        kind = "Any" if "_ArrayLike" in kind and "ArrayLike" not in like else kind
        if not like and ("_DTypeLike" in kind or one.name in ("out", "size")):
            kind = "Any"
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
    if value is Tensor or value is Variable:
        return f"from wengert.compat.tensorflow.typing import {name} as {name}"
    if isinstance(value, types.ModuleType):
        parent, _, own = value.__name__.rpartition(".")
        return f"from {parent} import {own} as {name}" if parent else f"import {own} as {name}"
    home, own = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    array, like = ARRAYS.get(space, ("Any", ""))
    elsewhere = home.removeprefix("wengert.compat.") in CLASSES  # which has a stub that tells
    if isinstance(value, type) and (
        home == space or (hasattr(value.__init__, "lines") and not elsewhere)
    ):
        return class_lines(space, name, value)
    tells = array == "Any" or isinstance(value, type) or not is_open(value)
    if isinstance(value, type | types.FunctionType) and home.startswith("wengert.") and tells:
        for candidate in (name, own):
            if home != space and candidate in definitions(home):
                return f"from {home} import {candidate} as {name}"
    elif isinstance(value, type) and getattr(sys.modules.get(home), own, None) is value:
        return f"from {home} import {own} as {name}"
    if callable(value) and not isinstance(value, type):
        if like:
            result = array if space.endswith("random") else RESULTS.get(name, array)
        else:
            result = f"list[{array}]" if name in PARTS else "Any" if name in OTHERS else array
        like = "Any" if like and (name in CONVERTING or result == "Any") else like
        return f"def {name}({listed(form_of(value, like))}) -> {result}: ..."
    kind = type(value)
    if kind.__module__ != "builtins":
        HOMES[f"_{kind.__name__}"] = kind.__module__
    return f"{name}: {'None' if value is None else f'_{kind.__name__}'}"


ARGUMENTS = {
    **dict.fromkeys(["units", "filters", "channels", "groups", "num_heads", "key_dim"], "_int"),
    **dict.fromkeys(["kernel_size", "pool_size", "strides", "dilation_rate"], INTS),
    **dict.fromkeys(["rate", "momentum", "epsilon"], "_float"),
    "name": "_str | None",
    "activation": "_str | Callable[..., Any] | None",
}
"""The types of arguments of classes that are written as text."""


CALLS = ("__call__", "__new__")


def as_above(kind: type, name: str) -> bool:
    """Whether a method of a class has the parameters of the one that it overrides."""
    own, base = vars(kind)[name], getattr(kind.__base__, name, None)
    functions = isinstance(own, types.FunctionType) and isinstance(base, types.FunctionType)
    return functions and inspect.signature(own) == inspect.signature(base)


def class_lines(space: str, name: str, kind: type) -> str:
    """A class that a checker does not see as it is.

    One whose arguments are written as text is a subclass of itself that names them; one that the
    namespace defines is written out, with its methods.
    """
    own = kind.__module__ == space
    known = vars(sys.modules[space])

    def seen(base: type) -> bool:
        if base.__module__ == space:
            return base.__name__[0] != "_" and known.get(base.__name__) is base
        return base.__module__ == "builtins" or base.__name__ in definitions(base.__module__)

    above = next(base for base in kind.__mro__[own:] if seen(base))
    members = {k: v for k, v in vars(kind).items() if own and (k[0] != "_" or k in CALLS)}
    if above.__module__ == space:  # whose stub has them
        members = {k: v for k, v in members.items() if not as_above(kind, k)}
    if hasattr(kind.__init__, "lines") or (own and "__init__" in vars(kind)):
        members = {"__init__": kind.__init__, **members}
    lines, base = [], above.__name__
    if above.__module__ not in (space, "builtins"):
        base = f"_{base}_"
        lines = [f"from {above.__module__} import {above.__name__} as {base}"]
    lines.append(f"class {name}({base}):")
    for member, value in members.items():
        if isinstance(value, staticmethod):
            lines += ["    @staticmethod"] * (member != "__new__")
            value = value.__func__
        if isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
        elif isinstance(value, types.FunctionType | classmethod):
            form = []
            if isinstance(value, classmethod):
                lines.append("    @classmethod")
                form, value = [(P("cls", P.POSITIONAL_OR_KEYWORD), "")], getattr(kind, member)
            for one in parameters_of(kind, value):
                said = ARGUMENTS.get(one.name, "_bool" if type(one.default) is bool else "Any")
                if one.default is None and "None" not in said and said != "Any":
                    said += " | None"
                form.append((one, "" if one.name in ("cls", "self") else said))
            result = "None" if member == "__init__" else "Any"
            lines.append(f"    def {member}({listed(form)}) -> {result}: ...")
    return "\n".join(lines if ":" not in lines[-1][-1] else [*lines, "    pass"])


KEYWORDS = {"Layer": ("input_shape", "input_dim", "batch_input_shape", "batch_size")}
"""Keywords of classes that their signatures do not name."""


def parameters_of(kind: type, method: Any) -> Iterator[P]:
    """The parameters of a method; keywords that go on to a base class are its parameters."""
    found = inspect.signature(method).parameters
    passes = hasattr(method, "lines") and "kwargs" in found
    yield from (one for one in found.values() if not (passes and one.kind is P.VAR_KEYWORD))
    if passes:
        above = next(c for c in kind.__mro__ if not hasattr(c.__init__, "lines"))
        given = {**inspect.signature(above.__init__).parameters}
        names = [name for name, one in given.items() if one.kind not in STARS]
        names += [*KEYWORDS.get(above.__name__, ()), *getattr(kind, "ignored", ())]
        for name in dict.fromkeys(names):
            if name not in found:
                default = given[name].default if name in given else None
                yield P(name, P.KEYWORD_ONLY, default=default)


def names_of(space: str) -> dict[str, tuple[str, Any]]:
    """The line of a stub for each name of a namespace, and what the name is."""
    module = importlib.import_module(space)
    known = dir(module) if "__dir__" in vars(module) else module.__all__
    own = {n for n, v in vars(module).items() if getattr(v, "__module__", "") == space}
    names = [name for name in dict.fromkeys([*known, *sorted(own)]) if not name.startswith("_")]
    # some dtypes exist once another package is imported
    values = {name: getattr(module, name, None) for name in names}
    lines = {name: (idiom_line(space, name, value), value) for name, value in values.items()}
    for name, (line, value) in lines.items():
        own_name = getattr(value, "__name__", "")
        if own_name != name and "\nclass" in f"\n{line}" and values.get(own_name) is value:
            lines[name] = f"{name} = {own_name}", value
    return lines


def idiom_stub(space: str, spaces: dict[str, dict[str, tuple[str, Any]]]) -> str:
    """The text of the stub of a namespace: functions of an inner one are imported from there."""
    lines = []
    before = [other for other in spaces if order_of(other) < order_of(space)]
    for name, (line, value) in spaces[space].items():
        said = ((other, *spaces[other].get(name, ("", None))) for other in before)
        home = next((other for other, text, one in said if one is value and text == line), None)
        found = line.startswith("def ") and home is not None
        lines.append(f"from {home} import {name} as {name}" if found else line)
    if hasattr(sys.modules[space], "__version__"):
        lines.append("__version__: _str")
    return completed(space, "\n".join(lines))


def order_of(space: str) -> tuple[int, str]:
    """The place of a namespace among those that may define a function: inner ones are first."""
    return -space.count("."), space


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


VALUES = """
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> _complex: ...
    def __float__(self) -> _float: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __len__(self) -> _int: ...
    def numpy(self) -> Any: ...
    @property
    def device(self) -> _str: ...
    @property
    def dtype(self) -> _DType: ...
    @property
    def ndim(self) -> _int: ...
    @property
    def shape(self) -> _TensorShape: ...
    def get_shape(self) -> _TensorShape: ...
    def set_shape(self, shape: Any) -> None: ...
    def ref(self) -> Any: ...
"""
"""What TensorFlow's tensors have besides operators."""


def tensor_stub() -> str:
    """The stub of ``tensorflow.typing``: tensors and variables as users see them."""
    lines = ["class Operators:"]
    for name in infix.OPERATORS:
        alone = name in ("abs", "invert", "neg")
        compares = name in ("eq", "ge", "gt", "le", "lt", "ne")
        note = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        for side in [""] if alone or compares else ["", "r"]:
            other = "" if alone else ", other: TensorLike"
            lines.append(f"    def __{side}{name}__(self{other}) -> Tensor: ...{note}")
    lines += ["class Tensor(Operators):", VALUES.strip("\n")]
    lines += ["class Variable(_Variable, Operators): ..."]
    source = ast.parse((PACKAGE / "compat/tensorflow/typing.py").read_text(encoding="utf-8"))
    lines += [ast.unparse(node) for node in source.body if isinstance(node, ast.AnnAssign)]
    return completed("wengert.compat.tensorflow.typing", "\n".join(lines))


def idiom_stubs() -> dict[Path, str]:
    """The text of the stub of each namespace, by its path."""
    made = {}
    homes = (f"wengert.compat.{idiom}" for idiom in idioms())
    spaces = {space: names_of(space) for space in sorted(homes, key=order_of)}
    for space in spaces:
        place = PACKAGE.joinpath(*space.split(".")[1:])
        path = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
        made[path] = idiom_stub(space, spaces)
    made[PACKAGE / "compat" / "jax" / "typing.pyi"] = array_stub()
    made[PACKAGE / "compat" / "tensorflow" / "typing.pyi"] = tensor_stub()
    return made
