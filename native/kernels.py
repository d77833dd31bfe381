"""Write a module of kernels as Cython, where arithmetic calls the loops of ``arrays.h``.

For a few numbers NumPy takes longer to set up a loop than to run it, above all where it broadcasts.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["kernels_source"]

_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.USub: "neg"}
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_CALLED = {"maximum": 2, "minimum": 2, "where": 3, "sqrt": 1}
"""NumPy's functions that have a loop in arrays.h, and the number of their arguments there."""
_IMPORTED = "from wengert.kernels.small cimport *"


class _Quick(ast.NodeTransformer):
    """Replace arithmetic and comparisons by calls of the functions in arrays.h."""

    def _called(self, node: Any, name: str, *args: ast.expr) -> ast.expr:
        if all(isinstance(arg, ast.Constant | ast.JoinedStr | ast.Tuple) for arg in args):
            return node
        called = ast.Call(ast.Name(name, ast.Load()), list(args), [])
        return ast.fix_missing_locations(ast.copy_location(called, node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        return node if name is None else self._called(node, f"wg_{name}", node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self._called(node, "wg_neg", node.operand) if type(node.op) is ast.USub else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        return (
            node if name is None else self._called(node, f"wg_{name}", node.left, *node.comparators)
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        if name is None or not isinstance(node.target, ast.Name):
            return node
        value = self._called(node, f"wg_i{name}", ast.Name(node.target.id, ast.Load()), node.value)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([node.target], value), node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if (
            not isinstance(function, ast.Attribute)
            or not isinstance(function.value, ast.Name)
            or function.value.id != "np"
            or _CALLED.get(function.attr) != len(node.args)
            or node.keywords
        ):
            return node
        return self._called(node, f"wg_{function.attr}", *node.args)


def kernels_source(text: str) -> str:
    """Return a module of kernels as Cython."""
    tree = ast.parse(text)
    after = next(i for i, line in enumerate(tree.body) if isinstance(line, ast.ImportFrom)) + 1
    head, rest = (ast.Module(part, []) for part in (tree.body[:after], tree.body[after:]))
    lines = [ast.unparse(head), _IMPORTED, ast.unparse(_Quick().visit(rest))]
    return "# cython: language_level=3\n" + "\n".join(lines) + "\n"
