"""Test angles of complex numbers, and eager conjugation."""

import math

import pytest

import wengert as wg

INF = math.inf


def test_angles():
    nan = math.nan
    real = wg.tensor([1.0, -2.0, 0.0, -0.0, -INF, nan])
    assert wg.angle(real).tolist()[:5] == pytest.approx([0, math.pi, 0, 0, math.pi])
    assert wg.angle(real)[5].isnan()
    assert wg.angle(wg.tensor([1, -1])).dtype == wg.float32
    z = wg.tensor([1 + 1j, 0, -1, 1e-300j], dtype=wg.complex128, requires_grad=True)
    assert z.angle().tolist() == pytest.approx([math.pi / 4, 0, math.pi, math.pi / 2])
    z.angle().sum().backward()
    assert z.grad[:3].tolist() == pytest.approx([-0.5 + 0.5j, 0, -1j])
    x = real[:3].clone().requires_grad_()
    x.angle().sum().backward()
    assert not x.grad.any()


def test_conjugation_is_never_put_off():
    z = wg.tensor([1 + 2j], requires_grad=True)
    assert not z.conj().is_conj()
    assert not wg.is_neg(z)
    assert z.resolve_conj() is z
    assert wg.resolve_neg(z) is z
    x = wg.ones(2)
    assert wg.conj_physical(x) is x
    (z.conj_physical() * (3 + 1j)).real.sum().backward()
    assert z.grad.tolist() == [3 + 1j]
    y = wg.tensor([1 + 2j])
    assert y.conj_physical_() is y
    assert y.tolist() == [1 - 2j]
