"""Write the Cython source of nodes, rule applications and recorders of the primitives most used.

It says what `wengert.tape.specialise` writes out in Python when a primitive is first used, with two
differences: the attributes of tensors and nodes are fields of C structures, and arithmetic goes
through ``arrays.h``. Both are made from the same records, and the same tests run on both.

    python native/generate.py OUTPUT [primitive ...]
"""

from __future__ import annotations

import ast
import copy
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE
from wengert.tape.compiled import signature_of
from wengert.tape.rules import is_diagonal
from wengert.tape.specialise import saved_slots

HEAD = Path(__file__).with_name("recorded.pxi").read_text(encoding="utf-8")
USED = """
    abs add add_scalar addmm amax amin binary_cross_entropy bmm clamp clone cos cosh div div_scalar
    dot erf exp expand expm1 gelu leaky_relu log log1p log_softmax logsumexp maximum mean minimum mm
    mul mul_scalar mv neg nll_loss permute pow pow_scalar reciprocal relu rsqrt rsub_scalar select
    sigmoid silu sin sinh slice softmax softplus sqrt squeeze sub sub_scalar sum t tan tanh
    transpose unsafe_view unsqueeze view where
"""
_QUICK = {ast.Add: "wg_add", ast.Sub: "wg_sub", ast.Mult: "wg_mul", ast.Div: "wg_div"}


# -- rules as expressions --------------------------------------------------------------------------


@functools.cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _located(function: Callable[..., Any]) -> ast.Lambda | None:
    """The lambda expression that `function` was compiled from."""
    code = function.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            made = compile(ast.Expression(node), "<lambda>", "eval").co_consts[0]
            same = (made.co_code, made.co_names, made.co_varnames, made.co_consts)
            if same == (code.co_code, code.co_names, code.co_varnames, code.co_consts):
                return node
    return None


class _Arithmetic(ast.NodeTransformer):
    """Names replaced by other expressions, and arithmetic by calls of the functions in arrays.h."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.values.get(node.id, node.id)
        return ast.parse(text, mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _QUICK.get(type(node.op))
        if name is None:
            return node
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])


def _quick(expression: ast.expr, values: dict[str, str]) -> str:
    made = _Arithmetic(values).visit(copy.deepcopy(expression))
    return ast.unparse(ast.fix_missing_locations(made))


_PLAIN = ast.BinOp | ast.UnaryOp | ast.Constant | ast.Name
_PLAIN |= ast.operator | ast.unaryop | ast.expr_context


def _inlined(rule: Any, values: dict[str, str]) -> str | None:
    """The rule as an expression, if it is nothing but arithmetic."""
    node = _located(rule.call)
    if node is None or node.args.defaults:
        return None
    for part in ast.walk(node.body):
        if not isinstance(part, _PLAIN) or (isinstance(part, ast.Name) and part.id not in values):
            return None
    return _quick(node.body, values)


# -- nodes -----------------------------------------------------------------------------------------


def _value_of(prim: Primitive, name: str) -> str:
    """What a rule gets for `name`, in `apply`."""
    if name in prim.args:
        return f"s_{name}.payload"
    if name == "result":
        return name
    return f"self.p_{name}" if name in prim.params else f"self.{name}"


def _loading(prim: Primitive) -> Iterator[str]:
    for name in prim.saved_args:
        yield f"o_{name} = self.s_{name}"
        yield f"if o_{name} is not None:"
        yield f"    if not isinstance(o_{name}, TensorBase):"
        yield f"        check_saved(self, {name!r}, o_{name})"
        yield f"    s_{name} = <TensorBase>o_{name}"
        yield f"    if s_{name}.vc is not None:"
        yield f"        check_saved(self, {name!r}, s_{name})"
    if "result" in prim.saved:
        yield "result = self.result"
        yield "if self.result_vc[0] != self.result_at:"
        yield "    check_result(self)"
    if prim.saved_args or "result" in prim.saved:
        yield "if not keep:"
        for name in prim.saved_args:
            yield f"    self.s_{name} = _FREED"
    if "result" in prim.saved:
        yield "    self.result = _FREED"
        yield "    self.result_vc = _FREED_CELL"


def _results(prim: Primitive, rules: list[str]) -> Iterator[str]:
    names = []
    for i, rule in enumerate(prim.rules):
        if rule is None:
            names.append("None")
            continue
        values = {"g": "g", **{name: _value_of(prim, name) for name in rule.names}}
        text = _inlined(rule, values)
        if text is None:
            called = f"_rule_{prim.name}_{i}"
            rules.append(f"cdef object {called} = TABLE[{prim.name!r}].rules[{i}].call")
            text = f"{called}({', '.join(['_K', *values.values()])})"
        yield f"g{i} = {text}" + (f" if e{i} is not None else None" if len(prim.args) > 1 else "")
        names.append(f"g{i}")
    made = [name for name in names if name != "None"]
    if is_diagonal(prim):
        yield "if _INVALID:"
        yield from (f"    {name} = unmasked(_K, g, {name})" for name in made)
    if prim.broadcasts:
        yield "if self.shapes is not None:"
        for name in made:
            yield f"    if {name} is not None:"
            yield f"        {name} = _sum_to({name}, shape=self.shapes[{name[1:]}])"
    yield f"return ({', '.join(names)},)"


def node_source(prim: Primitive) -> list[str]:
    """The lines of the extension type that holds what `prim` saves and applies its rules."""
    rules: list[str] = []
    body = [f"cdef TensorBase s_{name}" for name in prim.saved_args]
    body += ["cdef tuple _edges = edges"]
    body += [f"e{i} = _edges[{i}]" for i in range(len(prim.args))]
    body += ["mark()"] if prim.masks else []
    body += [*_loading(prim), *_results(prim, rules)]
    slots = saved_slots(prim)
    return [
        *rules,
        f"cdef class {_node(prim)}(NodeBase):",
        *([f"    cdef public object {', '.join(slots)}"] if slots else []),
        "    def apply(self, g, keep, edges):",
        *[f"        {line}" for line in body],
        f"NODES[{prim.name!r}] = {_node(prim)}",
        "",
    ]


def _node(prim: Primitive) -> str:
    return f"Node_{prim.name}"


# -- recorders -------------------------------------------------------------------------------------


def _saving(prim: Primitive) -> Iterator[str]:
    args = prim.args
    recorded = [i for i, rule in enumerate(prim.rules) if rule is not None]
    for name in prim.saved_args:
        users = [f"e{i} is not None" for i in recorded if name in prim.rules[i].names]
        if len(users) == len(recorded):
            yield f"_node.s_{name} = {name}"
        else:
            yield f"if {' or '.join(users)}:"
            yield f"    _node.s_{name} = {name}"
    if prim.saved_args:
        tensors = [f"t{args.index(name)}" for name in prim.saved_args]
        yield f"if not ({' and '.join(f'{t}.vc is None' for t in tensors)}):"
        yield f"    _node.versions = ({', '.join(f'_version({t})' for t in tensors)},)"
    for name in prim.saved:
        if name == "result":
            yield "_node.result = _r"
            yield "_out.vc = _node.result_vc = [0, None]"
            yield "_node.result_at = 0"
        elif name in prim.params:
            yield f"_node.p_{name} = {name}"
        elif name not in args:
            arg, what = name.rsplit("_", 1)
            yield f"_node.{name} = a{args.index(arg)}.{what}"
    if prim.broadcasts:
        alike = " and ".join(f"wg_same_shape(a0, a{i})" for i in range(1, len(args)))
        yield f"if not ({alike}):"
        yield f"    _node.shapes = ({', '.join(f'a{i}.shape' for i in range(len(args)))},)"


def _computing(prim: Primitive, params: str, slow: str) -> Iterator[str]:
    arrays = [f"a{i}" for i in range(len(prim.args))]
    if prim.infix:
        text = _quick(ast.parse(prim.infix.format(*arrays), mode="eval").body, {})
    else:
        text = f"_kernel({', '.join(arrays)}{', ' + params if params else ''})"
    if not prim.broadcasts:
        yield f"_r = {text}"
        return
    yield "try:"
    yield f"    _r = {text}"
    yield "except ValueError:"
    yield f"    {slow}"


def recorder_source(prim: Primitive) -> list[str]:
    """The lines of the function that makes the recorder of `prim` in its scope."""
    args, count = prim.args, range(len(prim.args))
    params = ", ".join(f"{p}={p}" for p in prim.params)
    named = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}"
    packed = f"({', '.join(args)},), {named}"
    slow = f"return _slow(_prim, {packed})"
    look = f"_m.anomaly.look(_prim, {packed}, _out)"
    typed = [i for i in count if args[i] not in prim.fixed]
    recorded = [i for i, rule in enumerate(prim.rules) if rule is not None]
    body = [f"cdef TensorBase t{i}" for i in count] + ["cdef TensorBase _out"]
    if recorded:
        body.append(f"cdef {_node(prim)} _node")
    if prim.scalar is not None:
        body += [
            f"if _number is not None and (type({args[1]}) is float or type({args[1]}) is int):",
            f"    return _number({args[0]}, {TABLE[prim.scalar].params[0]}={args[1]})",
        ]
    body += [
        f"if not ({' and '.join(f'isinstance({arg}, TensorBase)' for arg in args)}):",
        f"    {slow}",
    ]
    for i in count:
        body += [f"t{i} = <TensorBase>{args[i]}", f"a{i} = t{i}.payload"]
    if prim.view:
        body += ["if type(a0) is not _ndarray:", "    a0 = t0.array()"]
    others = "".join(f" or wg_kind(a{i}) != _kind" for i in typed[1:])
    body += [
        "_m = wg_mode(_MODE)",
        f"_kind = wg_kind(a{typed[0]})",
        f"if _kind < 0{others} or not (_m is None or _m is _NO_GRAD or _m.observed):",
        f"    {slow}",
        *_computing(prim, params, slow),
        "_out = <TensorBase>wg_new(TensorBase, Tensor, ())",
        "_out.payload = _r",
    ]
    if prim.view:
        grad = "_m is None or _m.grad"
        body.append(f"attach_view({args[0]}, _out, _prim, {named}, None, {grad})")
    if not recorded:
        body += ["if _m is not None and _m is not _NO_GRAD:", f"    {look}", "return _out"]
    else:
        nothing = " and ".join(f"e{i} is None" for i in recorded)
        targets = [f"t{i} if e{i} is _LEAF else e{i}" if i in recorded else "None" for i in count]
        body += [
            *[f"e{i} = t{i}.edge" for i in recorded],
            f"if (_m is not None and not _m.grad) or ({nothing}):",
            "    if _m is not None and _m is not _NO_GRAD:",
            f"        {look}",
            "    return _out",
            f"_node = <{_node(prim)}>wg_new({_node(prim)}, Node, ())",
            "_out.edge = _node",
            f"_node.edges = ({', '.join(targets)},)",
            "_node.seq = _next()",
            *_saving(prim),
            "if _m is not None:",
            "    _m.anomaly.note(_node)",
            f"    {look}",
            "return _out",
        ]
    signature = ", ".join([*args, *(["*", *prim.params] if prim.params else [])])
    scope = ["_prim", "_slow", "_kernel", "Tensor", "Node"]
    return [
        f"def make_{prim.name}(scope):",
        *[f"    {name} = scope[{name!r}]" for name in scope],
        *(["    _number = scope.get('_number')"] if prim.scalar is not None else []),
        f"    def {prim.name}({signature}):",
        *[f"        {line}" for line in body],
        f"    {prim.name}.__module__ = 'wengert.tape.generated'",
        f"    return {prim.name}",
        f"RECORDERS[{prim.name!r}] = make_{prim.name}",
        "",
    ]


def is_common(prim: Primitive) -> bool:
    """Whether the recorder of `prim` has a form that is written out."""
    plain = prim.outputs == 1 and not prim.variadic and bool(prim.args) and prim.differentiable == 1
    return plain and "dtype" not in prim.params and "f" not in prim.refuses


def source(names: list[str]) -> str:
    """The module for the primitives called `names`, as far as they have a form of their own."""
    lines = [HEAD]
    for name in names:
        prim = TABLE[name]
        if is_common(prim):
            lines += node_source(prim) if prim.is_differentiable else []
            lines += recorder_source(prim)
            lines.append(f"RECORDS[{name!r}] = {signature_of(prim)!r}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(sys.argv[2:] or USED.split()), encoding="utf-8")
