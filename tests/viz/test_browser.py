"""Test the page of a picture in a real browser: mouse, wheel, keys, search, frames."""

import base64
import time

import pytest

from wengert.viz.drawing import Drawing
from wengert.viz.picture import Arrow, Box, Picture, Step


def showpiece():
    boxes = [
        Box("leaf", "x", ["2.0"], {"value": "tensor(2.)", "source": "<b>x</b> = tensor(2.)"}),
        Box("operation", "square", ["4.0"], {"value": "tensor(4.)"}),
        Box("operation", "log", ["1.386"]),
        Box("operation", "sin", ["0.909"]),
        Box("operation", "mul", ["1.261"]),
        Box("result", "f(x)", ["1.261"], {"gradient": "tensor(1.)"}),
    ]
    pairs = [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4), (4, 5)]
    arrows = [Arrow(tail, head, f"d{tail}{head}") for tail, head in pairs]
    steps = [
        Step([5], [], "Start."),
        Step([4], [5], "mul: it gets 1."),
        Step([3], [4], "sin"),
        Step([0], [2], "x, first part"),
    ]
    return Drawing(Picture("f(x) = log(x²) · sin x", "backward", boxes, arrows, steps, ["A note."]))


@pytest.fixture
def page(browser, tmp_path):
    browser.open(showpiece().save(tmp_path / "page.html").as_uri())
    return browser


def test_the_page_opens_without_complaints_or_requests(page):
    assert page.run("document.querySelectorAll('.boxes > .box').length") == 6
    asked = [
        event["params"]["request"]["url"]
        for event in page.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len(asked) == 1
    assert page.complaints() == []


def test_a_click_on_a_box_shows_its_details_as_text(page):
    page.click_on('.boxes > [data-box="0"]')
    text = page.run("document.getElementById('panel').innerText")
    assert "tensor(2.)" in text
    assert "<b>x</b> = tensor(2.)" in text
    assert page.run("document.querySelectorAll('#panel b').length") == 0
    assert page.boxes("selected") == [0]
    page.click_on('.boxes > [data-box="5"]')
    assert "gradient" in page.run("document.getElementById('panel').innerText")
    assert page.boxes("selected") == [5]


def test_the_details_lead_to_the_neighbours(page):
    page.click_on('.boxes > [data-box="4"]')
    assert page.run("[...document.querySelectorAll('#panel li button')].map(b => b.innerText)") == [
        "log d24",
        "sin d34",
        "f(x) d45",
    ]
    page.click_on("#panel li:nth-child(2) button")
    assert page.boxes("selected") == [3]


def test_hovering_shows_what_a_box_depends_on_and_what_depends_on_it(page):
    page.mouse("mouseMoved", *page.middle('.boxes > [data-box="2"]'))
    assert page.run("document.querySelector('svg.focusing') !== null")
    assert page.boxes("near") == [0, 1, 2, 4, 5]
    near = page.run("[...document.querySelectorAll('.arrows > .near')].map(a => +a.dataset.arrow)")
    assert near == [0, 1, 3, 5]
    page.mouse("mouseMoved", 30, 300)
    assert not page.run("document.querySelector('svg.focusing') !== null")


def test_dragging_moves_the_picture_and_selects_nothing(page):
    x, y, scale = page.place()
    page.mouse("mouseMoved", 60, 300)
    page.mouse("mousePressed", 60, 300, button="left", clickCount=1)
    page.mouse("mouseMoved", 90, 340, button="left", buttons=1)
    page.mouse("mouseMoved", 110, 320, button="left", buttons=1)
    page.mouse("mouseReleased", 110, 320, button="left", clickCount=1)
    assert page.place() == pytest.approx([x + 50, y + 20, scale])
    assert page.boxes("selected") == []


def test_the_wheel_zooms_about_the_pointer(page):
    x, y, scale = page.place()
    left, top = page.run(
        "(() => { const r = document.getElementById('stage').getBoundingClientRect();"
        " return [r.x, r.y] })()"
    )
    held = [(200 - left - x) / scale, (300 - top - y) / scale]
    page.mouse("mouseWheel", 200, 300, deltaX=0, deltaY=-240)
    page.run("new Promise(done => requestAnimationFrame(done))")
    x, y, larger = page.place()
    assert larger > scale
    assert [(200 - left - x) / larger, (300 - top - y) / larger] == pytest.approx(held, abs=0.01)


def test_two_fingers_zoom(page):
    *_, scale = page.place()

    def touch(kind, *points):
        page.send(
            "Input.dispatchTouchEvent",
            type=kind,
            touchPoints=[{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)],
        )

    touch("touchStart", (200, 300), (260, 300))
    touch("touchMove", (170, 300), (290, 300))
    touch("touchEnd")
    assert page.place()[2] == pytest.approx(2 * scale, rel=0.05)


def test_buttons_zoom_and_fit(page):
    page.click_on("#closer")
    page.click_on("#closer")
    larger = page.place()[2]
    page.click_on("#further")
    assert page.place()[2] == pytest.approx(larger * 0.8)
    page.click_on("#percent")
    assert page.place()[2] == pytest.approx(1)
    assert page.run("document.getElementById('percent').innerText") == "100%"
    page.click_on("#fit")
    inside = page.run(
        "(() => { const s = document.getElementById('stage').getBoundingClientRect();"
        " const p = document.querySelector('.all').getBoundingClientRect();"
        " return p.left >= s.left && p.right <= s.right && p.top >= s.top"
        " && p.bottom <= s.bottom })()"
    )
    assert inside


def test_buttons_step_through_the_sweep_and_light_the_boxes_in_order(page):
    assert page.boxes("lit") == []
    seen = []
    for _ in range(4):
        page.click_on("#on")
        seen += page.boxes("lit")
    assert seen == [5, 4, 3, 0]
    assert page.boxes("done") == [3, 4, 5]
    assert page.run("document.getElementById('text').innerText") == "x, first part"
    assert page.run("document.getElementById('at').innerText") == "4 / 4"
    assert page.run("document.getElementById('on').disabled")
    page.click_on("#back")
    assert page.boxes("lit") == [3]
    lit = page.run("[...document.querySelectorAll('.arrows > .lit')].map(a => +a.dataset.arrow)")
    assert lit == [4]
    page.click_on("#first")
    assert page.boxes("lit") == page.boxes("done") == []


def test_arrow_keys_step_and_walk(page):
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert page.boxes("lit") == [4]
    page.key("ArrowLeft")
    assert page.boxes("lit") == [5]
    page.key("End")
    assert page.boxes("lit") == [0]
    page.key("Home")
    assert page.boxes("lit") == []
    page.key("ArrowDown")
    page.key("ArrowDown")
    assert page.boxes("selected") in ([1], [3])  # side by side
    page.key("ArrowUp")
    assert page.boxes("selected") == [0]
    page.key("Escape")
    assert page.boxes("selected") == []


def test_keys_zoom_and_move(page):
    x, y, scale = page.place()
    page.key("ArrowRight", shift=True)
    assert page.place() == pytest.approx([x - 60, y, scale])
    page.key("+")
    assert page.place()[2] == pytest.approx(1.25 * scale)
    page.key("1")
    assert page.place()[2] == pytest.approx(1)


def test_the_slider_goes_to_a_step(page):
    page.run(
        "(() => { const s = document.getElementById('slider'); s.value = '3';"
        " s.dispatchEvent(new Event('input')) })()"
    )
    assert page.boxes("lit") == [3]
    assert page.run("document.getElementById('slider').getAttribute('aria-valuetext')") == (
        "3 of 4: sin"
    )


def test_play_runs_to_the_end_and_stops(page):
    page.run("document.getElementById('play').click()")
    assert page.boxes("lit") == [5]
    assert page.run("document.getElementById('play').getAttribute('aria-pressed')") == "true"
    deadline = time.monotonic() + 30
    while page.boxes("lit") != [0] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert page.boxes("lit") == [0]
    assert page.run("document.getElementById('play').getAttribute('aria-pressed')") == "false"


def test_the_search_finds_names_and_details(page):
    page.key("/")
    page.run("document.getElementById('search').focus()")
    for letter in "tensor":
        page.key(letter, text=letter)
    assert page.boxes("found") == [0, 1, 5]
    page.key("Enter")
    assert page.boxes("selected") == [0]
    page.key("Enter")
    assert page.boxes("selected") == [1]
    assert page.run("document.getElementById('matches').innerText") == "2 of 3"
    page.key("Enter", shift=True)
    assert page.boxes("selected") == [0]
    page.key("Escape")
    assert page.boxes("found") == []


def test_the_theme_changes_the_picture_too(page):
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.box text')).fill"
    before = page.run(paper), page.run(ink)
    page.click_on("#theme")
    after = page.run(paper), page.run(ink)
    assert before[0] != after[0]
    assert before[1] != after[1]
    page.click_on("#theme")
    assert (page.run(paper), page.run(ink)) == before


def test_titles_cannot_bring_markup_or_scripts_into_the_page(browser, tmp_path):
    bad = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'>"
    picture = Picture(
        bad,
        "backward",
        [Box("leaf", bad, [bad], {bad: bad}), Box("result", "$title ${x}", scope=(bad,))],
        [Arrow(0, 1, bad)],
        [Step([0], [0], bad)],
        [bad],
    )
    browser.open(Drawing(picture).save(tmp_path / "bad.html").as_uri())
    browser.key("ArrowRight")
    browser.key("ArrowDown")
    assert browser.boxes("selected") == [0]
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.run("document.getElementById('text').innerText") == bad
    assert browser.run("typeof window.broken") == "undefined"
    assert browser.complaints() == []


def test_frames_of_a_notebook_do_not_disturb_each_other(browser, tmp_path):
    one, other = showpiece()._repr_html_(), showpiece()._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{one}{other}", encoding="utf-8")
    browser.open(notebook.as_uri())
    frames = browser.send("Page.getFrameTree")["frameTree"]["childFrames"]
    assert len(frames) == 2
    lit = "[...document.querySelectorAll('.lit')].length"
    worlds = [
        browser.send("Page.createIsolatedWorld", frameId=frame["frame"]["id"])["executionContextId"]
        for frame in frames
    ]
    browser.run("document.getElementById('on').click()", contextId=worlds[0])
    assert browser.run(lit, contextId=worlds[0]) == 1
    assert browser.run(lit, contextId=worlds[1]) == 0
    assert browser.complaints() == []


def test_the_wheel_scrolls_a_notebook_until_the_picture_is_used(browser, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(
        "<!doctype html><style>body { margin: 0 }</style>"
        + showpiece()._repr_html_()
        + "<p style='height: 3000px'>",
        encoding="utf-8",
    )
    browser.open(notebook.as_uri())
    (frame,) = browser.send("Page.getFrameTree")["frameTree"]["childFrames"]
    world = browser.send("Page.createIsolatedWorld", frameId=frame["frame"]["id"])
    scale = "document.querySelector('.canvas').getAttribute('transform').split('scale')[1]"
    before = browser.run(scale, contextId=world["executionContextId"])
    browser.mouse("mouseMoved", 100, 200)
    browser.mouse("mouseWheel", 100, 200, deltaX=0, deltaY=120)
    assert browser.run(scale, contextId=world["executionContextId"]) == before
    browser.run("scrollTo(0, 0)")
    browser.click(100, 200)
    browser.mouse("mouseWheel", 100, 200, deltaX=0, deltaY=120)
    assert browser.run(scale, contextId=world["executionContextId"]) != before


def test_text_stays_inside_its_box(page):
    outside = page.run(
        "[...document.querySelectorAll('.boxes > .box')].filter(box => {"
        " const f = box.querySelector('.form').getBoundingClientRect();"
        " return [...box.querySelectorAll('text')].some(t => {"
        "  const r = t.getBoundingClientRect();"
        "  return r.left < f.left || r.right > f.right || r.top < f.top || r.bottom > f.bottom"
        " }) }).length"
    )
    assert outside == 0


def test_a_still_picture_follows_what_the_reader_prefers(browser, tmp_path):
    browser.open(showpiece().save(tmp_path / "still.svg").as_uri())
    paper = "getComputedStyle(document.querySelector('.paper')).fill"
    seen = []
    for scheme in ("light", "dark"):
        preferred = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.send("Emulation.setEmulatedMedia", features=preferred)
        seen.append(browser.run(paper))
    browser.send("Emulation.setEmulatedMedia", features=[])
    assert seen == ["rgb(255, 255, 255)", "rgb(20, 24, 29)"]


def test_a_still_picture_is_drawn(browser, tmp_path):
    browser.open(showpiece().save(tmp_path / "still.svg").as_uri())
    shot = base64.b64decode(browser.send("Page.captureScreenshot")["data"])
    assert shot[:8] == b"\x89PNG\r\n\x1a\n"
    assert browser.run("document.querySelectorAll('.boxes > .box').length") == 6
    assert browser.complaints() == []


def test_where_scripts_do_not_run_the_picture_can_be_scrolled(browser, tmp_path):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(showpiece().save(tmp_path / "page.html").as_uri(), scripts=False)
        document = browser.send("DOM.getDocument")["root"]["nodeId"]

        def seen(selector):
            node = browser.send("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
            quads = browser.send("DOM.getContentQuads", nodeId=node)["quads"]
            return bool(quads)

        assert seen('.boxes > [data-box="0"]')
        assert not any(seen(selector) for selector in ("#fit", "#play"))
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
