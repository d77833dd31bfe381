"""Layer 11 · cli: the formulas of derivatives, as their rules spell them."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from typing import Any

from wengert.prims.record import Primitive, Rule

__all__ = ["formula", "rule_source", "rules_of"]

LONGEST = 120
"""Formulas of more letters are shown as code of their own."""


@functools.cache
def _parsed(path: str) -> tuple[str, ast.Module]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text, ast.parse(text)


def _same_code(lambda_: ast.Lambda, code: Any) -> bool:
    compiled = compile(ast.Expression(lambda_), "<lambda>", "eval").co_consts
    made = next(const for const in compiled if hasattr(const, "co_code"))
    # a name of an enclosing function is a free variable there, and a global one here
    names = {*made.co_names, *made.co_freevars} == {*code.co_names, *code.co_freevars}
    return names and made.co_varnames == code.co_varnames and _constants(made) == _constants(code)


def _constants(code: Any) -> list[str]:
    return [repr(const) for const in code.co_consts if not hasattr(const, "co_code")]


def _located(rule: Rule) -> tuple[str, ast.Lambda | ast.FunctionDef | None]:
    """The text of the rule's file, and where the rule stands in it."""
    code = rule.call.__code__
    text, tree = _parsed(code.co_filename)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if node.name == code.co_name and start == code.co_firstlineno:
                return text, node
        elif (
            isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and _same_code(node, code)
        ):
            return text, node
    return text, None


def formula(rule: Rule) -> str | None:
    """The expression that a rule returns, on one line; None if it takes more than that.

    Examples
    --------
    >>> from wengert.cli.formulas import formula
    >>> from wengert.prims.table import TABLE
    >>> formula(TABLE["sin"].rules[0])
    'g * F.cos(self)'
    """
    text, node = _located(rule)
    if node is None:
        return None
    body: Any = node.body
    if isinstance(node, ast.FunctionDef):
        statements = node.body[1:] if ast.get_docstring(node) else node.body
        if len(statements) != 1 or not isinstance(statements[0], ast.Return):
            return None
        body = statements[0].value
    found = ast.get_source_segment(text, body) or ""
    lines = [line.split("  #")[0].strip() for line in found.splitlines()]
    line = " ".join(line for line in lines if not line.startswith("#"))
    line = line.replace("( ", "(").replace(" )", ")").replace(",)", ")").replace(",]", "]")
    return line if len(line) <= LONGEST else None


def rule_source(rule: Rule) -> str:
    """The whole source of a rule, without its docstring."""
    text, node = _located(rule)
    if node is None:
        return textwrap.dedent(inspect.getsource(rule.call)).strip()
    if isinstance(node, ast.Lambda):
        source = ast.get_source_segment(text, node, padded=True) or ""
        return textwrap.dedent(source).strip()
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    if ast.get_docstring(node):
        first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
        del lines[first - node.lineno : last - node.lineno + 1]
    return textwrap.dedent("\n".join(lines)).strip()


def rules_of(prim: Primitive) -> list[tuple[str, Rule]]:
    """The arguments of a primitive that have a derivative, each with its rule."""
    return [
        (arg, rule) for arg, rule in zip(prim.args, prim.rules, strict=True) if rule is not None
    ]
