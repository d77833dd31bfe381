"""Test `nn.utils`: gradient clipping, parameter vectors, parametrised tensors."""

import copy
import pickle

import pytest

import wengert as wg
from wengert import nn
from wengert.nn.utils import parametrizations, parametrize

clip_norm, clip_value = nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_


def with_grads(*values):
    made = []
    for value in values:
        leaf = wg.zeros(len(value), requires_grad=True)
        leaf.grad = wg.tensor(value)
        made.append(leaf)
    return made


# -- clipping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("norm_type", "norm"), [(2.0, 13.0), (1, 19.0), (float("inf"), 12.0)])
def test_gradients_of_a_large_norm_are_scaled_down(norm_type, norm):
    leaves = with_grads([3.0, 4.0], [12.0])
    grads = [leaf.grad for leaf in leaves]
    assert clip_norm(leaves, 1.0, norm_type).item() == pytest.approx(norm)
    assert nn.utils.get_total_norm(grads, 2.0).item() == pytest.approx(13 / norm, rel=1e-5)
    assert all(leaf.grad is grad for leaf, grad in zip(leaves, grads, strict=True))


def test_gradients_of_a_small_norm_and_absent_ones_are_left_alone():
    leaves = [*with_grads([3.0, 4.0]), wg.zeros(1, requires_grad=True)]
    clip_norm(leaves, 100.0)
    clip_value(leaves, 100.0)
    assert leaves[0].grad.tolist() == [3.0, 4.0] and leaves[1].grad is None
    assert clip_norm(leaves[1], 1.0).item() == 0.0


def test_a_norm_that_is_not_finite_is_an_error_where_that_is_asked_for():
    (leaf,) = with_grads([float("nan"), 1.0])
    with pytest.raises(RuntimeError, match=r"total norm of order 2.0 .* is non-finite"):
        clip_norm(leaf, 1.0, error_if_nonfinite=True)
    assert leaf.grad[1].item() == 1.0
    assert clip_norm(leaf, 1.0).isnan()


def test_gradients_of_several_dtypes_are_clipped_together():
    a, b = with_grads([3.0], [4.0])
    b.data, b.grad = b.data.double(), None
    b.grad = wg.tensor([4.0], dtype=wg.float64)
    assert clip_norm([a, b], 1.0).item() == pytest.approx(5.0)
    assert (a.grad.dtype, b.grad.dtype) == (wg.float32, wg.float64)


def test_elements_of_gradients_are_brought_into_bounds():
    leaves = with_grads([-3.0, 0.5], [12.0])
    clip_value(iter(leaves), 1)
    assert [leaf.grad.tolist() for leaf in leaves] == [[-1.0, 0.5], [1.0]]


def test_an_empty_generator_and_the_old_name_are_warned_of():
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        clip_norm((leaf for leaf in ()), 1.0)
    with pytest.warns(FutureWarning, match=r"clip_grad_norm` is now deprecated"):
        nn.utils.clip_grad_norm(with_grads([1.0]), 1.0)


# -- vectors ---------------------------------------------------------------------------------------


def test_parameters_become_a_vector_that_is_differentiable_and_come_back():
    linear = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(linear.parameters())
    vector.sum().backward()
    assert linear.weight.grad.tolist() == [[1.0, 1.0]] * 3
    nn.utils.vector_to_parameters(wg.arange(9.0), linear.parameters())
    assert linear.bias.tolist() == [6.0, 7.0, 8.0] and linear.bias.requires_grad
    with pytest.raises(RuntimeError, match="the parameters have 9 elements, but vec has 8"):
        nn.utils.vector_to_parameters(wg.zeros(8), linear.parameters())
    with pytest.raises(TypeError, match=r"expected torch.Tensor, but got: list"):
        nn.utils.vector_to_parameters([1.0], linear.parameters())
    assert linear.bias.tolist() == [6.0, 7.0, 8.0]


def test_initial_values_are_skipped_without_drawing_a_number():
    state = wg.get_rng_state()
    linear = nn.utils.skip_init(nn.Linear, 2, 3, dtype=wg.float64)
    assert linear.weight.shape == (3, 2) and linear.weight.dtype == wg.float64
    assert wg.equal(wg.get_rng_state(), state)
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module; got <class 'int'>"):
        nn.utils.skip_init(int)


# -- parametrised tensors --------------------------------------------------------------------------


class Double(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Grown(nn.Module):
    def forward(self, x):
        return wg.cat([x, x])


class Wide(nn.Module):
    def forward(self, x):
        return x.double()


class Number(nn.Module):
    def forward(self, x):
        return 3


class BackToNumber(Double):
    def right_inverse(self, x):
        return 3


class BackToDouble(Double):
    def right_inverse(self, x):
        return x.double()


def linear():
    made = nn.Linear(2, 2, bias=False)
    with wg.no_grad():
        made.weight.copy_(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    return made


def test_a_parametrised_weight_is_computed_and_its_origin_is_learned():
    module = linear()
    weight = module.weight
    assert parametrize.register_parametrization(module, "weight", Double()) is module
    assert module.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    parametrize.register_parametrization(module, "weight", Double())
    assert module.weight.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert module.parametrizations.weight.original is weight
    assert [name for name, _ in module.named_parameters()] == ["parametrizations.weight.original"]
    module(wg.ones(1, 2)).sum().backward()
    assert weight.grad.tolist() == [[4.0, 4.0]] * 2
    module.weight = wg.ones(2, 2)
    assert weight.tolist() == [[0.25, 0.25]] * 2 and type(module).__name__ == "ParametrizedLinear"


def test_a_parametrisation_is_removed_with_either_value():
    module = linear()
    for left, value in [(True, 2.0), (False, 1.0)]:
        with wg.no_grad():
            module.weight.fill_(1.0)
        parametrize.register_parametrization(module, "weight", OneWay())
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=left)
        assert type(module) is nn.Linear and not parametrize.is_parametrized(module)
        assert module.weight.tolist() == [[value, value]] * 2
        assert isinstance(module.weight, nn.Parameter)
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(module, "weight")


class OneWay(nn.Module):
    def forward(self, x):
        return 2 * x


def test_copies_of_a_parametrised_module_are_parametrised_and_pickles_are_refused():
    module = linear()
    parametrizations.weight_norm(module)
    twin = copy.deepcopy(module)
    with wg.no_grad():
        twin.parametrizations.weight.original0.mul_(2)
    assert wg.allclose(twin.weight, 2 * module.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(module)
    other = linear()
    parametrizations.weight_norm(other)
    other.load_state_dict(twin.state_dict())
    assert wg.equal(other.weight, twin.weight)


@pytest.mark.parametrize(
    ("parametrisation", "message"),
    [
        (Grown(), "may not change the shape of the tensor"),
        (Wide(), "may not change the dtype of the tensor"),
        (Number(), "A parametrization must return a tensor. Got int"),
        (BackToNumber(), "must return a Tensor or a Sequence of tensors"),
        (BackToDouble(), "it may not change the dtype"),
    ],
)
def test_a_parametrisation_that_does_not_fit_changes_nothing(parametrisation, message):
    module = linear()
    before = (type(module), repr(module), module.weight.tolist())
    with pytest.raises(ValueError, match=message):
        parametrize.register_parametrization(module, "weight", parametrisation)
    assert (type(module), repr(module), module.weight.tolist()) == before


@pytest.mark.parametrize("parametrisation", [Grown(), Wide(), Number(), BackToNumber()])
def test_a_further_parametrisation_that_does_not_fit_changes_nothing(parametrisation):
    module = parametrize.register_parametrization(linear(), "weight", Double())
    with pytest.raises(ValueError, match=r"must return a tensor|may not change|must have the same"):
        parametrize.register_parametrization(module, "weight", parametrisation)
    assert len(module.parametrizations.weight) == 1


def test_a_parametrisation_may_grow_where_that_is_called_unsafe():
    module = parametrize.register_parametrization(linear(), "weight", Grown(), unsafe=True)
    assert module.weight.shape == (4, 2)
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(module, "absent", Double())
    with pytest.raises(RuntimeError, match="Grown does not implement right_inverse"):
        module.weight = wg.ones(4, 2)


def test_a_weight_is_computed_once_where_that_is_asked_for():
    calls = []

    class Counted(Double):
        def forward(self, x):
            calls.append(1)
            return super().forward(x)

    module = parametrize.register_parametrization(linear(), "weight", Counted())
    calls.clear()
    with parametrize.cached(), parametrize.cached():
        assert module.weight is module.weight
    assert len(calls) == 1
    assert module.weight is not module.weight and len(calls) == 3


def test_parametrisations_are_handed_to_another_module():
    module, other = linear(), linear()
    parametrize.register_parametrization(module, "weight", Double())
    parametrize.transfer_parametrizations_and_params(module, other)
    assert other.parametrizations.weight.original is module.parametrizations.weight.original
    assert parametrize.type_before_parametrizations(other) is nn.Linear
    assert parametrize.transfer_parametrizations_and_params(linear(), other) is other


# -- norms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
def test_an_orthogonal_weight_takes_any_orthogonal_value(orthogonal_map):
    module = nn.Linear(3, 3, dtype=wg.float64)
    parametrizations.orthogonal(module, orthogonal_map=orthogonal_map)
    turned = nn.init.orthogonal_(wg.empty(3, 3, dtype=wg.float64))
    module.weight = turned
    assert wg.allclose(module.weight, turned)
    module(wg.ones(1, 3).double()).square().sum().backward()
    with wg.no_grad():
        for param in module.parameters():
            param -= 0.1 * param.grad
    w = module.weight
    assert wg.allclose(w @ w.mT, wg.eye(3).double()) and not wg.allclose(w, turned)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda m: parametrizations.orthogonal(m, "bias"),
            "Expected a matrix or batch of matrices",
        ),
        (lambda m: parametrizations.orthogonal(m, "x"), "has no parameter or buffer with name 'x'"),
        (lambda m: parametrizations.orthogonal(m, orthogonal_map="x"), "orthogonal_map has to be"),
        (lambda m: parametrizations.spectral_norm(m, n_power_iterations=0), "to be positive"),
    ],
)
def test_norms_refuse_what_they_cannot_do(action, message):
    module = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=message):
        action(module)
    assert type(module) is nn.Linear


def test_a_spectral_norm_divides_by_the_largest_singular_value():
    module = nn.Linear(3, 4, dtype=wg.float64)
    parametrizations.spectral_norm(module, n_power_iterations=50)
    assert wg.linalg.matrix_norm(module.weight, 2).item() == pytest.approx(1.0)
    before = module.parametrizations.weight[0]._u.tolist()
    module.eval()(wg.ones(1, 3).double())
    assert module.parametrizations.weight[0]._u.tolist() == before


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
def test_norms_by_hooks_can_be_taken_away_again(name):
    module = nn.Linear(3, 2)
    apply, remove = (getattr(nn.utils, prefix + name) for prefix in ("", "remove_"))
    apply(module)
    with pytest.raises(RuntimeError, match=f"Cannot register two {name} hooks"):
        apply(module)
    out = module.eval()(wg.ones(1, 3))
    out.sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    remove(module)
    assert sorted(module.state_dict()) == ["bias", "weight"] and not module._is_hooked
    assert wg.allclose(module(wg.ones(1, 3)), out, atol=1e-6)
    with pytest.raises(ValueError, match=f"{name} of 'weight' not found"):
        remove(module)
    with pytest.raises(ValueError, match="can't have uninitialized parameters"):
        apply(nn.LazyLinear(2))


def test_weights_saved_by_the_older_norm_load_into_the_newer():
    state = {"weight_g": wg.full((2, 1), 5.0), "weight_v": wg.tensor([[3.0, 4.0], [4.0, 3.0]])}
    module = parametrizations.weight_norm(nn.Linear(2, 2, bias=False))
    module.load_state_dict(state)
    assert wg.allclose(module.weight, wg.tensor([[3.0, 4.0], [4.0, 3.0]]))
