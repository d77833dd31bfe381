"""Test `memory_report`, for some tensors and for the whole process."""

import gc
import json

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.memory import MemoryReport


def leaf(*shape):
    return wg.ones(*shape, dtype=wg.float64, requires_grad=True)


def sizes(report):
    return {row.role: row.bytes for row in report.roles}


def saved(report):
    return {row.operation: (row.nodes, row.arrays, row.bytes) for row in report.operations}


def test_each_array_has_one_reason():
    x, w = leaf(100), leaf(100)
    x.grad = wg.zeros_like(x)
    report = wg.memory_report((x * w).exp().sum())
    assert sizes(report) == {"parameters": 1600, "gradients": 800, "saved": 800, "tensors": 8}
    assert report.total == 3208
    assert (report.nodes, report.tensors) == (3, 4)


def test_what_operations_save_is_counted_by_their_names():
    x = leaf(10)
    y = x.exp().exp().sin()
    report = wg.memory_report(y)
    # the result of each exponential; that of the second is what the sine saves, too
    assert saved(report) == {"ExpBackward0": (2, 2, 160), "SinBackward0": (1, 0, 0)}


def test_after_the_backward_pass_nothing_is_saved():
    x = leaf(10)
    y = x.exp().sum()
    y.backward()
    assert saved(wg.memory_report(y)) == {"ExpBackward0": (1, 0, 0), "SumBackward0": (1, 0, 0)}


def test_shared_memory_is_counted_once_and_whole():
    base = wg.ones(1000, dtype=wg.float64)
    report = wg.memory_report(base[:10], base[5:], base.view(10, 100).t())
    assert report.total == 8000
    assert [(row.shape, row.arrays) for row in report.arrays] == [((1000,), 1)]


def test_rows_add_up():
    x, w = leaf(50), leaf(50)
    a = (x * w).tanh()
    first, second = (a * a).sum(), (a.sin() * w).sum()
    report = wg.memory_report(first, second)
    assert sum(row.bytes for row in report.roles) == report.total
    assert sum(row.bytes for row in report.arrays) == report.total
    held = sizes(report)["saved"]
    assert held > 0
    assert sum(row.bytes for row in report.operations) == held
    assert sum(row.bytes for row in report.graphs) == held
    assert sum(row.nodes for row in report.graphs) == report.nodes


def test_graphs_that_share_nodes_count_them_once():
    x = leaf(5)
    common = x.exp()
    first, second = common.sum(), common.mean()
    rows = {row.output: row.nodes for row in wg.memory_report(first, second).graphs}
    assert rows == {"MeanBackward0": 2, "SumBackward0": 1}


def test_without_arguments_all_that_is_alive_is_found():
    gc.collect()
    before = wg.memory_report()
    x = leaf(777)
    y = x.exp()
    after = wg.memory_report()
    assert after.total - before.total == 2 * 777 * 8
    assert after.nodes - before.nodes == 1
    rows = {row.shape: (row.arrays, row.bytes) for row in after.arrays}
    assert rows[777,] == (2, 2 * 777 * 8)
    graphs = [row.nodes for row in after.graphs if row.bytes == 777 * 8]
    assert graphs == [1]
    del x, y
    assert wg.memory_report().total == before.total


def test_a_growing_graph_shows():
    x = leaf(3)
    total = 0
    for _ in range(100):
        total = total + (x * 2).sum()
    (row,) = wg.memory_report(total).graphs
    assert row.output == "AddBackward0" and row.nodes == 300


def test_a_custom_function_shows_what_it_saved():
    class Square(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 1)
            ctx.noted = {"more": [np.zeros(7)]}
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    report = wg.memory_report(Square.apply(leaf(10)))
    assert saved(report) == {"SquareBackward": (1, 2, 80 + 56)}


def test_masks_and_indices_are_counted():
    x = leaf(100)
    mask = wg.ones(100, dtype=wg.bool)
    report = wg.memory_report(x.masked_fill(mask, 0.0))
    assert sizes(report)["saved"] == 100


def test_what_hooks_packed_is_counted():
    x = leaf(10)
    with wg.autograd.graph.saved_tensors_hooks(lambda t: (t * 1, "noted"), lambda p: p[0]):
        y = x.exp()
    assert sizes(wg.memory_report(y))["saved"] == 80
    with wg.autograd.graph.saved_tensors_hooks(lambda t: "on disk", lambda p: wg.ones(10)):
        y = x.exp()
    assert sizes(wg.memory_report(y))["saved"] == 0


def test_lists_of_tensors_are_counted():
    parts = [leaf(3) * 1, leaf(4) * 1]
    report = wg.memory_report(wg.cat(parts).exp())
    assert report.nodes == 4


def test_writes_through_views_are_counted():
    x = leaf(10)
    y = x * 1
    y[:5].exp_()
    assert sizes(wg.memory_report(y))["saved"] > 0


def test_tensors_inside_a_transform_are_seen():
    seen = []

    def f(x):
        y = x.exp()
        seen.append(wg.memory_report(y).total)
        return y

    wg.vmap(f)(wg.ones(4, 25, dtype=wg.float64))
    assert seen == [800]


def test_nothing_is_changed():
    x = leaf(3)
    called = []
    y = x.exp()
    y.register_hook(called.append)
    before = y._version
    wg.memory_report(y)
    wg.memory_report()
    assert called == [] and y._version == before and x.grad is None
    y.sum().backward()
    assert len(called) == 1


def test_where_a_graph_was_recorded_is_shown_if_it_was_noted():
    x = leaf(3)
    with pytest.warns(UserWarning, match="Anomaly Detection"), wg.autograd.detect_anomaly():
        y = x.exp()
    (row,) = wg.memory_report(y).graphs
    assert row.recorded_at.startswith("test_memory_report.py:")
    assert "y = x.exp()" in str(wg.memory_report(y))


def test_a_deep_graph_is_reported():
    y = leaf(1)
    for _ in range(20_000):
        y = -y
    assert wg.memory_report(y).nodes == 20_000


def test_a_cycle_of_graph_and_gradient_is_reported():
    x = leaf(3)
    (x * x).sum().backward(create_graph=True)
    report = wg.memory_report(x)
    assert sizes(report)["gradients"] == 24
    x.grad = None


def test_the_report_is_data():
    found = wg.memory_report((leaf(3) * 2).exp()).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["operations"][0] == {
        "operation": "ExpBackward0",
        "nodes": 1,
        "arrays": 1,
        "bytes": 24,
    }


def test_long_tables_are_cut():
    tensors = [wg.ones(n) for n in range(1, 16)]
    text = str(wg.memory_report(*tensors))
    assert "float32[15]" in text and "float32[1] " not in text and "and 5 more" in text


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 B"), (1000, "1.0 kB"), (999_950, "1.0 MB"), (1_500_000, "1.5 MB")],
)
def test_sizes_are_readable(count, text):
    assert text in str(wg.memory_report(wg.zeros(count, dtype=wg.uint8)))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"argument 2 must be a Tensor, not ndarray"):
        wg.memory_report(leaf(1), np.ones(3))


def test_memory_that_is_kept_is_in_the_report_of_all():
    assert wg.memory_report(leaf(3)).kept == 0
    report = wg.memory_report()
    assert report.as_dict()["kept"] == report.kept >= 0
    assert ("kept for the next" in str(report)) == (report.kept > 0)


def test_a_report_of_nothing_has_a_text():
    text = str(MemoryReport([], [], 0, {}, 0))
    assert text.startswith("0 nodes and 0 tensors hold 0 B in 0 arrays")
