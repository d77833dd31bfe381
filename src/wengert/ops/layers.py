"""Layer 5 · ops: neural network functions in the package's main namespace.

They do what their namesakes in ``nn.functional`` do, with PyTorch's signatures for the main
namespace: an in-place form instead of an ``inplace`` argument, a flag for cuDNN that has no effect,
and the table of `embedding` before the indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops import activations, adaptive_pooling, dropouts, normalisation
from wengert.ops import dropout as elements
from wengert.ops import embedding as tables
from wengert.ops.coerce import integer, number, operand
from wengert.prims.table import TABLE
from wengert.tape.inplace import write

# -- normalisation --------------------------------------------------------------------------------


@export("wengert")
def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """`nn.functional.layer_norm`; `cudnn_enable` changes nothing.

    Examples
    --------
    >>> wg.layer_norm(wg.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    return normalisation.layer_norm(input, normalized_shape, weight, bias, eps)


@export("wengert")
def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """`nn.functional.group_norm`, also of groups of one element; `cudnn_enabled` changes nothing.

    Examples
    --------
    >>> wg.group_norm(wg.tensor([[1.0, 3.0, 0.0, 10.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    return normalisation.normalised_groups(
        operand(input, "group_norm"), num_groups, weight, bias, eps
    )


@export("wengert")
def batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """`nn.functional.batch_norm`, also of one element a channel; `cudnn_enabled` changes nothing.

    Examples
    --------
    >>> x = wg.tensor([[1.0], [3.0]])
    >>> wg.batch_norm(x, None, None, wg.zeros(1), wg.ones(1), True, 0.1, 1e-5, False)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    x = operand(input, "batch_norm")
    return normalisation.normalised_batch(
        "batch_norm", x, running_mean, running_var, weight, bias, training, momentum, eps
    )


@export("wengert")
def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """`nn.functional.instance_norm`, also of single elements; `cudnn_enabled` changes nothing.

    Examples
    --------
    >>> wg.instance_norm(wg.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[[-1.0000,  1.0000]]])
    """
    x = operand(input, "instance_norm")
    return normalisation.normalised_instances(
        x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


# -- pooling --------------------------------------------------------------------------------------


@export("wengert")
def adaptive_max_pool1d(input: Any, output_size: Any) -> tuple[Any, Any]:
    """`nn.functional.adaptive_max_pool1d` with the places of the elements.

    Examples
    --------
    >>> wg.adaptive_max_pool1d(wg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return adaptive_pooling.adaptive_max_pool1d_with_indices(input, output_size)


# -- tables ---------------------------------------------------------------------------------------


@export("wengert")
def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """`nn.functional.embedding` with the table first.

    Parameters
    ----------
    weight : Tensor. The table, of shape (rows, d).
    indices : Tensor. The numbers of the rows, int64 or int32, of any shape.
    padding_idx : int. A row that gets no gradient; none if negative.
    %(of_rows)s

    Examples
    --------
    >>> wg.embedding(wg.tensor([[0.0, 1.0], [2.0, 3.0]]), wg.tensor([1, 0]))
    tensor([[2., 3.],
            [0., 1.]])
    """
    w, x = operand(weight, "embedding", "weight"), operand(indices, "embedding", "indices", 2)
    inside = 0 <= integer(padding_idx, "embedding", "padding_idx", 3) < len(w._payload)
    return tables.embedding(
        x, w, padding_idx if inside else None, scale_grad_by_freq=scale_grad_by_freq
    )


# -- dropout and activations, with forms in place -------------------------------------------------


def _pair(
    name: str, function: Callable[..., Any], example: str, result: str
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a dropout of the main namespace, and its in-place form."""

    def call(input: Any, p: float, train: bool) -> Any:
        """`nn.functional.{of}` on a copy of the tensor.

        Parameters
        ----------
        input : Tensor. Of a floating dtype.
        p : float. The probability to be dropped.
        train : bool. Whether to do anything at all.

        Examples
        --------
        >>> wg.{name}({example}, 0.0, True)
        {result}
        """
        return function(_checked(input, p), p, train)

    def write(input: Any, p: float, train: bool) -> Any:
        """`{of}`, written into the tensor, which is returned.

        Examples
        --------
        >>> wg.{name}({example}, 0.0, True)
        {result}
        """
        return function(_checked(input, p), p, train, True)

    def _checked(input: Any, p: float) -> Any:
        x = operand(input, name)
        if not 0 <= number(p, name, "p") <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
        return x

    named(call, name, of=function.__name__, example=example, result=result)
    return call, named(write, f"{name}_", of=name, example=example, result=result)


def _feature_dropout(input: Any, p: float, train: bool, inplace: bool = False) -> Any:
    return dropouts.dropped("feature_dropout", input, p, train, True, inplace)


dropout, dropout_ = _pair("dropout", elements.dropout, "wg.ones(2)", "tensor([1., 1.])")
alpha_dropout, alpha_dropout_ = _pair(
    "alpha_dropout", dropouts.alpha_dropout, "wg.ones(2)", "tensor([1., 1.])"
)
feature_dropout, feature_dropout_ = _pair(
    "feature_dropout", _feature_dropout, "wg.ones(1, 2)", "tensor([[1., 1.]])"
)
feature_alpha_dropout, feature_alpha_dropout_ = _pair(
    "feature_alpha_dropout", dropouts.feature_alpha_dropout, "wg.ones(1, 2)", "tensor([[1., 1.]])"
)
export("wengert")(
    dropout,
    dropout_,
    alpha_dropout,
    alpha_dropout_,
    feature_dropout,
    feature_dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
)


@export("wengert")
def celu(input: Any, alpha: float = 1.0) -> Any:
    """`nn.functional.celu` on a copy of the tensor.

    Examples
    --------
    >>> wg.celu(wg.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return activations.celu(input, alpha)


@export("wengert", "nn.functional")
def celu_(input: Any, alpha: float = 1.0) -> Any:
    """`celu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.celu_(wg.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return activations.celu(input, alpha, True)


@export("wengert")
def selu(input: Any) -> Any:
    """`nn.functional.selu` on a copy of the tensor.

    Examples
    --------
    >>> wg.selu(wg.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return activations.selu(input)


@export("wengert", "nn.functional")
def selu_(input: Any) -> Any:
    """`selu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.selu_(wg.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return activations.selu(input, True)


# -- activations in place -------------------------------------------------------------------------


@export("wengert", "nn.functional")
def relu_(input: Any) -> Any:
    """`relu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.relu_(wg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return write(TABLE["relu"], operand(input, "relu_"), (), {}, "relu_")


@export("nn.functional")
def elu_(input: Any, alpha: float = 1.0) -> Any:
    """`elu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.nn.functional.elu_(wg.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return activations.elu(input, alpha, True)


@export("nn.functional")
def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`hardtanh`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.nn.functional.hardtanh_(wg.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return activations.hardtanh(input, min_val, max_val, True)


@export("nn.functional")
def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """`leaky_relu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.nn.functional.leaky_relu_(wg.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    return activations.leaky_relu(input, negative_slope, True)
