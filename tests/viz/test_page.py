"""Test the page of a picture: one file without network access, and data that is never markup."""

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser

from wengert.viz.page import frame_text, page_text
from wengert.viz.picture import Arrow, Box, Picture, Step
from wengert.viz.svg import lay_out


def example(text="x"):
    return Picture(
        text,
        "backward",
        [Box("leaf", text, [text], {text: text}, (text,)), Box("result", "y", count=3)],
        [Arrow(0, 1, text), Arrow(0, 1, "", "saved")],
        [Step([1], [], text), Step([0], [0], "last")],
        [text],
    )


class Page(HTMLParser):
    """The elements of a page, and what stands in those that hold raw text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(dict(attributes).get("id") or tag)

    def handle_endtag(self, tag):
        if self.open:
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def tags(self):
        return [tag for tag, _ in self.elements]


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_data_of_the_picture_is_in_the_page():
    data = data_of(page_text(example()))
    assert [box["title"] for box in data["boxes"]] == ["x", "y"]
    assert data["boxes"][0]["details"] == [["x", "x"]]
    assert data["boxes"][0]["words"] == "leaf"
    assert data["boxes"][1]["count"] == 3
    assert data["arrows"][0] == {"tail": 0, "head": 1, "label": "x"}
    assert [step["boxes"] for step in data["steps"]] == [[1], [0]]
    assert data["order"] == [0, 1]


def test_the_places_in_the_data_are_those_of_the_drawing():
    picture = example()
    laid = lay_out(picture)
    data = data_of(page_text(picture, laid))
    assert data["width"] == round(laid.width + 48, 1)
    for place, (x, y) in zip(data["places"], laid.places, strict=True):
        assert place[:2] == [round(x + 24, 1), round(y + 24, 1)]


def test_nothing_is_loaded_from_elsewhere():
    page = Page(page_text(example()))
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not set(attributes) & {"src", "href", "srcset", "xlink:href"}, tag
    assert "@import" not in page_text(example())
    assert "url(" not in page_text(example())


def test_the_policy_of_the_page_runs_its_own_script_only():
    text = page_text(example())
    policy = next(
        attributes["content"]
        for tag, attributes in Page(text).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


def test_text_of_the_program_cannot_become_markup():
    bad = "</script></template><script>alert(1)</script><img src=x onerror=alert(1)> $title \ud800"
    plain, attacked = page_text(example()), page_text(example(bad))
    for tag in ("script", "template", "img", "p", "text"):
        assert Page(attacked).tags().count(tag) == Page(plain).tags().count(tag), tag
    assert data_of(attacked)["boxes"][0]["title"] == bad
    attacked.encode("utf-8")


def test_no_attribute_runs_anything():
    for _, attributes in Page(page_text(example())).elements:
        assert not [name for name in attributes if name.startswith("on")]


def test_every_control_has_a_name():
    for tag, attributes in Page(page_text(example())).elements:
        if tag == "input":
            assert attributes.get("aria-label")
        if tag == "button":
            assert attributes.get("aria-label") or attributes.get("id") in ("fit", "play")


def test_the_legend_and_the_notes_are_in_the_overview():
    text = page_text(example("a note"))
    overview = re.search(r'<template id="overview">(.*?)</template>', text, re.DOTALL)[1]
    assert "<p>a note</p>" in overview
    assert re.findall(r"</svg>([^<]*)</p>", overview) == [
        "leaf",
        "result",
        "kept for the backward pass",
    ]
    assert "2 boxes, 2 arrows, 2 steps" in overview


def test_a_frame_holds_the_page_apart():
    page = page_text(example("<b>"))
    frame = Page(frame_text(page, "<b>", 400))
    ((tag, attributes),) = frame.elements
    assert tag == "iframe"
    assert attributes["srcdoc"] == page
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["title"] == "<b>"
    assert "height: 400px" in attributes["style"]


def test_a_picture_without_steps_or_boxes_has_a_page():
    data = data_of(page_text(Picture("nothing", "backward")))
    assert data["boxes"] == data["steps"] == []
