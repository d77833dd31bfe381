"""Python's loops, conditions and recursion, differentiated as they run.

wengert records the graph while the program runs, so it holds the operations that this run computed:
as many steps as the loop took, and the branch that was taken. You need no special syntax. How often
a loop runs is not a smooth function of the values, so it does not contribute to the derivative.
"""

import wengert as wg


def doubled_until_large(a):
    """Double a vector until its norm is 1000; if its sum is negative, multiply it by 100."""
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    return b if b.sum() > 0 else 100 * b


def power(x, n):
    """xⁿ by recursion: about 2 log₂ n products."""
    if n == 0:
        return wg.ones_like(x)
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def square_root(a):
    """√a by Newton's method, as many steps as it takes."""
    x, steps = a, 0
    while abs(x.item() ** 2 - a.item()) > 1e-12:
        x = (x + a / x) / 2
        steps += 1
    return x, steps


def main():
    a = wg.tensor([0.3, -1.1], requires_grad=True)
    d = doubled_until_large(a)
    d.sum().backward()
    print("doubled until large: the function is linear around a, with slope d / a")
    print("  gradient:", a.grad.tolist())
    print("  d / a:   ", (d / a).tolist())

    x = wg.tensor(1.1, dtype=wg.float64, requires_grad=True)
    (slope,) = wg.autograd.grad(power(x, 13), x, create_graph=True)
    (curve,) = wg.autograd.grad(slope, x)
    print("power by recursion, at 1.1")
    print(f"  slope {slope.item():.6f}, exactly {13 * 1.1**12:.6f}")
    print(f"  curve {curve.item():.6f}, exactly {13 * 12 * 1.1**11:.6f}")

    for value in (2.0, 1e6):
        a = wg.tensor(value, dtype=wg.float64, requires_grad=True)
        root, steps = square_root(a)
        root.backward()
        print(f"Newton's square root of {value:g}: {steps} steps")
        print(f"  gradient {a.grad.item():.9f}, exactly {0.5 * value**-0.5:.9f}")


if __name__ == "__main__":
    main()
