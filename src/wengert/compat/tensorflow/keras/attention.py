"""Layer 9 · compat: Keras's attention layers."""

from __future__ import annotations

import copy
import itertools
import math
import string
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import initializers, nn, operations
from wengert.compat.tensorflow.conversion import convert_to_tensor
from wengert.compat.tensorflow.keras.layer import Layer, Seeded
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.words import refusal


@settings(
    "equation, output_shape, activation=None, bias_axes=None, {kernel bias = glorot_uniform zeros}"
)
class EinsumDense(Layer):
    """A product of the input with a weight, given by an Einstein summation.

    Parameters
    ----------
    equation : str. The dimensions of input, weight and result: ``"abc,cd->abd"``.
    output_shape : int or tuple. The sizes of the result without the first; a size of None is that
        of the input.
    activation : callable or str, optional. The function that is applied to the result.
    bias_axes : str, optional. The dimensions of the bias; by default there is none.

    Examples
    --------
    >>> layer = tf.keras.layers.EinsumDense("ab,bc->ac", output_shape=4, bias_axes="c")
    >>> layer(tf.ones([2, 3])).shape
    TensorShape([2, 4])
    """

    def build(self, input_shape) -> None:
        """Create the weights."""
        terms, result = self.equation.replace(" ", "").split("->")
        before, inner = terms.split(",")
        if "..." in before:
            free = (letter for letter in string.ascii_letters if letter not in self.equation)
            elided = "".join(itertools.islice(free, len(input_shape) - len(before) + 3))
            before, result = before.replace("...", elided), result.replace("...", elided)
        sizes = dict(zip(before, input_shape, strict=True))
        given = np.atleast_1d(np.asarray(self.output_shape, object)).tolist()
        last = result[len(result) - len(given) :]
        sizes |= {a: n for a, n in zip(last, given, strict=True) if n is not None}
        start: Any = self.kernel_initializer
        if isinstance(start, initializers.VarianceScaling):
            start = copy.copy(start)
            fans = [math.prod(sizes[a] for a in inner if a in side) for side in (before, result)]
            start.fans = tuple(fans)
        self.kernel = self._weight("kernel", [sizes[a] for a in inner], initializer=start)
        first = min((result.index(letter) for letter in self.bias_axes or ()), default=0)
        summand = [sizes[a] if a in (self.bias_axes or ()) else 1 for a in result[first:]]
        self.bias = self._weight("bias", summand) if self.bias_axes else None

    def call(self, inputs) -> Any:
        result = operations.einsum(self.equation, inputs, self.kernel)
        return self.activation(result if self.bias is None else operations.add(result, self.bias))


def _barred(scores, allowed) -> Any:
    """Return scores with a large negative number where attention is masked."""
    if allowed is None:
        return scores
    least = -6e4 if scores.dtype.name == "float16" else -1e9
    return scores + (1.0 - operations.cast(allowed, scores.dtype)) * least


def _both(*masks) -> Any:
    found = None
    for mask in masks:
        if mask is not None:
            mask = operations.cast(mask, "bool")
            found = mask if found is None else operations.logical_and(found, mask)
    return found


def _earlier(rows: int, columns: int) -> Any:
    return np.tril(np.ones((1, rows, columns), bool))


@settings("dropout=0.0, seed=None")
class _Attending(Seeded):
    chance = "dropout"

    def _scores(self, query, key) -> Any:
        raise NotImplementedError

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the queries."""
        return mask[0] if mask else None

    def call(
        self,
        inputs,
        mask=None,
        training=False,
        return_attention_scores=False,
        use_causal_mask=False,
    ) -> Any:
        """Return weighted means of the values, and the weights if requested."""
        query, value = inputs[:2]
        scores = self._scores(query, inputs[2] if len(inputs) > 2 else value)
        rows, columns = tuple(scores.shape)[1:]
        kept = None if mask is None or mask[1] is None else operations.expand_dims(mask[1], 1)
        scores = _barred(scores, _both(kept, _earlier(rows, columns) if use_causal_mask else None))
        weights = nn.softmax(scores)
        if training and self.dropout:
            weights = self._dropped(weights, self.dropout)
        result = operations.matmul(weights, value)
        if mask is not None and mask[0] is not None:
            seen = operations.expand_dims(operations.cast(mask[0], result.dtype), -1)
            result = result * seen
        return (result, weights) if return_attention_scores else result


@settings("use_scale=False, score_mode='dot', dropout=0.0")
class Attention(_Attending):
    """Dot-product attention: means of values weighted by products of queries with keys.

    Parameters
    ----------
    use_scale : bool. Whether to train a scale of the scores.
    score_mode : {"dot"}. The function that compares queries with keys.
    dropout : float. The fraction of attention weights that is dropped in training.

    Examples
    --------
    >>> tf.keras.layers.Attention()([tf.ones([2, 3, 4]), tf.ones([2, 5, 4])]).shape
    TensorShape([2, 3, 4])
    """

    def _prepare(self: Any) -> None:
        if self.score_mode != "dot":
            raise ValueError("score_mode is 'dot' here: see AdditiveAttention")

    def build(self, input_shape) -> None:
        """Create the weight."""
        once: dict[str, Any] = {"shape": (), "initializer": "ones", "name": "scale"}
        self.scale = self.add_weight(**once) if self.use_scale else None

    def _scores(self, query, key) -> Any:
        scores = operations.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


@settings("use_scale=True, dropout=0.0")
class AdditiveAttention(_Attending):
    """Additive attention: means of values weighted by sums (Bahdanau and others, 2014).

    Parameters
    ----------
    use_scale : bool. Whether to train scales of the scores.
    dropout : float. The fraction of attention weights that is dropped in training.

    Examples
    --------
    >>> tf.keras.layers.AdditiveAttention()([tf.ones([2, 3, 4]), tf.ones([2, 5, 4])]).shape
    TensorShape([2, 3, 4])
    """

    def build(self, input_shape) -> None:
        """Create the weight."""
        size = (input_shape[0][-1],)
        self.scale = self.add_weight(shape=size, name="scale") if self.use_scale else None

    def _scores(self, query, key) -> Any:
        sums = operations.expand_dims(query, 2) + operations.expand_dims(key, 1)
        terms = operations.tanh(sums)
        return operations.reduce_sum(terms if self.scale is None else terms * self.scale, axis=-1)


@settings(
    "num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, "
    "attention_axes=None, {kernel bias activity = glorot_uniform zeros}, seed=None"
)
class MultiHeadAttention(Seeded):
    """Multi-head attention (Vaswani and others, 2017).

    Parameters
    ----------
    num_heads, key_dim : int. The number of heads, and the size of queries and keys in each.
    value_dim : int, optional. The size of values; `key_dim` by default.
    dropout : float. The fraction of attention weights that is dropped in training.
    use_bias : bool. Whether the projections have biases.
    output_shape : int, optional. The size of the result; by default that of the query.

    Examples
    --------
    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)
    >>> layer(tf.ones([2, 3, 4]), tf.ones([2, 5, 4])).shape
    TensorShape([2, 3, 4])
    """

    ignored = ("flash_attention",)
    chance = "dropout"

    def _prepare(self: Any) -> None:
        if self.attention_axes is not None:
            raise ValueError("attention_axes is not offered here: attention is along dimension 1")

    seed: Any = None
    _output_dense: Any = None

    def _create(self, size) -> None:
        """Create the inner layers, in the order in which Keras draws their seeds."""
        sizes = (self.key_dim, self.key_dim, self.value_dim or self.key_dim)
        for name, wide in zip(("query", "key", "value"), sizes, strict=True):
            heads = (None, self.num_heads, wide)
            setattr(self, f"_{name}_dense", self._dense(name, "abc,cde->abde", heads, "de"))
        self._begin(self.seed)
        shape = (None, size if self.output_shape is None else self.output_shape)
        self._output_dense = self._dense("attention_output", "abde,dec->abc", shape, "c")

    def _dense(self, name: str, equation: str, shape, axes: str) -> Any:
        kinds = ("initializer", "regularizer", "constraint")
        names = [f"{role}_{kind}" for role in ("kernel", "bias") for kind in kinds]
        held = {key: getattr(self, key) for key in names}
        for key, start in held.items():
            if isinstance(start, initializers.Initializer):
                # of its own: an initializer without a seed draws the same numbers each time
                held[key] = type(start).from_config(start.get_config())
        bias = axes if self.use_bias else None
        held |= {"equation": equation, "output_shape": shape, "bias_axes": bias}
        return EinsumDense(**held, name=name, dtype=self.dtype_policy)

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the queries."""
        return mask

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=False,
        use_causal_mask=False,
    ) -> Any:
        """Return the output for the queries, and the attention weights if requested."""
        key = value if key is None else key
        if self._output_dense is None:
            self._create(query.shape[-1])
        inputs = (query, value, key)
        own = [getattr(one, "_keras_mask", None) for one in inputs]
        for one in inputs:  # as in Keras: layers after this one do not see the masks either
            one._keras_mask = None
        q, k = self._query_dense(query), self._key_dense(key)
        v = self._value_dense(value)
        given = (query_mask, value_mask, key_mask)
        masks = [mine if mask is None else mask for mine, mask in zip(own, given, strict=True)]
        rows, *columns = (None if m is None else operations.cast(m, "bool") for m in masks)
        spread = [None if rows is None else operations.expand_dims(rows, -1)]
        spread += [None if m is None else operations.expand_dims(m, 1) for m in columns]
        causal = _earlier(query.shape[1], value.shape[1]) if use_causal_mask else None
        allowed = _both(*spread, attention_mask, causal)
        if allowed is not None and len(allowed.shape) == 3:
            allowed = operations.expand_dims(allowed, 1)
        scores = operations.einsum("atnh,asnh->ants", q * (1.0 / math.sqrt(self.key_dim)), k)
        weights = kept = nn.softmax(_barred(scores, allowed))
        if training and self.dropout:
            kept = self._dropped(weights, self.dropout)
        result = self._output_dense(operations.einsum("ants,asnh->atnh", kept, v))
        result._keras_mask = own[0]
        return (result, weights) if return_attention_scores else result


def batch_dot(x, y, axes) -> Any:
    """Return the products of the examples of two batches, over a dimension of each."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    m, n = x.shape.rank, y.shape.rank
    over = (m - 1, n - 1 - (n > 2)) if axes is None else (axes if np.ndim(axes) else (axes, axes))
    i, j = (axis + rank * (axis < 0) for axis, rank in zip(over, (m, n), strict=True))
    if not i or not j:
        raise ValueError(f"Cannot perform batch_dot over axis 0. Received: axes={axes}")
    inside = 0 < i < m and 0 < j < n
    if not inside or x.shape[0] != y.shape[0] or x.shape[i] != y.shape[j]:
        raise refusal(ValueError, "Cannot do batch_dot on", tuple(x.shape), tuple(y.shape), [i, j])
    first, second = [*"abcdefgh"[:m]], [*"aqrstuvw"[:n]]
    second[j] = first[i]
    kept = first[:i] + first[i + 1 :] + second[1:j] + second[j + 1 :]
    product = operations.einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", x, y)
    return product if len(kept) > 1 else operations.expand_dims(product, 1)


@settings("axes, normalize=False")
class Dot(Layer):
    """Dot products of two inputs, per example.

    Parameters
    ----------
    axes : int or pair of int. The dimensions to contract.
    normalize : bool. Whether to scale vectors along `axes` to norm 1 first.

    Examples
    --------
    >>> x = tf.constant([[1.0, 2.0]])
    >>> print(tf.keras.layers.Dot(axes=1)([x, x]).numpy())
    [[5.]]
    """

    def compute_mask(self, inputs, mask=None) -> None:
        """Return None: products have no steps that are masked."""

    def call(self, inputs) -> Any:
        if len(inputs) != 2:
            raise refusal(ValueError, "A `{}` layer should", "Dot", 2, inputs)
        (a, b), pair = inputs, tuple(np.broadcast_to(self.axes, 2).tolist())
        if self.normalize:
            a, b = nn.l2_normalize(a, pair[0]), nn.l2_normalize(b, pair[1])
        return batch_dot(a, b, pair)


__all__ = defined(globals(), without="batch_dot")
