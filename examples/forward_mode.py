"""Forward mode: derivatives carried along with the values.

Reverse mode goes back from one result to all inputs. Forward mode follows the computation from one
direction of the inputs to all results, and keeps nothing for later. Use it for functions with few
inputs and many outputs, and for products of Jacobians or Hessians with a vector.
"""

import wengert as wg
from wengert.autograd import forward_ad
from wengert.func import grad, jacfwd, jvp


def orbit(angle_and_radius):
    """Return a curve in space, a point for each of 200 times, from two numbers."""
    angle, radius = angle_and_radius
    t = wg.linspace(0.0, 6.0, 200, dtype=wg.float64)
    return wg.stack([radius * wg.cos(t + angle), radius * wg.sin(t + angle), t * angle])


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def main():
    inputs = wg.tensor([0.4, 2.0], dtype=wg.float64)

    # one direction: how the curve moves when the radius grows
    points, motion = jvp(orbit, (inputs,), (wg.tensor([0.0, 1.0], dtype=wg.float64),))
    print("200 points in space:", tuple(points.shape), "and how they move:", tuple(motion.shape))
    print("  the first moves by", motion[:, 0].numpy().round(4))

    # all directions: a Jacobian with 600 rows in two forward passes; reverse mode would need 600
    print("Jacobian:", tuple(jacfwd(orbit)(inputs).shape))

    # the same by hand: a dual number is a value and its tangent
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(wg.tensor(3.0), wg.tensor(1.0))
        value, slope = forward_ad.unpack_dual(dual**2 * wg.log(dual))
        print(f"x² ln x at 3: {value.item():.5f}, slope {slope.item():.5f}")

    # forward over reverse: a product with the Hessian, without the Hessian
    x = wg.linspace(-1.0, 1.0, 1000, dtype=wg.float64)
    direction = wg.ones_like(x)
    _, product = jvp(grad(rosenbrock), (x,), (direction,))
    step = 1e-6
    ahead, behind = grad(rosenbrock)(x + step * direction), grad(rosenbrock)(x - step * direction)
    error = (product - (ahead - behind) / (2 * step)).abs().max().item()
    print(
        "Hessian times a vector, in 1000 variables; off the difference quotient by", f"{error:.1e}"
    )


if __name__ == "__main__":
    main()
