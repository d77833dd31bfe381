"""Layer 8 · utils: `SummaryWriter`, which logs for TensorBoard if it is installed.

Programs import it from ``wengert.utils.tensorboard``, which fails without TensorBoard. It writes
numbers, histograms, texts and images; not graphs, audio, video or embeddings.
"""

from __future__ import annotations

import functools
import importlib
import io
import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from wengert.tape.base import TensorBase

_PARTS = {
    "compat.proto.event_pb2": ("Event",),
    "compat.proto.summary_pb2": ("HistogramProto", "Summary", "SummaryMetadata"),
    "compat.proto.tensor_pb2": ("TensorProto",),
    "compat.proto.tensor_shape_pb2": ("TensorShapeProto",),
    "summary.writer.event_file_writer": ("EventFileWriter",),
}


@functools.cache
def _board() -> SimpleNamespace:
    """Import the parts of TensorBoard that are used."""
    found: dict[str, Any] = {}
    for place, names in _PARTS.items():
        module = importlib.import_module(f"tensorboard.{place}")
        found.update((name, getattr(module, name)) for name in names)
    return SimpleNamespace(**found)


def __getattr__(name: str) -> Any:
    if name == "SummaryWriter":
        _board()  # if it is missing, importing the name raises an ImportError
        return _SummaryWriter
    if name == "FileWriter":
        return _board().EventFileWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _array(value: Any) -> Any:
    return np.asarray(value._payload if isinstance(value, TensorBase) else value)


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Encode an image of bytes, (height, width, 3), as a PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        size, check = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
        return size + kind + data + check

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    out = io.BytesIO()
    out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head))
    out.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return out.getvalue()


class _SummaryWriter:
    """Writes the log of a training run into a folder, for TensorBoard.

    Parameters
    ----------
    log_dir : str, optional. The folder; default: one in ``runs``, named after the time.
    comment : str. The end of the default folder's name.
    purge_step, max_queue, flush_secs, filename_suffix: As in TensorBoard's writer.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = str(Path("runs") / f"{time.strftime('%b%d_%H-%M-%S')}{comment}")
        self.log_dir = str(log_dir)
        self._settings = (max_queue, flush_secs, filename_suffix)
        self.file_writer = _board().EventFileWriter(self.log_dir, *self._settings)
        self.all_writers: dict[str, Any] = {self.log_dir: self.file_writer}

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.log_dir

    def _write(
        self, value: Any, step: int | None, walltime: float | None, writer: Any = None
    ) -> None:
        event = _board().Event(
            wall_time=time.time() if walltime is None else walltime,
            step=0 if step is None else int(step),
            summary=_board().Summary(value=[value]),
        )
        (writer or self.file_writer).add_event(event)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number."""
        value = _board().Summary.Value(tag=tag, simple_value=float(_array(scalar_value)))
        self._write(value, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers for one plot, each to a separate folder."""
        for tag, number in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = _board().EventFileWriter(folder, *self._settings)
            value = _board().Summary.Value(tag=main_tag, simple_value=float(_array(number)))
            self._write(value, global_step, walltime, self.all_writers[folder])

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = 64,
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write a histogram of elements."""
        elements = _array(values).astype(np.float64).ravel()
        if not elements.size:
            raise ValueError("The input has no element.")
        chosen = 64 if isinstance(bins, str) else bins
        counts, limits = np.histogram(elements, chosen)
        found = _board().HistogramProto(bucket_limit=limits[1:].tolist(), bucket=counts.tolist())
        found.num, found.sum_squares = elements.size, elements @ elements
        found.min, found.max = elements.min(), elements.max()
        found.sum = elements.sum()
        self._write(_board().Summary.Value(tag=tag, histo=found), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a text, which may be Markdown."""
        shape = _board().TensorShapeProto(dim=[_board().TensorShapeProto.Dim(size=1)])
        tensor = _board().TensorProto(
            dtype="DT_STRING", string_val=[text_string.encode()], tensor_shape=shape
        )
        kind = _board().SummaryMetadata(
            plugin_data=_board().SummaryMetadata.PluginData(plugin_name="text")
        )
        value = _board().Summary.Value(tag=f"{tag}/text_summary", metadata=kind, tensor=tensor)
        self._write(value, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write an image: of bytes, or of numbers from 0 to 1.

        Parameters
        ----------
        tag : str. Its name.
        img_tensor : Tensor. With 1 or 3 channels.
        global_step, walltime: When it was made.
        dataformats : {"CHW", "HWC", "HW"}. The order of its dimensions.
        """
        pixels = _array(img_tensor)
        if sorted(dataformats) not in (["C", "H", "W"], ["H", "W"]):
            raise ValueError(f"dataformats must be CHW, HWC or HW in some order, not {dataformats}")
        if pixels.ndim != len(dataformats):
            raise ValueError(f"the picture has {pixels.ndim} dimensions, not {dataformats}")
        if "C" not in dataformats:
            pixels, dataformats = pixels[..., None], f"{dataformats}C"
        pixels = pixels.transpose([dataformats.index(one) for one in "HWC"])
        if pixels.shape[2] == 1:
            pixels = pixels.repeat(3, axis=2)
        if pixels.dtype != np.uint8:
            pixels = (pixels * 255).clip(0, 255).astype(np.uint8)
        height, width, channels = pixels.shape
        image = _board().Summary.Image(
            height=height, width=width, colorspace=channels, encoded_image_string=_png(pixels)
        )
        self._write(_board().Summary.Value(tag=tag, image=image), global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], **options: Any
    ) -> None:
        """Write hyperparameters as a text, and the resulting metrics as numbers."""
        rows = [f"| {name} | {value} |" for name, value in hparam_dict.items()]
        self.add_text("hparams", "\n".join(["| setting | value |", "|---|---|", *rows]))
        for name, value in metric_dict.items():
            self.add_scalar(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):

            def refused(*args: Any, **kwargs: Any) -> NoReturn:
                raise NotImplementedError(
                    f"SummaryWriter.{name} is not offered: numbers, histograms, texts and pictures "
                    "of arrays are written. wengert.viz draws graphs"
                )

            return refused
        raise AttributeError(f"'SummaryWriter' object has no attribute {name!r}")

    def flush(self) -> None:
        """Write the buffered events."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write the buffered events, and close the files."""
        for writer in self.all_writers.values():
            writer.close()

    def __enter__(self) -> _SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
