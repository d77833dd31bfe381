"""Test that modes, hooks and duals refuse invalid arguments immediately, as in PyTorch."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import Variable, forward_ad, graph


@pytest.mark.parametrize("mode", [5, None, "no", 1.0, np.bool_(True)])
def test_set_grad_enabled_takes_a_boolean(mode: object) -> None:
    with pytest.raises(TypeError, match=r"'enabled' \(position 1\) must be bool, not "):
        wg.set_grad_enabled(mode)
    assert wg.is_grad_enabled()


def test_the_message_of_disabled_hooks_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"_saved_tensors_hooks_disable\(\): incompatible"):
        graph.disable_saved_tensors_hooks(5)


def test_increment_version_takes_tensors() -> None:
    with pytest.raises(RuntimeError, match=r"expect a Iterable\[Tensor\] as input"):
        graph.increment_version(5)


@pytest.mark.parametrize("level", [False, True])
def test_unpack_dual_takes_a_tensor(level: bool) -> None:
    with pytest.raises(TypeError, match="must be a Tensor, not int"):
        if level:
            with forward_ad.dual_level():
                forward_ad.unpack_dual(5)
        forward_ad.unpack_dual(5)


def test_jvp_needs_a_primal() -> None:
    with pytest.raises(RuntimeError, match="Expected primals to contain at least one Tensor"):
        wg.func.jvp(lambda: wg.ones(2), (), ())


def test_anomaly_mode_tells_whether_it_looks_for_nan() -> None:
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        assert not wg.autograd.detect_anomaly(check_nan=False).check_nan


def test_names_that_were_given_up_warn() -> None:
    x = wg.ones(1, requires_grad=True)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        wg.autograd.backward(x * 2, grad_variables=wg.ones(1))
    assert x.grad == 2
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        Variable(wg.ones(1), volatile=True)


def test_inputs_with_other_keys_than_a_dicts_are_refused() -> None:
    x = wg.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match=r"`inputs` argument must be a dict, not OrderedDict"):
        wg.autograd.grad(x.sum(), OrderedDict(x=x))
