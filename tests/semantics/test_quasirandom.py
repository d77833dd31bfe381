"""Test Sobol's sequence, and PyTorch's scrambling of it."""

import pytest

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("options", "last", "state", "shift"),
    [
        ({"dimension": 7}, [0.90625, 0.40625, 0.65625], 112892795247, 0),
        (
            {"dimension": 3, "scramble": True, "seed": 5},
            [0.802313506603241, 0.34705621004104614, 0.6095237731933594],
            43750446780,
            774746728,
        ),
    ],
)
def test_points(t, options, last, state, shift):
    engine = t.quasirandom.SobolEngine(**options)
    first = engine.draw(5)
    assert engine.draw(9, dtype=t.float64).dtype == t.float64
    assert engine.fast_forward(6).draw(3)[:, -1].tolist() == last
    assert (engine.sobolstate.sum().item(), engine.shift.sum().item()) == (state, shift)
    assert engine.num_generated == 23
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(2)
    assert t.equal(engine.reset().draw(5), first)


def test_a_scrambled_sequence_follows_the_seed_of_the_program(t):
    t.manual_seed(0)
    drawn = t.quasirandom.SobolEngine(2, scramble=True).draw(2)
    assert drawn[0].tolist() == [0.47510719299316406, 0.592523992061615]
