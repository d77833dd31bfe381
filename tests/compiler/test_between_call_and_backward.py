"""`compile`: what becomes of memory between a call and the backward pass that reads it."""

import pytest

import wengert as wg

OPTIONS = {"measure": False}


def ones(**kwargs):
    return wg.ones(3, dtype=wg.float64, **kwargs)


def add_one(kept):
    kept.add_(1)


def write_by_an_alias(kept):
    kept.detach()[:1].mul_(2)


def assign_data(kept):
    kept.data = kept.data * 2


def set_memory(kept):
    kept.set_(ones() * 2)


def product(x, kept):
    return x * kept


def product_of_a_view(x, kept):
    return x * kept[:]


def square_of_what_is_written(x, kept):
    kept.data = kept.data + 1
    return x * x * kept


@pytest.mark.parametrize("change", [add_one, write_by_an_alias, assign_data, set_memory])
@pytest.mark.parametrize("function", [product, product_of_a_view, square_of_what_is_written])
def test_backward_passes_never_read_what_was_there_before(function, change):
    f = wg.compile(function, backend="numpy", options=OPTIONS)
    for _ in range(3):
        x, kept = ones(requires_grad=True), ones()
        loss = f(x, kept).sum()
        change(kept)
        with pytest.raises(RuntimeError, match=r"modified by an inplace|has got other memory"):
            loss.backward()


def test_what_no_backward_pass_reads_may_be_written_to():
    f = wg.compile(product, backend="numpy", options=OPTIONS)
    for k in range(3):
        x, kept = ones(requires_grad=True), ones() * k
        loss = f(x, kept).sum()
        x.detach().mul_(5)
        loss.backward()
        assert x.grad.tolist() == [k] * 3


SCALE = [ones()]


@pytest.mark.parametrize("change", [lambda: SCALE[0].add_(1), lambda: SCALE.__setitem__(0, ones())])
def test_functions_do_not_run_again_for_second_derivatives_on_what_has_changed(change):
    f = wg.compile(lambda x: x * x + SCALE[0].sin(), backend="numpy", options=OPTIONS)
    x = ones(requires_grad=True)
    for _ in range(3):
        result = f(x)
        change()
        with pytest.raises(RuntimeError, match="has changed since it was called"):
            wg.autograd.grad((result * result).sum(), x, create_graph=True)
