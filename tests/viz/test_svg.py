"""Test pictures as SVG: valid, self-contained, escaped, described, and readable in any theme."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from wengert.viz.picture import Arrow, Box, Picture
from wengert.viz.svg import counted, lay_out, svg_text
from wengert.viz.svg_style import DARK, LIGHT
from wengert.viz.svg_text import cut, escaped, number, text_width, wrapped

SPACE = "{http://www.w3.org/2000/svg}"


def example():
    boxes = [
        Box("leaf", "x", ["2.0"], {"shape": "()"}),
        Box("saved", "self"),
        Box("operation", "MulBackward0", ["x · x"]),
        Box("value", "4.0"),
        Box("group", "sin", ["12 operations"], count=12),
        Box("result", "y"),
    ]
    arrows = [
        Arrow(0, 2, "x = 2"),
        Arrow(0, 2, "x = 2"),
        Arrow(1, 2, "", "saved"),
        Arrow(2, 3),
        Arrow(3, 4, "", "view"),
        Arrow(4, 5, "cos"),
    ]
    return Picture("y = sin(x²)", "backward", boxes, arrows, [], ["Much was left out."])


def parsed(picture, **more):
    return ElementTree.fromstring(svg_text(picture, **more))


def of_class(root, name):
    return [node for node in root.iter() if name in node.get("class", "").split()]


def texts(node):
    return [one.text for one in node.iter(f"{SPACE}text")]


def test_every_box_and_arrow_is_drawn():
    root = parsed(example())
    boxes = [node for node in of_class(root, "box") if node.get("data-box")]
    arrows = [node for node in of_class(root, "arrow") if node.get("data-arrow")]
    assert [node.get("data-box") for node in boxes] == [str(at) for at in range(6)]
    assert [(node.get("data-tail"), node.get("data-head")) for node in arrows] == [
        ("0", "2"), ("0", "2"), ("1", "2"), ("2", "3"), ("3", "4"), ("4", "5"),
    ]  # fmt: skip
    assert texts(boxes[2]) == ["MulBackward0", "x · x"]
    assert [node.get("class") for node in boxes] == [
        "box leaf", "box saved", "box operation", "box value", "box group", "box result",
    ]  # fmt: skip
    assert arrows[2].get("class") == "arrow saved"
    assert arrows[4].get("class") == "arrow view"


def test_labels_have_a_ground_of_their_own():
    labels = of_class(parsed(example()), "label")
    assert [texts(label) for label in labels] == [["x = 2"], ["x = 2"], ["cos"]]
    for label in labels:
        ground = label.find(f"{SPACE}rect")
        width = float(ground.get("width"))
        assert width > text_width(texts(label)[0], 11)


def test_what_stands_for_several_says_how_many():
    root = parsed(example())
    group = next(node for node in of_class(root, "group") if node.get("data-box"))
    assert "\N{MULTIPLICATION SIGN}12" in texts(group)
    assert len(of_class(group, "form")) == 3


def test_the_legend_names_the_kinds_that_occur():
    legend = of_class(parsed(example()), "legend")[0]
    assert texts(legend) == [
        "leaf",
        "operation",
        "intermediate value",
        "saved value",
        "result",
        "several, drawn as one",
        "kept for the backward pass",
        "shares memory with",
    ]
    two = Picture("", "backward", [Box("leaf", "x"), Box("result", "y")], [Arrow(0, 1)])
    assert texts(of_class(parsed(two), "legend")[0]) == ["leaf", "result"]
    one = Picture("", "backward", [Box("leaf", "x")])
    assert of_class(parsed(one), "legend") == []


def test_title_and_notes_are_written():
    root = parsed(example())
    assert texts(root)[0] == "y = sin(x²)"
    assert texts(root)[-1] == "Much was left out."


def test_the_picture_is_described_for_those_who_cannot_see_it():
    root = parsed(example())
    assert root.get("role") == "img"
    named = [node for node in root.iter() if node.get("id") in root.get("aria-labelledby").split()]
    assert [node.tag for node in named] == [f"{SPACE}title", f"{SPACE}desc"]
    assert named[0].text == "y = sin(x²)"
    assert named[1].text == (
        "A graph of 6 boxes and 6 arrows. Leaves: x. Results: y. Much was left out."
    )


def test_details_show_when_the_pointer_rests_on_a_box():
    root = parsed(example())
    tip = of_class(root, "box")[0].find(f"{SPACE}title")
    assert tip.text == "x\n2.0\nshape: ()"


def test_the_picture_scales_and_is_whole():
    root = parsed(example())
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top) == (0, 0)
    assert (float(root.get("width")), float(root.get("height"))) == (width, height)
    laid = lay_out(example())
    assert width > laid.width
    assert height > laid.height


def test_nothing_is_fetched_or_run():
    text = svg_text(example())
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    for word in ("<script", "@import", "url(", "href", "@font-face", "<image"):
        assert word not in text


def test_colours_follow_what_the_reader_prefers_or_are_given():
    both = svg_text(example())
    assert LIGHT["ink"] in both
    assert "@media (prefers-color-scheme: dark)" in both
    assert both.index(LIGHT["ink"]) < both.index("@media") < both.index(DARK["ink"])
    light, dark = svg_text(example(), "light"), svg_text(example(), "dark")
    assert DARK["ink"] not in light
    assert LIGHT["ink"] not in dark
    assert "@media" not in light + dark


def contrast(one, other):
    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_have_the_contrast_that_reading_needs(palette):
    assert contrast(palette["quiet"], palette["paper"]) > 4.5
    assert contrast(palette["line"], palette["paper"]) > 3
    for kind in ("leaf", "operation", "value", "saved", "result", "group"):
        assert contrast(palette["ink"], palette[kind].split()[0]) > 7


def test_pictures_in_one_page_have_styles_and_names_of_their_own():
    first, second = svg_text(example()), svg_text(Picture("other", "backward", [Box("leaf", "x")]))
    ids = [re.findall(r'id="([^"]*)"', text) for text in (first, second)]
    assert not set(ids[0]) & set(ids[1])
    rules = re.search(r"<style>(.*?)</style>", first, re.DOTALL)[1]
    selectors = re.findall(r"(?m)^([^@{}\n]+)\{", rules)
    assert selectors
    for selector in selectors:
        for part in selector.split(","):
            assert part.strip().startswith(f"#{ids[0][0]} ")


BAD = "</svg><script>alert(1)</script> & \"quotes\" 'too' <b> \x00\x1b\ud800 ]]> <!--"


def test_text_of_the_program_cannot_break_the_picture():
    picture = Picture(
        BAD,
        "backward",
        [Box("leaf", BAD, [BAD], {BAD: BAD}), Box("unknown kind", "y")],
        [Arrow(0, 1, BAD, "unknown kind")],
        [],
        [BAD],
    )
    text = svg_text(picture)
    text.encode("utf-8")
    root = ElementTree.fromstring(text)
    assert not list(root.iter(f"{SPACE}script"))
    assert "quotes" in "".join(texts(root))


def test_long_text_is_cut_and_shown_in_full_to_who_asks():
    long = "a name that goes on and on " * 8
    root = parsed(Picture("", "backward", [Box("leaf", long)]))
    box = of_class(root, "box")[0]
    assert texts(box)[0].endswith("…")
    assert len(texts(box)[0]) < 60
    assert box.find(f"{SPACE}title").text == long


def test_an_empty_picture_is_a_picture():
    root = parsed(Picture("nothing", "backward"))
    assert texts(root) == ["nothing"]
    assert float(root.get("height")) > 0


def test_the_same_picture_gives_the_same_text():
    assert svg_text(example()) == svg_text(example())


def test_widths_of_text():
    assert text_width("", 12) == 0
    assert text_width("MM", 12) == 2 * text_width("M", 12)
    assert text_width("iiii", 10) < text_width("mmmm", 10) / 3
    assert text_width("합성곱", 10) == 30
    assert text_width("é", 10) == text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("x", 12, bold=True) > text_width("x", 12)


def test_cutting_keeps_within_the_width():
    text = "ReluBackward0, in the third block"
    for width in (12, 40, 100, 150):
        assert text_width(cut(text, width, 12), 12) <= width
    assert cut(text, 1000, 12) == text
    assert cut("two\nlines\tand   more", 1000, 12) == "two lines and more"


def test_numbers_and_words():
    assert [number(value) for value in (1.0, 1.25, -0.01, 1e3)] == ["1", "1.2", "0", "1000"]
    assert [counted(1, "box"), counted(2, "box"), counted(1200, "arrow")] == [
        "1 box", "2 boxes", "1\u202f200 arrows",
    ]  # fmt: skip
    assert wrapped("a b " * 60, 200, 11)[0].count(" ") < 40
    assert escaped('<a href="x">&\'') == "&lt;a href=&quot;x&quot;&gt;&amp;&#x27;"
