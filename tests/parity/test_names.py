"""Test small functions under PyTorch's names against PyTorch's."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("parameters", [{}, {"stride": 2, "padding": 1}, {"groups": 2}])
def test_gradients_of_convolutions_are_functions(dimensions, parameters):
    groups = parameters.get("groups", 1)
    made = []
    for library in (wg, torch):
        library.manual_seed(0)
        x = library.randn(2, 4, *(6,) * dimensions)
        weight = library.randn(6, 4 // groups, *(3,) * dimensions)
        out = getattr(library.nn.functional, f"conv{dimensions}d")(x, weight, **parameters)
        grad = library.randn(*out.shape)
        for what, arguments in (
            ("input", (x.shape, weight, grad)),
            ("weight", (x, weight.shape, grad)),
        ):
            function = getattr(library.nn.grad, f"conv{dimensions}d_{what}")
            made.append(function(*arguments, **parameters).numpy())
    for ours, theirs in zip(made[:2], made[2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 5, 8, 13])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_shares_of_examples_are_the_same(size, count, drop_last):
    for shuffle in (False, True):
        shares = []
        for library in (wg, torch):
            kind = library.utils.data.DistributedSampler
            samplers = [
                kind(range(size), count, rank, shuffle, seed=3, drop_last=drop_last)
                for rank in range(count)
            ]
            for sampler in samplers:
                sampler.set_epoch(2)
            shares.append([(len(sampler), list(sampler)) for sampler in samplers])
        assert shares[0] == shares[1]


def test_batch_normalisation_over_processes_is_that_of_one():
    made = []
    for library in (wg, torch):
        library.manual_seed(0)
        net = library.nn.Sequential(
            library.nn.Conv2d(1, 2, 1), library.nn.Sequential(library.nn.BatchNorm2d(2))
        )
        net[1][0].weight.data.fill_(3.0)
        converted = library.nn.SyncBatchNorm.convert_sync_batchnorm(net).eval()
        x = library.randn(2, 1, 3, 3)
        made.append((list(converted.state_dict()), converted(x).detach().numpy()))
        assert type(converted[1][0]) is library.nn.SyncBatchNorm
        assert converted[1][0].weight is not None
    assert made[0][0] == made[1][0]
    np.testing.assert_allclose(made[0][1], made[1][1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "float32"},
        {"dtype": "int16", "count": 3},
        {"dtype": "uint8", "count": 2, "offset": 5},
        {"dtype": "float64", "offset": 8},
        {"dtype": "float64", "offset": 3},
        {"dtype": "float64", "count": 9},
        {"dtype": "int8", "count": 0},
        {"dtype": "int8", "offset": 40},
    ],
)
def test_memory_of_other_objects(arguments):
    results = []
    for library in (wg, torch):
        buffer = bytearray(range(32))
        options = {**arguments, "dtype": getattr(library, arguments["dtype"])}
        try:
            made = library.frombuffer(buffer, **options)
            made[0] = 7
            results.append((made.numpy().tolist(), bytes(buffer)))
        except ValueError as error:
            results.append(str(error)[:30])
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "arguments", [(3,), (1, 4), (0, 1, 0.25), (5, 1, -2), (0.5, 2.9), (1, 1), (0, 3, -1)]
)
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_ranges_with_their_end(arguments):
    results = []
    for library in (wg, torch):
        try:
            made = library.range(*((0, *arguments) if len(arguments) == 1 else arguments))
            results.append((made.tolist(), str(made.dtype)))
        except RuntimeError:
            results.append("error")
    assert results[0] == results[1]


def test_the_line_search_has_its_private_name():
    results = []
    for library in (wg, torch):
        module = __import__(f"{library.__name__}.optim.lbfgs", fromlist=["_strong_wolfe"])
        x, d = library.tensor([3.0, -2.0]), library.tensor([-1.0, 0.7])

        def objective(x, t, d):
            at = (x + t * d).detach().requires_grad_()
            value = (at**4).sum() + at.prod()
            value.backward()
            return value.item(), at.grad

        f, g = objective(x, 0.0, d)
        value, grad, t, count = module._strong_wolfe(objective, x, 1.0, d, f, g, g.dot(d))
        results.append((round(value, 3), [round(v, 3) for v in grad.tolist()], count, float(t)))
    assert results[0][:3] == results[1][:3]
    assert abs(results[0][3] - results[1][3]) < 1e-5


def test_tensors_have_no_public_name_but_pytorchs():
    names = {name for cls in wg.Tensor.__mro__ for name in vars(cls) if name[0] != "_"}
    # the array API standard's
    assert names - {*dir(torch.Tensor)} == {"to_device"}
