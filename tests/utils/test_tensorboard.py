"""Test logs for TensorBoard, read back by it; without it, the import error."""

import importlib.util

import pytest

import wengert as wg

INSTALLED = importlib.util.find_spec("tensorboard") is not None


@pytest.mark.skipif(INSTALLED, reason="it is installed")
def test_without_it_the_import_says_so():
    with pytest.raises(ModuleNotFoundError, match="No module named 'tensorboard'"):
        from wengert.utils.tensorboard import SummaryWriter  # noqa: F401 it is what raises


@pytest.mark.skipif(not INSTALLED, reason="it is not installed")
def test_what_is_written_is_read_again(tmp_path):
    accumulator = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    board = importlib.import_module("wengert.utils.tensorboard")
    with board.SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", wg.tensor(0.5 * step, requires_grad=True), step)
        writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 7)
        writer.add_histogram("w", wg.arange(10.0), 1)
        writer.add_text("note", "some words")
        writer.add_image("picture", wg.ones(3, 4, 5), 2)
        with pytest.raises(NotImplementedError, match="add_graph"):
            writer.add_graph(None)
    found = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [(one.step, one.value) for one in found.Scalars("loss")] == [(0, 0), (1, 0.5), (2, 1)]
    histogram = found.Histograms("w")[0].histogram_value
    assert (histogram.num, histogram.min, histogram.max, histogram.sum) == (10, 0, 9, 45)
    image = found.Images("picture")[0]
    assert (image.height, image.width) == (4, 5)
    assert image.encoded_image_string.startswith(b"\x89PNG")
    text = found.Tensors("note/text_summary")[0].tensor_proto.string_val
    assert list(text) == [b"some words"]
    both = accumulator.EventAccumulator(str(tmp_path / "both_b")).Reload()
    assert [(one.step, one.value) for one in both.Scalars("both")] == [(7, 2.0)]
