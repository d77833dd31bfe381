"""Test the objects behind the recording modes; semantics has what users see of them."""

import pytest

import wengert as wg
from wengert.tape.modes import current_mode


def test_what_switches_recording_leaves_the_mode_that_it_found():
    before = current_mode()
    with wg.no_grad():
        within = current_mode()
        with wg.enable_grad():
            assert current_mode() is before
            with wg.no_grad():
                assert current_mode() is within
            assert current_mode() is before
        assert current_mode() is within
    assert current_mode() is before


def test_leaving_inference_mode_keeps_what_was_set_in_it():
    with wg.inference_mode():
        wg.autograd.set_multithreading_enabled(False)
    assert not wg.is_inference_mode_enabled()
    assert not wg.autograd.is_multithreading_enabled()
    wg.autograd.set_multithreading_enabled(True)
    with wg.no_grad(), wg.inference_mode():
        pass
    assert wg.is_grad_enabled()


@pytest.mark.parametrize("write", [lambda t: t.mul_(2), lambda t: t.__setitem__(0, 3.0)])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        lambda f: wg.compile(f, backend="numpy"),
        lambda f: lambda x: wg.func.vmap(f)(x[None]),
        lambda f: lambda x: wg.func.jvp(f, (x,), (x,)),
    ],
    ids=["plain", "compile", "vmap", "jvp"],
)
def test_inference_tensors_refuse_writes_outside_under_transforms(transform, write):
    def function(x):
        with wg.inference_mode():
            made = x * 1
        write(made)
        return made

    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        transform(function)(wg.ones(2))
