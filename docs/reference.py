"""A Sphinx extension: pages of reference that list what a namespace holds by themselves.

``{names} wengert.fft`` in a page documents all public names of `wengert.fft`, with the docstrings
that stand in the code. A name that is added there is in the page at the next build.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import wengert
from wengert.cli.operations import chapter_of

_LOG = logging.getLogger(__name__)


def resolve(path: str) -> Any:
    """Find what a dotted name stands for: modules, and attributes of modules and classes."""
    module, _, name = path.rpartition(".")
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        if not module:
            raise
        return getattr(resolve(module), name)


def public_names(place: Any) -> list[str]:
    """Return the names that a namespace offers: what it lists, or what it holds of its own."""
    listed = getattr(place, "__all__", None)
    if listed is not None and "__dir__" not in vars(place):
        return sorted(listed)
    return sorted(name for name in dir(place) if not name.startswith("_"))


def is_offered(value: Any) -> bool:
    """Tell a thing of the library from what a module imports for its own use."""
    if inspect.ismodule(value):
        return False
    module = getattr(value, "__module__", None) or "wengert"
    return module.partition(".")[0] in ("wengert", "jax", "tensorflow", "mxnet", "autograd")


def chapter(value: Any) -> str | None:
    """Return the chapter of the page of operations in which an operation stands, or None."""
    module = getattr(value, "__module__", None) or ""
    if not module.startswith("wengert.ops.") or inspect.isclass(value):
        return None
    return chapter_of(value)


def subject(value: Any) -> str:
    """Return what the docstring of a thing's module says that the module is about."""
    doc = inspect.getdoc(importlib.import_module(value.__module__)) or ""
    text = " ".join(doc.partition("\n\n")[0].split()).partition(": ")[2]
    text = re.split(r"[.:;,] | as ", text)[0].rstrip(".")
    return escaped(text[:1].upper() + text[1:])


def first_line(value: Any) -> str:
    """Return the first sentence of a docstring, on one line, fit for a table."""
    doc = inspect.cleandoc(getattr(value, "__doc__", None) or "")
    line = " ".join(doc.partition("\n\n")[0].split())
    return escaped(re.split(r"(?<=[.!?]) (?=[A-Z`])", line)[0])


def shown(value: Any) -> str:
    """Return how a value that is not a function is shown: as itself, unless that is an address."""
    return first_line(value) if " at 0x" in repr(value) else f"``{value!r}``"


def grouped(place: Any, names: Iterable[str]) -> Iterator[tuple[Any, list[str]]]:
    """Put names of the same thing together: its own name first, then the others."""
    found: dict[int, tuple[Any, list[str]]] = {}
    for name in names:
        value = getattr(place, name)
        found.setdefault(id(value), (value, []))[1].append(name)
    for value, same in found.values():
        own = getattr(value, "__name__", "")
        yield value, [name for name in same if name == own] + sorted(set(same) - {own})


# -- docstrings as reStructuredText ----------------------------------------------------------------

_CODE = re.compile(r"(``.+?``|`[^`]+`_{0,2}|:\w+:`[^`]+`)")
_PARAMETERS = re.compile(r"\s*\*{0,2}\w+(, \*{0,2}\w+)*( : .*)?")
_MARKS = re.compile(r"(?<!^)(?<=\S)\*|\*(?=\S)|\||(?<=\w)_(?=\W|$)")


def escaped(line: str) -> str:
    """Escape what would be markup outside of code: ``*args``, ``|x|``, ``add_``."""
    parts = _CODE.split(line)
    return "".join(part if i % 2 else _MARKS.sub(r"\\\g<0>", part) for i, part in enumerate(parts))


def escape_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Let docstrings be plain text with code in backticks; doctests and literal blocks stay."""
    literal = None  # the indentation of the paragraph that a literal block belongs to
    doctest = False
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            doctest = False
            continue
        if literal is not None:
            if indent > literal:
                continue
            literal = None
        doctest = doctest or line.lstrip().startswith(">>>")
        if doctest:
            continue
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            literal = indent
        section = i + 1 < len(lines) and set(lines[i + 1].strip()) in ({"-"}, {"="})
        if not section and not _PARAMETERS.fullmatch(line):
            lines[i] = escaped(line)


# -- the directive ---------------------------------------------------------------------------------


class Names(SphinxDirective):
    """Document the names of a namespace.

    Options
    -------
    chapters
        Only operations of these chapters of the page of operations.
    others
        Only what is not an operation.
    only, without
        Only these names, or all but these.
    table
        A table with the first line of each docstring, in place of full entries.
    bare, inherited
        Classes without their members, or with those of their bases, too.
    sections
        A heading for each module that the things come from, which its docstring gives.
    contents
        Only the list of names, which links to their entries elsewhere.
    unlisted
        The entries without the list.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 -- as docutils has it
        "chapters": directives.unchanged,
        "others": directives.flag,
        "only": directives.unchanged,
        "without": directives.unchanged,
        "table": directives.flag,
        "bare": directives.flag,
        "inherited": directives.flag,
        "sections": directives.flag,
        "contents": directives.flag,
        "unlisted": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the entries."""
        path = self.arguments[0]
        try:
            place = resolve(path)
        except (AttributeError, ImportError) as error:
            _LOG.warning("%s cannot be documented: %s", path, error, location=self.get_location())
            return []
        names = self._chosen(place, public_names(place))
        if "table" in self.options:
            return self._parsed(self._table(place, names))
        lines, heading = [], ""
        entries = self._ordered(place, names)
        sections = "sections" in self.options
        if "unlisted" in self.options:
            pass
        elif sections:
            for title, members in itertools.groupby(entries, key=lambda e: subject(e[0])):
                plain = title.replace("`", "")  # code cannot stand in bold text
                lines += [f"**{plain}:** {self._links(path, members)}", ""]
        elif len(entries) > 3:
            lines += [self._links(path, entries), ""]
        for value, same in () if "contents" in self.options else entries:
            if sections and heading != (heading := subject(value)):
                lines += [f".. rubric:: {heading}", "   :heading-level: 2", ""]
            lines += self._entry(path, value, same)
        return self._parsed(lines)

    def _links(self, path: str, entries: Iterable[tuple[Any, list[str]]]) -> str:
        return " · ".join(f":py:obj:`~{path}.{same[0]}`" for _, same in entries)

    def _ordered(self, place: Any, names: list[str]) -> list[tuple[Any, list[str]]]:
        found = list(grouped(place, names))
        return sorted(found, key=lambda e: subject(e[0])) if "sections" in self.options else found

    def _chosen(self, place: Any, names: list[str]) -> list[str]:
        options = self.options
        if "only" in options:
            return options["only"].split()
        without = set(options.get("without", "").split())
        names = [name for name in names if name not in without and self._is_there(place, name)]
        names = [name for name in names if is_offered(getattr(place, name))]
        chapters = {name: chapter(getattr(place, name)) for name in names}
        if "chapters" in options:
            wanted = set(options["chapters"].split())
            unknown = wanted - set(chapters.values())
            if unknown:
                raise self.error(f"no such chapters of operations: {sorted(unknown)}")
            names = [n for n in names if chapters[n] in wanted and n[-1] != "_"]
        if "others" in options:
            names = [n for n in names if chapters[n] is None and n[-1] != "_"]
        return names

    def _is_there(self, place: Any, name: str) -> bool:
        try:
            getattr(place, name)
        except (AttributeError, ImportError) as error:
            _LOG.warning("%s cannot be documented: %s", name, error, location=self.get_location())
            return False
        return True

    def _entry(self, path: str, value: Any, same: list[str]) -> list[str]:
        name = f"{path}.{same[0]}"
        if inspect.isclass(value):
            lines = [f".. autoclass:: {name}"]
            if not issubclass(value, BaseException) and "bare" not in self.options:
                lines.append("   :members:")
                if "inherited" in self.options:
                    lines.append("   :inherited-members:")
        elif callable(value):
            lines = [f".. autofunction:: {name}"]
        else:
            lines = [f".. py:data:: {name}", "", f"   {shown(value)}"]
        lines.append("")
        if len(same) > 1:
            others = ", ".join(f"``{other}``" for other in same[1:])
            lines += [f"   Also: {others}.", ""]
        return lines

    def _table(self, place: Any, names: list[str]) -> list[str]:
        lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
        for value, same in grouped(place, names):
            title = ", ".join(f"``{name}``" for name in same)
            text = first_line(value) if callable(value) else shown(value)
            lines += [f"   * - {title}", f"     - {text}"]
        return [*lines, ""]

    def _parsed(self, lines: list[str]) -> list[nodes.Node]:
        source, number = self.get_source_info()
        text = ["```{eval-rst}", *lines, "```"]
        node = nodes.Element()
        node.document = self.state.document
        self.state.nested_parse(StringList(text, source), number, node)
        return node.children


class Methods(Names):
    """Document the methods and attributes of tensors: those that are not functions, in full."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the entries."""
        path = self.arguments[0]
        place = resolve(path)
        names = [name for name in dir(place) if not name.startswith("_")]
        if "table" in self.options:
            return self._parsed(self._functions(place, names))
        without = set(self.options.get("without", "").split())
        names = [n for n in names if n not in without and not self._is_function(n)]
        lines = [" · ".join(f":py:obj:`~{path}.{name}`" for name in names), ""]
        for name in names:
            value = inspect.getattr_static(place, name)
            kind = "autoproperty" if isinstance(value, property) else "automethod"
            if not callable(getattr(place, name)) and kind == "automethod":
                kind = "autoattribute"
            lines += [f".. {kind}:: {path}.{name}", ""]
        return self._parsed(lines)

    def _is_function(self, name: str) -> bool:
        return hasattr(wengert, name) or hasattr(wengert, name.removesuffix("_"))

    def _functions(self, place: Any, names: list[str]) -> list[str]:
        both = [n for n in names if n[-1] != "_" and callable(getattr(wengert, n, None))]
        lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
        for name in both:
            forms = [f":py:obj:`{name} <wengert.{name}>`"]
            if f"{name}_" in names:
                forms.append(f"``{name}_``")
            lines += [f"   * - {', '.join(forms)}", f"     - {first_line(getattr(place, name))}"]
        return [*lines, ""]


# -- examples ------------------------------------------------------------------------------------

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


class Examples(SphinxDirective):
    """Show the programs of the folder `examples`: what their docstrings teach, and their code."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each program."""
        found: list[nodes.Node] = []
        for path in sorted(EXAMPLES.glob("*.py")):
            self.env.note_dependency(str(path))
            text = path.read_text(encoding="utf-8")
            doc = ast.get_docstring(ast.parse(text)) or ""
            title, _, rest = doc.partition("\n\n")
            section = nodes.section(ids=[path.stem.replace("_", "-")], names=[path.name])
            section += nodes.title("", " ".join(title.split()).rstrip("."))
            self.state.nested_parse(StringList(rest.splitlines(), str(path)), 0, section)
            code = text.partition('"""')[2].partition('"""')[2].strip() + "\n"
            block = nodes.literal_block(code, code, language="python")
            summary = f"<details><summary>examples/{path.name}</summary>"
            section += nodes.raw("", summary, format="html")
            section += block
            section += nodes.raw("", "</details>", format="html")
            found.append(section)
        return found


# -- blocks of code --------------------------------------------------------------------------------

_MESSAGE = re.compile(r"(\w+\.)*\w*(Error|Warning)\b")


def mend_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Trim blocks of code; give wrong code and the message that follows it classes of their own."""
    for block in list(tree.findall(nodes.literal_block)):
        if isinstance(block.children[0], nodes.Text) and block.astext().endswith("\n"):
            # a blank line ends an example in the source, and would show
            block.rawsource = block.astext().rstrip("\n")
            block.children = []
            block += nodes.Text(block.rawsource)
        after = block.next_node(descend=False, siblings=True)
        if block.get("language") != "python" or not isinstance(after, nodes.literal_block):
            continue
        if after.get("language") == "text" and _MESSAGE.match(after.astext()):
            block["classes"].append("wrong")
            after["classes"].append("message")


def mend_dashes(app: Sphinx, tree: nodes.document) -> None:
    """Put a dash, where Sphinx writes two hyphens, between a parameter and what is said of it."""
    for text in list(tree.findall(nodes.Text)):
        if text.startswith((" -- ", ") -- ")):
            dashed = nodes.Text(text.replace(" -- ", " \N{EN DASH} ", 1))
            text.parent.replace(text, dashed)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what is here."""
    app.add_directive("names", Names)
    app.add_directive("methods", Methods)
    app.add_directive("examples", Examples)
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("doctree-read", mend_blocks)
    app.connect("doctree-read", mend_dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
