"""Test complex gradients: u_x - i u_y, without conjugation."""

import numpy
import pytest


def same(found, expected):
    numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "f", "derivatives"),
    [
        ("square of the absolute value", lambda np, z: np.abs(z) ** 2, lambda x, y: (2 * x, 2 * y)),
        ("real part", lambda np, z: np.real(z), lambda x, y: (1.0, 0.0)),
        ("imaginary part", lambda np, z: np.imag(z), lambda x, y: (0.0, 1.0)),
        ("of a square", lambda np, z: np.real(z**2), lambda x, y: (2 * x, -2 * y)),
        ("of the conjugate", lambda np, z: np.imag(np.conj(z)), lambda x, y: (0.0, -1.0)),
        ("of a product", lambda np, z: np.real((1 + 2j) * z), lambda x, y: (1.0, -2.0)),
    ],
)
def test_gradient_of_a_real_function(ag, name, f, derivatives):
    z = 3.0 + 4.0j
    u_x, u_y = derivatives(z.real, z.imag)
    found = ag.grad(lambda z: f(ag.np, z))(z)
    assert found.dtype == complex
    same(found, u_x - 1j * u_y)
    same(ag.grad(lambda z: ag.np.sum(f(ag.np, z)))(numpy.array([z, z])), [u_x - 1j * u_y] * 2)


def test_holomorphic_grad_is_the_complex_derivative(ag):
    same(ag.holomorphic_grad(lambda z: z**3)(1 + 2j), 3 * (1 + 2j) ** 2)
    same(ag.holomorphic_grad(ag.np.exp)(1j), numpy.exp(1j))
    same(ag.holomorphic_grad(ag.holomorphic_grad(lambda z: z**3))(1 + 2j), 6 * (1 + 2j))
    with pytest.warns(UserWarning, match="Input to holomorphic_grad is not complex"):
        same(ag.holomorphic_grad(lambda z: z**2)(3.0), 6.0)


def test_real_arguments_have_real_gradients(ag):
    found = ag.grad(lambda x: ag.np.abs(x * (3 + 4j)) ** 2)(2.0)
    assert found.dtype == float
    same(found, 100.0)
    spectrum = ag.grad(lambda x: ag.np.sum(ag.np.abs(ag.np.fft.fft(x)) ** 2))
    same(spectrum(numpy.arange(4.0)), 8 * numpy.arange(4.0))


def test_cotangents_are_not_conjugated(ag):
    vjp, value = ag.make_vjp(lambda z: z * (1 + 2j))(3 + 4j)
    same(value, (3 + 4j) * (1 + 2j))
    same(vjp(1.0 + 0j), 1 + 2j)
    same(vjp(1j), 1j * (1 + 2j))


def test_tangents(ag):
    value, tangent = ag.make_jvp(lambda z: z**2)(1 + 2j)(1j)
    same((value, tangent), ((1 + 2j) ** 2, 2j * (1 + 2j)))


def test_jacobian_by_complex_arguments(ag):
    z = numpy.array([3 + 4j, 1 - 1j])
    same(ag.jacobian(lambda z: ag.np.abs(z) ** 2)(z), numpy.diag(2 * numpy.conj(z)))


def test_higher_derivatives_through_complex_values(ag):
    def f(x):
        return ag.np.real(ag.np.exp(1j * x))

    same(ag.grad(f)(0.3), -numpy.sin(0.3))
    same(ag.grad(ag.grad(f))(0.3), -numpy.cos(0.3))
    same(ag.deriv(ag.grad(f))(0.3), -numpy.cos(0.3))


def test_checks_of_complex_functions(ag):
    check = ag("test_util").check_grads
    check(lambda z: z**2 * ag.np.conj(z))(1 + 2j)
    check(lambda z: ag.np.abs(z) ** 2)(numpy.array([1 + 2j, 0.5 - 1j]))


def test_complex_results_have_no_jacobian(ours):
    with pytest.raises(TypeError, match="jacobian only applies to real-output functions"):
        ours.jacobian(lambda z: z**2)(numpy.array([1j]))
