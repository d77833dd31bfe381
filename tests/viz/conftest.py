"""A headless browser for tests of pages.

The tests drive the browser over a pipe in the Chrome DevTools protocol, which needs only the
standard library.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import tempfile
import time

import pytest

try:
    import fcntl
except ImportError:  # on Windows, where files cannot be given to a program by number
    fcntl = None

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-features=IsolateSandboxedIframes",  # so that frames can be asked, too
    "--remote-debugging-pipe",
    "--window-size=1000,700",
]


def above_standard(number):
    """Move a file out of the way of those that the browser expects at 3 and 4."""
    moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(number)
    return moved


class Browser:
    """A headless browser: pages are loaded and asked one at a time."""

    def __init__(self, folder):
        there, self.out = map(above_standard, os.pipe())
        self.into, back = map(above_standard, os.pipe())
        nowhere = os.open(os.devnull, os.O_RDWR)
        try:
            self.process = os.posix_spawn(
                PROGRAM,
                [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, to) for to in (0, 1, 2)]
                + [(os.POSIX_SPAWN_DUP2, there, 3), (os.POSIX_SPAWN_DUP2, back, 4)],
            )
        finally:
            for one in (there, back, nowhere):
                os.close(one)
        self.rest = b""
        self.number = 0
        self.attachment = None
        self.events = []

    def start(self):
        page = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self.attachment = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], 60)
            assert ready, "the browser does not answer"
            piece = os.read(self.into, 1 << 16)
            assert piece, "the browser has gone"
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.attachment:
            message["sessionId"] = self.attachment
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, address, scripts=True):
        self.events.clear()
        self.send("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        if scripts:
            self.run(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )

    def run(self, expression, **more):
        answer = self.send(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            **more,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click_on(self, selector):
        self.click(*self.middle(selector))

    def middle(self, selector):
        return self.run(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )

    def key(self, key, shift=False, text=""):
        more = {"modifiers": 8} if shift else {}
        if text:
            more["text"] = text
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def boxes(self, name):
        return self.run(
            f"[...document.querySelectorAll('.boxes > .{name}')].map(b => +b.dataset.box)"
        )

    def place(self):
        text = self.run("document.querySelector('.canvas').getAttribute('transform')")
        numbers = text.replace("translate(", "").replace("scale(", "").replace(")", "").split()
        return [float(number) for number in numbers]

    def complaints(self):
        self.run("1")  # whatever was reported before has arrived after this
        return [
            event
            for event in self.events
            if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
            or (
                event.get("method") == "Runtime.consoleAPICalled"
                and event["params"]["type"] in ("error", "warning")
            )
        ]

    def close(self):
        """Ask the browser to go; end it where it does not."""
        self.attachment = None
        with contextlib.suppress(BrokenPipeError):
            os.write(self.out, b'{"id": 0, "method": "Browser.close"}\0')
        deadline = time.monotonic() + 20
        while os.waitpid(self.process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(self.process, signal.SIGKILL)
            time.sleep(0.05)
        os.close(self.out)
        os.close(self.into)


@pytest.fixture(scope="package")
def browser():
    if PROGRAM is None or fcntl is None:
        pytest.skip("no Chromium found that could be driven")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = Browser(folder)
        try:
            found.start()
            yield found
        finally:
            found.close()
