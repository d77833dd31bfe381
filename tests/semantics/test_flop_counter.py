"""Test that floating-point operations are counted by module and operation, as in PyTorch."""

import importlib

import pytest


class _Names:
    def __init__(self, t):
        self.mode = importlib.import_module(f"{t.__name__}.utils.flop_counter").FlopCounterMode

    def counts(self, run, **options):
        with self.mode(display=False, **options) as counter:
            run()
        found = counter.get_flop_counts()
        assert counter.get_total_flops() == sum(found.get("Global", {}).values())
        return {
            name: {str(op).removeprefix("aten."): n for op, n in one.items()}
            for name, one in found.items()
        }


@pytest.fixture
def counts(t):
    return _Names(t).counts


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("needs_gradient", [False, True])
def test_convolutions_count_in_their_module_in_both_directions(
    t, counts, transposed, needs_gradient
):
    kind = t.nn.ConvTranspose2d if transposed else t.nn.Conv2d
    net = t.nn.Sequential(t.nn.Identity(), kind(3, 4, 3, stride=2))
    x = t.ones(2, 3, 7, 7, requires_grad=needs_gradient)
    forward = 2 * 2 * (49 if transposed else 9) * 4 * 3 * 9
    expected = {"convolution": forward, "convolution_backward": forward * (1 + needs_gradient)}
    found = counts(lambda: net(x).sum().backward())
    assert found == dict.fromkeys(("Global", "Sequential", "Sequential.1"), expected)


def test_products_count_by_their_sizes(t, counts):
    a, b = t.ones(2, 3, 4), t.ones(2, 4, 5)
    net = t.nn.Linear(4, 6)

    def run():
        net(a)
        a[0] @ b[0]
        t.einsum("bij,bjk->bik", a, b)
        t.baddbmm(t.ones(2, 3, 5), a, b)
        t.nn.functional.scaled_dot_product_attention(a, a, a)
        a.sin() + 1

    found = counts(run)
    assert found["Linear"] == {"addmm": 2 * 6 * 4 * 6}
    assert sum(found["Global"].values()) == 288 + 120 + 240 + 240 + 2 * 144
    assert found["Global"]["baddbmm"] == 240 and found["Global"]["mm"] == 120


def test_counts_of_ones_own_and_the_table(t, capsys):
    names = _Names(t)

    def of_sine(x, *, out_shape, **_):
        return 7 * out_shape[0] + 0 * x[0]

    found = names.counts(lambda: t.ones(3).sin(), custom_mapping={t.ops.aten.sin: of_sine})
    assert found == {"Global": {"sin": 21}}
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        names.mode(mods=t.nn.Linear(2, 2))
    if t.__name__ == "torch":
        pytest.importorskip("tabulate")  # its table is that package's
    with names.mode() as counter:
        t.nn.Linear(2, 2)(t.ones(1, 2))
    table = capsys.readouterr().out
    assert table.strip() == counter.get_table().strip()
    for word in ("Module", "FLOP", "% Total", "Linear", "- aten.addmm", "100.00%"):
        assert word in table
    assert "Linear" not in counter.get_table(depth=0)


def test_counts_are_registered_for_all_modes(t, counts):
    register = importlib.import_module(f"{t.__name__}.utils.flop_counter").register_flop_formula
    aten = t.ops.aten

    @register(aten.erfc)
    def of_shapes(x, *, out_shape=None, **_):
        return 3 * x[0] + out_shape[1]

    def of_tensors(x, *, out_val=None, **_):
        return x.numel() + out_val.numel()

    assert register([aten.expm1, aten.log1p], get_raw=True)(of_tensors) is of_tensors
    x = t.ones(2, 5)

    def run():
        t.log1p(t.expm1(t.erfc(x)))

    assert counts(run) == {"Global": {"erfc": 11, "expm1": 20, "log1p": 20}}
    of_tensors._get_raw = True
    found = counts(run, custom_mapping={aten.erfc: of_tensors})
    assert found["Global"]["erfc"] == 20
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register(aten.erfc.default)(of_shapes)


def test_a_pass_ends_in_no_module(t):
    tracker = importlib.import_module(f"{t.__name__}.utils.module_tracker").ModuleTracker()
    net, seen = t.nn.Sequential(t.nn.Linear(2, 2)), []
    net[0].weight.register_hook(lambda _: seen.append(sorted(tracker.parents)))
    with tracker:
        y = net(t.ones(1, 2)).sum()
        assert tracker.parents == {"Global"}
        y.backward()
    assert seen == [["Global", "Sequential", "Sequential.0"]] and tracker.parents == {"Global"}
