"""Test layers fused with the following normalisation, and `DataParallel`."""

import pytest

import wengert as wg
from wengert import nn
from wengert.nn.utils import fusion
from wengert.testing import assert_close


def normalising(kind, **options):
    wg.manual_seed(0)
    bn = kind(4, **options).eval()
    bn.running_mean.uniform_(-1, 1)
    bn.running_var.uniform_(0.5, 2)
    if bn.affine:
        nn.init.uniform_(bn.weight)
        nn.init.uniform_(bn.bias)
    return bn


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_a_fused_convolution_does_what_both_did(transpose, bias, affine):
    bn = normalising(nn.BatchNorm2d, affine=affine)
    kind = nn.ConvTranspose2d if transpose else nn.Conv2d
    conv = kind(2, 4, 3, bias=bias).eval()
    conv.weight.requires_grad_(False)
    fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
    x = wg.randn(2, 2, 5, 5)
    assert_close(fused(x), bn(conv(x)), rtol=1e-4, atol=1e-5)
    assert not fused.weight.requires_grad
    assert fused.bias.requires_grad is bias
    assert conv.bias is None or fused.bias is not conv.bias


@pytest.mark.parametrize("bias", [True, False])
def test_a_fused_linear_layer_does_what_both_did(bias):
    bn, linear = normalising(nn.BatchNorm1d), nn.Linear(3, 4, bias=bias).eval()
    fused = fusion.fuse_linear_bn_eval(linear, bn)
    x = wg.randn(2, 3)
    assert_close(fused(x), bn(linear(x)), rtol=1e-4, atol=1e-5)


def test_what_cannot_be_fused():
    bn = normalising(nn.BatchNorm1d)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        nn.utils.fuse_linear_bn_eval(nn.Linear(3, 4), bn)
    with pytest.raises(AssertionError, match="To fuse, linear"):
        nn.utils.fuse_linear_bn_eval(nn.Linear(3, 2).eval(), bn)
    with pytest.raises(AssertionError, match="needs running statistics"):
        bare = nn.BatchNorm1d(4, track_running_stats=False).eval()
        nn.utils.fuse_linear_bn_eval(nn.Linear(3, 4).eval(), bare)


def test_data_parallel_calls_its_module():
    inner = nn.Linear(2, 1)
    model = nn.DataParallel(inner, device_ids=[0])
    x = wg.ones(3, 2)
    assert wg.equal(model(x), inner(x))
    other = nn.DataParallel(nn.Linear(2, 1))
    other.load_state_dict(model.state_dict())
    assert wg.equal(other.module.weight, inner.weight)
