"""Test the behaviour of single layers beyond their functions."""

import copy
import io

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.nn import functional as F


def rows(n, c):
    return wg.arange(float(n * c)).view(n, c) ** 2


# -- tables ---------------------------------------------------------------------------------------


def test_the_row_of_the_padding_is_zero_and_gets_no_gradient():
    table = nn.Embedding(4, 2, padding_idx=-1)
    assert table.padding_idx == 3
    assert table.weight[3].tolist() == [0, 0]
    table(wg.tensor([0, 3, 3])).sum().backward()
    assert table.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]


def test_a_table_that_exists_is_used_as_it_is():
    values = wg.ones(3, 2)
    frozen, learnt = (nn.Embedding.from_pretrained(values, freeze=f) for f in (True, False))
    assert not frozen.weight.requires_grad and learnt.weight.requires_grad
    values[0, 0] = 5
    assert frozen.weight[0, 0] == learnt.weight[0, 0] == 5
    assert nn.Embedding.from_pretrained(values.int())(wg.tensor([0])).tolist() == [[5, 1]]
    bags = nn.EmbeddingBag.from_pretrained(values, freeze=False, mode="max")
    assert bags.weight.requires_grad and bags.mode == "max"


def test_rows_are_shrunk_to_the_largest_norm_when_they_are_looked_up():
    table = nn.Embedding(3, 2, max_norm=1.0, _weight=wg.full((3, 2), 3.0))
    table(wg.tensor([1]))
    assert table.weight.norm(dim=1).tolist() == pytest.approx([18**0.5, 1, 18**0.5], rel=1e-5)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_with_padding_are_vectorised_and_compiled(mode):
    table = nn.EmbeddingBag(4, 3, mode=mode, padding_idx=2)
    bags, offsets = wg.tensor([[0, 2, 1, 2, 2], [3, 3, 2, 1, 0]]), wg.tensor([0, 3])
    weights = wg.arange(6.0).view(2, 3)

    def loss(bag):
        return (table(bag, offsets) * weights).sum()

    values = wg.func.vmap(loss)(bags)
    assert wg.allclose(values, wg.stack([loss(bag) for bag in bags]))
    gradients = wg.autograd.grad(values.sum(), table.weight)[0]
    one_by_one = wg.autograd.grad(loss(bags[0]) + loss(bags[1]), table.weight)[0]
    assert wg.allclose(gradients, one_by_one)
    assert wg.allclose(wg.compile(table)(bags), table(bags))


# -- norms ----------------------------------------------------------------------------------------


def test_running_statistics_follow_the_batches_in_training_only():
    norm = nn.BatchNorm1d(2, momentum=0.5).to(wg.float64)
    x = rows(3, 2).double()
    norm(x)
    mean, var = x.mean(0), x.var(0)
    assert wg.allclose(norm.running_mean, mean / 2)
    assert wg.allclose(norm.running_var, 0.5 + var / 2)
    norm.eval()
    assert wg.allclose(norm(x), (x - mean / 2) / (0.5 + var / 2 + 1e-5).sqrt())
    assert norm.num_batches_tracked == 1


def test_without_momentum_running_statistics_are_means_of_all_batches():
    norm = nn.BatchNorm1d(1, momentum=None).to(wg.float64)
    batches = [wg.tensor([[0.0], [2.0]]), wg.tensor([[3.0], [5.0]]), wg.tensor([[7.0], [7.0]])]
    for batch in batches:
        norm(batch.double())
    assert norm.running_mean.item() == pytest.approx((1 + 4 + 7) / 3)
    assert norm.running_var.item() == pytest.approx((2 + 2 + 0) / 3)


def test_a_batch_of_the_wrong_size_leaves_everything_as_it_was():
    norm = nn.BatchNorm1d(3)
    before = copy.deepcopy(norm.state_dict())
    for shape in ((2, 4), (1, 3), (3,)):
        with pytest.raises((RuntimeError, ValueError)):
            norm(wg.ones(*shape))
    assert norm.state_dict().keys() == before.keys()
    assert all(wg.equal(value, before[name]) for name, value in norm.state_dict().items())


def test_statistics_are_forgotten_on_request():
    norm = nn.BatchNorm1d(2)
    norm(rows(3, 2))
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0, 0] and norm.running_var.tolist() == [1, 1]
    assert norm.num_batches_tracked == 0


def test_a_state_of_the_first_version_has_no_count_of_batches():
    norm = nn.BatchNorm1d(2)
    norm(rows(3, 2))
    state = norm.state_dict()
    del state["num_batches_tracked"]
    state._metadata = {}
    other = nn.BatchNorm1d(2)
    other.load_state_dict(state)
    assert wg.equal(other.running_mean, norm.running_mean)
    assert other.num_batches_tracked == 0


def test_running_statistics_of_old_states_are_not_lost_in_silence():
    state = nn.InstanceNorm1d(2, track_running_stats=True).state_dict()
    state._metadata = {}
    with pytest.raises(RuntimeError, match=r"Unexpected running stats buffer\(s\)"):
        nn.InstanceNorm1d(2).load_state_dict(state)


def test_evaluation_without_running_statistics_uses_those_of_the_batch():
    x = rows(4, 3)
    norm = nn.BatchNorm1d(3, track_running_stats=False)
    assert wg.equal(norm(x), norm.eval()(x))


def test_an_instance_needs_no_batch_dimension():
    norm, x = nn.InstanceNorm1d(2, affine=True), rows(2, 5)
    assert wg.equal(norm(x), norm(x.unsqueeze(0))[0])


def test_a_wrong_number_of_features_is_told_where_nothing_depends_on_it():
    with pytest.warns(UserWarning, match="does not match num_features") as caught:
        nn.InstanceNorm1d(3)(wg.ones(1, 2, 4))
    assert caught[0].filename == __file__


# -- convolutions ---------------------------------------------------------------------------------


def test_an_output_size_is_reached_by_a_transposed_convolution():
    layer = nn.ConvTranspose1d(1, 1, 2, stride=3)
    shapes = [layer(wg.ones(1, 1, 4), output_size=[size]).shape[-1] for size in (11, 12, 13)]
    assert shapes == [11, 12, 13]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_modes_are_those_of_pad(mode):
    layer = nn.Conv2d(1, 1, (2, 3), padding=(1, 2), padding_mode=mode, bias=False)
    x = rows(5, 4).view(1, 1, 5, 4)
    by_hand = F.conv2d(F.pad(x, (2, 2, 1, 1), mode=mode), layer.weight)
    assert wg.equal(layer(x), by_hand)


# -- lazy layers ----------------------------------------------------------------------------------


def test_a_lazy_layer_becomes_an_ordinary_one_by_its_first_call():
    net = nn.Sequential(nn.LazyConv1d(3, 2), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(2))
    assert net(wg.ones(4, 5, 3)).shape == (4, 2)
    kinds = [type(layer) for layer in net]
    assert kinds == [nn.Conv1d, nn.BatchNorm1d, nn.Flatten, nn.Linear]
    assert [tuple(p.shape) for p in net.parameters()] == [(3, 5, 2), (3,), (3,), (3,), (2, 6), (2,)]


def test_a_lazy_layer_draws_what_the_ordinary_one_draws():
    wg.manual_seed(0)
    lazy = nn.LazyLinear(2)
    lazy(wg.ones(4, 3))
    wg.manual_seed(0)
    assert wg.equal(lazy.weight, nn.Linear(3, 2).weight)


@pytest.mark.parametrize("name", ["Linear", "Conv1d", "BatchNorm1d"])
def test_a_lazy_layer_takes_shapes_from_a_state(name):
    arguments = {"Linear": (2,), "Conv1d": (2, 3), "BatchNorm1d": ()}[name]
    known = getattr(nn, name)(4, *arguments)
    lazy = getattr(nn, f"Lazy{name}")(*arguments)
    lazy.load_state_dict(known.state_dict())
    x = wg.randn(3, 4) if name != "Conv1d" else wg.randn(3, 4, 5)
    assert wg.equal(lazy(x), known(x))
    assert type(lazy) is type(known)


def test_a_lazy_layer_has_no_shapes_before():
    lazy = nn.LazyLinear(2)
    assert repr(lazy) == "LazyLinear(in_features=0, out_features=2, bias=True)"
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        _ = lazy.weight.shape


# -- activations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax", "Softmin"])
def test_a_missing_dimension_is_told_where_the_module_is_called(name):
    with pytest.warns(UserWarning, match="Implicit dimension choice") as caught:
        getattr(nn, name)()(wg.ones(2, 2))
    assert caught[0].filename == __file__


def test_former_names_of_bounds_are_understood():
    with pytest.warns(FutureWarning, match="`min_value` is deprecated"):
        layer = nn.Hardtanh(min_value=-3.0)
    assert (layer.min_val, layer.max_val) == (-3.0, 1.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("relu", ()),
        ("elu", (0.5,)),
        ("celu", (0.5,)),
        ("selu", ()),
        ("hardtanh", (-0.5, 0.7)),
        ("leaky_relu", (0.2,)),
        ("rrelu", (0.1, 0.3)),
        ("threshold", (0.5, 9.0)),
    ],
)
def test_functions_in_place_are_recorded(name, options):
    x = wg.tensor([-1.0, 0.3, 2.0], requires_grad=True)
    expected = getattr(F, name)(x, *options)
    y = x * 1
    assert getattr(F, f"{name}_")(y, *options) is y
    assert y.tolist() == expected.tolist()
    weights = wg.tensor([1.0, 2.0, 3.0])
    grads = [wg.autograd.grad((t * weights).sum(), x)[0].tolist() for t in (expected, y)]
    assert grads[0] == grads[1]


def test_a_function_in_place_refuses_a_leaf():
    x = wg.tensor([-1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf"):
        F.elu_(x)
    assert x.tolist() == [-1.0]


# -- losses ---------------------------------------------------------------------------------------


def test_former_arguments_of_losses_are_understood():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        loss = nn.MSELoss(size_average=False)
    assert loss.reduction == "sum"
    assert loss(wg.ones(2), wg.zeros(2)) == 2


def test_weights_of_losses_are_buffers():
    loss = nn.CrossEntropyLoss(wg.tensor([1.0, 2.0]))
    assert list(loss.state_dict()) == ["weight"] and not list(loss.parameters())
    assert loss.double().weight.dtype == wg.float64
    both = nn.BCEWithLogitsLoss(pos_weight=wg.ones(2))
    assert list(both.state_dict()) == ["pos_weight"]


def test_a_distance_that_is_a_module_is_part_of_its_loss():
    assert repr(nn.TripletMarginWithDistanceLoss()) == (
        "TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)"
    )
    own = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
    assert own(wg.zeros(1, 2), wg.ones(1, 2), wg.zeros(1, 2)) == 3


def test_probabilities_of_clusters_add_up_to_one():
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 9, [2, 5], head_bias=True).to(wg.float64)
    x = wg.randn(7, 16, dtype=wg.float64)
    full = layer.log_prob(x)
    assert wg.allclose(full.exp().sum(1), wg.ones(7, dtype=wg.float64))
    for target in range(9):
        output, loss = layer(x, wg.full((7,), target, dtype=wg.int64))
        assert wg.allclose(output, full[:, target])
        assert wg.allclose(loss, -output.mean())
    assert layer.predict(x).tolist() == full.argmax(1).tolist()


@pytest.mark.parametrize("bias", [-9.0, 9.0])
def test_the_prediction_looks_at_clusters_only_where_they_are_ahead(bias):
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 9, [4], head_bias=True)
    with wg.no_grad():
        layer.head.bias[4] = bias
    x = wg.randn(5, 16)
    assert layer.predict(x).tolist() == layer.log_prob(x).argmax(1).tolist()


# -- programs -------------------------------------------------------------------------------------


def test_a_small_network_learns():
    wg.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 2))
    x = wg.randn(64, 2)
    y = (x[:, 0] * x[:, 1] > 0).long()
    loss = nn.CrossEntropyLoss()
    for _ in range(250):
        net.zero_grad()
        loss(net(x), y).backward()
        with wg.no_grad():
            for param in net.parameters():
                param -= 0.5 * param.grad
    assert (net(x).argmax(1) == y).float().mean() > 0.9


def test_a_state_is_saved_and_loaded():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
    net(wg.randn(2, 1, 5, 5))
    file = io.BytesIO()
    np.savez(file, **{name: value.numpy() for name, value in net.state_dict().items()})
    file.seek(0)
    other = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
    other.load_state_dict({name: wg.from_numpy(value) for name, value in np.load(file).items()})
    x = wg.randn(2, 1, 5, 5)
    assert wg.equal(net.eval()(x), other.eval()(x))
