"""Functions of other libraries on arrays of `wengert.numpy`: values, and gradients by differences.

    SCIPY_ARRAY_API=1 PYTHONPATH=src:tests/lib python -m support.array_libraries [WORD ...]
    SCIPY_ARRAY_API=1 PYTHONPATH=src:tests/lib python -m support.array_libraries --page

Each call is evaluated on NumPy's arrays and on ours; what it gives must agree, and the gradient of
its weighted sum with central differences of NumPy's. Libraries that are not installed are left out.
``--page`` prints ``docs/arrays-functions.md``: these calls, and what to write for `CONVERTED`.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import warnings
from typing import Any

import numpy

import wengert as wg
import wengert.numpy as ours

# Names in the calls: x (4, 3), v (4,) positive, w (4,) within the unit, s a number; `xp` the
# namespace of these. A call stands behind the module that it is of.
CALLS = """
    special: logsumexp(v) | softmax(v) | log_softmax(v) | erf(v) | gammaln(v) | betainc(2.0, 3.0, w)
    special: xlogy(v, w) | rel_entr(v, w) | entr(v) | logit(w) | ndtri(w) | expit(v)
    special: stdtrit(3.0, w) | struve(1.0, v)
    special: multigammaln(v + 2, 2) | softplus(v) | voigt_profile(v, w, v) | ellipkinc(v, w)
    stats: zscore(v) | skew(v) | kurtosis(v) | moment(v, order=3) | entropy(v) | gmean(v) | hmean(v)
    stats: pmean(v, 3) | pearsonr(v, w).statistic | pearsonr(v, w).pvalue | tmean(v) | sem(v)
    stats: ttest_1samp(v, 0.5).pvalue | ttest_ind(v, w).statistic | ttest_rel(v, w).pvalue
    stats: f_oneway(v, w).statistic | chisquare(v, v).statistic | variation(v) | circmean(v)
    stats: normaltest(xp.concat((x[:, 0], x[:, 1], v))).statistic | jarque_bera(v).statistic
    stats: boxcox_llf(0.6, v) | yeojohnson_llf(0.6, v) | gstd(v) | tvar(v) | kstat(v, 3)
    stats: differential_entropy(xp.concat((v, w))) | trim_mean(v, 0.2)
    fft: fft(v) | rfft(x) | irfft(v) | hfft(v) | ihfft(v) | fft2(x) | ifftn(x) | fht(v, 0.1, 0.5)
    signal: hilbert(v) | resample(v, 6) | envelope(v) | fftconvolve(v, w)
    interpolate: RBFInterpolator(xp.reshape(v, (4, 1)), w)(xp.asarray([[1.3]]))
    integrate: trapezoid(v) | cumulative_trapezoid(v) | cumulative_simpson(v) | trapezoid(v, w)
    integrate: romb(xp.concat((v, v[:1])))
    integrate: cubature(lambda z: xp.exp(-s * z[:, 0]), 0 * v[:1], 0 * v[:1] + 1).estimate
    integrate: tanhsinh(lambda z, a: xp.exp(-a * z), 0 * s, 0 * s + 1, args=(v,)).integral
    integrate: nsum(lambda k, a: 1 / k**a, 0 * s + 1, xp.asarray(xp.inf), args=(2 + s,)).sum
    optimize: rosen(v) | rosen_der(v) | rosen_hess(v)
    optimize.elementwise: find_root(lambda z, a: z * z - a, (xp.asarray(0.0), 2 + s), args=(s,)).x
    optimize.elementwise: find_minimum(lambda z, a: (z - a) ** 2, (s - 5, s, s + 5), args=(v,)).x
    differentiate: derivative(lambda z: xp.sin(s * z), xp.asarray(0.5)).df
    spatial.transform: Rotation.from_rotvec(v[:3]).apply(w[:3]) | Rotation.from_quat(v).as_matrix()
    spatial.transform: Rotation.from_euler("xyz", w[:3]).as_rotvec()
    spatial.transform: Rotation.from_quat(v).as_mrp()
    cluster.vq: whiten(x)
    sklearn.preprocessing: StandardScaler().fit_transform(x) | MinMaxScaler().fit_transform(x)
    sklearn.preprocessing: Normalizer().fit_transform(x) | MaxAbsScaler().fit_transform(x)
    sklearn.linear_model: Ridge(solver="svd").fit(x, v).coef_
    sklearn.linear_model: Ridge(solver="svd").fit(x, v).predict(x)
    sklearn.decomposition: PCA(2, svd_solver="full").fit(x).explained_variance_
    sklearn.metrics.pairwise: rbf_kernel(x) | cosine_similarity(x) | polynomial_kernel(x, x[:2])
    sklearn.metrics.pairwise: euclidean_distances(x, x[:2] + 3) | linear_kernel(x)
    einops.array_api: rearrange(x, "(a b) c -> b (a c)", b=2) | reduce(x, "a b -> b", "mean")
    einops.array_api: repeat(v, "a -> a b", b=2) | reduce(x, "(a b) c -> a c", "max", b=2)
    opt_einsum: xp.asarray(contract("ab,cb,a->c", x, x, v))
    opt_einsum: xp.asarray(contract("ab,cb->ca", x, x))
    opt_einsum: contract("ab,cb,a->c", x, x, v, backend=xp.__name__)
    xarray: DataArray(x, dims=("a", "b")).mean("a").data | DataArray(x, dims=("a", "b"))[1].data
    xarray: (DataArray(v, dims="a") * DataArray(x, dims=("a", "b"))).sum("b").data
    xarray: DataArray(x, dims=("a", "b")).diff("a").data
    xarray: concat([DataArray(v, dims="a")], "c").data
    pint: (Quantity(v, "m") / Quantity(2.0, "s")).to("km/s").magnitude
    """

# What SciPy computes with NumPy's arrays alone; the error for a tensor names what to write instead.
CONVERTED = """
    stats: norm.logpdf(v) | norm.logpdf(0.5, loc=v) | gamma.cdf(v, 2.0) | poisson.logpmf(2, v)
    stats: t.logpdf(v, 3.0) | beta.logpdf(w, 2.0, 3.0) | norm(v).cdf(0.5)
    integrate: simpson(v) | quad(lambda z: z * s, 0, 1) | solve_ivp(lambda t, y: -v * y, (0, 1), w)
    optimize: minimize(lambda z: (v * z * z).sum(), w) | root(lambda z: z - v, w)
    optimize: least_squares(lambda z: z - v, w)
    spatial.distance: cdist(x, x) | pdist(x)
    signal: convolve(v, v) | correlate(v, v)
    linalg: solve(x[:3], v[:3]) | expm(x[:3]) | cholesky(x[:3]) | sqrtm(x[:3]) | toeplitz(v)
    ndimage: gaussian_filter(x, 1.0)
    interpolate: interp1d([1.0, 2.0, 3.0, 4.0], v)
    """


def calls(texts: str = CALLS) -> list[tuple[str, str]]:
    found = []
    for line in filter(None, map(str.strip, texts.splitlines())):
        module, _, texts = line.partition(": ")
        home = module if module.partition(".")[0] in OTHERS else f"scipy.{module}"
        found += [(home, text.strip()) for text in texts.split(" | ")]
    return found


OTHERS = ("sklearn", "einops", "opt_einsum", "xarray", "pint")
GIVEN = {
    "x": numpy.array([[1.1, 0.3, 2.0], [0.4, 1.7, 0.9], [2.2, 0.6, 1.4], [0.8, 1.9, 0.2]]),
    "v": numpy.array([1.3, 0.7, 2.1, 0.4]),
    "w": numpy.array([0.35, 0.62, 0.21, 0.8]),
    "s": numpy.array(0.6),
}


def evaluated(home: str, text: str, xp: Any, given: dict[str, Any]) -> Any:
    names = {**vars(importlib.import_module(home)), "xp": xp, **given}
    return eval(text, names)


def weighted(value: Any) -> Any:
    """A sum in which each element has another weight."""
    xp = ours if isinstance(value, wg.Tensor) else numpy
    weights = numpy.cos(numpy.arange(value.size) + 1.0).reshape(value.shape)
    weights = xp.asarray(weights)
    if value.dtype.name.startswith("complex"):
        return xp.sum(xp.real(value) * weights) + 0.7 * xp.sum(xp.imag(value) * weights)
    return xp.sum(value * weights)


def difference(home: str, text: str) -> str:
    """What is wrong with a call, or nothing."""
    leaves = {name: ours.asarray(value.copy()).requires_grad_() for name, value in GIVEN.items()}
    theirs = evaluated(home, text, numpy, GIVEN)
    found = evaluated(home, text, ours, leaves)
    if not isinstance(found, wg.Tensor) or not found.requires_grad:
        return f"gives {type(found).__name__} without a gradient"
    if not numpy.allclose(found.detach().numpy(), theirs, rtol=1e-8, atol=1e-10):
        return f"gives {found.detach().numpy()} for {theirs}"
    grads = wg.autograd.grad(weighted(found), list(leaves.values()), allow_unused=True)
    for (name, value), grad in zip(GIVEN.items(), grads, strict=True):
        for place in numpy.ndindex(value.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                given = {**GIVEN, name: moved}
                ends.append(float(weighted(numpy.asarray(evaluated(home, text, numpy, given)))))
            slope, ours_ = (ends[0] - ends[1]) / 2e-6, 0.0 if grad is None else float(grad[place])
            if abs(slope - ours_) > 1e-4 * (1 + abs(slope)):
                return f"has the slope {ours_} by {name}{list(place)}, not {slope}"
    return ""


def compared(words: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """How many calls there were, and what is wrong with which."""
    count, wrong = 0, []
    for home, text in calls():
        if importlib.util.find_spec(home.partition(".")[0]) is None:
            continue
        if words and not any(word in f"{home}: {text}" for word in words):
            continue
        count += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = difference(home, text)
        except Exception as error:
            found = f"raises {type(error).__name__}: {error}".splitlines()[0][:150]
        if found:
            wrong.append(f"{home}: {text} {found}")
    return count, wrong


def cure(home: str, text: str) -> str:
    """What the error of a call says to write instead; the empty string if it does not say."""
    leaves = {name: ours.asarray(value.copy()).requires_grad_() for name, value in GIVEN.items()}
    try:
        evaluated(home, text, ours, leaves)
    except TypeError as error:
        found = re.search(r"Write (.+?),? for scipy's", str(error))
        return found.group(1) if found else ""
    return ""


PAGE = """
# Functions of other libraries

Made by `python -m support.array_libraries --page`. `x` is a matrix, `v` and `w` are vectors, `s` is
a number, all arrays of `wengert.numpy`; [arrays](arrays.md) says how to use them.

## Computed with gradients

The values of each call agree with those on NumPy's arrays, and the gradients of all arrays with
finite differences.

| module | calls |
|---|---|
"""
REST = """
## Computed by SciPy with NumPy alone

For a tensor that requires a gradient these raise an error, which says what to write instead.

| module | call | write |
|---|---|---|
"""


def page() -> str:
    by_module: dict[str, list[str]] = {}
    for home, text in calls():
        by_module.setdefault(home, []).append(f"`{text}`".replace("|", "\\|"))
    works = [f"| `{home}` | {', '.join(texts)} |" for home, texts in by_module.items()]
    rest = [f"| `{home}` | `{text}` | `{cure(home, text)}` |" for home, text in calls(CONVERTED)]
    return "\n".join([PAGE.strip(), *works, REST.rstrip(), *rest, ""])


def main() -> None:
    if sys.argv[1:] == ["--page"]:
        print(page(), end="")
        return
    if importlib.util.find_spec("sklearn") is not None:
        importlib.import_module("sklearn").set_config(array_api_dispatch=True)
    count, wrong = compared(tuple(sys.argv[1:]))
    print("\n".join([*wrong, f"{count} calls, {len(wrong)} differ"]))


if __name__ == "__main__":
    main()
