"""Test `Drawing`: its form in notebooks, and the files that it writes."""

import os
import stat
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from wengert.viz import saving
from wengert.viz.drawing import Drawing
from wengert.viz.picture import Arrow, Box, Picture, Step

PNG = b"\x89PNG\r\n\x1a\n"


def example():
    boxes = [Box("leaf", "x"), Box("operation", "sin"), Box("result", "y")]
    return Drawing(
        Picture("y = sin x", "backward", boxes, [Arrow(0, 1, "cos x"), Arrow(1, 2)],
                [Step([2], [], "start")], ["A note."])
    )  # fmt: skip


@pytest.fixture
def no_converters(monkeypatch, tmp_path):
    """A machine without any program or library that makes PNG files."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(saving.importlib.util, "find_spec", lambda name: None)
    return programs


def a_program(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def writes(argument):
    """A shell program that writes a PNG's first bytes into the file that an argument names."""
    return (
        f'for word in "$@"; do case "$word" in {argument}) file="${{word#*=}}";; esac; done\n'
        'printf "\\211PNG\\r\\n\\032\\n" > "$file"'
    )


def test_a_drawing_says_what_it_holds():
    assert repr(example()) == "Drawing('y = sin x': 3 boxes, 2 arrows, 1 step)"
    assert str(example()) == (
        "Drawing('y = sin x': 3 boxes, 2 arrows, 1 step)\n1 leaf, 1 operation, 1 result\nA note."
    )
    assert str(Drawing(Picture("", "forward"))) == "Drawing('': 0 boxes, 0 arrows)"


def test_notebooks_get_a_frame_and_a_still_picture():
    drawing = example()
    assert drawing._repr_html_().startswith("<iframe ")
    assert drawing._repr_svg_() == drawing.svg()


def test_the_layout_is_made_once():
    drawing = example()
    assert drawing.laid is drawing.laid


@pytest.mark.parametrize(
    ("name", "form"),
    [("g.svg", "svg"), ("g.html", "html"), ("g.htm", "html"), ("g.dot", "dot"), ("g.gv", "dot")],
)
def test_the_suffix_says_what_is_written(tmp_path, name, form):
    drawing = example()
    written = drawing.save(tmp_path / name)
    assert written == tmp_path / name
    assert written.read_text(encoding="utf-8") == getattr(drawing, form)()


def test_paths_may_be_strings_and_suffixes_capitals(tmp_path):
    written = example().save(str(tmp_path / "G.SVG"))
    assert written == tmp_path / "G.SVG" and isinstance(written, Path)
    assert written.read_text(encoding="utf-8") == example().svg()


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path):
    for name in ("g.jpg", "g"):
        with pytest.raises(ValueError, match=r"one of \.svg, \.html, \.htm, \.dot, \.gv, \.png"):
            example().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path):
    for name in ("g.svg", "g.png"):
        with pytest.raises(FileNotFoundError, match=r"the folder '.*not there' .* does not exist"):
            example().save(tmp_path / "not there" / name)


def test_without_a_converter_a_png_becomes_an_svg_and_a_warning_says_so(tmp_path, no_converters):
    drawing = example()
    with pytest.warns(UserWarning) as caught:
        written = drawing.save(tmp_path / "graph.png")
    assert [str(warning.message) for warning in caught] == [
        "PNG output needs the Graphviz program or another converter, which was not found; wrote "
        "graph.svg instead (no extra software needed)."
    ]
    assert caught[0].filename == __file__
    assert written == tmp_path / "graph.svg"
    assert written.read_text(encoding="utf-8") == drawing.svg()
    assert not (tmp_path / "graph.png").exists()


@pytest.mark.skipif(os.name != "posix", reason="makes programs of the shell")
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("rsvg-convert", 'printf "\\211PNG\\r\\n\\032\\n" > "$3"'),
        ("inkscape", writes("--export-filename=*")),
        ("chromium", writes("--screenshot=*")),
        ("google-chrome", writes("--screenshot=*")),
        ("dot", 'printf "\\211PNG\\r\\n\\032\\n" > "$4"'),
    ],
)
def test_each_converter_is_used_where_it_is_found(tmp_path, no_converters, name, body):
    a_program(no_converters, name, body)
    written = example().save(tmp_path / "graph.png")
    assert written == tmp_path / "graph.png"
    assert written.read_bytes() == PNG
    assert list(tmp_path.glob("*.svg")) == []


def test_cairosvg_is_used_where_it_is_found(tmp_path, no_converters, monkeypatch):
    class Library:
        @staticmethod
        def svg2png(bytestring, write_to, scale):
            assert ElementTree.fromstring(bytestring).tag.endswith("svg")
            assert b"prefers-color-scheme" not in bytestring
            Path(write_to).write_bytes(PNG)

    monkeypatch.setattr(saving.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(saving.importlib, "import_module", lambda name: Library)
    assert example().save(tmp_path / "graph.png").read_bytes() == PNG


@pytest.mark.skipif(os.name != "posix", reason="makes programs of the shell")
def test_when_a_converter_fails_the_next_is_asked(tmp_path, no_converters):
    a_program(no_converters, "rsvg-convert", "exit 1")
    a_program(no_converters, "inkscape", "exit 0")
    a_program(no_converters, "dot", 'printf "\\211PNG\\r\\n\\032\\n" > "$4"')
    assert example().save(tmp_path / "graph.png").read_bytes() == PNG


@pytest.mark.skipif(os.name != "posix", reason="makes programs of the shell")
def test_when_all_converters_fail_the_warning_names_them(tmp_path, no_converters):
    a_program(no_converters, "rsvg-convert", "exit 1")
    a_program(no_converters, "dot", "exit 0")
    with pytest.warns(
        UserWarning, match=r"failed: rsvg-convert \(CalledProcessError\), dot \(no file\); wrote"
    ):
        assert example().save(tmp_path / "graph.png").suffix == ".svg"


@pytest.mark.skipif(not saving.png_by(example().svg()), reason="no converter found")
def test_a_png_is_made_on_this_machine(tmp_path):
    written = example().save(tmp_path / "graph.png")
    data = written.read_bytes()
    assert data.startswith(PNG)
    assert int.from_bytes(data[16:20], "big") > 200  # its width


def test_large_pictures_are_scaled_to_what_converters_can_draw():
    boxes = [Box("operation", "sin") for _ in range(400)]
    tall = Drawing(Picture("", "backward", boxes, [Arrow(at, at + 1) for at in range(399)]))
    _, height = saving._size(tall.svg("light"))
    assert height > 12_000


def test_dot_quotes_what_it_is_given():
    picture = Picture(
        'a "title"',
        "backward",
        [Box("leaf", 'x "\\n" \n y', ["<b>"], {"value": "1"}, count=2), Box("other", "")],
        [Arrow(0, 1, 'say "2"', "saved"), Arrow(0, 1, "", "view")],
    )
    assert Drawing(picture).dot().splitlines()[4:] == [
        '  0 [label="x \\"\\\\n\\" \\n y \u00d72\\n<b>", color="#4a84c4", fillcolor="#e2eefc", '
        'tooltip="value: 1"]',
        '  1 [label="", color="#a4afbb", fillcolor="#f5f7f9"]',
        r'  0 -> 1 [label="say \"2\"", style=dashed]',
        "  0 -> 1 [style=dotted]",
        "}",
    ]


def test_a_theme_that_is_none_is_refused():
    with pytest.raises(ValueError, match="theme should be 'auto', 'light' or 'dark'"):
        example().svg("blue")


def test_steps_work_on_what_is_there():
    boxes = [Box("leaf", "x"), Box("result", "y")]
    with pytest.raises(ValueError, match="step 0 works on box 2, but the picture has 2 boxes"):
        Drawing(Picture("", "backward", boxes, [], [Step([0, 2], [], "")]))
    with pytest.raises(ValueError, match="step 0 works on arrow 0, but the picture has 0 arrows"):
        Drawing(Picture("", "backward", boxes, [], [Step([], [0], "")]))


def test_arrows_join_boxes_that_are_there():
    with pytest.raises(ValueError, match="arrow 1 joins box 2, but the picture has 2 boxes"):
        Drawing(
            Picture("", "backward", [Box("leaf", "x"), Box("result", "y")],
                    [Arrow(0, 1), Arrow(0, 2)])
        )  # fmt: skip
