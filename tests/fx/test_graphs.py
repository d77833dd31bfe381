"""Test program graphs: tracing, editing, running and code generation."""

import copy
import dataclasses
import math
import operator
import pickle
from math import floor
from typing import NamedTuple

import pytest

import wengert as wg
import wengert.nn.functional as F
from wengert import fx, nn
from wengert.fx.passes.shape_prop import ShapeProp
from wengert.fx.proxy import TraceError
from wengert.nn.functional import gelu


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(wg.rand(3, 4))
        self.linear = nn.Linear(4, 5)
        self._seq = nn.Sequential(nn.Linear(5, 5), nn.ReLU())
        self.register_buffer("shift", wg.ones(5))

    def forward(self, x, y=2, *, z=None):
        a, b = wg.split(self._seq(self.linear(x + self.scale)), 2, dim=0)
        count = a.shape[0]
        rows = wg.relu(a).view(count, -1).clamp(min=0.0, max=1.0)
        return rows, -x[:, 1:] * 3.5 + y, F.relu(gelu(b), inplace=False) + self.shift + wg.ones(5)


X = wg.arange(12.0).reshape(3, 4) / 5 - 1


def same(made, wanted):
    return all(wg.equal(a, b) for a, b in zip(made, wanted, strict=True))


def test_a_module_runs_as_its_graph_with_its_own_parameters():
    net = Net()
    traced = fx.symbolic_trace(net)
    assert same(traced(X), net(X)) and same(traced(X, 5), net(X, 5))
    sum(part.sum() for part in traced(X)).backward()
    assert net.scale.grad is traced.scale.grad is not None
    twins = copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))
    for twin in twins:
        assert same(twin(X), net(X)) and twin.scale is not net.scale
        assert twin.code == traced.code and twin.graph is not traced.graph


# as PyTorch 2.13 prints it
TEXT = """\
graph():
    %x : [num_users=4] = placeholder[target=x]
    %n : [num_users=1] = placeholder[target=n](default=2)
    %_rest : [num_users=1] = placeholder[target=*rest]
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%_rest, 0), kwargs = {})
    %sum_1 : [num_users=1] = call_method[target=sum](args = (%x, 0), kwargs = {})
    %mul : [num_users=1] = call_function[target=operator.mul](args = (%sum_1, %n), kwargs = {})
    %sub : [num_users=1] = call_function[target=operator.sub](args = (2, %x), kwargs = {})
    %getitem_1 : [num_users=1] = call_function[target=operator.getitem](args = (%x, (Ellipsis, None)), kwargs = {})
    %matmul : [num_users=1] = call_function[target=operator.matmul](args = (%x, %getitem), kwargs = {})
    return {'a': (mul, [sub, getitem_1]), 'b': matmul}"""  # noqa: E501
CODE = """\



def forward(self, x, n = 2, *rest):
    _rest = rest
    getitem = _rest[0];  _rest = None
    sum_1 = x.sum(0)
    mul = sum_1 * n;  sum_1 = n = None
    sub = 2 - x
    getitem_1 = x[(Ellipsis, None)]
    matmul = x @ getitem;  x = getitem = None
    return {'a': (mul, [sub, getitem_1]), 'b': matmul}
    """


def test_text_and_code_are_pytorchs(capsys):
    def program(x, n=2, *rest):
        other = rest[0]
        return {"a": (x.sum(0) * n, [2 - x, x[..., None]]), "b": x @ other}

    traced = fx.symbolic_trace(program)
    assert (str(traced.graph), traced.code) == (TEXT, CODE)
    made = traced(X, 3, X.T)
    assert wg.equal(made["b"], X @ X.T) and wg.equal(made["a"][0], X.sum(0) * 3)
    traced.graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert len(lines) == 2 + len(traced.graph.nodes)


def test_arguments_of_functions_stand_as_pytorch_passes_them_on():
    graph = fx.symbolic_trace(lambda x: F.linear(F.dropout(F.relu(x), 0.3), x, bias=None)).graph
    found = [(len(node.args), node.kwargs) for node in graph.nodes if node.op == "call_function"]
    dropped = {"p": 0.3, "training": True, "inplace": False}
    assert found == [(1, {"inplace": False}), (1, dropped), (2, {"bias": None})]


@pytest.mark.parametrize(
    ("program", "error", "match"),
    [
        (lambda x: x if x.sum() > 0 else -x, TraceError, "inputs to control flow"),
        (lambda x: [part for part in x], TraceError, "cannot be iterated"),  # noqa: C416
        (lambda x: 1 in x, RuntimeError, "'in' is not supported"),
        (lambda x: range(x), TypeError, "Proxy"),
    ],
)
def test_what_needs_values_is_not_traced(program, error, match):
    with pytest.raises(error, match=match):
        fx.symbolic_trace(program)
    # all that was patched is back
    assert nn.Linear(2, 2)(wg.ones(2)).shape == (2,)


def test_known_arguments_are_checked_when_the_graph_runs():
    def program(x, up):
        return x + 1 if up else x - 1

    traced = fx.symbolic_trace(program, concrete_args={"up": True})
    assert wg.equal(traced(X, True), X + 1)
    with pytest.raises(AssertionError, match="up has been specialized to have value True"):
        traced(X, False)
    traced = fx.symbolic_trace(program, concrete_args={"up": None})
    traced.graph.eliminate_dead_code()
    traced.recompile()
    assert wg.equal(traced(X, None), X - 1)
    with pytest.raises(AssertionError, match="up has been specialized to have value None"):
        traced(X, True)
    with pytest.warns(UserWarning, match="Was not able to add assertion .* input up"):
        fx.symbolic_trace(program, concrete_args={"up": len})


@dataclasses.dataclass
class Ends:
    low: object
    high: object


class Pair(NamedTuple):
    left: object
    right: object


class Spread:
    """An object that says which node makes it."""

    def __init__(self, ends):
        self.ends = ends

    def __fx_create_arg__(self, tracer):
        return tracer.create_node("call_function", Spread, (tracer.create_arg(self.ends),), {})


def test_results_in_objects_are_made_by_their_classes():
    def program(x):
        assert fx._symbolic_trace.is_fx_tracing()
        return Ends(x.min(), [Pair(x.max(), 1), Spread(Pair(2, x))])

    traced = fx.symbolic_trace(program)
    made = traced(X)
    assert not fx._symbolic_trace.is_fx_tracing()
    assert type(made) is Ends and made.low == X.min()
    assert type(made.high[0]) is Pair and made.high[0] == (X.max(), 1)
    assert type(made.high[1]) is Spread and wg.equal(made.high[1].ends.right, X)
    calls = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert calls == [Pair, Pair, Spread, Ends]


def test_functions_of_mathematics_are_calls():
    def program(x):
        return x / math.sqrt(x.shape[0]) + floor(x.shape[1] / 3)

    traced = fx.symbolic_trace(program)
    for x in (X, X[:2]):
        assert wg.equal(traced(x), program(x))
    assert math.sqrt(4) == 2 and fx.symbolic_trace(lambda x: x + math.pi)(1) == 1 + math.pi
    with pytest.raises(TypeError):
        fx.Tracer(autowrap_modules=()).trace(program)


def chosen(x, total):
    return x if total > 0 else -x


fx.wrap("chosen")
fx.wrap("len")


def test_wrapped_functions_are_called_when_the_graph_runs():
    def program(x):
        return chosen(x, x.sum()) + len(x)

    traced = fx.symbolic_trace(program)
    again = fx.symbolic_trace(traced)
    for x in (wg.ones(2), -wg.ones(3)):
        assert wg.equal(traced(x), program(x)) and wg.equal(again(x), program(x))


def test_operations_are_replaced():
    net = Net()
    traced = fx.symbolic_trace(net)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is wg.relu:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(wg.tanh, node.args, node.kwargs)
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    wanted = wg.split(net._seq(net.linear(X + net.scale)), 2, dim=0)[0].tanh().clamp(0.0, 1.0)
    assert wg.equal(traced(X)[0], wanted)
    used = next(iter(traced.graph.nodes))
    with pytest.raises(RuntimeError, match="Tried to erase Node x but it still had"):
        traced.graph.erase_node(used)
    with traced.graph.inserting_before(used):
        traced.graph.call_method("neg", (traced.graph.output_node().prev,))
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        traced.graph.lint()


def test_batch_normalisation_is_fused_into_convolutions():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    model[1].running_mean.copy_(wg.arange(4.0))
    traced = fx.symbolic_trace(copy.deepcopy(model))
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op == "call_module" and type(modules[node.target]) is nn.BatchNorm2d:
            before = node.args[0]
            pair = modules[before.target], modules[node.target]
            setattr(traced, before.target, nn.utils.fusion.fuse_conv_bn_eval(*pair))
            node.replace_all_uses_with(before)
            traced.graph.erase_node(node)
    traced.recompile()
    traced.delete_all_unused_submodules()
    assert [type(m) for m in traced.children()] == [nn.Conv2d, nn.ReLU]
    x = wg.rand(2, 3, 5, 5)
    assert wg.allclose(traced(x), model(x), atol=1e-5)


def test_interpreters_and_transformers():
    class Profiled(fx.Interpreter):
        def run_node(self, n):
            seen.append(n.name)
            return super().run_node(n)

    class Smooth(fx.Transformer):
        def call_function(self, target, args, kwargs):
            target = wg.sigmoid if target is wg.relu else target
            return super().call_function(target, args, kwargs)

    seen = []
    net = Net()
    traced = fx.symbolic_trace(net)
    assert same(Profiled(traced).run(X), net(X))
    assert seen == [node.name for node in traced.graph.nodes]
    ShapeProp(traced).propagate(X)
    shapes = {n.name: n.meta["tensor_meta"] for n in traced.graph.nodes if "tensor_meta" in n.meta}
    assert tuple(shapes["linear"].shape) == (3, 5) and shapes["linear"].dtype is wg.float32
    assert [tuple(part.shape) for part in shapes["split"]] == [(2, 5), (1, 5)]
    rows = wg.split(net._seq(net.linear(X + net.scale)), 2, dim=0)[0]
    assert wg.equal(Smooth(traced).transform()(X)[0], rows.sigmoid().clamp(0.0, 1.0))


def test_patterns_are_replaced_where_nothing_else_needs_their_parts():
    def program(x, v, w):
        first = wg.cat([v, w]).sum()
        kept = wg.cat([x, w])
        return wg.cat([w, v]).sum() * first + kept.sum() + kept.max()

    traced = fx.symbolic_trace(program)
    found = fx.replace_pattern(
        traced, lambda a, b: wg.cat([a, b]).sum(), lambda a, b: wg.stack([a, b]).amax()
    )
    assert len(found) == 2
    v, w = wg.ones(2), wg.arange(2.0)
    kept = wg.cat([v, w])
    assert traced(v, v, w) == wg.stack([v, w]).amax() ** 2 + kept.sum() + kept.max()


def test_dead_code_goes_and_writes_stay():
    def program(x):
        wg.sin(x)
        x.add_(1)
        return wg.relu(x)

    traced = fx.symbolic_trace(program)
    assert traced.graph.eliminate_dead_code()
    traced.recompile()
    assert [n.target for n in traced.graph.nodes][1:-1] == ["add_", wg.relu]
    assert not traced.graph.eliminate_dead_code()


@fx.wrap
def logged(x):
    return x


def test_what_has_effects_stays_although_nothing_uses_it():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.counter, self.plain = nn.Identity(), nn.Identity()
            self.counter._is_impure = True

        def forward(self, x):
            self.counter(x)
            self.plain(x)
            logged(x)
            wg.rand_like(x)
            wg.add(x, 1.0, out=x)
            wg.add(x, 1.0)
            nn.functional.relu(x, inplace=True)
            return x

    fx.has_side_effect(logged)
    graph = fx.symbolic_trace(Net()).graph
    assert graph.eliminate_dead_code()
    names = [node.name for node in graph.nodes]
    assert names == ["x", "counter", "logged", "rand_like", "add", "relu", "output"]


def test_graphs_by_hand():
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    y = (x.view(-1) ** 2)[0]
    graph.output(fx.Proxy(graph.call_module("inner.act", (y.node,))).node)
    module = fx.GraphModule({"inner.act": nn.Tanh()}, graph)
    assert module(X) == (X.view(-1) ** 2)[0].tanh()
    assert fx.map_arg((y.node, [y.node]), operator.attrgetter("op"))[1] == ["call_function"]
    with pytest.raises(RuntimeError, match="was not provided"):
        fx.GraphModule({}, graph)


def test_the_point_of_insertion_moves_without_a_with_statement():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.inserting_after(x)
    point = graph.inserting_after(x)
    graph.call_function(wg.sin, (x,))
    with point:
        graph.call_function(wg.cos, (x,))
    graph.inserting_before(x)
    graph.placeholder("y")
    assert [node.name for node in graph.nodes] == ["y", "x", "cos", "sin"]


def test_annotated_types_stand_in_the_code():
    def f(x: wg.Tensor, k: int = 3, *rest: float, name: "str" = "a", **more) -> wg.Tensor:
        return x * k

    traced = fx.symbolic_trace(f)
    head = "def forward(self, x : torch.Tensor, k : int = 3, name : _str_ = 'a', *rest, **more)"
    assert head in traced.code
    assert "%x : torch.Tensor [num_users=1] = placeholder[target=x]" in str(traced.graph)
    assert [node.type for node in traced.graph.nodes][:3] == [wg.Tensor, int, "str"]
    assert pickle.loads(pickle.dumps(traced))(X, 2).equal(X * 2)


def test_other_methods_are_traced_by_their_name():
    class Steps(nn.Module):
        def forward(self, x, y):
            return x + y

        def less(self, x, y):
            return x - y

    tracer, module = fx.Tracer(), Steps()
    tracer.traced_func_name = "less"
    x, y = wg.ones(2), wg.full((2,), 3.0)
    assert fx.GraphModule(module, tracer.trace(module))(x, y).tolist() == [-2, -2]
    tracer.traced_func_name = "more"
    with pytest.raises(AssertionError, match="doesn't exist"):
        tracer.trace(module)


def test_shapes_of_parameters_are_constants_if_asked_for():
    class Chosen(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(wg.ones(2, 3))

        def forward(self, x):
            weight = self.weight
            if (
                weight.dim() == 2
                and weight.shape[0] == 2
                and weight.numel() == weight.size()[1] * 2
            ):
                return x * weight
            return x

    with pytest.raises(TraceError):
        fx.Tracer().trace(Chosen())
    graph = fx.Tracer(param_shapes_constant=True).trace(Chosen())
    assert [node.op for node in graph.nodes] == [
        "placeholder",
        "get_attr",
        "call_function",
        "output",
    ]


def test_a_module_with_a_graph_for_training_and_one_for_evaluation():
    class Twice(fx.GraphModule):
        def __init__(self, root, graphs):
            super(fx.GraphModule, self).__init__()
            self.graphs = graphs
            for node in (*graphs[0].nodes, *graphs[1].nodes):
                if node.op in ("get_attr", "call_module"):
                    fx.graph_module._copy_attr(root, self, node.target)
            self.graph = graphs[1]

        def train(self, mode=True):
            self.graph = self.graphs[mode]
            return super().train(mode)

        def __deepcopy__(self, memo):
            held = fx.graph_module._CodeOnlyModule(copy.deepcopy(vars(self), memo))
            return Twice(held, held.graphs)

    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(2, 2, bias=False))

        def forward(self, x):
            return self.inner(x) * 2 if self.training else self.inner(x)

    class OfAll(fx.Tracer):
        def create_proxy(self, kind: str, target: fx.node.Target, *args, **kwargs):
            seen.append(kind)
            return super().create_proxy(kind, target, *args, **kwargs)

    net, seen = Noisy(), []
    graphs = [OfAll().trace(net.train(mode)) for mode in (False, True)]
    assert seen == ["placeholder", "call_module", "placeholder", "call_module", "call_function"]
    both = Twice(net, graphs)
    x = wg.tensor([1.0, 2.0])
    assert list(both.state_dict()) == ["inner.0.weight"]
    assert both(x).equal(2 * both.eval()(x)) and both.train()(x).equal(net(x))
    assert copy.deepcopy(both).eval()(x).equal(net.eval()(x))


@pytest.mark.parametrize("name", ["input", "sum", "type", "x"])
def test_arguments_of_a_traced_module_keep_their_names(name):
    space = {"wg": wg}
    exec(f"def f({name}, *, k=2): return wg.relu({name}) * k", space)
    traced = fx.symbolic_trace(space["f"])
    assert traced(**{name: wg.ones(1)}) == 2
    assert traced(wg.ones(1), k=3) == 3
    assert fx.symbolic_trace(nn.Linear(2, 1))(input=wg.ones(1, 2)).shape == (1, 1)


def test_nodes_have_known_operations_and_targets_of_their_kind():
    graph = fx.Graph()
    with pytest.raises(AssertionError, match="op 'call' is not in placeholder"):
        graph.create_node("call", "relu")
    with pytest.raises(ValueError, match="target relu has type str but a Callable is expected"):
        graph.call_function("relu")
    for op in ("call_module", "call_method", "get_attr", "placeholder"):
        with pytest.raises(ValueError, match="has type function but a str is expected"):
            graph.create_node(op, wg.relu)


def test_traced_values_are_no_keys():
    for f in (lambda x: {x: 1}, lambda x: wg.cat([x], **{"dim": {x: 1}})):
        with pytest.raises(RuntimeError, match="cannot contain a Node"):
            fx.symbolic_trace(f)


def test_functions_are_written_where_pytorch_has_them():
    traced = fx.symbolic_trace(lambda x, w: wg.einsum("ij->ji", F.gelu(F.linear(x, w))))
    for path in ("torch._C._nn.linear(", "torch._C._nn.gelu(", "torch.functional.einsum("):
        assert path in traced.code
    x, w = wg.ones(1, 2), wg.ones(3, 2)
    assert wg.equal(traced(x, w), F.gelu(x @ w.T).T)
