"""SciPy's optimisers, with derivatives that nobody has to write.

`wengert.scipy.minimize` is `scipy.optimize.minimize` with ``jac`` and ``hess`` supplied. The
example fits the centres, widths and weights of two bell curves to a sample, by maximum likelihood.
The parameters are of different kinds, kept in a dictionary, and the function is written in NumPy.
"""

import numpy as np

import wengert as wg


def negative_log_likelihood(p, sample):
    """Return how unlikely a sample is under two bell curves, given logs of widths and weights."""
    weights = p["log_weights"] - np.logaddexp.reduce(p["log_weights"])
    z = (sample[:, None] - p["centres"]) * np.exp(-p["log_widths"])
    each = weights - p["log_widths"] - 0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    return -np.mean(np.logaddexp.reduce(each, axis=1))


def main():
    rng = np.random.default_rng(0)
    sample = np.concatenate([rng.normal(-2.0, 0.5, 300), rng.normal(1.0, 1.0, 700)])
    start = {
        "centres": np.array([-1.0, 0.5]),
        "log_widths": np.zeros(2),
        "log_weights": np.zeros(2),
    }
    try:
        for method in ("L-BFGS-B", "trust-ncg"):
            result = wg.scipy.minimize(
                negative_log_likelihood, start, args=(sample,), method=method
            )
            p = result.x
            share = np.exp(p["log_weights"] - np.logaddexp.reduce(p["log_weights"]))
            print(f"{method}: {result.nit} steps, {result.nfev} values, {result.njev} gradients")
            print("  centres", p["centres"].round(3), "(made with -2 and 1)")
            print("  widths ", np.exp(p["log_widths"]).round(3), "(0.5 and 1)")
            print("  shares ", share.round(3), "(0.3 and 0.7)")
    except ImportError as error:
        print(error)


if __name__ == "__main__":
    main()
