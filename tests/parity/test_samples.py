"""PyTorch's own sample inputs for every operation that both libraries have.

Each operation takes its samples as function, method, in place, operator and alias: values, dtypes,
whether results require a gradient, first and second derivatives in float64 and complex128, and
PyTorch's erroneous inputs: the type of the error and its first words.

By default a fixed selection of each operation's samples is run; ``WENGERT_SAMPLES=all`` runs every
one, in every dtype, and ``WENGERT_SAMPLES=100`` a hundred for each operation and dtype.
"""

import os
import re
import warnings

import pytest

from wengert.testing.opinfo import Comparison

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # PyTorch's descriptions of its operations need it
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.torch

COUNT = os.environ.get("WENGERT_SAMPLES", "20")
LIMIT = None if COUNT == "all" else int(COUNT)
DIFFERENTIABLE = ("float64", "complex128")
PLAIN = ("float32", "int64", "bool")
RARE = ("float16", "complex64", "int8", "int16", "int32", "uint8") if LIMIT is None else ()

DRAWN = """
    bernoulli cauchy exponential geometric log_normal multinomial normal pca_lowrank rand_like
    randint randint_like randn randn_like svd_lowrank uniform nn.functional.alpha_dropout
    nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d
    nn.functional.feature_alpha_dropout nn.functional.fractional_max_pool2d
    nn.functional.fractional_max_pool3d nn.functional.multi_head_attention_forward
    nn.functional.rrelu
"""
"""Operations whose results are drawn: only dtypes, shapes and errors are compared."""

NUMBER = (r"must be Tensor, not int, we do not|invalid combination.*\(int, Tensor\).*we do not",)
REVERSED = ("descriptor",)
TIES = (r"(int64|bool).*: result( 1)? differs",)
OVERLAP = (r"unsupported operation: (some elements|more than one element).*we do not",)
ABSENT = "NotImplementedError|is not supported, since"
LEAST = "requires_grad False"

DEVIATIONS = [
    (
        "either argument may be a number",
        NUMBER,
        "atan2 eq fmod ge gt hypot le logical_and logical_or logical_xor lt maximum minimum ne "
        "rsub",
    ),
    (
        "called with a number for the tensor, a reversed operator swaps the two",
        REVERSED,
        "__radd__ __rand__ __rmul__ __ror__ __rxor__",
    ),
    (
        "which of several equal elements is found is not specified",
        TIES,
        "argsort kthvalue mode sort topk",
    ),
    (
        "results are complete before they are written, so `out` may overlap the input",
        OVERLAP,
        "gather kthvalue masked_select take",
    ),
    ("NumPy has no complex numbers of 32 bits", (ABSENT,), "chalf"),
    ("tensors are dense", (ABSENT,), "to_sparse"),
    ("the memory of a tensor is a NumPy array, whose size is fixed", (ABSENT,), "resize_"),
    ("numbers that are drawn have no history", (LEAST,), "bernoulli normal normal/number_mean"),
    ("PyTorch casts the step to the dtype of `out`, and finds 0", ("step must be",), "arange"),
    (
        "PyTorch's values have errors of up to 1e-6 in float64",
        ("result differs by .*e-0[6-9]:",),
        "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1",
    ),
    (
        "PyTorch's 1/6 is a float32",
        ("derivative 1 by argument 0 differs by .*e-09:",),
        "nn.functional.hardsigmoid",
    ),
    (
        "an array is all the memory that there is to a tensor made from it",
        ("result differs", "out of bounds for storage"),
        "as_strided/partial_views",
    ),
    ("PyTorch has no derivative by the window", ("argument 1 is None in PyTorch",), "istft"),
    ("PyTorch's alias takes no integers, its function does", ("alias special",), "round"),
    (
        "at zero the second derivative of a norm is 0, not NaN, or refused",
        ("derivative 2.*PyTorch's .nan", "derivative 2: we raise"),
        "linalg.norm/subgradients_at_zero",
    ),
]
"""Why, in what (patterns of the findings), and where we are not as PyTorch."""


def label(info):
    return f"{info.name}/{info.variant_test_name}" if info.variant_test_name else info.name


def comparison(info):
    try:
        return Comparison(torch, info, drawn=info.name in DRAWN.split())
    except AttributeError:
        return None


COMPARED = {label(info): made for info in op_db if (made := comparison(info)) is not None}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def findings(name):
    """What differs for one operation, and how many runs were compared."""
    of, found, count = COMPARED[name], [], 0
    for dtype in (*DIFFERENTIABLE, *PLAIN, *RARE):
        if of.takes(dtype):
            more, runs = of.findings(dtype, LIMIT, derivatives=dtype in DIFFERENTIABLE)
            found += [f"{dtype} {finding}" for finding in more]
            count += runs
    more, runs = of.error_findings()
    return found + [str(finding) for finding in more], count + runs


@pytest.mark.parametrize("name", COMPARED)
def test_the_samples_of_an_operation_agree(name):
    found, count = findings(name)
    expected = [p for _, patterns, names in DEVIATIONS if name in names.split() for p in patterns]
    new = [text for text in found if not any(re.search(p, text) for p in expected)]
    assert not new, f"{len(new)} disagreements in {count} runs\n" + "\n".join(new)
    idle = [p for p in expected if not any(re.search(p, text) for text in found)]
    assert not idle, f"no longer a deviation: {idle}"


def test_deviations_are_of_operations_that_are_compared():
    named = {name for _, _, names in DEVIATIONS for name in names.split()}
    assert named <= set(COMPARED), named - set(COMPARED)
