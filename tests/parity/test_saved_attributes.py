"""Test that saved values of nodes have PyTorch's names and values: ``grad_fn._saved_<name>``."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def leaf(t, *shape):
    return t.ones(shape, requires_grad=True)


OPERATIONS = {
    "index": lambda t: leaf(t, 2, 3)[:, t.tensor([0, 1])],
    "mean": lambda t: leaf(t, 2, 3).mean(),
    "mean of a dimension": lambda t: leaf(t, 2, 3).mean(1, keepdim=True),
    "sum": lambda t: leaf(t, 2, 3).sum(),
    "expand": lambda t: leaf(t, 1, 3).expand(2, 3),
    "view": lambda t: leaf(t, 2, 3).view(6),
    "linear": lambda t: t.nn.functional.interpolate(leaf(t, 1, 1, 4), 8, mode="linear"),
    "linear by a factor": lambda t: t.nn.functional.interpolate(
        leaf(t, 1, 1, 4), scale_factor=0.5, mode="linear"
    ),
    "nearest": lambda t: t.nn.functional.interpolate(leaf(t, 1, 1, 3, 3), scale_factor=2.0),
    "bilinear": lambda t: t.nn.functional.interpolate(
        leaf(t, 1, 1, 3, 3), (6, 6), mode="bilinear", align_corners=True
    ),
    "unfold": lambda t: t.nn.functional.unfold(leaf(t, 1, 1, 3, 4), 3),
    "trunc": lambda t: t.div(leaf(t, 2), 2.0, rounding_mode="trunc"),
    "floor": lambda t: t.div(leaf(t, 2), leaf(t, 2), rounding_mode="floor"),
    "as_strided": lambda t: leaf(t, 2, 2).as_strided((3,), (1,), 1),
    "nll": lambda t: t.nn.functional.nll_loss(leaf(t, 2, 3), t.tensor([0, 1])),
    "nll with weights": lambda t: t.nn.functional.nll_loss(
        leaf(t, 2, 3), t.tensor([0, 1]), weight=t.ones(3)
    ),
    "sum of two": lambda t: leaf(t, 2) + leaf(t, 2),
    "sum with a number": lambda t: leaf(t, 2) + 2,
    "difference, scaled": lambda t: t.sub(leaf(t, 2), leaf(t, 2), alpha=3),
    "difference from a number": lambda t: 2 - leaf(t, 2),
    "product with a number": lambda t: leaf(t, 2) * 2.5,
    "quotient by a number": lambda t: leaf(t, 2) / 2,
    "quotient in no mode": lambda t: t.div(leaf(t, 2), leaf(t, 2), rounding_mode=None),
    "number to a power": lambda t: 2 ** leaf(t, 2),
    "matmul": lambda t: leaf(t, 2, 3) @ leaf(t, 3, 2),
    "product and sum": lambda t: t.nn.functional.linear(leaf(t, 1, 2), leaf(t, 3, 2), leaf(t, 3)),
    "addr": lambda t: t.addr(leaf(t, 3, 3), leaf(t, 3), leaf(t, 3)),
    "baddbmm": lambda t: t.baddbmm(leaf(t, 1, 3, 3), leaf(t, 1, 3, 3), leaf(t, 1, 3, 3), alpha=2),
    "convolution": lambda t: t.nn.functional.conv2d(
        leaf(t, 1, 1, 3, 3), leaf(t, 2, 1, 2, 2), leaf(t, 2), stride=2
    ),
    "convolution without bias": lambda t: t.nn.functional.conv1d(
        leaf(t, 1, 1, 3), leaf(t, 1, 1, 2)
    ),
    "softmax": lambda t: t.softmax(leaf(t, 2, 3), 1),
    "slice": lambda t: leaf(t, 4)[1:],
    "slice with an end": lambda t: leaf(t, 4)[:2],
    "cumsum": lambda t: leaf(t, 2, 3).cumsum(1),
    "cumprod": lambda t: leaf(t, 2, 3).cumprod(1),
    "prod of a dimension": lambda t: leaf(t, 2, 3).prod(1),
    "norm": lambda t: leaf(t, 2, 3).norm(),
    "norm of a dimension": lambda t: t.linalg.vector_norm(leaf(t, 2, 3), dim=1),
    "var of a dimension": lambda t: leaf(t, 2, 3).var(1, correction=0),
    "nansum": lambda t: leaf(t, 3).nansum(),
    "mse": lambda t: t.nn.functional.mse_loss(leaf(t, 2), leaf(t, 2)),
    "huber": lambda t: t.nn.functional.huber_loss(leaf(t, 2), leaf(t, 2), reduction="sum"),
    "bce": lambda t: t.nn.functional.binary_cross_entropy(leaf(t, 2), t.ones(2)),
    "bce with logits": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        leaf(t, 2), t.ones(2), reduction="none"
    ),
    "pad": lambda t: t.nn.functional.pad(leaf(t, 2, 3), (1, 2)),
    "pad two": lambda t: t.nn.functional.pad(leaf(t, 2, 3), (1, 2, 0, 3)),
    "gather": lambda t: t.gather(leaf(t, 2, 3), 1, t.tensor([[0], [1]])),
    "scatter": lambda t: t.scatter(leaf(t, 3), 0, t.tensor([0, 1]), leaf(t, 2)),
    "index_put": lambda t: t.index_put(leaf(t, 3), (t.tensor([0, 1]),), leaf(t, 2)),
    "index_copy": lambda t: t.index_copy(leaf(t, 3), 0, t.tensor([0, 1]), leaf(t, 2)),
    "embedding": lambda t: t.nn.functional.embedding(
        t.tensor([0, 1]), leaf(t, 3, 2), padding_idx=0
    ),
    "layer_norm": lambda t: t.nn.functional.layer_norm(leaf(t, 2, 3), (3,), leaf(t, 3), leaf(t, 3)),
    "group_norm": lambda t: t.nn.functional.group_norm(leaf(t, 2, 4, 2), 2, leaf(t, 4), leaf(t, 4)),
    "inverse": lambda t: t.linalg.inv(t.eye(2).requires_grad_()),
    "as_strided from its place": lambda t: leaf(t, 2, 2).as_strided((3,), (1,)),
}
# what PyTorch reads as an unsigned number
FORMS = {"_saved_ignore_index"}
# what is not kept where PyTorch keeps it: results of the operation beside the first, and arguments
# of which sizes are enough
NOT_KEPT = {
    *("self", "other", "result", "result1", "result2", "total_weight", "bias", "source"),
    *("source_dim", "rounding_mode", "normalized_shape", "self_sym_numel", "exponent"),
}


def saved(t, operation):
    node = OPERATIONS[operation](t).grad_fn
    found = {n: getattr(node, n) for n in dir(node) if n.startswith("_saved_")}
    return {name: plain(value) for name, value in found.items() if name not in FORMS}


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if not hasattr(value, "tolist"):
        return value
    # how the last digit of a result is rounded is not promised
    return (value.round(decimals=6) if value.is_floating_point() else value).tolist()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_node_keeps_has_pytorchs_names_and_values(operation):
    ours, theirs = saved(wg, operation), saved(torch, operation)
    assert ours.items() <= theirs.items()
    kept = {f"_saved_{name}" for name in NOT_KEPT}
    assert theirs.keys() - ours.keys() <= kept | FORMS


def test_a_division_in_no_mode_has_none():
    for t in (wg, torch):
        assert t.div(leaf(t, 1), 2.0, rounding_mode=None).grad_fn._saved_rounding_mode is None


def test_what_is_named_otherwise_is_a_saved_tensor_under_that_name():
    for t in (wg, torch):
        node = t.nn.functional.layer_norm(leaf(t, 2, 3), (3,), leaf(t, 3)).grad_fn
        node._raw_saved_input.register_hooks(lambda x: x, lambda x: x * 0)
        assert node._saved_input.tolist() == [[0, 0, 0], [0, 0, 0]]
        assert not {"_saved_self", "_saved_known", "_raw_saved_known"} & {*dir(node)}
