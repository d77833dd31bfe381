"""Layer 11 · cli: `wengert demo`, a network that learns to read handwritten digits.

The network has two layers, a ReLU whose derivative is written by hand, and an update written by
hand; afterwards its gradient is checked against finite differences, weight by weight, and its graph
and the losses are drawn.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import wengert as wg
from wengert import viz
from wengert.base.progress import Progress
from wengert.cli.request import BadRequest
from wengert.datasets import digits

HIDDEN = 100
BATCHES = 44
RATE = 0.2
CHECKED_IMAGES = 8


class ReLU(wg.autograd.Function):
    """The rectifier ``max(input, 0)``, with its derivative written by hand."""

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        """Keep the positive part."""
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Pass the gradient where the input was not negative."""
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


def scores(images: Any, w1: Any, w2: Any) -> Any:
    """Compute the network's scores: one per image and digit."""
    return ReLU.apply(images.mm(w1)).mm(w2)


def loss_of(images: Any, labels: Any, w1: Any, w2: Any) -> Any:
    """Compute the mean cross-entropy of the network's scores."""
    return wg.nn.functional.cross_entropy(scores(images, w1, w2), labels)


class Trained(NamedTuple):
    """Both weight matrices, the loss after each epoch, and the accuracy on the test images."""

    w1: Any
    w2: Any
    losses: list[float]
    accuracy: float


def train(data: Any, epochs: int, stream: TextIO) -> Trained:
    """Train on the digits."""
    images, labels, test_images, test_labels = (wg.from_numpy(array) for array in data)
    w1 = (wg.randn(64, HIDDEN) / 64**0.5).requires_grad_()
    w2 = (wg.randn(HIDDEN, 10) / HIDDEN**0.5).requires_grad_()
    losses, accuracy = [], 0.0
    with Progress(epochs, stream, "epoch") as progress:
        for epoch in range(1, epochs + 1):
            total = 0.0
            for batch in wg.randperm(len(labels)).chunk(BATCHES):
                loss = loss_of(images[batch], labels[batch], w1, w2)
                loss.backward()
                with wg.no_grad():
                    w1 -= RATE * w1.grad
                    w2 -= RATE * w2.grad
                w1.grad = w2.grad = None
                total += loss.item() * len(batch)
            with wg.no_grad():
                right = scores(test_images, w1, w2).argmax(dim=1) == test_labels
                accuracy = right.sum().item() / len(test_labels)
            losses.append(total / len(labels))
            progress.show(epoch, f"loss {losses[-1]:.4f}  test accuracy {100 * accuracy:5.1f} %")
        progress.end()
    return Trained(w1, w2, losses, accuracy)


def check(data: Any, w1: Any, w2: Any) -> bool:
    """Compare the gradient of every weight with finite differences, in float64."""
    images = wg.from_numpy(data.test_images[:CHECKED_IMAGES]).double()
    labels = wg.from_numpy(data.test_labels[:CHECKED_IMAGES])
    weights = [w.detach().double().requires_grad_() for w in (w1, w2)]
    # the trained network makes few mistakes, so its gradients are small, and the usual tolerance of
    # 1e-5 would pass anything
    return wg.autograd.gradcheck(lambda *w: loss_of(images, labels, *w), weights, atol=1e-8)


def draw(data: Any, trained: Trained, folder: Path) -> list[Path]:
    """Draw the network's graph and the losses into `folder`; returns the files."""
    images = wg.from_numpy(data.test_images[:CHECKED_IMAGES])
    labels = wg.from_numpy(data.test_labels[:CHECKED_IMAGES])
    w1, w2, losses, _ = trained
    loss = loss_of(images, labels, w1, w2)
    graph = viz.draw(loss, params={"w1": w1, "w2": w2}, show="shape", title="The network's graph")
    epochs = list(range(1, len(losses) + 1))
    curve = viz.curve((epochs, losses), title="Training", x="epoch", y="cross-entropy")
    files = [folder / "network.svg", folder / "network.html", folder / "loss.svg"]
    pictures: tuple[Any, ...] = (graph, graph, curve)
    for picture, file in zip(pictures, files, strict=True):
        picture.save(file)
    return files


def demo(
    epochs: int = 30,
    seed: int = 0,
    output: str = "wengert-demo",
    stream: TextIO | None = None,
    as_json: bool = False,
) -> int:
    """Train, check the gradient, draw, and explain each step in plain words.

    Parameters
    ----------
    epochs: How often to go through the training images.
    seed: Of the random weights and of the order of the images.
    output: The folder for the pictures; it is made if it is not there.
    stream: Where to write; standard output if None.
    as_json: Whether to write one JSON object instead.

    Returns
    -------
    int: The exit status of the command: 0.

    Raises
    ------
    wengert.autograd.gradcheck.GradcheckError
        If a derivative is wrong, naming the weight and both numbers.
    BadRequest: If the folder cannot be made.
    """
    stream = sys.stdout if stream is None else stream
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"the pictures need a folder: {error}") from error
    spoken = io.StringIO() if as_json else stream
    wg.manual_seed(seed)
    data = digits()
    learned, tested = len(data.train_labels), len(data.test_labels)
    spoken.write(
        f"\nReading handwritten digits: {learned + tested:,} images of 8x8 pixels, "
        f"{learned:,} to learn from.\n"
        f"The network: 64 pixels, {HIDDEN} hidden units with a ReLU, 10 scores.\n\n"
    )
    start = time.perf_counter()
    trained = train(data, epochs, spoken)
    seconds = time.perf_counter() - start
    count = trained.w1.numel() + trained.w2.numel()
    spoken.write(f"\nChecking the derivatives of {count:,} weights by finite differences ...")
    spoken.flush()
    start = time.perf_counter()
    check(data, trained.w1, trained.w2)
    checked = time.perf_counter() - start
    files = draw(data, trained, folder)
    if as_json:
        result = {
            "epochs": epochs,
            "losses": trained.losses,
            "accuracy": trained.accuracy,
            "seconds": seconds,
            "weights_checked": count,
            "seconds_checking": checked,
            "pictures": [str(file) for file in files],
        }
        stream.write(json.dumps(result) + "\n")
        return 0
    command = "wengert" if shutil.which("wengert") else f"{sys.executable} -m wengert"
    network, page, curve = files
    stream.write(
        " done.\n\n"
        f"In {seconds:.1f} seconds and {epochs * BATCHES:,} steps the network learned to read "
        f"{100 * trained.accuracy:.1f} % of\n"
        f"{tested} digits that it had never seen. Every step took its gradient from a "
        "backward pass\n"
        f"through the graph that the forward pass had recorded; gradcheck then compared the "
        f"gradient\n"
        f"of all {count:,} weights with finite differences, along four random directions in "
        f"{checked:.2f}\nseconds, and they agree.\n\n"
        f"Pictures:  {page}   the graph, to click through in a browser\n"
        f"           {network}    the same, still\n"
        f"           {curve}       the loss, epoch by epoch\n\n"
        f"Next:  {command} ops           the operations, and what each one saves\n"
        f"       {command} check --help  this check, for a function of your own\n"
        f"       {command} graph --help  such a picture, of a function of your own\n"
        f"The program that you just ran is the module {__name__}.\n\n"
    )
    return 0
