"""Generate small changes to a source file, each of which a test should detect."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Mutant", "mutants"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SPOKEN = {"cases", "refuses", "doc", "domain", "node", "names", "strict"}
"""Arguments of records that say what they are called and how they are tested; and `strict` of
`zip`, which is an assertion."""
_ERRORS = {name for name in dir(builtins) if name.endswith(("Error", "Warning"))}


class Mutant(NamedTuple):
    """A change of one place.

    Attributes
    ----------
    line, start, end_line, end
        Where it is: lines from 1 on, columns in bytes.
    before, after
        The source there, and what takes its place.
    kind
        What sort of change it is.
    """

    line: int
    start: int
    end_line: int
    end: int
    before: str
    after: str
    kind: str

    def applied(self, source: str) -> str:
        """The source with this change."""
        lines = source.encode().splitlines(keepends=True)
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.start]
        tail = lines[self.end_line - 1][self.end :] + b"".join(lines[self.end_line :])
        return (head + self.after.encode() + tail).decode()


class _Finder(ast.NodeVisitor):
    """Collects the changes of a file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found: list[Mutant] = []

    def put(self, node: ast.expr | ast.stmt, after: ast.AST | str, kind: str) -> None:
        before = ast.get_source_segment(self.source, node)
        assert before is not None and node.end_lineno is not None
        assert node.end_col_offset is not None
        if not isinstance(after, str):
            after = ast.unparse(ast.fix_missing_locations(after))
            if isinstance(node, ast.expr):
                after = f"({after})"
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        self.found.append(Mutant(*place, before, after, kind))

    # -- what is left out ----------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.put(node, "pass", "statement removed")

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion is a remark for types."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """What is said to people is tested elsewhere."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in _SPOKEN:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _ERRORS and name not in ("case", "cast", "TypeVar"):
            self.generic_visit(node)

    # -- what is changed -----------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, op in enumerate(node.ops):
            for other in _COMPARISONS[type(op)]:
                ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                self.put(node, ast.Compare(node.left, ops, node.comparators), "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _OPERATORS.get(type(node.op))
        text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if other is not None and not text:
            self.put(node, ast.BinOp(node.left, other(), node.right), "operator")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self.put(node, node.operand, "sign or negation dropped")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.put(node, ast.BoolOp(other, node.values), "and, or")
        for i in range(len(node.values)):
            rest = [*node.values[:i], *node.values[i + 1 :]]
            after = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            self.put(node, after, "condition dropped")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.put(node.test, "True", "condition always true")
            self.put(node.test, "False", "condition always false")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.put(node, node.body, "choice dropped")
        self.put(node, node.orelse, "choice dropped")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.put(node, str(not value), "constant")
        elif isinstance(value, int):
            self.put(node, str(value + 1), "constant")
            self.put(node, str(value - 1) if value else "(-1)", "constant")
        elif isinstance(value, float):
            self.put(node, repr(value * 1.5 + (value == 0)), "constant")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.put(node, "pass", "statement removed")
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id.startswith("__"):
            return
        if isinstance(target, ast.Attribute | ast.Subscript):
            self.put(node, "pass", "statement removed")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.put(node, "pass", "statement removed")
        self.visit(node.value)


def _is_list_of_cases(node: ast.stmt) -> bool:
    called = [getattr(n.func, "id", "") for n in ast.walk(node) if isinstance(n, ast.Call)]
    made = isinstance(node, ast.Assign | ast.AnnAssign) and ("case" in called or not called)
    name = getattr(node, "name", "")
    return made or name in ("_case", "_cases", "_plain", "_draw")


def mutants(source: str) -> Iterator[Mutant]:
    """All small changes of a file, in the order of its places.

    Records at the top of a module are calls, whose statements stay.
    """
    finder = _Finder(source)
    tree = ast.parse(source)
    # lists of cases for tests
    tree.body = [node for node in tree.body if not _is_list_of_cases(node)]
    top = {(node.lineno, node.col_offset) for node in tree.body}
    finder.visit(tree)
    removed = "statement removed"
    for mutant in sorted(finder.found):
        if mutant.kind != removed or (mutant.line, mutant.start) not in top:
            yield mutant
