"""Test which results share memory with an argument, over PyTorch's samples."""

import contextlib
import warnings

import numpy as np
import pytest

from support.agreement import attempt, is_tensor, leaves
from support.opinfo import Comparison
from support.parity import Failure

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.torch

COPIES = "histogramdd unsafe_chunk unsafe_split"
"""What PyTorch returns memory of its arguments for (the very edges that it is given; parts that
must not be written to), we copies."""


def label(info):
    return f"{info.name}/{info.variant_test_name}" if info.variant_test_name else info.name


def compared():
    for info in op_db:
        with contextlib.suppress(AttributeError):  # it is not here
            yield label(info), Comparison(torch, info)


COMPARED = dict(compared())


def shared(results, arguments, memory):
    """For each result, which arguments it shares memory with."""
    spans = [memory(argument) for argument in arguments]
    return [
        [i for i, span in enumerate(spans) if np.may_share_memory(memory(result), span)]
        for result in results
        if is_tensor(result) and result.numel() and str(result.layout) == "torch.strided"
    ]


def our_memory(tensor):
    array = tensor.detach().numpy()
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def their_memory(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg() if tensor.is_complex() else tensor
    storage = tensor.detach().untyped_storage()
    return torch.tensor([], dtype=torch.uint8).set_(storage).numpy()


@pytest.mark.parametrize("name", COMPARED)
def test_results_share_the_memory_that_pytorchs_share(name):
    if name in COPIES.split():
        pytest.skip("a difference that is meant")
    of = COMPARED[name]
    for sample, args, kwargs, text in of.twins("float32", 8):
        ours = attempt(of.ours, args, kwargs)
        theirs = attempt(of.info.op, (sample.input, *sample.args), sample.kwargs)
        if isinstance(ours, Failure) or isinstance(theirs, Failure):
            continue
        given = [t for t in leaves((args, kwargs)) if is_tensor(t) and t.numel()]
        same = [
            t
            for t in leaves((sample.input, *sample.args, sample.kwargs))
            if is_tensor(t) and t.numel()
        ]
        met = shared(leaves(ours), given, our_memory)
        want = shared(leaves(theirs), same, their_memory)
        assert met == want, text
