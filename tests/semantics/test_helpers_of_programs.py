"""Test private helpers that programs which follow the files of PyTorch import from there."""

import importlib


def test_helpers_of_other_optimisers(t):
    home = importlib.import_module(f"{t.__name__}.optim.optimizer")
    values = [t.tensor([1 + 2j]), t.ones(1)], [t.tensor([3j]), t.ones(1)]
    home._view_as_real(*values)
    assert [[v.tolist() for v in row] for row in values] == [[[[1, 2]], [1]], [[[0, 3]], [1]]]
    assert home._get_scalar_dtype() is home._get_scalar_dtype(is_fused=True) is t.float32
    before = t.get_default_dtype()
    t.set_default_dtype(t.float64)
    try:
        assert home._get_scalar_dtype() is t.float64
        assert home._get_scalar_dtype(is_fused=True) is t.float32
    finally:
        t.set_default_dtype(before)
    assert home._to_scalar(t.ones(1)).shape == () and home._to_scalar(0.5) == 0.5
    assert home._stack_if_compiling(values) is values
    assert home._disable_dynamo_if_unsupported()(len)([1]) == 1
    assert all(isinstance(getattr(home, f"_{kind}_doc"), str) for kind in ("foreach", "maximize"))


def test_layers_are_found_where_programs_import_their_helpers(t):
    modules = f"{t.__name__}.nn.modules"
    conv = importlib.import_module(f"{modules}.conv")
    pooling = importlib.import_module(f"{modules}.pooling")
    assert conv._pair(2) == pooling._pair(2) == (2, 2) and pooling._triple((1, 2, 3)) == (1, 2, 3)
    assert conv._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert isinstance(t.nn.AdaptiveAvgPool2d(1), pooling._AdaptiveAvgPoolNd)


def test_collate_asks_the_functions_of_classes(t):
    home = importlib.import_module(f"{t.__name__}.utils.data._utils.collate")
    kinds = {**home.default_collate_fn_map, int: lambda batch, **_: sum(batch)}
    found = home.collate([{"a": (1, "x")}, {"a": (2, "y")}], collate_fn_map=kinds)
    assert found == {"a": [3, ("x", "y")]}
    (floats,) = home.collate([(1.5,), (2.5,)], collate_fn_map=kinds)
    assert floats.tolist() == [1.5, 2.5] and floats.dtype == t.float64
