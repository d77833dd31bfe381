"""Graphs of dispatched operations, and compilers that programs bring along."""

import pytest

import wengert as wg
from wengert.fx.dispatched import make_fx


def test_a_graph_of_dispatched_operations_computes_the_function_and_its_gradient():
    scale = wg.tensor([2.0, 3.0])
    x = wg.tensor([0.5, -0.25])
    graph = make_fx(lambda x: (x.sin() * scale).sum() + 1)(wg.ones(2))
    assert [str(n.target) for n in graph.graph.nodes if n.op == "call_function"] == [
        "aten.sin.default",
        "aten.mul.Tensor",
        "aten.sum.default",
        "aten.add.Tensor",
    ]
    assert graph(x) == (x.sin() * scale).sum() + 1
    slope = make_fx(wg.func.grad(lambda x: (x.cos() * x).sum()))(wg.ones(2))
    assert wg.allclose(slope(x), x.cos() - x * x.sin())


def test_a_graph_takes_the_tensors_of_nested_arguments():
    graph = make_fx(lambda d: d["a"] - d["b"][0])({"a": wg.ones(2), "b": [wg.zeros(2)]})
    assert graph(wg.tensor([3.0, 4.0]), wg.tensor([1.0, 1.0])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + wg.rand(2),
        lambda x: x * float(x.sum()),
        wg.func.vmap(lambda x: 2 * x),
    ],
    ids=["random", "value", "batch"],
)
def test_a_graph_that_would_compute_something_else_is_refused(function):
    with pytest.raises(NotImplementedError, match="make_fx"):
        make_fx(function)(wg.tensor([-1.0, 0.75]))


def test_a_program_may_bring_its_own_compiler():
    graphs = []

    def backend(graph, tensors):
        graphs.append((graph, [tuple(tensor.shape) for tensor in tensors]))
        return graph.forward

    @wg.compile(backend=backend)
    def f(x, y):
        return wg.relu(x * y) + 1

    x = wg.tensor([1.0, 2.0], requires_grad=True)
    assert f(x, wg.ones(2)).tolist() == [2.0, 3.0]
    assert f(x, -wg.ones(2)).tolist() == [1.0, 1.0]
    assert [shapes for _, shapes in graphs] == [[(2,), (2,)]]
    assert isinstance(graphs[0][0], wg.fx.GraphModule)
    f(wg.ones(3), wg.ones(3))
    assert len(graphs) == 2
    f(x, y=wg.ones(2)).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]

    layer = wg.nn.Linear(2, 1)
    compiled = wg.compile(layer, backend=lambda graph, tensors: graph)
    assert compiled(x) == layer(x)
    # a branch on a value has no graph: the function runs as it is
    g = wg.compile(lambda x: x if x.sum() > 0 else -x, backend=backend)
    assert g(-wg.ones(2)).tolist() == [1.0, 1.0]
    assert len(graphs) == 2


def test_a_compiler_of_ones_own_gets_a_new_graph_where_the_model_has_changed():
    class Scaled(wg.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.shift = 2.0, wg.ones(2)

        def forward(self, x):
            return wg.nn.functional.dropout(x * self.scale + self.shift, 1.0, self.training)

    graphs = []

    def backend(graph, given):
        graphs.append(graph)
        return graph.forward

    model = Scaled().eval()
    compiled = wg.compile(model, backend=backend)
    for _ in range(2):
        assert compiled(wg.ones(2)).tolist() == [3.0, 3.0]
    assert len(graphs) == 1
    model.scale = 3.0
    assert compiled(wg.ones(2)).tolist() == [4.0, 4.0]
    model.shift = wg.zeros(2)
    assert compiled(wg.ones(2)).tolist() == [3.0, 3.0]
    model.train()
    assert compiled(wg.ones(2)).tolist() == [0.0, 0.0]
