"""Test PyTorch's own sample inputs for every operation that both libraries have.

Each operation takes its samples as function, method, in place, operator and alias: values, dtypes,
whether results require a gradient, first and second derivatives in float64 and complex128, and
PyTorch's erroneous inputs: the type of the error and its first words.

By default a fixed selection of each operation's samples is run; ``WENGERT_SAMPLES=all`` runs every
one, in every dtype, and ``WENGERT_SAMPLES=100`` a hundred for each operation and dtype. What was
compared is counted in the file that ``WENGERT_COUNTS`` names.
"""

import json
import os
import warnings
from pathlib import Path

import pytest

from support.deviations import DEVIATIONS
from support.opinfo import Comparison
from wengert.base.places import REFUSED

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


def label(info):
    return f"{info.name}/{info.variant_test_name}" if info.variant_test_name else info.name


def comparison(info):
    path, _, name = info.name.rpartition(".")
    if name in REFUSED.get(path, ()):
        return None
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


@pytest.fixture(scope="module")
def counts():
    """How many results were compared for each operation, and what is a deviation."""
    made = {}
    yield made
    if "WENGERT_COUNTS" in os.environ:
        Path(os.environ["WENGERT_COUNTS"]).write_text(json.dumps(made, indent=1), encoding="utf-8")


def findings(name):
    """What differs for one operation: dtype, form, and what."""
    of, found = COMPARED[name], []
    for dtype in (*DIFFERENTIABLE, *PLAIN, *RARE):
        if of.takes(dtype):
            more = of.findings(dtype, LIMIT, derivatives=dtype in DIFFERENTIABLE)
            found += [f"{dtype} {finding}" for finding in more]
    return found + [str(finding) for finding in of.error_findings()]


@pytest.mark.parametrize("name", COMPARED)
def test_the_samples_of_an_operation_agree(name, counts):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    found = findings(name)
    expected = [of for of in DEVIATIONS if name in of.operations.split()]
    new = [text for text in found if not any(of.explains(text) for of in expected)]
    runs = COMPARED[name].runs
    meant = [text for text in found if text not in new]
    left_out = COMPARED[name].left_out
    counts[name] = {"runs": runs, "left out": left_out, "new": new, "deviations": meant}
    assert runs or not left_out, f"nothing is compared: {dict(left_out)}"
    assert not new, f"{len(new)} disagreements in {dict(runs)}\n" + "\n".join(new)
    if LIMIT is None:
        idle = [of.reason for of in expected if not any(map(of.explains, found))]
        assert not idle, f"no longer a deviation: {idle}"


def test_deviations_are_of_operations_that_are_compared():
    named = {name for deviation in DEVIATIONS for name in deviation.operations.split()}
    assert named <= set(COMPARED), named - set(COMPARED)
