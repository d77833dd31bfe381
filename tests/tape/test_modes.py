"""Test the objects behind the recording modes; semantics has what users see of them."""

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


def test_one_context_object_may_be_entered_while_it_is_active():
    # PyTorch's leaves the mode as it was within
    mode = wg.no_grad()
    for _ in range(2):
        with mode:
            with mode:
                assert not wg.is_grad_enabled()
            assert not wg.is_grad_enabled()
        assert wg.is_grad_enabled()
