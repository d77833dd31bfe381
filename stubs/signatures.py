"""The types of parameters and results, from signatures, docstrings and names.

The type of a parameter is its annotation or, where that is ``Any``, what the docstring says, or
else what parameters of this name are (`NAMES`). What no rule gives stands in ``written.pyi``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import wengert as wg

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "wengert"

P = inspect.Parameter
Form = list[tuple[P, str]]
"""The parameters of one way to call a function, with their types."""


class Unknown(Exception):
    """No rule says the type of something."""


# -- the types of parameters -----------------------------------------------------------------------

INTS = "_int | Sequence[_int]"
WORDS = {
    "Tensor": "Tensor",
    "Tensors": "Tensor",
    "tensors": "Tensor",
    "Tensor of int": "Tensor",
    "Tensor of int64": "Tensor",
    "tensor of int": "Tensor",
    "number": "Number",
    "operand": "Operand",
    "numbers": "Number",
    "int": "_int",
    "ints": "_int",
    "float": "_float",
    "floats": "_float",
    "bool": "_bool",
    "str": "_str",
    "dict": "dict[_str, Any]",
    "object": "Any",
    "callable": "Callable[..., Any]",
    "dtype": "_dtype",
    "device": "Device",
    "memory_format": "_memory_format",
    "Generator": "_Generator",
    "None": "None",
    "class": "type",
    "numpy.ndarray": "Array",
    "array": "Array",
    "sequence": "Sequence[_int]",
    "Size": "_Size",
    "storage": "UntypedStorage | TypedStorage",
    "layout": "_layout",
    "SparseTensor": "SparseTensor",
    "CompressedTensor": "CompressedTensor",
}
"""What the words of docstrings mean."""

_TENSORS = """grid theta window hx w_ih w_hh b_ih b_hh
    new_state values mask src source condition index the_template iK _random_samples X input out
    tensor other"""
NAMES = {
    **dict.fromkeys(_TENSORS.split(), "Tensor"),
    **dict.fromkeys(["weight", "bias", "running_mean", "running_var", "former"], "Tensor | None"),
    **dict.fromkeys(["dims", "dim", "repeats", "axis"], INTS),
    **dict.fromkeys(["kernel_size", "stride", "padding", "dilation"], INTS),
    **dict.fromkeys(["size", "shape", "sizes", "normalized_shape"], "Sequence[_int]"),
    **dict.fromkeys(["dtype", "type1", "type2", "d"], "_dtype"),
    **dict.fromkeys(["tensor1", "tensor2"], "Operand"),
    **dict.fromkeys(["fill_value", "alpha", "s"], "Number"),
    **dict.fromkeys(["value", "min", "max"], "Number | Tensor"),
    **dict.fromkeys(["output_ratio", "scale_factor"], "_float | Sequence[_float]"),
    **dict.fromkeys(["low", "high", "from_", "to"], "_int"),
    **dict.fromkeys(["data", "devices"], "Any"),
    "device": "Device",
    "layout": "_layout",
    "memory_format": "_memory_format",
    "pin_memory": "_bool",
    "generator": "_Generator",
    "output_size": "_int | Sequence[_int | None]",
    "indices": "Sequence[Tensor | None]",
    "obj": "object",
}
"""The types of parameters that a docstring says nothing of, as in "arguments as those of `add`"."""

_BUILTINS = ("bool", "complex", "float", "int", "str", "type")
# where types come from; names with an underscore are those that the package has for something else
HOMES = {
    **dict.fromkeys(["IO", "Any", "Literal", "Self", "SupportsIndex"], "typing"),
    **dict.fromkeys(["TypeAlias", "overload"], "typing"),
    **dict.fromkeys(["Callable", "Iterator", "Sequence"], "collections.abc"),
    **dict.fromkeys(["Array", "Device", "Index", "Number", "Operand", "Tensor"], "wengert.types"),
    **{f"_{name}": "builtins" for name in _BUILTINS},
    "EllipsisType": "types",
    "PathLike": "os",
    "Node": "wengert.tape.node",
    "RemovableHandle": "wengert.tape.handles",
    "TensorClass": "wengert.tensor.internals",
    "MemoryReport": "wengert.autograd.memory",
    "TypeIs": "typing_extensions",
    "CompressedTensor": "wengert.sparse.tensors",
    "SparseTensor": "wengert.sparse.tensors",
    "TypedStorage": "wengert.tensor.storage",
    "UntypedStorage": "wengert.tensor.storage",
    "_Generator": "wengert.ops.generator",
    "_Size": "wengert.base.size",
    "_device": "wengert.base.device",
    "_dtype": "wengert.base.dtypes",
    "_layout": "wengert.base.layout",
    "_memory_format": "wengert.base.memory_format",
}
_SHOWN = {name[1:]: name for name in HOMES if name[0] == "_"}
_SHOWN |= {"TensorBase": "Tensor", "DType": "_dtype", "_DefaultGenerator": "_Generator"}


def worded(text: str) -> str:
    """The type that a docstring gives in words: ``int or sequence of int, optional``."""
    text = text.removesuffix(", optional").strip()
    if text in WORDS:
        return WORDS[text]
    if "nested" in text or "two lists" in text:
        return "Any"
    if literals := re.search(r"\{(.*?)\}|\"\w+\"", text):
        kinds = [_literal(word) for word in literals[0].strip("{}").split(", ")]
        rest = text.replace(literals[0], "").replace(" or ", ", ")
        kinds += [worded(part) for part in rest.split(", ") if part.strip()]
        return " | ".join(sorted(set(kinds)))
    several = re.fullmatch(r"(?:one )?(?:sequence|tuple|list) of (?:two )?(.*)", text)
    alternatives = re.split(r", or |, | or ", text)
    if len(alternatives) == 1:
        if several is None:
            raise Unknown(f"what {text!r} means")
        return f"Sequence[{worded(several[1])}]"
    kinds = [kind for part in alternatives for kind in worded(part).split(" | ")]
    kinds = [kind for kind in kinds if kind != "_str" or "Device" not in kinds]
    return "Any" if "Any" in kinds else " | ".join(dict.fromkeys(kinds))


def _literal(word: str) -> str:
    return "_str" if word[0] == '"' else "None" if word == "None" else "_float"


def section(docstring: str, heading: str) -> list[str]:
    """The lines of a section."""
    found = re.search(rf"{heading}\n-+\n(.*?)(?=\n\n[A-Z][a-z]+\n-|\Z)", docstring, re.DOTALL)
    return found[1].splitlines() if found else []


@cache
def documented(docstring: str) -> dict[str, str]:
    """The words that a docstring has for the type of each parameter."""
    words = {}
    block = "\n".join(section(docstring, "Parameters"))
    for names, kind, text in re.findall(r"^(\S.*?) : (.*)((?:\n .*)*)", block, re.MULTILINE):
        if "may be a number" in text:
            kind = "operand"
        words.update(dict.fromkeys((name.strip("* ") for name in names.split(",")), kind))
    return words


def docstring_of(name: str, function: Any) -> str:
    """The docstring, or that of the operation that the function is another form of."""
    own = inspect.getdoc(function) or ""
    if "\n*args, **kwargs" not in own and "Parameters\n" in own:
        return own
    plain = name.removesuffix("_")
    plain = plain.removesuffix("_copy").removeprefix("unsafe_") if plain == name else plain
    found = getattr(wg, plain, None) or getattr(wg.Tensor, plain, None)
    return own if plain == name or found is None else inspect.getdoc(found) or own


def annotated(annotation: Any) -> str:
    """An annotation of the source, in the names of the stubs."""
    text = annotation if isinstance(annotation, str) else annotation.__name__
    return re.sub(r"\b\w+\b", lambda word: _SHOWN.get(word[0], word[0]), text)


def says_nothing(annotation: Any) -> bool:
    """Whether an annotation leaves the type open."""
    return annotation in ("Any", Any, P.empty)


def type_of(parameter: P, words: dict[str, str]) -> str:
    """The type of a parameter, by its annotation, the docstring, or its name."""
    name = parameter.name
    if parameter.kind is P.VAR_KEYWORD:
        return "Any"
    if not says_nothing(parameter.annotation):
        kind = annotated(parameter.annotation)
    elif name in words:
        kind = worded(words[name])
    elif name in NAMES:
        kind = NAMES[name]
    else:
        raise Unknown(f"the type of the parameter {name}")
    outer = re.sub(r"\[.*?\]", "", kind)
    if parameter.default is None and not re.search(r"\b(None|Any|Device)\b", outer):
        kind += " | None"
    return kind


# -- functions -------------------------------------------------------------------------------------

ONE_BY_ONE = {
    "sizes": "_int",
    "shape": "_int",
    "size": "_int",
    "shapes": "_int",
    "tensors": "Tensor",
    "matrices": "Tensor",
}
"""What comes one by one or as one sequence; the sequence has a keyword of its own, sometimes."""
KEYWORDS = ("shape", "dims", "size", "repeats")
PAIR_IF_ASKED = "Tensor, or tuple of two Tensors"


def listed(form: Form) -> str:
    """The parameters as they stand in brackets."""
    parts: list[str] = []
    starred = False
    for parameter, kind in form:
        stars = {P.VAR_POSITIONAL: "*", P.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is P.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or parameter.kind in (P.VAR_POSITIONAL, P.KEYWORD_ONLY)
        text = f"{stars}{parameter.name}" + (f": {kind}" if kind else "")
        if parameter.default is not P.empty:
            text += f" = {shown(parameter.default)}"
        parts.append(text)
    positional = [i for i, (p, _) in enumerate(form) if p.kind is P.POSITIONAL_ONLY]
    if positional:
        parts.insert(positional[-1] + 1, "/")
    return ", ".join(parts)


def shown(value: Any) -> str:
    """A default, if its text is plain."""
    plain = value is None or value == () or type(value) in (bool, int, str)
    return repr(value) if plain or (type(value) is float and value - value == 0) else "..."


def forms(function: Any, words: dict[str, str], method: bool) -> list[Form]:
    """The ways to call a function."""
    parameters = list(inspect.signature(function).parameters.values())
    named = {parameter.name: parameter for parameter in parameters}
    several = next((p for p in parameters if p.kind is P.VAR_POSITIONAL), None)
    element = ONE_BY_ONE.get(several.name) if several else None
    others = [name for name in KEYWORDS if name in named and named[name] is not several]
    keyword = others[0] if element and others else None
    if function.__module__ in ("wengert.ops.pointwise", "wengert.tensor.assign"):
        operands = {"other", "exponent"} & named.keys()
        words = {**dict.fromkeys([*operands, *(["input"] if operands else [])], "operand"), **words}
    form: Form = []
    for parameter in parameters:
        name = parameter.name
        if method and not form:
            form.append((P("self", P.POSITIONAL_OR_KEYWORD), ""))
        elif name == "names" and parameter.kind is P.VAR_KEYWORD:
            form += numpy_names(named, words)
        elif parameter is several:
            form.append((parameter, element or "Any"))
        elif name != keyword:
            form.append((parameter, type_of(parameter, words)))
    if words.get("dim", "").startswith("int") and "optional" not in words["dim"]:
        return by_dim_or_axis(form)
    if several is None or element is None:
        return [form]
    whole = P(keyword or several.name, P.POSITIONAL_OR_KEYWORD)
    at = [parameter for parameter, _ in form].index(several)
    return [form, [*form[:at], (whole, f"Sequence[{element}]"), *form[at + 1 :]]]


def numpy_names(named: dict[str, P], words: dict[str, str]) -> Iterator[tuple[P, str]]:
    """NumPy's names of `dim` and `keepdim`."""
    for other, name in (("axis", "dim"), ("keepdims", "keepdim")):
        if name in named:
            yield P(other, P.KEYWORD_ONLY, default=...), type_of(named[name], words)


def by_dim_or_axis(form: Form) -> list[Form]:
    """A form for each of two names of a dimension, of which one must be given."""
    given = {parameter.name: parameter.default for parameter, _ in form}
    if "axis" not in given or given["dim"] is not None:
        return [form]
    made: list[Form] = []
    for name, without in (("dim", ("axis", "keepdims")), ("axis", ("dim", "keepdim"))):
        kept = [(p, kind) for p, kind in form if p.name not in without]
        at = [p.name for p, _ in kept].index(name)
        kept[at] = kept[at][0].replace(default=P.empty), kept[at][1].removesuffix(" | None")
        if name == "axis":
            kept[1:] = [(p.replace(kind=P.KEYWORD_ONLY), kind) for p, kind in kept[1:]]
        made.append(kept)
    return made


def with_pairs(form: Form) -> list[tuple[Form, str]]:
    """The ways to call a function that returns positions, too, if `return_indices` says so."""
    at = [parameter.name for parameter, _ in form].index("return_indices")
    before, (flag, _), after = form[:at], form[at], form[at + 1 :]
    asked = flag.replace(default=P.empty, kind=P.KEYWORD_ONLY)
    by_name = [(parameter.replace(kind=P.KEYWORD_ONLY), kind) for parameter, kind in after]
    return [
        ([*before, (flag, "Literal[False]"), *after], "Tensor"),
        ([*before, (asked, "Literal[True]"), *by_name], "tuple[Tensor, Tensor]"),
        (form, "Any"),
    ]


def result_of(name: str, function: Any, space: str) -> str:
    """The type of what a function returns."""
    annotation = inspect.signature(function).return_annotation
    if not (says_nothing(annotation) or "..." in annotation):
        kind = annotated(annotation)
        return re.sub(r"\bAny\b", "Tensor", kind) if kind.startswith("tuple") else kind
    lines = section(docstring_of(name, function), "Returns")
    entries = [line for line in lines if line[:1].strip()]
    if not entries:
        return "Tensor" if says_nothing(annotation) else "tuple[Tensor, ...]"
    if all(" : " in entry for entry in entries):
        for found in (f"{space}_{name}", name):
            if hasattr(wg.return_types, found):
                return f"return_types.{found}"
        names = [one for entry in entries for one in entry.partition(" : ")[0].split(",")]
        return f"tuple[{', '.join('Tensor' for _ in names)}]"
    if entries[0].startswith("return_types.") or entries[0] == PAIR_IF_ASKED:
        return entries[0]
    if entries[0] == "tuple of Tensor":
        return "tuple[Tensor, ...]"
    if " or " in entries[0]:
        raise Unknown(f"results differ ({entries[0]}): write the overloads")
    return worded(entries[0])


def written_out(name: str, function: Any, space: str, method: bool = False) -> str:
    """The lines of the stub of one function."""
    nodes = WRITTEN["Tensor" if method else space].get(name)
    if nodes is None and (method or space == "wengert"):
        nodes = [as_method(node) if method else node for node in WRITTEN["shared"].get(name, [])]
    if nodes:
        return "\n".join(ast.unparse(node) for node in nodes)
    try:
        result = result_of(name, function, space)
        found = forms(function, documented(docstring_of(name, function)), method)
    except Unknown as problem:
        raise SystemExit(f"{space}.{name}: no rule says {problem}") from None
    pairs = with_pairs(found[0]) if result == PAIR_IF_ASKED else [(f, result) for f in found]
    lines = [f"def {name}({listed(form)}) -> {kind}: ..." for form, kind in pairs]
    return "\n".join(lines if len(lines) == 1 else [f"@overload\n{line}" for line in lines])


def as_method(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function as a method: its first parameter is the tensor."""
    (made,) = ast.parse(ast.unparse(node)).body
    assert isinstance(made, ast.FunctionDef)
    made.args.args[0] = ast.arg("self")
    return made


def read_written() -> dict[str, dict[str, list[Any]]]:
    """What ``written.pyi`` holds: for each class in it the functions, by name."""
    tables: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for part in ast.parse((HERE / "written.pyi").read_text(encoding="utf-8")).body:
        if isinstance(part, ast.ClassDef):
            for node in part.body:
                assert isinstance(node, ast.FunctionDef)
                tables[part.name][node.name].append(node)
    return tables


WRITTEN = read_written()

# -- files -----------------------------------------------------------------------------------------


IMPORT = re.compile(r"^from (\S+) import ([^,\n]+)\n?", re.MULTILINE)
"""An import of one name."""


def completed(space: str, body: str) -> str:
    """The text of a stub: its first lines import what the body names, one line for each module."""
    body = re.sub(r":\n *\.\.\.$", ": ...", body, flags=re.MULTILINE)
    given: defaultdict[str, list[str]] = defaultdict(list)
    for home, names in IMPORT.findall(body):
        given[home] += [] if names in given[home] else [names]
    body = IMPORT.sub("", body)
    # as their own names, since functions have the same: the type of `max` is not what max() is
    results = sorted(set(re.findall(r"\breturn_types\.(\w+)", body)))
    body = re.sub(r"\breturn_types\.(\w+)", r"_\1_result", body)
    tree = ast.parse(body)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound = {names.rpartition(" ")[2] for each in given.values() for names in each}
    bound |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    bound |= {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    homes = defaultdict(list, {home: sorted(names) for home, names in given.items()})
    for name in sorted(used - bound):
        if name in HOMES:
            homes[HOMES[name]].append(f"{name[1:]} as {name}" if name[0] == "_" else name)
    lines = [f"from {home} import {', '.join(names)}" for home, names in sorted(homes.items())]
    if results:
        names = ", ".join(f"{name} as _{name}_result" for name in results)
        lines.append(f"from wengert.return_types import {names}")
    if "np" in used:
        lines.insert(0, "import numpy as np")
    what = f"What `{space}` gives, for type checkers and editors."
    heading = f'"""{what}\n\nWritten by stubs/generate.py.\n"""'
    return "\n".join([heading, "", *lines, "", body.strip(), ""])
