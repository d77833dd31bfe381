"""Test PyTorch's own sample inputs through `vmap` and `jvp`, for every shared operation.

Each takes its samples as function and in place: a batch of the first argument, and of all of them,
is compared with a loop over its elements; a derivative in a direction with the gradients. What is
refused, and why, is in `support.transformed.EXCEPTIONS`.
"""

import warnings

import pytest

from support.opinfo import Comparison
from support.transformed import EXCEPTIONS, mapped_differs, pushed_differs, twins

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # PyTorch's descriptions of its operations need it
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.torch

SAMPLES = {"float64": 3, "complex128": 1, "int64": 1}
DRAWN = """
    bernoulli cauchy exponential geometric log_normal multinomial normal normal/in_place
    normal/number_mean pca_lowrank rand_like randint randint_like randn randn_like svd_lowrank
    uniform nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d
    nn.functional.dropout3d nn.functional.feature_alpha_dropout/with_train
    nn.functional.feature_alpha_dropout/without_train nn.functional.fractional_max_pool2d
    nn.functional.fractional_max_pool3d nn.functional.multi_head_attention_forward
    nn.functional.rrelu nn.functional.scaled_dot_product_attention
"""
"""Operations that draw numbers, or may: two calls do not agree."""
UNSET = "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"
"""Operations whose results are whatever was in memory."""


def label(info):
    return f"{info.name}/{info.variant_test_name}" if info.variant_test_name else info.name


def comparison(info):
    try:
        return Comparison(torch, info)
    except AttributeError:
        return None


COMPARED = {
    label(info): made
    for info in op_db
    if label(info) not in f"{DRAWN} {UNSET}".split() and (made := comparison(info)) is not None
}


def findings(name):
    of = COMPARED[name]
    for dtype, count in SAMPLES.items():
        for form in ("function", "in place"):
            for twin in twins(of, dtype, count if form == "function" else 1, form):
                found = {
                    "vmap": mapped_differs(twin, False),
                    "vmap of all": mapped_differs(twin, True),
                    "jvp": pushed_differs(twin) if dtype != "int64" else None,
                }
                for what, text in found.items():
                    if text is not None:
                        yield f"{dtype} {form} {what}: {text}\n    {twin.shown}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COMPARED)
def test_transforms_agree_with_loops_and_gradients(name):
    expected = [of for of in EXCEPTIONS if name in of.operations.split()]
    new = [text for text in findings(name) if not any(of.explains(text) for of in expected)]
    assert not new, "\n".join(new)


def test_exceptions_are_of_operations_that_are_compared():
    named = {name for of in EXCEPTIONS for name in of.operations.split()}
    assert named <= set(COMPARED), named - set(COMPARED)
