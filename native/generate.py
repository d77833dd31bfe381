"""Write the Cython source of nodes, rules and recorders for the most used primitives.

The steps are those of `wengert.tape.steps`, which generates Python code when a primitive is first
used. Some are overridden here: the attributes of tensors and nodes are fields of C structs, and
arithmetic calls the functions of ``arrays.h``. The same tests run on both.

    python native/generate.py OUTPUT [primitive ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wengert.interp.eager import LARGE, has_fused_rules
from wengert.interp.symbols import Symbol, named
from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE
from wengert.tape.compiled import signature_of
from wengert.tape.forms import is_common, number_form, parts, saved_slots, saves_tensors
from wengert.tape.steps import Steps

HEAD = Path(__file__).with_name("recorded.pxi").read_text(encoding="utf-8")
USED = """
    abs add add_scalar addmm amax amin binary_cross_entropy bmm cat clamp clone cos cosh div
    div_scalar dot eq erf exp expand expm1 ge gelu gt le leaky_relu log log1p log_softmax logsumexp
    lt maximum mean minimum mm mul mul_scalar mv ne neg nll_loss permute pow pow_scalar reciprocal
    relu rpow_scalar rsqrt rsub_scalar select sigmoid silu sin sinh slice softmax softplus split
    split_with_sizes sqrt squeeze stack sub sub_scalar sum sum_dim t tan tanh transpose unbind
    unsafe_view unsqueeze view where
"""
_QUICK = {"+": "wg_add", "-": "wg_sub", "*": "wg_mul", "/": "wg_div", "neg": "wg_neg"}


def _quick(formula: Symbol) -> str:
    """Replace arithmetic by calls of the functions in arrays.h."""
    if formula.head in ("name", "number"):
        return str(formula.parts[0])
    return f"{_QUICK[formula.head]}({', '.join(map(_quick, formula.parts))})"


def _inlined(function: Callable[..., Any], *values: Any) -> str | None:
    """Return the result of a function as an expression of its arguments, if it is arithmetic."""
    try:
        return _quick(function(*values))
    except (AttributeError, KeyError, TypeError):
        return None


class _Names(dict[str, Symbol]):
    def __missing__(self, name: str) -> Symbol:
        return named(name)


# -- steps ---------------------------------------------------------------------------------------


class _Typed(Steps):
    """The steps for one primitive, as lines of Cython."""

    def __init__(self, prim: Primitive, tag: str = "") -> None:
        super().__init__(prim, tag)
        self.numbered = "numbered()"
        self.offset = "_at"
        self.of_numbers = "type({0}) is float or type({0}) is int"
        self.called: dict[str, str] = {}
        """The functions of rules that are called rather than inlined, by the names that hold them.
        """

    def tried(self, computed: str) -> list[str]:
        # frames do not show the variables of compiled functions
        if not self.prim.broadcasts:
            return [computed]
        return [f"try: {computed}", "except ValueError:", f"    {self.slow}"]

    def loaded(self, name: str, i: int) -> list[str]:
        return [
            f"o_{name} = node.s_{name}",
            f"if o_{name} is not None:",
            f"    if not isinstance(o_{name}, TensorBase):",
            f"        o_{name} = check_saved(node, {name!r}, o_{name})",
            f"    s_{name} = <TensorBase>o_{name}",
            *[f"    {line}" for line in self.checked(name, i)],
        ]

    def rule(self, i: int, values: dict[str, str]) -> str:
        rule = self.prim.rules[i].call
        # without functions to call
        text = _inlined(rule, None, *[named(v) for k, v in values.items() if k != "F"])
        if text is None:
            text = self._call("rule", f"rules[{i}].call", i, values)
        if not has_fused_rules(self.prim):
            return text
        fused = self._call("fused", f"fused[{i}]", i, values)
        return f"({fused} if wg_size(g) >= {LARGE} else {text})"

    def _call(self, kind: str, function: str, i: int, values: dict[str, str]) -> str:
        name = f"_{kind}_{self.prim.name}_{i}"
        self.called[name] = function
        return f"{name}({', '.join(values.values())})"

    def tensor(self, i: int) -> str:
        return f"t{i}"

    def sited(self) -> list[str]:
        return ["_code = wg_place(LEADS, &_at)"] if saves_tensors(self.prim) else []

    def opened(self) -> list[str]:
        args = self.prim.args
        given = " and ".join(f"isinstance({arg}, TensorBase)" for arg in args)
        lines = [f"if not ({given}):", f"    {self.slow}"]
        for i, arg in enumerate(args):
            lines += [f"t{i} = <TensorBase>{arg}", f"a{i} = t{i}._payload"]
        if self.prim.view:
            lines += ["if type(a0) is not ndarray:", "    a0 = t0._array()"]
        others = "".join(f" or wg_kind(a{i}) != _kind" for i in self.typed[1:])
        same = [f"a{i}.dtype is a{self.typed[0]}.dtype" for i in self.typed[1:]]
        whole = " and ".join([f"({self.whole()})", *same])
        whole = f" and not ({whole})" if self.whole() else ""
        observed = "" if parts(self.prim) else " or _m.observed"
        return [
            *lines,
            "_m = wg_mode(MODE)",
            f"_kind = wg_kind(a{self.typed[0]})",
            f"if _kind < 0{whole}{others} or not (_m is None or _m is NO_GRAD{observed}):",
            f"    {self.slow}",
        ]

    def computed(self) -> str:
        text = super().computed()
        quick = _inlined(eval, text, {}, _Names()) if self.prim.infix else None
        return text if quick is None else quick

    def made(self, out: str = "_out") -> list[str]:
        # None in all fields
        return [f"{out} = <TensorBase>wg_new(TensorBase, Tensor, ())"]

    def cut(self, out: str = "_out") -> list[str]:
        return []

    def created(self) -> list[str]:
        cls = _node(self.prim)
        return [f"_node{self.tag} = <{cls}>wg_new({cls}, Node{self.tag}, ())"]

    def alike(self) -> str:
        return " and ".join(f"wg_same_shape(a0, {array})" for array in self.arrays[1:])

    def declared(self) -> list[str]:
        """Return the types of a recorder's variables."""
        node = [f"cdef {_node(self.prim)} _node{self.tag}"] if self.traced else []
        place = ["cdef long long _at"] if saves_tensors(self.prim) else []
        return [*[f"cdef TensorBase t{i}" for i in range(len(self.prim.args))], *node, *place]


def _node(prim: Primitive) -> str:
    return f"Node_{prim.name}"


def node_source(prim: Primitive) -> list[str]:
    """Return the extension type that holds what `prim` saves and applies its rules, as lines."""
    steps = _Typed(prim)
    body = [f"cdef TensorBase s_{name} = None" for name in prim.saved_args] + steps.apply()
    slots = saved_slots(prim)
    return [
        *_rules_held(prim, steps.called),
        f"cdef class {_node(prim)}(NodeBase):",
        *([f"    cdef public object {', '.join(slots)}"] if slots else []),
        "    def apply(node, g, keep, tuple edges not None):",
        *[f"        {line}" for line in body],
        f"NODES[{prim.name!r}] = {_node(prim)}",
        "",
    ]


def _rules_held(prim: Primitive, called: dict[str, str]) -> list[str]:
    """Return the lines that hold the rules of `prim`, whose record may be registered later."""
    if not called:
        return []
    return [
        f"cdef object {', '.join(called)}",
        f"def hold_{prim.name}(rules, fused):",
        f"    global {', '.join(called)}",
        *[f"    {name} = {function}" for name, function in called.items()],
        f"HOLDERS[{prim.name!r}] = hold_{prim.name}",
    ]


def _maker(
    kind: str, signature: str, body: list[str], steps: _Typed, form: _Typed | None = None
) -> list[str]:
    """Return the lines of the function that makes a recorder in its scope."""
    prim = steps.prim
    made = f"make_{kind}_{prim.name}"
    used = [(steps, "")] if form is None else [(steps, ""), (form, "_form")]
    names = ["_slow", "Tensor"]
    for written, tag in used:
        names += [f"_prim{tag}", f"_kernel{tag}", *([f"Node{tag}"] if written.traced else [])]
    declared = list(dict.fromkeys(line for written, _ in used for line in written.declared()))
    return [
        f"def {made}(scope):",
        *[f"    {name} = scope[{name!r}]" for name in names],
        f"    def {prim.name}({signature}):",
        *[f"        {line}" for line in ["cdef TensorBase _out", *declared, *body]],
        f"    {prim.name}.__module__ = 'wengert.tape.generated'",
        f"    return {prim.name}",
        f"RECORDERS[{prim.name!r}, {kind!r}] = {made}",
        "",
    ]


def recorder_source(prim: Primitive) -> list[str]:
    """Return the lines of the functions that make `prim`'s recorder and operators."""
    lines = []
    for kind in ("recorder", "operator", "reflected"):
        form = number_form(prim, kind == "reflected")
        steps = _Typed(prim)
        binary = prim.infix and len(prim.args) == 2 and not steps.traced
        if form is None and not (kind == "recorder" or (kind == "operator" and binary)):
            continue
        written = None if form is None else _Typed(form, "_form")
        signature = "self, other" if kind == "reflected" else steps.signature
        lines += _maker(kind, signature, getattr(steps, kind)(written), steps, written)
    return lines


def source(names: list[str]) -> str:
    """Return the module for the primitives called `names`, as far as they have generated forms."""
    lines = [HEAD]
    for prim in sorted((TABLE[name] for name in names), key=lambda prim: not prim.of_number):
        # forms for numbers come first, since operators make their nodes
        # compiled nodes hold the functions of rules, not what these share
        if is_common(prim) and prim.shared is None:
            lines += node_source(prim) if prim.is_differentiable else []
            lines += recorder_source(prim)
            lines.append(f"RECORDS[{prim.name!r}] = {signature_of(prim)!r}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(sys.argv[2:] or USED.split()), encoding="utf-8")
