"""Test settings of absent libraries, which are stored and restored after a context."""

import importlib

import pytest

import wengert as wg

MODULES = ("cudnn", "mkldnn", "nnpack")


@pytest.mark.parametrize("name", MODULES)
def test_flags_are_put_back(name):
    module = importlib.import_module(f"wengert.backends.{name}")
    settings = importlib.import_module("wengert.backends.others") if name == "nnpack" else module
    before = settings.enabled
    with module.flags(enabled=not before):
        assert settings.enabled is not before
    assert settings.enabled is before
    former = module.set_flags(_enabled=not before)
    assert former[0] is before and settings.enabled is not before
    module.set_flags(_enabled=before)
    assert settings.enabled is before
    with pytest.raises(TypeError, match="beauty"):
        module.set_flags(_beauty=1)
    with pytest.raises(TypeError, match="beauty"), module.flags(beauty=1):
        pass


def test_switches_are_kept():
    cuda = wg.backends.cuda
    cuda.enable_flash_sdp(False)
    assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    cuda.enable_flash_sdp(True)
    assert cuda.flash_sdp_enabled()


def test_questions_about_gpus_have_answers_and_uses_have_errors():
    assert wg.cuda.get_arch_list() == [] and wg.cuda.memory_stats() == {}
    assert wg.cuda.reset_peak_memory_stats() is None and wg.cuda.ipc_collect() is None
    for call in (wg.cuda.current_stream, wg.cuda.mem_get_info, lambda: wg.cuda.set_device(0)):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()
    with pytest.raises(NotImplementedError, match="no GPU"):
        wg.cuda.Stream()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        wg.accelerator.synchronize()
    with wg.cuda.device(None):
        assert wg.ones(1).item() == 1
