"""Test that results have PyTorch's strides, for every layout of the arguments."""

import contextlib
import warnings

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

DIFFER = """
    eq nonzero
    __getitem__ __radd__ __rdiv__ __rmul__ add addr bmm/triton_optimized cat cholesky
    cholesky_inverse cholesky_solve cummax cummin diagonal_scatter div/no_rounding_mode ge gt
    histogramdd index_add index_copy kron ldexp le logical_and logical_or logical_xor lt lu lu_solve
    lu_unpack masked_fill masked_scatter median mul mvlgamma/mvlgamma_p_1
    mvlgamma/mvlgamma_p_3 mvlgamma/mvlgamma_p_5 nanmedian nanquantile ne
    nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool3d
    nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool3d
    nn.functional.avg_pool1d nn.functional.avg_pool3d nn.functional.batch_norm
    nn.functional.conv1d nn.functional.conv_transpose1d nn.functional.conv_transpose3d
    nn.functional.dropout2d nn.functional.dropout3d
    nn.functional.feature_alpha_dropout/with_train nn.functional.fractional_max_pool2d
    nn.functional.fractional_max_pool3d nn.functional.instance_norm
    nn.functional.interpolate/area nn.functional.linear_cross_entropy/chunked_none
    nn.functional.local_response_norm nn.functional.max_pool1d nn.functional.max_unpool2d
    nn.functional.max_unpool2d/grad nn.functional.max_unpool3d nn.functional.max_unpool3d/grad
    nn.functional.normalize pca_lowrank qr quantile renorm rot90 scatter scatter_add
    searchsorted select_scatter slice_scatter stack stft sub sum_to_size svd svd_lowrank
    triangular_solve true_divide unique unique_consecutive unsafe_chunk unsafe_split
"""
"""Where strides differ in some case: matrices that LAPACK computed (column by column in PyTorch),
operands that lie in different orders (NumPy decides), and functions made of several others. So do
all of ``fft`` and ``linalg``."""


def relaid(tensor, how):
    """`tensor` with the same values in another layout."""
    plain = tensor.detach()
    if not plain.numel() or plain.layout is not torch.strided or plain.dim() < 2:
        return tensor
    if how == "turned":
        return plain.transpose(0, -1).contiguous().transpose(0, -1)
    if how == "last two turned":
        return plain.transpose(-2, -1).contiguous().transpose(-2, -1)
    if how == "channels last" and plain.dim() > 2:
        return plain.movedim(1, -1).contiguous().movedim(-1, 1)
    if how == "gaps":
        wide = torch.zeros(*plain.shape[:-1], 2 * plain.shape[-1], dtype=plain.dtype)
        wide[..., ::2] = plain
        return wide[..., ::2]
    if how == "expanded":
        return plain[:1].expand(plain.shape)
    return tensor


def over(function, value):
    """`value` with the function applied to each tensor in it."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)([over(function, item) for item in value])
    if isinstance(value, dict):
        return {key: over(function, item) for key, item in value.items()}
    return value


def steps(tensor):
    """The strides that say something."""
    if not tensor.numel():
        return ()
    return tuple(s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1)


def compared():
    for info in op_db:
        with contextlib.suppress(AttributeError):  # it is not here
            name = f"{info.name}/{info.variant_test_name}".removesuffix("/")
            yield name, Comparison(torch, info)


COMPARED = dict(compared())
KNOWN = frozenset(DIFFER.split())
ALIKE = [
    name for name in COMPARED if name not in KNOWN and not name.startswith(("fft.", "linalg."))
]


def findings(of, how):
    """Where the strides of results differ, for samples whose tensors lie in one way."""
    for sample in of._samples("float32", False, 3) if of.takes("float32") else ():
        given = over(lambda t: relaid(t, how), (sample.input, *sample.args))
        named = over(lambda t: relaid(t, how), sample.kwargs)
        with contextlib.suppress(Exception):  # it holds what is left out
            args, kwargs = of._twin(given, []), of._twin(named, [])
            theirs, ours = attempt(of.info.op, given, named), attempt(of.ours, args, kwargs)
            if isinstance(theirs, Failure) or isinstance(ours, Failure):
                continue
            for met, want in zip(leaves(ours), leaves(theirs), strict=True):
                if is_tensor(want) and steps(met) != steps(want):
                    yield f"{how}: {tuple(want.shape)} {met.stride()}, in PyTorch {want.stride()}"


HOWS = ("plain", "turned", "last two turned", "channels last")


@pytest.mark.parametrize("name", ALIKE)
def test_results_have_pytorchs_strides(name):
    found = [text for how in HOWS for text in findings(COMPARED[name], how)]
    assert not found, "\n".join(found)
