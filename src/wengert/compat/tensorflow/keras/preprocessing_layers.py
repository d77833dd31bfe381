"""Layer 9 · compat: Keras's preprocessing layers: labels as numbers, and random changes of images.

>>> layer = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
>>> print(layer(["b", "c"]).numpy())
[2 0]
"""

from __future__ import annotations

import collections
import math
import re
import string
from typing import Any, ClassVar

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import image, operations
from wengert.compat.tensorflow.eager import bytes_of, is_text, labels_of
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.keras.core_layers import batches_of
from wengert.compat.tensorflow.keras.layer import Layer, Seeded
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.words import refusal


def _encoded(places, mode: str, depth: int, weights=None, kind="float32") -> Any:
    """Return whole numbers as they are, or as vectors of `depth` numbers of a dtype."""
    if mode == "int":
        return V.constant_of(places)
    if mode not in ("one_hot", "multi_hot", "count"):
        raise ValueError(f"output_mode={mode!r} is not offered here")
    if mode == "one_hot" and places.ndim > 1 and places.shape[-1] == 1:
        places = places[..., 0]
    hot = (places[..., None] == np.arange(depth)).astype(kind)
    if weights is not None:
        hot = hot * V.numbers_of(weights).astype(kind)[..., None]
    total = hot if mode == "one_hot" or not places.ndim else hot.sum(-2)
    return V.constant_of(total if mode == "count" else np.minimum(total, 1))


@settings("num_tokens=None, output_mode='multi_hot', sparse=False")
class CategoryEncoding(Layer):
    """Encodes whole numbers below `num_tokens` as vectors.

    Examples
    --------
    >>> print(tf.keras.layers.CategoryEncoding(3)([[0, 2]]).numpy())
    [[1. 0. 1.]]
    """

    def call(self, inputs, count_weights=None) -> Any:
        places = V.numbers_of(inputs)
        if ((places < 0) | (places >= self.num_tokens)).any():
            raise refusal(ValueError, "Input values must", self.num_tokens)
        return _encoded(places, self.output_mode, self.num_tokens, count_weights)


@settings("bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode='int', sparse=False")
class Discretization(Layer):
    """Maps numbers to the indices of intervals, whose bounds are given or found by `adapt`.

    Examples
    --------
    >>> print(tf.keras.layers.Discretization([0.0, 1.0])([-1.0, 0.5, 3.0]).numpy())
    [0 1 2]
    """

    def adapt(self, data, steps=None) -> None:
        """Set the bounds to quantiles of examples."""
        every = np.sort(np.concatenate([np.ravel(row) for row in batches_of(data)]).astype("f4"))
        step = max(len(every) * self.epsilon, 1)
        points = every[int(step - 1) :: int(step)]
        shares = np.arange(1, self.num_bins + 1) / self.num_bins
        held = np.arange(1, len(points) + 1) / len(points)
        few = len(points) < self.num_bins
        self.bin_boundaries = (points if few else np.interp(shares, held, points))[:-1].tolist()

    def call(self, inputs) -> Any:
        places = np.digitize(V.numbers_of(inputs), self.bin_boundaries).astype(np.int32)
        return _encoded(places, self.output_mode, len(self.bin_boundaries) + 1)


# -- vocabularies ----------------------------------------------------------------------------------


class _Lookup(Layer):
    """Base class for layers that map tokens to their indices in a vocabulary."""

    kind: ClassVar[type] = str

    def _prepare(self: Any) -> None:
        if self.num_oov_indices not in (0, 1) or self.idf_weights is not None:
            raise ValueError("num_oov_indices is 0 or 1 here, and idf_weights are not offered")
        self._tokens: list[Any] = []
        if self.vocabulary is not None:
            self.set_vocabulary(self.vocabulary)

    def _special(self) -> list[Any]:
        """Return the tokens before those of the vocabulary."""
        masked = self.mask_token is not None and self.output_mode == "int"
        return [self.mask_token] * masked + [self.oov_token] * self.num_oov_indices

    def set_vocabulary(self, vocabulary, idf_weights=None) -> None:
        """Set the vocabulary: a list of tokens, or a file with one in each line."""
        if isinstance(vocabulary, str):
            with open(vocabulary, encoding="utf-8") as file:
                vocabulary = file.read().splitlines()
        given, first = [self._read(one) for one in vocabulary], self._special()
        self._tokens = given[len(first) :] if given[: len(first)] == first else given
        if len(set(self._tokens)) < len(self._tokens):
            raise ValueError("The passed vocabulary has at least one repeated term.")

    def _read(self, token) -> Any:
        return self.kind(token.decode() if isinstance(token, bytes) else token)

    def get_vocabulary(self, include_special_tokens=True) -> list[Any]:
        """Return the tokens in the order of their indices."""
        return [*(self._special() if include_special_tokens else ()), *self._tokens]

    def vocabulary_size(self) -> int:
        """Return the number of tokens, including those for masked and unknown ones."""
        return len(self.get_vocabulary())

    def adapt(self, data, steps=None) -> None:
        """Set the vocabulary to the tokens of examples, the most frequent first."""
        counts = collections.Counter(
            token for rows in batches_of(data) for row in self._split(rows) for token in row
        )
        counts.pop(self.mask_token, None)
        order = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        limit = None if self.max_tokens is None else self.max_tokens - len(self._special())
        self._tokens = order[:limit]

    def _split(self, rows) -> Any:
        return [[self._read(token) for token in np.ravel(rows)]]

    def _found(self, tokens: list[Any]) -> Any:
        """Return the indices of tokens."""
        first = len(self._special())
        places = {token: first + i for i, token in enumerate(self._tokens)}
        if self.mask_token is not None and self.output_mode == "int":
            places[self.mask_token] = 0
        missing = [token for token in tokens if token not in places]
        if missing and not self.num_oov_indices:
            raise ValueError(f"found OOV values {missing[:3]} while num_oov_indices=0")
        return np.array([places.get(token, first - 1) for token in tokens], np.int64)

    def call(self, inputs) -> Any:
        if self.invert:
            places, tokens = V.numbers_of(inputs), self.get_vocabulary()
            inside = [0 <= place < len(tokens) for place in places.ravel()]
            found = [
                tokens[place] if known else self.oov_token
                for place, known in zip(places.ravel(), inside, strict=True)
            ]
            shaped = np.array(found, object).reshape(places.shape)
            return labels_of(shaped) if self.kind is str else V.constant_of(shaped.astype("i8"))
        given = bytes_of(inputs) if is_text(inputs) else V.numbers_of(inputs)
        found = self._found([self._read(token) for token in given.ravel()])
        return self._shown(found.reshape(given.shape))

    def _shown(self, places) -> Any:
        return _encoded(places, self.output_mode, self.vocabulary_size(), kind="int64")


@settings(
    "max_tokens=None, num_oov_indices=1, mask_token=None, oov_token='[UNK]', vocabulary=None, "
    "idf_weights=None, invert=False, output_mode='int', pad_to_max_tokens=False, sparse=False, "
    "encoding='utf-8'"
)
class StringLookup(_Lookup):
    """Maps strings to their indices in a vocabulary, or back with `invert`.

    Parameters
    ----------
    max_tokens : int, optional. The largest size of the vocabulary that `adapt` finds.
    num_oov_indices : int. 1 to map unknown strings to an index before the vocabulary; 0 to refuse.
    mask_token, oov_token : str, optional. The strings of index 0, if given, and of unknown ones.
    vocabulary : list of str or path, optional. The strings, or a file of them.
    invert : bool. Whether to map indices to strings.
    output_mode : {"int", "one_hot", "multi_hot", "count"}. What the result holds.
    idf_weights, pad_to_max_tokens, sparse, encoding: Not offered.

    Examples
    --------
    >>> layer = tf.keras.layers.StringLookup()
    >>> layer.adapt(["b", "a", "b"])
    >>> layer.get_vocabulary()
    ['[UNK]', 'b', 'a']
    """


@settings(
    "max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None, "
    "vocabulary_dtype='int64', idf_weights=None, invert=False, output_mode='int', sparse=False, "
    "pad_to_max_tokens=False"
)
class IntegerLookup(_Lookup):
    """Maps whole numbers to their indices in a vocabulary (see `StringLookup`).

    Examples
    --------
    >>> print(tf.keras.layers.IntegerLookup(vocabulary=[10, 20])([20, 30]).numpy())
    [2 0]
    """

    kind = int


_MARKS = re.compile(f"[{re.escape(string.punctuation)}]")


@settings(
    "max_tokens=None, standardize='lower_and_strip_punctuation', split='whitespace', ngrams=None, "
    "output_mode='int', output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None, "
    "idf_weights=None, sparse=False, ragged=False, encoding='utf-8'"
)
class TextVectorization(_Lookup):
    """Maps texts to the indices of their words.

    Parameters
    ----------
    max_tokens : int, optional. The largest size of the vocabulary that `adapt` finds.
    standardize : str or callable, optional. How texts are simplified first:
        ``"lower_and_strip_punctuation"``, ``"lower"``, ``"strip_punctuation"``, or a function of a
        tensor of strings.
    split : {"whitespace", "character"} or None. How texts are split.
    ngrams : int or tuple of int, optional. The numbers of consecutive words that are tokens too.
    output_mode : {"int", "multi_hot", "count"}. What the result holds; rows of indices are padded.
    output_sequence_length : int, optional. The length of the rows of indices.
    vocabulary : list of str or path, optional. The words, or a file of them.
    idf_weights, pad_to_max_tokens, ragged, sparse, encoding: Not offered.

    Examples
    --------
    >>> layer = tf.keras.layers.TextVectorization(output_sequence_length=3)
    >>> layer.adapt(["the cat sat", "the dog sat"])
    >>> print(layer(["The bird sat!"]).numpy())
    [[2 1 3]]
    """

    num_oov_indices, mask_token, oov_token, invert = 1, "", "[UNK]", False

    def _prepare(self: Any) -> None:
        if self.ragged or callable(self.split):
            raise ValueError("ragged=True and a function split are not offered here")
        super()._prepare()

    def _simple(self, text: str) -> str:
        kind = str(self.standardize)
        text = text.lower() if "lower" in kind else text
        return _MARKS.sub("", text) if "strip" in kind else text

    def _split(self, rows) -> list[list[str]]:
        """Return the tokens of each text."""
        if callable(self.standardize):
            rows = bytes_of(self.standardize(labels_of(rows)))
        texts = [self._simple(one.decode()) for one in np.ravel(rows)]
        if self.split is None:
            return [[text] for text in texts]
        words = [text.split() if self.split == "whitespace" else list(text) for text in texts]
        most = self.ngrams or 1
        sizes = range(1, most + 1) if isinstance(most, int) else most
        return [
            [" ".join(row[i : i + n]) for n in sizes for i in range(len(row) - n + 1)]
            for row in words
        ]

    def call(self, inputs) -> Any:
        rows = [self._found(row) for row in self._split(bytes_of(inputs))]
        if self.output_mode != "int":
            return V.constant_of(np.stack([self._shown(row).numpy() for row in rows]))
        wide = self.output_sequence_length or max(map(len, rows), default=0)
        whole = np.zeros((len(rows), wide), np.int64)
        for place, row in zip(whole, rows, strict=True):
            place[: len(row)] = row[:wide]
        return V.constant_of(whole if np.ndim(bytes_of(inputs)) else whole[0])


# -- images ----------------------------------------------------------------------------------------


@settings("height, width, interpolation='bilinear', data_format=None")
class Resizing(Layer):
    """Resizes images (see `tf.image.resize`).

    Examples
    --------
    >>> tf.keras.layers.Resizing(2, 3)(tf.ones([1, 4, 4, 3])).shape
    TensorShape([1, 2, 3, 3])
    """

    def call(self, inputs) -> Any:
        return image.resize(inputs, (self.height, self.width), self.interpolation)


@settings("height, width, data_format=None")
class CenterCrop(Layer):
    """Crops the middle of images.

    Examples
    --------
    >>> tf.keras.layers.CenterCrop(2, 3)(tf.ones([1, 4, 4, 3])).shape
    TensorShape([1, 2, 3, 3])
    """

    def call(self, inputs) -> Any:
        height, width = tuple(inputs.shape)[-3:-1]
        top, left = (height - self.height) // 2, (width - self.width) // 2
        return image.crop_to_bounding_box(inputs, top, left, self.height, self.width)


class _Moved(Seeded):
    """Base class of layers that move each image at random, while training.

    Places beyond an image's edge show its reflection.
    """

    def _movements(self, count: int, shape: tuple[int, int]) -> Any:
        """Return for each image the matrix from the places in the result to those in the image."""
        raise NotImplementedError

    def _drawn(self, factor, count: int) -> Any:
        """Draw numbers between two bounds, or between minus and plus one."""
        low, high = (-factor, factor) if np.ndim(factor) == 0 else factor
        numbers = self.seed_generator.stream().uniform_of((count,), np.dtype(np.float32))
        return numbers * np.float32(high - low) + np.float32(low)

    def _each(self, factor, inputs) -> Any:
        """Draw a number for each image, in the rank of `inputs`."""
        shape = tuple(inputs.shape)[:-3]
        numbers = self._drawn(factor, shape[0] if shape else 1)
        return V.constant_of(numbers.reshape(*shape, 1, 1, 1))

    def call(self, inputs, training=True) -> Any:
        if not training:
            return inputs
        x = V.tensor_of(inputs)
        given = tuple(x._payload.shape)
        kind = x._payload.dtype if V.is_floating(x) else np.dtype(np.float32)
        batch = wg.movedim(wg.reshape(V.converted(x, kind), (-1, *given[-3:])), -1, 1)
        moves = self._movements(len(batch), given[-3:-1])
        grid = wg.nn.functional.affine_grid(
            wg.as_tensor(moves.astype(kind)), tuple(batch.shape), align_corners=False
        )
        moved = wg.nn.functional.grid_sample(
            batch, grid, mode="bilinear", padding_mode="reflection", align_corners=False
        )
        return V.made(wg.reshape(wg.movedim(moved, 1, -1), given))


def _matrices(a, b, c, d, right, down) -> Any:
    """Return matrices ``[[a, b, right], [c, d, down]]``, one for each image."""
    parts = np.broadcast_arrays(a, b, right, c, d, down)
    return np.stack(parts, -1).reshape(-1, 2, 3)


@settings("mode='horizontal_and_vertical', seed=None, data_format=None")
class RandomFlip(_Moved):
    """Flips images at random, while training: left to right, top to bottom, or both at once.

    Examples
    --------
    >>> flip = tf.keras.layers.RandomFlip("horizontal", seed=1)
    >>> sorted(flip(tf.constant([[[[1.0], [2.0]]]])).numpy().ravel().tolist())
    [1.0, 2.0]
    """

    def _movements(self, count: int, shape: tuple[int, int]) -> Any:
        turned = self._drawn((0.0, 1.0), count) <= 0.5
        ways = ("horizontal" in self.mode, "vertical" in self.mode)
        across, down = (np.where(turned & way, -1.0, 1.0) for way in ways)
        return _matrices(across, 0.0, 0.0, down, 0.0, 0.0)


@settings("factor, seed=None, data_format=None")
class RandomRotation(_Moved):
    """Rotates images by a random part of a full turn, while training.

    Examples
    --------
    >>> tf.keras.layers.RandomRotation(0.1)(tf.ones([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """

    def _movements(self, count: int, shape: tuple[int, int]) -> Any:
        angle, ratio = 2 * math.pi * self._drawn(self.factor, count), shape[0] / shape[1]
        cos, sin = np.cos(angle), np.sin(angle)
        return _matrices(cos, -sin * ratio, sin / ratio, cos, 0.0, 0.0)


@settings("height_factor, width_factor, seed=None, data_format=None")
class RandomTranslation(_Moved):
    """Shifts images by random parts of their height and width, while training.

    Examples
    --------
    >>> tf.keras.layers.RandomTranslation(0.1, 0.1)(tf.ones([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """

    def _movements(self, count: int, shape: tuple[int, int]) -> Any:
        factors = (self.height_factor, self.width_factor)
        down, right = (-2 * self._drawn(factor, count) for factor in factors)
        return _matrices(1.0, 0.0, 0.0, 1.0, right, down)


@settings("height_factor, width_factor=None, seed=None, data_format=None")
class RandomZoom(_Moved):
    """Zooms images out, or in for negative factors, by random factors, while training.

    Examples
    --------
    >>> tf.keras.layers.RandomZoom(0.1)(tf.ones([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """

    def _movements(self, count: int, shape: tuple[int, int]) -> Any:
        down = 1 + self._drawn(self.height_factor, count)
        factor = self.width_factor
        across = down if factor is None else 1 + self._drawn(factor, count)
        return _matrices(across, 0.0, 0.0, down, 0.0, 0.0)


@settings("factor, value_range=(0, 255), seed=None")
class RandomBrightness(_Moved):
    """Adds a random part of the range of values to each image, while training.

    Examples
    --------
    >>> tf.keras.layers.RandomBrightness(0.1)(tf.ones([1, 7, 5, 3])).shape
    TensorShape([1, 7, 5, 3])
    """

    def call(self, inputs, training=True) -> Any:
        if not training:
            return inputs
        low, high = self.value_range
        return operations.clip_by_value(
            inputs + self._each(self.factor, inputs) * (high - low), low, high
        )


@settings("factor, value_range=(0, 255), seed=None")
class RandomContrast(_Moved):
    """Multiplies the distances of the values to their mean by a random factor, while training.

    Examples
    --------
    >>> tf.keras.layers.RandomContrast(0.1)(tf.ones([1, 5, 7, 3])).shape
    TensorShape([1, 5, 7, 3])
    """

    def call(self, inputs, training=True) -> Any:
        if not training:
            return inputs
        below, above = (0, self.factor) if np.ndim(self.factor) == 0 else self.factor
        factor = self._each((1 - below, 1 + above), inputs)
        mean = operations.reduce_mean(inputs, (-3, -2), keepdims=True)
        return operations.clip_by_value((inputs - mean) * factor + mean, *self.value_range)


__all__ = defined(globals(), without="rows_of")
