from importlib import import_module

import numpy as np
import pytest
from benchmarks.gradbench import inputs
from benchmarks.gradbench.evals import _descent, ba, ht, kmeans, particle, saddle
from benchmarks.gradbench.further import network
from benchmarks.gradbench.references import plain_numpy

import wengert as wg

SIZES = {
    "hello": (),
    "gmm": (3, 4, 20),
    "ba": (2, 3, 5),
    "ht": (40, 6, True),
    "lstm": (2, 8),
    "kmeans": (4, 50, 3),
    "ode": (6, 4),
    "llsq": (16, 5),
    "lse": (30,),
    "det": (5,),
    "particle": (),
    "saddle": (),
    "network": (4, 5, 3, 2),
    "rosenbrock": (7,),
    "nbody": (4,),
}
SCALARS = {"hello": 1, "gmm": 4, "lstm": 2, "llsq": 1, "lse": 1, "det": 1, "rosenbrock": 1}
SCALARS |= {"nbody": 2, "particle": 1}
"""The number of arguments to differentiate, of those that give a number and its gradient."""


def module_of(name):
    package = "further" if name in ("network", "rosenbrock", "nbody") else "evals"
    return import_module(f"benchmarks.gradbench.{package}.{name}")


def arguments(name, *size):
    return module_of(name).arguments(getattr(inputs, name)(*(size or SIZES[name])))


def flat(value):
    if isinstance(value, tuple | list):
        return np.concatenate([flat(part) for part in value])
    return np.asarray(value.detach() if hasattr(value, "detach") else value).ravel()


def differences(f, args, place, h=1e-6):
    """The Jacobian of `f` by one of its arguments, by central differences: a column an element."""
    columns = []
    for index in np.ndindex(*args[place].shape):
        ends = []
        for step in (h, -h):
            moved = args[place].numpy().copy()
            moved[index] += step
            ends.append(flat(f(*args[:place], wg.from_numpy(moved), *args[place + 1 :])))
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.stack(columns, axis=-1)


def close(ours, numeric):
    np.testing.assert_allclose(ours, numeric, rtol=0, atol=2e-7 * max(1, np.abs(numeric).max()))


@pytest.mark.parametrize("name", SIZES)
def test_an_objective_is_that_of_plain_numpy(name):
    args = arguments(name)
    arrays = [arg.numpy() if isinstance(arg, wg.Tensor) else arg for arg in args]
    theirs = flat(getattr(plain_numpy, name)(*arrays))
    np.testing.assert_allclose(flat(module_of(name).objective(*args)), theirs, rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SCALARS)
def test_a_gradient_is_that_of_finite_differences(name):
    module, args = module_of(name), list(arguments(name))
    numeric = [differences(module.objective, args, place)[0] for place in range(SCALARS[name])]
    close(flat(module.gradient(*args)), np.concatenate(numeric))


def test_the_gradient_of_an_ode_is_that_of_its_last_element():
    args = list(arguments("ode"))
    module = module_of("ode")
    close(flat(module.gradient(*args)), differences(module.objective, args, 0)[-1])


def test_the_network_goes_against_its_gradient():
    args = list(arguments("network"))
    for place, new in enumerate(network.gradient(*args)):
        gradient = flat((args[place] - new) / network.RATE)
        close(gradient, differences(network.objective, args, place)[0])


def test_the_step_of_kmeans_is_its_gradient_over_its_second_derivatives():
    args = list(arguments("kmeans"))

    def slope(*args):
        return wg.func.grad(kmeans.objective)(*args)

    first = differences(kmeans.objective, args, 0)[0]
    second = np.diagonal(differences(slope, args, 0))
    close(flat(kmeans.gradient(*args)), first / second)


def test_the_sparse_jacobian_of_bundle_adjustment_is_the_dense_one():
    args = arguments("ba")
    rows, columns, values = ba.functions(lambda f: f)["jacobian"](*args)
    height = len(rows) - 1
    dense = np.zeros((height, sum(args[place].numel() for place in range(3))))
    dense[np.repeat(np.arange(height), np.diff(rows)), columns] = values.numpy()
    numeric = [differences(ba.objective, list(args), place) for place in range(3)]
    close(dense, np.concatenate(numeric, axis=1))


@pytest.mark.parametrize("turned", [True, False])
def test_a_camera_that_is_not_turned_has_the_derivatives_of_its_rotation(turned):
    cameras, *others = arguments("ba", 1, 1, 1)
    if not turned:
        cameras[:, :3] = 0
    blocks, _ = ba.gradient(cameras, *others)
    numeric = differences(ba.objective, [cameras, *others], 0)[:2, :3]
    # a rotation by nothing is linear in its vector, so only its first derivative is right
    np.testing.assert_allclose(blocks[0, :, :3].numpy(), numeric, rtol=1e-5, atol=1e-6)


def test_the_jacobian_of_a_hand_on_triangles_has_the_columns_of_each_points_own_parameters():
    args = list(arguments("ht"))
    ours = ht.gradient(*args).numpy()
    by_us = differences(ht.objective, args, 1).reshape(6, 3, 6, 2)
    own = np.stack([by_us[point, :, point] for point in range(6)]).reshape(18, 2)
    close(ours, np.concatenate((own, differences(ht.objective, args, 0)), axis=1))


def test_the_jacobian_of_a_hand_on_vertices_has_the_columns_of_the_pose():
    args = list(arguments("ht", 40, 6, False))
    close(ht.gradient(*args).numpy(), differences(ht.objective, args, 0))


def test_a_hand_that_is_not_turned_is_where_it_was():
    theta, *others = arguments("ht")
    theta[:3] = 0
    arrays = [arg.numpy() if isinstance(arg, wg.Tensor) else arg for arg in (theta, *others)]
    np.testing.assert_allclose(flat(ht.objective(theta, *others)), flat(plain_numpy.ht(*arrays)))


def test_descent_takes_the_steps_that_the_suite_prescribes():
    def f(x):
        return (x * x).sum()

    x = _descent.argmin(f, wg.func.grad(f), wg.ones(2, dtype=wg.float64))
    # the point that the suite expects of saddle
    np.testing.assert_allclose(x.numpy(), 8.246324826140356e-06, rtol=1e-13)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", ["ff", "fr", "rf", "rr"])
def test_the_particle_stays_where_the_suite_has_it_hit(function):
    expected = 0.2071918746486116
    solve = particle.functions(lambda f: f)[function]
    found = solve(*particle.arguments({"w": expected}))
    assert found.item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("outer", "fr")
@pytest.mark.parametrize("inner", "fr")
def test_the_greatest_height_and_its_slope_are_found_in_all_modes(outer, inner):
    start = wg.tensor([1.0, 1.0], dtype=wg.float64)
    highest = saddle.highest(_descent.GRADIENTS[inner])
    assert highest(start, start).item() == pytest.approx(2, rel=1e-9)
    slope = _descent.GRADIENTS[outer](highest)(start, start)
    np.testing.assert_allclose(slope.numpy(), [2.0, 2.0])


def test_saddle_offers_x_and_then_y():
    # so near that no step is taken
    start = wg.tensor([1e-6, 2e-6], dtype=wg.float64)
    for solve in saddle.functions(lambda f: f).values():
        np.testing.assert_array_equal(solve(start).numpy(), [1e-6, 2e-6, 1e-6, 2e-6])


def agree(name, objective, derivative, args):
    """Another library's value and derivative are ours."""
    module = module_of(name)
    for ours, theirs in ((module.objective, objective), (module.gradient, derivative)):
        mine = flat(ours(*arguments(name)))
        atol = 1e-12 * np.abs(mine).max()
        np.testing.assert_allclose(flat(theirs(*args)), mine, rtol=0, atol=atol)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", SIZES)
def test_values_and_derivatives_are_those_of_pytorch(name):
    torch = pytest.importorskip("torch")
    reference = import_module("benchmarks.gradbench.references.pytorch")
    args = [torch.tensor(a.numpy()) if isinstance(a, wg.Tensor) else a for a in arguments(name)]
    agree(name, getattr(reference, name), reference.DERIVATIVES[name], args)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_values_and_derivatives_are_those_of_jax(name):
    jax = pytest.importorskip("jax")
    reference = import_module("benchmarks.gradbench.references.jax_jit")
    args = [
        jax.numpy.asarray(a.numpy()) if isinstance(a, wg.Tensor) else a for a in arguments(name)
    ]
    agree(name, getattr(reference, name), reference.DERIVATIVES[name], args)
