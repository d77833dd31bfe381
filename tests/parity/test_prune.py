"""Test pruning against PyTorch's, with its stream of random numbers."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")  # PyTorch's is not there before
pytestmark = pytest.mark.torch

METHODS = (
    ("random_unstructured", {"amount": 0.3}),
    ("random_unstructured", {"amount": 4}),
    ("l1_unstructured", {"amount": 0.5}),
    ("random_structured", {"amount": 1, "dim": 0}),
    ("random_structured", {"amount": 0.5, "dim": 1}),
    ("ln_structured", {"amount": 0.4, "n": 2, "dim": 0}),
    ("ln_structured", {"amount": 1, "n": float("inf"), "dim": -1}),
    ("ln_structured", {"amount": 0, "n": 1, "dim": 1}),
    ("identity", {}),
)


def layer(library):
    library.manual_seed(0)
    return library.nn.Linear(4, 5)


def both(change):
    made = []
    for library in (wg, torch):
        net = layer(library)
        change(library, net, library.nn.utils.prune)
        made.append(net)
    ours, theirs = ({k: v.numpy() for k, v in net.state_dict().items()} for net in made)
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-6, err_msg=name)
    return made


@pytest.mark.parametrize(("first", "one"), METHODS)
@pytest.mark.parametrize(("second", "two"), METHODS[::2])
def test_methods_choose_the_same_one_after_another(first, one, second, two):
    def change(library, net, prune):
        getattr(prune, first)(net, "weight", **one)
        getattr(prune, second)(net, "weight", **two)

    for net, library in zip(both(change), (wg, torch), strict=True):
        net(library.ones(2, 4)).sum().backward()
        assert net.weight_orig.grad is not None
        zero = net.weight_mask == 0
        assert not bool((net.weight_orig.grad[zero] != 0).any())


def test_a_mask_and_scores_are_taken():
    def change(library, net, prune):
        scores = library.arange(20.0).reshape(5, 4)
        prune.l1_unstructured(net, "weight", 0.25, importance_scores=scores)
        prune.custom_from_mask(net, "bias", library.tensor([0.0, 1.0, 0.0, 1.0, 1.0]))

    both(change)


def test_entries_of_several_parameters_are_chosen_together_and_removed():
    def change(library, net, prune):
        pairs = [(net, "weight"), (net, "bias")]
        prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.4)
        assert prune.is_pruned(net)
        prune.global_unstructured(pairs, prune.RandomUnstructured, amount=3)
        prune.remove(net, "bias")

    both(change)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("l1_unstructured", {"amount": -1}),
        ("l1_unstructured", {"amount": 1.5}),
        ("l1_unstructured", {"amount": "much"}),
        ("l1_unstructured", {"amount": 1000}),
        ("random_structured", {"amount": 1, "dim": 7}),
        ("remove", {}),
    ],
)
def test_errors_are_of_one_type(name, arguments):
    kinds = []
    for library in (wg, torch):
        with pytest.raises(Exception) as caught:
            getattr(library.nn.utils.prune, name)(layer(library), "weight", **arguments)
        kinds.append((caught.type, str(caught.value)[:20]))
    assert kinds[0] == kinds[1]


def test_a_mask_takes_the_dtype_of_what_it_masks():
    for library in (wg, torch):
        prune = library.nn.utils.prune
        container, method = prune.PruningContainer(), prune.L1Unstructured(amount=2)
        container._tensor_name = method._tensor_name = "weight"
        container.add_pruning_method(method)
        before = library.tensor([1, 1, 0, 1])
        mask = container.compute_mask(library.tensor([3.0, 1.0, 0.0, 2.0]), before)
        assert (str(mask.dtype), mask.tolist()) == ("torch.float32", [1, 0, 0, 0])
        assert before.tolist() == [1, 1, 0, 1]
