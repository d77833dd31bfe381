"""Test types that have a name but no values."""

import pickle
import sys

import pytest

import wengert as wg


def test_what_asks_for_numbers_is_told_why_there_are_none():
    with pytest.raises(TypeError, match=r"torch\.qint8, which can only be named"):
        wg.zeros(2, dtype=wg.qint8)
    assert pickle.loads(pickle.dumps(wg.qint8)) is wg.qint8


def test_bfloat16_is_named_without_its_package(monkeypatch):
    monkeypatch.delitem(vars(wg), "bfloat16", raising=False)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    wg.base.extras._module.cache_clear()
    kinds = {"float32": wg.float32, "bfloat16": wg.bfloat16}
    assert str(kinds["bfloat16"]) == "torch.bfloat16" and kinds["bfloat16"].is_floating_point
    assert kinds["bfloat16"].itemsize == 2 and wg.ones(1).dtype != kinds["bfloat16"]
    with pytest.raises(ImportError, match="pip install ml_dtypes"):
        wg.ones(1).to(kinds["bfloat16"])
    wg.base.extras._module.cache_clear()
