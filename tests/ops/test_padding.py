"""Test padding and structural operations, beyond the record table."""

import numpy as np
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
    found = pad(wg.ones(2, 3), (1, 2, 3, 4))
    np.testing.assert_array_equal(found.numpy(), np.pad(np.ones((2, 3)), ((3, 4), (1, 2))))


def test_the_value_of_the_frame_has_no_gradient_and_keeps_the_dtype():
    x = wg.tensor([1, 2])
    assert pad(x, (1, 0), value=7).tolist() == [7, 1, 2]
    assert pad(x, (1, 0), value=7).dtype == wg.int64


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pad(row(1, 2), (1,)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: pad(row(1), (1,) * 6), RuntimeError, "Padding length should be less than or"),
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
            # PyTorch reads memory that it has not written
            lambda: pad(row(1, 2, 3), (-2, 2), mode="circular"),
            RuntimeError,
            "Padding value causes wrapping around more than once",
        ),
        (lambda: pad(row(1, 2), (1, 1), "reflect", 3.0), RuntimeError, "doesn't take in value"),
        (lambda: pad(row(1, 2), (1, 1.0)), TypeError, "found element of type float at pos 1"),
        (lambda: pad(row(1, 2), 1), TypeError, "must be tuple of ints, not int"),
        (
            lambda: pad(wg.ones(1, 2, dtype=wg.bool), (1, 1), "replicate"),
            NotImplementedError,
            "not implemented for 'Bool'",
        ),
        (
            lambda: pad(wg.zeros(3), (1, 1), mode="reflect"),
            NotImplementedError,
            "Padding size 2 is not supported for 1D input tensor",
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


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_a_zero_gradient_of_the_frame_stays_zero(mode):
    x = wg.tensor([[1.0, float("inf"), 3.0]], requires_grad=True)
    (pad(x, (2, 2), mode)[:, 2:3] * 5).sum().backward()
    assert x.grad.tolist() == [[5.0, 0.0, 0.0]]


def test_what_more_is_cut_than_there_is_cuts_the_frame():
    assert pad(row(1, 2, 3), (3, -4), mode="replicate").tolist() == [[1, 1]]
    assert pad(row(1, 2, 3, 4), (-4, 2), mode="reflect").tolist() == [[3, 2]]


def test_an_empty_dimension_of_channels_is_padded_around():
    assert tuple(pad(wg.ones(2, 0, 3), (1, 1), mode="circular").shape) == (2, 0, 5)


def test_every_arrangement_of_pixels_has_one_node():
    x = wg.ones(1, 4, 2, 2, requires_grad=True)
    for name, node in (
        ("pixel_shuffle", "PixelShuffleBackward0"),
        ("pixel_unshuffle", "PixelUnshuffleBackward0"),
        ("channel_shuffle", "ChannelShuffleBackward0"),
    ):
        assert getattr(wg.nn.functional, name)(x, 2).grad_fn.name() == node


def test_channels_are_shuffled_alike_under_both_names():
    x = wg.arange(6).reshape(1, 6, 1)
    assert wg.native_channel_shuffle(x, 3).flatten().tolist() == [0, 2, 4, 1, 3, 5]
    assert wg.equal(wg.native_channel_shuffle(x, 3), wg.nn.functional.channel_shuffle(x, 3))
