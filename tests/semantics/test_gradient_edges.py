"""Test gradient edges as outputs and inputs of passes, and attributes of nodes."""

import gc

import pytest


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def edge_of(t, tensor):
    return t.autograd.graph.get_gradient_edge(tensor)


# -- edges ----------------------------------------------------------------------------------------


def test_the_edge_of_a_non_leaf_is_its_node_and_output_number(t):
    x = leaf(t, 2.0)
    y = x * 3
    edge = edge_of(t, y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    assert isinstance(edge, t.autograd.graph.GradientEdge)


def test_the_edge_of_one_of_several_outputs_tells_which(t):
    x = leaf(t, [1.0, 2.0, 3.0])
    parts = x.unbind(0)
    edges = [edge_of(t, part) for part in parts]
    assert [edge.output_nr for edge in edges] == [0, 1, 2]
    assert all(edge.node is parts[0].grad_fn for edge in edges)


def test_the_edge_of_a_leaf_is_its_accumulating_node(t):
    x = leaf(t, 2.0)
    edge = edge_of(t, x)
    assert edge.node is (x * 3).grad_fn.next_functions[0][0]
    assert edge.output_nr == 0


def test_an_edge_is_a_tuple(t):
    x = leaf(t, 2.0)
    node, number, *_ = edge_of(t, x * 3)
    assert node.name() == "MulBackward0" and number == 0


def test_a_tensor_without_gradient_has_no_edge(t):
    message = "It is not possible to get the gradient edge for a Tensor that does not require"
    with pytest.raises(RuntimeError, match=message):
        edge_of(t, t.ones(2))


# -- as inputs ------------------------------------------------------------------------------------


def test_grad_by_the_edge_of_a_non_leaf(t):
    x = leaf(t, 2.0)
    y = x * 3
    (g,) = t.autograd.grad(y * y, edge_of(t, y))
    assert g.item() == 12.0


def test_grad_by_the_edge_of_a_leaf(t):
    x = leaf(t, 2.0)
    (g,) = t.autograd.grad(x * x, edge_of(t, x))
    assert g.item() == 4.0 and x.grad is None


def test_grad_by_tensors_and_edges_mixed_and_repeated(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y * y
    results = t.autograd.grad(z, [edge_of(t, x), y, edge_of(t, y), x])
    assert [g.item() for g in results] == [36.0, 12.0, 12.0, 36.0]


def test_grad_by_the_edge_of_one_of_several_outputs(t):
    x = leaf(t, [1.0, 2.0, 3.0])
    a, b, c = x.unbind(0)
    results = t.autograd.grad(a * b * c, [edge_of(t, c), edge_of(t, a)])
    assert [g.item() for g in results] == [2.0, 6.0]


def test_grad_by_an_edge_from_next_functions(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y.exp()
    edge = t.autograd.graph.GradientEdge(*z.grad_fn.next_functions[0])
    (g,) = t.autograd.grad(z * 2, edge)
    assert g.item() == pytest.approx(2 * z.item())


def test_grad_by_the_edge_of_a_leaf_from_next_functions(t):
    x = leaf(t, 2.0)
    y = x * 3
    edge = t.autograd.graph.GradientEdge(*y.grad_fn.next_functions[0])
    assert t.autograd.grad(y, edge)[0].item() == 3.0


def test_grad_by_an_edge_whose_tensor_is_gone(t):
    x = leaf(t, 2.0)
    y = x * 3
    edge = edge_of(t, y)
    z = y * y
    del y
    gc.collect()
    assert t.autograd.grad(z, edge)[0].item() == 12.0


def test_grad_by_an_edge_of_a_tensor_written_to_since(t):
    x = leaf(t, 2.0)
    y = x * 3
    before = edge_of(t, y)
    y.mul_(5)
    after = edge_of(t, y)
    gb, ga = t.autograd.grad(y * 7, [before, after])
    assert (gb.item(), ga.item()) == (35.0, 7.0)


def test_an_unused_edge_raises_or_gives_none(t):
    x = leaf(t, 2.0)
    y, z = x * 3, x * 4
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        t.autograd.grad(y, edge_of(t, z), retain_graph=True)
    assert t.autograd.grad(y, edge_of(t, z), allow_unused=True) == (None,)


def test_unused_edges_with_materialized_gradients(t):
    x = leaf(t, [1.0, 2.0])
    y, z = x * 3, x * 4
    with_tensor = t.autograd.grad(y.sum(), z, materialize_grads=True, retain_graph=True)
    assert with_tensor[0].tolist() == [0.0, 0.0]


def test_grad_by_an_edge_under_create_graph(t):
    x = leaf(t, 2.0)
    y = x * 3
    (g,) = t.autograd.grad(y * y * y, edge_of(t, y), create_graph=True)
    assert g.item() == 108.0
    assert t.autograd.grad(g, x)[0].item() == 36.0 * 3


def test_hooks_run_for_an_edge_as_for_its_tensor(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    t.autograd.grad(y * y, edge_of(t, y))
    assert seen == [12.0]


def test_backward_to_the_edge_of_a_leaf(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    (x * w).backward(inputs=[edge_of(t, x)])
    assert x.grad.item() == 3.0 and w.grad is None


def test_backward_to_an_edge_and_a_tensor(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    (x * w).backward(inputs=[edge_of(t, x), w])
    assert (x.grad.item(), w.grad.item()) == (3.0, 2.0)


# -- as outputs -----------------------------------------------------------------------------------


def test_backward_from_an_edge(t):
    x = leaf(t, 2.0)
    y = x * 3
    t.autograd.backward(edge_of(t, y), t.tensor(5.0, dtype=t.float64))
    assert x.grad.item() == 15.0


def test_backward_from_the_edge_of_a_scalar_without_gradient(t):
    x = leaf(t, 2.0)
    y = x * 3
    t.autograd.backward(edge_of(t, y))
    assert x.grad.item() == 3.0


def test_backward_from_the_edge_of_one_of_several_outputs(t):
    x = leaf(t, [1.0, 2.0, 3.0])
    _, b, _ = x.unbind(0)
    t.autograd.backward(edge_of(t, b), t.tensor(5.0, dtype=t.float64))
    assert x.grad.tolist() == [0.0, 5.0, 0.0]


def test_backward_from_the_edge_of_a_leaf(t):
    x = leaf(t, 2.0)
    t.autograd.backward(edge_of(t, x), t.tensor(5.0, dtype=t.float64))
    assert x.grad.item() == 5.0


def test_backward_from_an_edge_from_next_functions(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y.exp()
    edge = t.autograd.graph.GradientEdge(*z.grad_fn.next_functions[0])
    t.autograd.backward(edge, t.tensor(5.0, dtype=t.float64))
    assert x.grad.item() == 15.0


def test_grad_from_edge_to_edge(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y * y
    (g,) = t.autograd.grad(edge_of(t, z), edge_of(t, y))
    assert g.item() == 12.0


def test_grad_from_edges_and_tensors_together(t):
    x = leaf(t, 2.0)
    y, z = x * 3, x * x
    one = t.tensor(1.0, dtype=t.float64)
    (g,) = t.autograd.grad([edge_of(t, y), z], x, [one, one])
    assert g.item() == 7.0


def test_an_edge_keeps_the_graph_of_a_custom_function_alive(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(t, 3.0)
    y = Double.apply(x)
    edge = edge_of(t, y)
    del y
    gc.collect()
    t.autograd.backward(edge, t.tensor(5.0, dtype=t.float64))
    assert x.grad.item() == 10.0


# -- nodes ----------------------------------------------------------------------------------------


def test_grad_fn_is_the_same_object_each_time(t):
    y = leaf(t, 2.0) * 3
    assert y.grad_fn is y.grad_fn


def test_nodes_are_instances_of_node(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(t, [1.0, 2.0])
    y = x * 3
    z = y.clone()
    z[0].mul_(2)
    Node = t.autograd.graph.Node
    for node in (
        y.grad_fn,
        z.grad_fn,
        x.unbind(0)[0].grad_fn,
        y.grad_fn.next_functions[0][0],
        Double.apply(x).grad_fn,
    ):
        assert isinstance(node, Node)
        assert issubclass(type(node), Node)
    for other in (x, 3, None, "node"):
        assert not isinstance(other, Node)


NODES = {
    **{"x + x": "AddBackward0", "x * 2": "MulBackward0", "x**2": "PowBackward0"},
    **{"x.exp()": "ExpBackward0", "x.sum()": "SumBackward0", "x.sum(0)": "SumBackward1"},
    **{"x.mean()": "MeanBackward0", "x @ x": "MmBackward0", "x.t()": "TBackward0"},
    **{"x.view(4)": "ViewBackward0", "x[0]": "SelectBackward0", "x[1:]": "SliceBackward0"},
    **{"x.unbind(0)[0]": "UnbindBackward0", "x.clone()": "CloneBackward0"},
    **{"x.relu()": "ReluBackward0", "1 - x": "RsubBackward1", "2**x": "PowBackward2"},
    **{"written(x.clone())": "CopySlices", "written_view(x.clone())": "AsStridedBackward0"},
}


@pytest.mark.parametrize("call", NODES)
def test_names_of_nodes(t, call):
    scope = {"x": leaf(t, [[1.0, 2.0], [3.0, 4.0]]), "written": _written}
    node = eval(call, scope | {"written_view": _written_view}).grad_fn
    assert node.name().split("::")[-1] == NODES[call]


def _written(y):
    y[0].mul_(2)
    return y


def _written_view(y):
    v = y[0]
    y.mul_(2)
    return v


def test_next_functions_lead_to_the_arguments(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    y = x * w
    z = y + x
    (first, second) = z.grad_fn.next_functions
    assert first == (y.grad_fn, 0)
    assert second[0].variable is x
    assert [node.variable for node, _ in y.grad_fn.next_functions] == [x, w]


def test_next_functions_have_none_for_arguments_without_gradient(t):
    x, c = leaf(t, 2.0), t.tensor(3.0, dtype=t.float64)
    assert (c * x).grad_fn.next_functions[0] == (None, 0)
    assert (x * c).grad_fn.next_functions[1] == (None, 0)
    assert (x * 3).grad_fn.next_functions[1] == (None, 0)


def test_next_functions_tell_which_output_of_several(t):
    x = leaf(t, [1.0, 2.0, 3.0])
    _, b, c = x.unbind(0)
    ((node, number), (other, last)) = (c * b).grad_fn.next_functions
    assert node is other is b.grad_fn
    assert (number, last) == (2, 1)


def test_next_functions_of_a_join_list_all(t):
    x, y = leaf(t, [1.0]), leaf(t, [2.0])
    joined = t.cat([x, y, x])
    assert [node.variable for node, _ in joined.grad_fn.next_functions] == [x, y, x]


def test_a_leaf_has_no_node(t):
    x = leaf(t, 2.0)
    assert x.grad_fn is None
    with pytest.raises(AttributeError):
        _ = x.grad_fn.next_functions


def test_metadata_is_a_dictionary_of_the_node(t):
    x = leaf(t, 2.0)
    y = x * 3
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["key"] = "value"
    assert y.grad_fn.metadata == {"key": "value"}
    assert (x * 3).grad_fn.metadata == {}


def test_metadata_can_be_read_in_hooks(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn
    node.metadata["key"] = "value"
    node.register_prehook(lambda go: seen.append(node.metadata["key"]))
    y.backward()
    assert seen == ["value"]


def test_sequence_numbers_rise_with_recording(t):
    x = leaf(t, 2.0)
    a = x * 2
    b = a * 3
    c = x * 4
    numbers = [v.grad_fn._sequence_nr() for v in (a, b, c)]
    assert numbers == sorted(numbers) and len(set(numbers)) == 3


def test_the_number_of_a_leafs_node_is_above_all(t):
    x = leaf(t, 2.0)
    y = x * 2
    assert y.grad_fn.next_functions[0][0]._sequence_nr() > y.grad_fn._sequence_nr()


def test_nodes_run_youngest_first(t):
    x, log = leaf(t, 2.0), []
    parts = [x * i for i in range(1, 5)]
    for i, part in enumerate(parts):
        part.grad_fn.register_prehook(lambda go, i=i: log.append(i))
    (parts[2] + parts[0] + parts[3] + parts[1]).backward()
    assert log == [3, 2, 1, 0]


def test_saved_values_can_be_read_from_nodes(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    y = x * w
    assert y.grad_fn._saved_self is x or y.grad_fn._saved_self.item() == 2.0
    assert y.grad_fn._saved_other.item() == 3.0
    z = x.exp()
    assert z.grad_fn._saved_result.item() == pytest.approx(z.item())
    assert (x**3).grad_fn._saved_exponent == 3


def test_saved_values_are_tied_to_the_graph(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y.sin()
    saved = z.grad_fn._saved_self
    assert saved.grad_fn is y.grad_fn
    result = x.exp()
    assert result.grad_fn._saved_result.grad_fn is result.grad_fn


def test_saved_values_cannot_be_read_after_they_are_freed(t):
    x = leaf(t, 2.0)
    y = x.sin()
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_self


def test_saved_values_that_were_written_to_cannot_be_read(t):
    x = leaf(t, 2.0)
    y = x * 1
    z = y.sin()
    y.mul_(3)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        _ = z.grad_fn._saved_self


def test_a_value_that_no_derivative_needs_is_none(t):
    x, c = leaf(t, 2.0), t.tensor(3.0, dtype=t.float64)
    assert (x * c).grad_fn._saved_self is None


def test_an_unknown_attribute_of_a_node(t):
    y = leaf(t, 2.0) * 3
    with pytest.raises(AttributeError):
        _ = y.grad_fn._saved_nonsense


def test_a_graph_can_be_walked_by_hand(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    y = ((x * w) + x).exp()
    names, stack = [], [y.grad_fn]
    while stack:
        node = stack.pop()
        names.append(node.name().split("::")[-1])
        stack += [below for below, _ in node.next_functions if below is not None]
    assert sorted(names) == [
        "AccumulateGrad",
        "AccumulateGrad",
        "AccumulateGrad",
        "AddBackward0",
        "ExpBackward0",
        "MulBackward0",
    ]


def test_nodes_can_be_keys(t):
    x = leaf(t, 2.0)
    y = x * 3
    assert {y.grad_fn: 1}[y.grad_fn] == 1
    assert y.grad_fn != (x * 3).grad_fn


def test_a_node_lists_what_it_saved(t):
    x, w = leaf(t, [0.5, 1.5]), leaf(t, [2.0, 3.0])

    def listed(y):
        return sorted(name for name in dir(y.grad_fn) if name.startswith("_saved"))

    assert listed(x.exp()) == ["_saved_result"]
    assert listed(x * w) == ["_saved_other", "_saved_self"]
    assert listed(x.sum()) == ["_saved_self_sym_sizes"]
    assert listed(x.pow(2.0)) == ["_saved_exponent", "_saved_self"]
    assert "next_functions" in dir(x.exp().grad_fn)
