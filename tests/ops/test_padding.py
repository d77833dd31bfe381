"""Frames, and structure: what the table of records does not say."""

import pytest

import wengert as wg

pad = wg.nn.functional.pad


def row(*values):
    return wg.tensor([[float(v) for v in values]])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [0, 0, 1, 2, 3, 0]),
        ("reflect", [3, 2, 1, 2, 3, 2]),
        ("replicate", [1, 1, 1, 2, 3, 3]),
        ("circular", [2, 3, 1, 2, 3, 1]),
    ],
)
def test_each_mode(mode, expected):
    assert pad(row(1, 2, 3), (2, 1), mode=mode).tolist() == [expected]


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_negative_widths_cut(mode):
    assert pad(row(1, 2, 3, 4), (-1, -2), mode=mode).tolist() == [[2]]


def test_what_is_cut_off_does_not_come_back_around():
    assert pad(row(1, 2, 3, 4), (-2, 1), mode="circular").tolist() == [[3, 4, 3]]


def test_widths_begin_with_the_last_dimension():
    assert tuple(pad(wg.zeros(2, 3), (1, 2, 3, 4)).shape) == (9, 6)


def test_the_value_of_the_frame_has_no_gradient_and_keeps_the_dtype():
    x = wg.tensor([1, 2])
    assert pad(x, (1, 0), value=7).tolist() == [7, 1, 2]
    assert pad(x, (1, 0), value=7).dtype == wg.int64


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pad(row(1, 2), (1,)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: pad(row(1), (1,) * 6), RuntimeError, "Length of pad should be no more than twice"),
        (lambda: pad(row(1, 2), (-2, -1)), RuntimeError, "The input size 2, plus negative padding"),
        (
            lambda: pad(row(1, 2), (2, 0), mode="reflect"),
            RuntimeError,
            "Argument #4: Padding size should be less than the corresponding input dimension",
        ),
        (
            lambda: pad(row(1, 2), (3, 0), mode="circular"),
            RuntimeError,
            "Padding value causes wrapping around more than once",
        ),
        (lambda: pad(row(1), (1, 1), mode="mirror"), NotImplementedError, "Unrecognised padding"),
        (
            lambda: pad(wg.zeros(3), (1, 1), mode="reflect"),
            NotImplementedError,
            "Only 2D, 3D, 4D, 5D padding",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_pixels_go_between_channels_and_places_and_back():
    x = wg.arange(16.0).reshape(1, 4, 2, 2)
    wide = wg.nn.functional.pixel_shuffle(x, 2)
    assert wide[0, 0].tolist() == [[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]
    assert wg.equal(wg.nn.functional.pixel_unshuffle(wide, 2), x)


def test_classes_as_vectors():
    assert wg.nn.functional.one_hot(wg.tensor([2, 0]), 4).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        wg.nn.functional.one_hot(wg.tensor([2]), 2)


def test_blocks_along_the_diagonal_take_the_common_dtype():
    made = wg.block_diag(wg.tensor([1, 2]), wg.ones(1, 1, dtype=wg.float64), wg.ones(1, 0))
    assert made.dtype == wg.float64
    assert made.tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]


def test_coordinates_of_positions():
    rows, columns = wg.unravel_index(wg.tensor([0, 4, 5]), (2, 3))
    assert rows.tolist() == [0, 1, 1] and columns.tolist() == [0, 1, 2]


def test_a_quarter_turn_four_times_is_none():
    x = wg.arange(6).reshape(2, 3)
    turned = x
    for _ in range(4):
        turned = wg.rot90(turned)
    assert wg.equal(turned, x)
    assert wg.equal(wg.rot90(x, 5), wg.rot90(x)) and wg.equal(wg.rot90(x, -1), wg.rot90(x, 3))
