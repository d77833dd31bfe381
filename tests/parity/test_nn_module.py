"""Test modules, containers, initial values and utilities by one program in both libraries."""

import copy
from collections import namedtuple

import pytest

import wengert
from support.parity import assert_same, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PROGRAMS = []
Pair = namedtuple("Pair", "first second")


def program(function):
    PROGRAMS.append(function)
    return function


def models(t):
    """Classes of modules, made of the parts of `t`."""

    class Leaf(t.nn.Module):
        def __init__(self, value=1.0):
            super().__init__()
            self.weight = t.nn.Parameter(t.full((2,), value))
            self.register_buffer("count", t.zeros(2))
            self.register_buffer("hidden", t.ones(1), persistent=False)
            self.note = "plain"

        def forward(self, x, scale=1.0):
            return x * self.weight * scale

        def extra_repr(self):
            return f"size={len(self.weight)}"

    class Tree(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Leaf(2.0)
            self.second = Leaf(3.0)
            self.tied = self.first
            self.none = None
            self.register_parameter("bias", None)
            self.register_module("later", None)
            self.offset = t.nn.Parameter(t.zeros(2))

        def forward(self, x):
            return self.second(self.first(x)) + self.offset

    return Leaf, Tree


# -- what a module holds ---------------------------------------------------------------------------


@program
def names_and_orders(t):
    tree = models(t)[1]()
    kinds = ("parameters", "buffers", "modules", "children")
    found = {kind: [str(n) for n, _ in getattr(tree, f"named_{kind}")()] for kind in kinds}
    for kind in ("parameters", "buffers", "modules"):
        every = getattr(tree, f"named_{kind}")(prefix="p", remove_duplicate=False)
        found[f"{kind} twice"] = [name for name, _ in every]
    found["own"] = [name for name, _ in tree.named_parameters("q", recurse=False)]
    found["count"] = [len(list(getattr(tree, kind)())) for kind in kinds]
    return found


@program
def text(t):
    leaf, tree = models(t)
    empty = t.nn.Sequential()
    return [repr(each) for each in (leaf(), tree(), empty, t.nn.ModuleList([tree(), leaf()]))]


def refused(action):
    def body(t):
        leaf, tree = models(t)
        return action(t, leaf(), tree())

    return body


def early(what):
    def body(t):
        class Early(t.nn.Module):
            def __init__(self):
                value = {
                    "parameter": lambda: t.nn.Parameter(t.ones(1)),
                    "module": lambda: t.nn.Module(),
                }[what]()
                self.part = value

        Early()

    return body


REFUSED = {
    "parameter early": early("parameter"),
    "module early": early("module"),
    "tensor as parameter": refused(lambda t, m, _: setattr(m, "weight", t.ones(2))),
    "number as module": refused(lambda t, _, m: setattr(m, "first", 3)),
    "number as buffer": refused(lambda t, m, _: setattr(m, "count", 3)),
    "missing attribute": refused(lambda t, m, _: m.absent),
    "deleted attribute": refused(lambda t, m, _: delattr(m, "absent")),
    "buffer name": refused(lambda t, m, _: m.register_buffer(3, None)),
    "buffer dot": refused(lambda t, m, _: m.register_buffer("a.b", None)),
    "buffer empty": refused(lambda t, m, _: m.register_buffer("", None)),
    "buffer taken": refused(lambda t, m, _: m.register_buffer("note", None)),
    "buffer kind": refused(lambda t, m, _: m.register_buffer("b", 3)),
    "parameter name": refused(lambda t, m, _: m.register_parameter(3, None)),
    "parameter dot": refused(lambda t, m, _: m.register_parameter("a.b", None)),
    "parameter empty": refused(lambda t, m, _: m.register_parameter("", None)),
    "parameter taken": refused(lambda t, m, _: m.register_parameter("note", None)),
    "parameter kind": refused(lambda t, m, _: m.register_parameter("p", t.ones(1))),
    "module name": refused(lambda t, m, _: m.add_module(3, None)),
    "module dot": refused(lambda t, m, _: m.add_module("a.b", None)),
    "module empty": refused(lambda t, m, _: m.add_module("", None)),
    "module taken": refused(lambda t, m, _: m.add_module("note", None)),
    "module kind": refused(lambda t, m, _: m.add_module("p", 3)),
    "no submodule": refused(lambda t, _, m: m.get_submodule("first.absent")),
    "no module there": refused(lambda t, _, m: m.get_submodule("first.note")),
    "no parameter": refused(lambda t, _, m: m.get_parameter("first.absent")),
    "no parameter there": refused(lambda t, _, m: m.get_parameter("first.count")),
    "no buffer": refused(lambda t, _, m: m.get_buffer("first.absent")),
    "no buffer there": refused(lambda t, _, m: m.get_buffer("first.weight")),
    "set nothing": refused(lambda t, _, m: m.set_submodule("", m.first)),
    "set no module": refused(lambda t, _, m: m.set_submodule("first", 3)),
    "set strictly": refused(lambda t, _, m: m.set_submodule("absent", m.first, strict=True)),
    "set over a value": refused(lambda t, _, m: m.set_submodule("first.note", m.second)),
    "arguments": lambda t: t.nn.Module(3),
    "keywords": lambda t: t.nn.Module(a=3),
    "no forward": lambda t: t.nn.Module()(3),
    "train": refused(lambda t, m, _: m.train(3)),
    "to integers": refused(lambda t, m, _: m.to(t.int64)),
    "to nothing known": refused(lambda t, m, _: m.to(wrong=3)),
    "load a list": refused(lambda t, m, _: m.load_state_dict([])),
    "load too little": refused(lambda t, _, m: m.load_state_dict({"first.weight": t.ones(2)})),
    "load too much": refused(lambda t, m, _: m.load_state_dict({**m.state_dict(), "more": 3})),
    "load another shape": refused(
        lambda t, m, _: m.load_state_dict({"weight": t.ones(3), "count": t.ones(2)})
    ),
    "load a number": refused(lambda t, m, _: m.load_state_dict({"weight": 3}, strict=False)),
    "extra state": refused(lambda t, m, _: m.get_submodule("x")),
    "buffer of no tensor": lambda t: t.nn.ParameterList(3),
    "pre-hook": refused(
        lambda t, m, _: (m.register_forward_pre_hook(lambda *_: 3, with_kwargs=True), m(1))
    ),
    "both kinds of backward hooks": refused(
        lambda t, m, _: (
            m.register_full_backward_hook(lambda *_: None),
            m.register_backward_hook(lambda *_: None),
        )
    ),
    "wrong number of gradients": refused(
        lambda t, m, _: (
            m.register_full_backward_hook(lambda *_: (None, None, None)),
            m(t.ones(2, requires_grad=True)).sum().backward(),
        )
    ),
    "post-hook returns": refused(
        lambda t, m, _: (m.register_state_dict_post_hook(lambda *_: 3), m.state_dict())
    ),
    "load hook returns": refused(
        lambda t, m, _: (
            m.register_load_state_dict_post_hook(lambda *_: 3),
            m.load_state_dict(m.state_dict()),
        )
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_in_pytorchs_words(name):
    ours, theirs = (outcome(REFUSED[name], module) for module in (wengert, torch))
    assert_same(ours, theirs, name, words=5)


# -- what is done with all of it -------------------------------------------------------------------


@program
def conversions(t):
    found = []
    for convert in (
        lambda m: m.double(),
        lambda m: m.half(),
        lambda m: m.to(t.float64),
        lambda m: m.to("cpu"),
        lambda m: m.to("cpu", t.float64),
        lambda m: m.to(device="cpu", dtype=t.float16),
        lambda m: m.to(t.ones(1, dtype=t.float64)),
        lambda m: m.type(t.float64),
        lambda m: m.to(t.complex64),
    ):
        leaf = models(t)[0]()
        leaf.register_buffer("steps", t.tensor(3))
        leaf(t.ones(2)).sum().backward()
        before = leaf.weight
        convert(leaf)
        found.append([leaf.weight is before, leaf.weight, leaf.weight.grad, leaf.count, leaf.steps])
    return found


# -- hooks -----------------------------------------------------------------------------------------


@program
def backward_hooks_of_several(t):
    class Several(t.nn.Module):
        def forward(self, a, n, b):
            return Pair(a * n, b * 2), 3, a + b

    class Flat(t.nn.Module):
        def forward(self, a, n, b):
            return a * n, 3, a + b

    seen = []
    flat = Flat()
    flat.register_full_backward_hook(lambda m, gi, go: seen.append((*gi, *go)))
    a, b = t.ones(2, requires_grad=True), t.ones(2)
    out = flat(a, 4, b)
    (out[0].sum() + (2 * out[2]).sum()).backward()
    nested = Several()
    nested.register_full_backward_hook(lambda m, gi, go: seen.append((*gi, *go)))
    (nested(a, 4, b)[2] ** 2).sum().backward()
    return seen, a.grad


# -- containers ------------------------------------------------------------------------------------


CONTAINED = {
    "row of a number": lambda t: t.nn.Sequential(3),
    "row index": lambda t: t.nn.Sequential()[0],
    "row sum": lambda t: t.nn.Sequential().__add__([]),
    "row times text": lambda t: t.nn.Sequential() * "a",
    "row times nothing": lambda t: t.nn.Sequential() * 0,
    "row insert": lambda t: t.nn.Sequential().insert(3, t.nn.Module()),
    "row insert number": lambda t: t.nn.Sequential().insert(0, 3),
    "list of a number": lambda t: t.nn.ModuleList([3]),
    "list extended by a number": lambda t: t.nn.ModuleList().extend(3),
    "list index": lambda t: t.nn.ModuleList()[1],
    "dictionary of a number": lambda t: t.nn.ModuleDict(3),
    "dictionary of singles": lambda t: t.nn.ModuleDict([("a",)]),
    "dictionary of numbers": lambda t: t.nn.ModuleDict([3]),
    "parameters by number": lambda t: t.nn.ParameterDict().__setitem__(3, t.ones(1)),
    "parameters of a number": lambda t: t.nn.ParameterDict(3),
    "parameters of a tensor": lambda t: t.nn.ParameterList(t.ones(2)),
    "parameters index": lambda t: t.nn.ParameterList()[0],
    "parameters called": lambda t: t.nn.ParameterDict()(1),
}


@pytest.mark.parametrize("name", CONTAINED)
def test_containers_refuse_what_pytorchs_refuse(name):
    ours, theirs = (outcome(CONTAINED[name], module) for module in (wengert, torch))
    assert_same(ours, theirs, name)


# -- modules that wait for their first input -------------------------------------------------------


@program
def shapes_from_the_first_input(t):
    t.manual_seed(0)
    lazy = t.nn.Sequential(t.nn.LazyLinear(3), t.nn.ReLU(), t.nn.LazyLinear(2, bias=False))
    found = [repr(lazy), repr(lazy[0].weight), lazy[0].has_uninitialized_params()]
    found.append(outcome(lambda _: lazy[0].weight.shape, t))
    twin = copy.deepcopy(lazy).double()
    out = lazy(t.ones(2, 4))
    found += [out, repr(lazy), type(lazy[0]).__name__, dict(lazy.state_dict())]
    twin.load_state_dict(lazy.state_dict())
    return [*found, repr(twin), dict(twin.state_dict()), twin(t.ones(2, 4).double())]


# -- utilities -------------------------------------------------------------------------------------


def layer(t, *args, kind="Linear"):
    t.manual_seed(0)
    return getattr(t.nn, kind)(*args).double()


def trained(t, module, *x):
    """The output of a module, and the gradients of its parameters."""
    out = module(*x)
    (out * t.arange(1.0, out.numel() + 1, dtype=out.dtype).reshape(out.shape)).sum().backward()
    return [out, *(p.grad for p in module.parameters())]


@pytest.mark.parametrize("use_trivialization", [True, False])
@pytest.mark.parametrize("rows", [3, 4])
@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
def test_an_orthogonal_weight_is_pytorchs(orthogonal_map, rows, use_trivialization):
    def body(t):
        module = layer(t, 4, rows)
        t.nn.utils.parametrizations.orthogonal(
            module, orthogonal_map=orthogonal_map, use_trivialization=use_trivialization
        )
        found = [*trained(t, module, t.ones(2, 4).double()), module.weight]
        t.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return [*found, list(module.parameters()), repr(module)]

    assert_same(body(wengert), body(torch), rtol=1e-8, atol=1e-8)


NORMS = {
    "weights by row": ("weight_norm", {}, ("Linear", 4, 3)),
    "weights by column": ("weight_norm", {"dim": 1}, ("Linear", 4, 3)),
    "weights as one": ("weight_norm", {"dim": None}, ("Linear", 4, 3)),
    "spectrum": ("spectral_norm", {}, ("Linear", 4, 3)),
    "spectrum of columns": ("spectral_norm", {"dim": 1, "n_power_iterations": 3}, ("Linear", 4, 3)),
    "spectrum of a convolution": ("spectral_norm", {}, ("Conv1d", 2, 3, 2)),
    "spectrum of a transposed one": ("spectral_norm", {}, ("ConvTranspose1d", 2, 3, 2)),
}


@pytest.mark.parametrize("older", [True, False])
@pytest.mark.parametrize("name", NORMS)
def test_a_normalised_weight_is_pytorchs(name, older):
    function, options, (kind, *sizes) = NORMS[name]

    def body(t):
        module = layer(t, *sizes, kind=kind)
        x = t.linspace(-1, 1, 8).double().reshape(2, 4)
        utils = t.nn.utils if older else t.nn.utils.parametrizations
        getattr(utils, function)(module, **options)
        module(x)
        found = [*trained(t, module, x), dict(module.state_dict()), module.weight]
        if older:
            getattr(t.nn.utils, f"remove_{function}")(module)
        else:
            t.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return [*found, list(module.parameters()), module.eval()(x)]

    ours, theirs = (outcome(body, module) for module in (wengert, torch))
    assert_same(ours, theirs, name, rtol=1e-8, atol=1e-8)


FILLS = {
    "uniform": ("uniform_", (-1, 2), (3, 4)),
    "normal": ("normal_", (1, 2), (30,)),
    "cut off": ("trunc_normal_", (), (40, 5)),
    "cut off far out": ("trunc_normal_", (0.0, 1.0, 2.0, 4.0), (40, 5)),
    "cut off narrowly": ("trunc_normal_", (0.0, 1.0, -0.1, 0.1), (4, 50)),
    "constant": ("constant_", (3,), (2,)),
    "ones": ("ones_", (), (2,)),
    "zeros": ("zeros_", (), (2,)),
    "eye": ("eye_", (), (2, 3)),
    "dirac": ("dirac_", (2,), (4, 2, 3, 3)),
    "dirac, one dimension": ("dirac_", (), (4, 2, 3)),
    "xavier, uniform": ("xavier_uniform_", (2.0,), (4, 2, 3)),
    "xavier, normal": ("xavier_normal_", (), (4, 5)),
    "kaiming, uniform": ("kaiming_uniform_", (5**0.5,), (3, 4)),
    "kaiming, normal": ("kaiming_normal_", (0, "fan_out", "relu"), (3, 4)),
    "kaiming, empty": ("kaiming_normal_", (), (3, 0)),
    "orthogonal": ("orthogonal_", (2.0,), (3, 5)),
    "orthogonal, tall": ("orthogonal_", (), (5, 2, 2)),
    "sparse": ("sparse_", (0.3,), (7, 3)),
    "eye of three dimensions": ("eye_", (), (2, 3, 4)),
    "dirac of two dimensions": ("dirac_", (), (2, 3)),
    "dirac in groups": ("dirac_", (3,), (4, 2, 3)),
    "fans of a vector": ("xavier_uniform_", (), (4,)),
    "unknown mode": ("kaiming_uniform_", (0, "fan"), (3, 4)),
    "unknown nonlinearity": ("kaiming_uniform_", (0, "fan_in", "step"), (3, 4)),
    "orthogonal vector": ("orthogonal_", (), (3,)),
    "sparse vector": ("sparse_", (0.1,), (3,)),
}


@pytest.mark.parametrize("name", FILLS)
def test_initial_values_are_pytorchs(name):
    function, args, shape = FILLS[name]

    def body(t):
        t.manual_seed(3)
        tensor = t.empty(shape, dtype=t.float64, requires_grad=True)
        made = getattr(t.nn.init, function)(tensor, *args)
        # what is drawn next tells whether as many numbers were drawn
        return made is tensor, tensor.detach(), t.rand(2)

    ours, theirs = (outcome(body, module) for module in (wengert, torch))
    assert_same(ours, theirs, name, atol=1e-14)


@pytest.mark.parametrize("body", PROGRAMS, ids=lambda body: body.__name__)
def test_a_program_does_the_same(body):
    ours, theirs = (outcome(body, module) for module in (wengert, torch))
    assert_same(ours, theirs, body.__name__, rtol=1e-6)
