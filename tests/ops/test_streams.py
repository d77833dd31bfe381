"""Test that random functions draw in PyTorch's order."""

import pytest

import wengert as wg

P = wg.tensor([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])


def test_one_sample_is_drawn_in_the_same_way_with_and_without_replacement():
    found = []
    for replacement in (True, False):
        wg.manual_seed(0)
        found.append((wg.multinomial(P, 1, replacement).tolist(), wg.rand(1).item()))
    assert found[0] == found[1] == ([[2], [2]], pytest.approx(0.6976675987243652))


def test_drawing_runs_along_the_memory():
    wg.manual_seed(0)
    plain = wg.randint_like(wg.zeros(3, 2), 9)
    wg.manual_seed(0)
    turned = wg.randint_like(wg.zeros(3, 2).t(), 9)
    assert turned.tolist() == plain.t().tolist() and turned.stride() == (1, 2)
    wg.manual_seed(0)
    of_columns = wg.multinomial(P.t().contiguous().t(), 2).tolist()
    assert of_columns == [[3, 1], [0, 3]]


def test_bools_are_not_counted_to_the_first_success():
    with pytest.raises(NotImplementedError, match="geometric_cpu"):
        wg.zeros(3, dtype=wg.bool).geometric_(0.5)


@pytest.mark.parametrize("n", [2, 100, 2048, 2049, 2050, 5000, 60000])
def test_a_permutation_is_made_by_exchanges_one_after_the_other(n):
    wg.manual_seed(n)
    words = wg.default_generator.stream.words(n - 1).tolist()
    order = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    wg.manual_seed(n)
    assert wg.randperm(n).tolist() == order


@pytest.mark.parametrize("seed", [0, 5, 2**31, 2**40 + 1])
def test_a_generator_starts_from_its_seed_at_once(seed):
    fresh = wg.Generator().manual_seed(seed)
    used = wg.Generator()
    wg.rand(700, generator=used)
    used.manual_seed(seed)
    assert fresh.get_state().tolist() == used.get_state().tolist()
    assert wg.rand(5, generator=fresh).tolist() == wg.rand(5, generator=used).tolist()
    assert used.set_state(fresh.get_state()) is used


def test_probabilities_of_elements_are_drawn_for_in_their_dtype_along_the_memory():
    def drawn(x, **p):
        wg.manual_seed(3)
        return x.bernoulli_(**p).tolist()

    # the values of PyTorch
    assert drawn(wg.zeros(6), p=wg.tensor(0.4)) == [1, 1, 1, 1, 0, 1]
    assert drawn(wg.zeros(6), p=wg.full((6,), 0.4, dtype=wg.float64)) == [1, 1, 0, 1, 0, 0]
    assert drawn(wg.zeros(6), p=0.4) == [1, 1, 0, 1, 0, 0]
    assert drawn(wg.zeros(3, 2).t(), p=wg.full((3,), 0.4)) == [[1, 1, 0], [1, 1, 1]]
    assert wg.zeros(2).bernoulli_(wg.tensor([0, 1])).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="outside of it"):
        wg.zeros(2).bernoulli_(wg.tensor([0.5, float("nan")]))
    assert wg.zeros(2).uniform_(wg.tensor(3.0), wg.tensor(3.0)).tolist() == [3, 3]


def test_a_batch_of_probabilities_fills_a_batch():
    def fill(x, p):
        return x.bernoulli_(p)

    chances = wg.tensor([0.0, 1.0, 0.0])
    x = wg.full((3, 2), 5.0)
    assert wg.vmap(fill, randomness="different")(x, chances).tolist() == [[0, 0], [1, 1], [0, 0]]
    assert x[1].tolist() == [1, 1]
    one = wg.vmap(fill, in_dims=(0, None), randomness="different")
    assert one(wg.zeros(3, 2), chances[1]).tolist() == [[1, 1]] * 3
    for in_dims, randomness in [((0, 0), "same"), ((0, 0), "error"), ((None, 0), "different")]:
        with pytest.raises(RuntimeError, match=r"[vV]map"):
            wg.vmap(fill, in_dims=in_dims, randomness=randomness)(wg.zeros(3, 2)[0:3], chances)


@pytest.mark.parametrize(
    "fill",
    [
        lambda x: x.uniform_(-1, 2),
        lambda x: x.normal_(1, 3),
        lambda x: x.random_(-2, 5),
        lambda x: x.log_normal_(0.5, 2.0),
        lambda x: x.bernoulli_(0.3),
    ],
)
def test_a_fill_is_the_same_with_a_history_and_without(fill):
    filled = []
    for x in (wg.zeros(3, 2), wg.zeros(3, 2).requires_grad_() * 1):
        wg.manual_seed(0)
        assert fill(x) is x and x._version == 1
        filled.append((x.tolist(), wg.rand(1).item()))
    assert filled[0] == filled[1]
    with pytest.raises(RuntimeError, match="leaf"):
        fill(wg.zeros(2).requires_grad_())


def test_small_concentrations_are_drawn_in_double_precision():
    wg.manual_seed(1)
    alpha = wg.full((3, 2), 1e-2)
    drawn = wg._sample_dirichlet(alpha)
    assert drawn[0].tolist() == pytest.approx([1.0, 5.5159e-33], rel=1e-4)
    assert drawn[2].tolist() == pytest.approx([1.1597e-11, 1.0], rel=1e-4)


@pytest.mark.parametrize("draw", [wg.bernoulli, wg.poisson])
def test_parameters_are_in_the_history_with_gradients_of_0(draw):
    p = wg.tensor([0.5, 0.3], requires_grad=True)
    (gradient,) = wg.autograd.grad(draw(p).sum(), p)
    assert gradient.tolist() == [0, 0] and not draw(p.detach()).requires_grad
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(p.detach(), wg.ones(2))
        assert wg.autograd.forward_ad.unpack_dual(draw(dual)).tangent.tolist() == [0, 0]


@pytest.mark.parametrize("which", [0, 1])
def test_binomial_numbers_have_no_derivative(which):
    parameters = [wg.tensor([4.0, 5.0]), wg.tensor([0.5, 0.3])]
    parameters[which].requires_grad_()
    drawn = wg.binomial(*parameters)
    with pytest.raises(RuntimeError, match="derivative for aten::binomial is not implemented"):
        drawn.sum().backward()
    assert not wg.binomial(*[p.detach() for p in parameters]).requires_grad
