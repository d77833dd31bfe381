"""Write the lessons and the examples as notebooks: `python docs/notebooks.py`.

A lesson's text and code become cells; of an example, the docstring is the text. The notebooks have
no outputs: whoever opens one runs it.
"""

import ast
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = ROOT / "examples" / "notebooks"
FENCE = re.compile(r"^```pycon\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def lesson(path: pathlib.Path) -> list[tuple[str, str]]:
    """The cells of a page: (kind, text)."""
    text = path.read_text(encoding="utf-8")
    up = "../" * len(path.relative_to(ROOT / "docs").parts[:-1])
    text = text.replace(f"]({up}images/", "](../../docs/images/").replace("</details>", "")
    text = re.sub("<details><summary>(.*?)</summary>", r"**\1**", text)
    cells = []
    for place, part in enumerate(FENCE.split(text)):
        if place % 2:
            lines = [line[4:] for line in part.splitlines() if line.startswith((">>> ", "..."))]
            cells.append(("code", "\n".join(lines)))
        elif part.strip():
            cells.append(("markdown", part.strip()))
    return cells


def example(path: pathlib.Path) -> list[tuple[str, str]]:
    """The cells of a program: what its docstring teaches, its functions, and its run."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
    lines = text.splitlines()
    code = lines[tree.body[1].lineno - 1 : tree.body[-1].lineno - 1]
    return [
        ("markdown", f"# {' '.join(title.split()).rstrip('.')}\n\n{rest}".strip()),
        ("code", "\n".join(code).strip()),
        ("code", "main()"),
    ]


def notebook(cells: list[tuple[str, str]]) -> str:
    """Cells as the text of a file."""
    made = [
        {
            "cell_type": kind,
            "id": f"cell-{place}",
            "metadata": {},
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
            "source": text.splitlines(keepends=True),
        }
        for place, (kind, text) in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def notebooks() -> dict[str, str]:
    """All notebooks, by the names of their files."""
    found = {}
    for folder, end in (("lessons", ""), ("ko/lessons", "_ko")):
        for path in sorted((ROOT / "docs" / folder).glob("[0-9]*.md")):
            found[f"{path.stem}{end}.ipynb"] = notebook(lesson(path))
    for path in sorted((ROOT / "examples").glob("*.py")):
        found[f"{path.stem}.ipynb"] = notebook(example(path))
    return found


if __name__ == "__main__":
    NOTEBOOKS.mkdir(exist_ok=True)
    for name, text in notebooks().items():
        (NOTEBOOKS / name).write_text(text, encoding="utf-8")
