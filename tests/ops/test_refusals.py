"""Test invalid input to public functions: the type and the text of the error."""

import inspect

import numpy as np
import pytest

import wengert as wg

CASES = """
wg.ones(3) + wg.ones(4)            | RuntimeError | The size of tensor a (3) must match the size of
wg.ones(2, 3) * wg.ones(4, 3)      | RuntimeError | The size of tensor a (2) must match the size of
wg.ones(2, 3) @ wg.ones(4, 2)      | RuntimeError | mat1 and mat2 shapes cannot be multiplied
wg.mm(wg.ones(2), wg.ones(2))      | RuntimeError | self must be a matrix
wg.dot(wg.ones(2), wg.ones(3))     | RuntimeError | inconsistent tensor size, expected tensor [2]
wg.ones(2, 3).view(5)              | RuntimeError | shape '[5]' is invalid for input of size 6
wg.ones(2, 3).reshape(4, -1)       | RuntimeError | shape '[4, -1]' is invalid for input of size 6
wg.ones(2, 3).view(-1, -1)         | RuntimeError | only one dimension can be inferred
wg.ones(2, 3, 4).t()               | RuntimeError | t() expects a tensor with <= 2 dimensions
wg.ones(2).transpose(0, 3)         | IndexError   | Dimension out of range (expected to be in range
wg.ones(2, 3).permute(0, 0)        | RuntimeError | permute(
wg.ones(2, 3).expand(2, 4)         | RuntimeError | The expanded size of the tensor (4) must match
wg.cat([])                         | ValueError   | torch.cat(): expected a non-empty list of
wg.cat([wg.ones(2, 2), wg.ones(3, 3)]) | RuntimeError | Sizes of tensors must match except in
wg.stack([wg.ones(2), wg.ones(3)]) | RuntimeError | stack expects each tensor to be equal size
wg.ones(4).split([1, 1])           | RuntimeError | split_with_sizes expects split_sizes to sum exac
wg.ones(2).sum(4)                  | IndexError   | Dimension out of range (expected to be in range
wg.ones(2, 2).sum((0, 0))          | RuntimeError | dim 0 appears multiple times in the list
wg.tensor([1, 2]).mean()           | RuntimeError | mean(): could not infer output dtype. Input
wg.empty(0).max()                  | RuntimeError | max(): Expected reduction dim to be specified
wg.ones(2)[5]                      | IndexError   | index 5 is out of bounds for dimension 0 with
wg.ones(2)[0, 0]                   | IndexError   | too many indices for tensor of dimension 1
wg.ones(2)[wg.tensor([True])]      | IndexError   | The shape of the mask [1] at index 0 does not
wg.ones(4)[::-1]                   | ValueError   | step must be greater than zero
wg.ones(2).item()                  | RuntimeError | a Tensor with 2 elements cannot be converted to
bool(wg.ones(2))                   | RuntimeError | Boolean value of Tensor with more than one value
len(wg.tensor(1.0))                | TypeError    | len() of a 0-d tensor
wg.tensor([[1], [2, 3]])           | ValueError   | expected sequence of length 1 at dim 1 (got 2)
wg.zeros(-1)                       | RuntimeError | zeros: Dimension size must be non-negative
wg.arange(0, 1, 0)                 | RuntimeError | step must be nonzero
wg.tensor([2]) ** -1               | RuntimeError | Integers to negative integer powers are not
wg.ones(2, dtype=wg.uint8) ** -3   | RuntimeError | Integers to negative integer powers are not
wg.ones(2, dtype=wg.uint8).pow_(-3) | RuntimeError | Integers to negative integer powers are not
wg.fmod(wg.tensor([1j]), 2)        | NotImplementedError | "fmod_cpu" not implemented for
wg.tensor([1j]) % 2.5              | NotImplementedError | "remainder_cpu" not implemented for
wg.tensor([1j]) // 2               | NotImplementedError | "div_floor_cpu" not implemented for
wg.ones(2).nonsense                | AttributeError | 'Tensor' object has no attribute 'nonsense'
wg.ones(2, dtype="nonsense")       | TypeError    |
wg.ones(2) + "a"                   | TypeError    |
wg.exp([1.0])                      | TypeError    | exp(): argument 'input' (position 1) must be
wg.ones(2).clamp()                 | RuntimeError | torch.clamp: At least one of 'min' or 'max' must
wg.nn.functional.nll_loss(wg.ones(2, 3), wg.tensor([0, 5])) | IndexError | Target 5 is out of bounds
F.nll_loss(wg.ones(2, 3), wg.tensor([0, 1]), ignore_index="a") | TypeError | nll_loss(): argument
F.smooth_l1_loss(wg.ones(2), wg.ones(2), beta="a") | TypeError | smooth_l1_loss(): argument 'beta'
F.bilinear(*[wg.ones(1, 1, 1)] * 3, "a") | TypeError | bilinear(): argument 'bias' (position 4)
F.softmax("a")                     | TypeError    | softmax(): argument 'input' (position 1) must be
wg.float_power(wg.ones(2), "a")    | TypeError    | float_power(): argument 'exponent' (position 2)
wg.ones(2, dtype={})               | TypeError    | dtype must be a data type such as float32, not
wg.from_numpy(np.array(["a"]))     | TypeError    | can't convert np.ndarray of type numpy.str_. The
wg.full(2.5, 0.0)                  | TypeError    | full(): argument 'size' (position 1) must be
wg.normal(0.0, 1.0, 5)             | TypeError    | normal(): argument 'size' (position 3) must be
wg.var(wg.ones(2), unbiased="a")   | TypeError    | var(): argument 'unbiased' must be bool, not str
wg.linalg.norm(wg.ones(2, 2), dim=1.5) | TypeError | linalg_norm(): argument 'dim' (position 3) must
F.rms_norm(wg.ones(2, 2), (2,), eps="a") | TypeError | rms_norm(): argument 'eps' must be Number
wg.nn.Dropout("a")                 | TypeError    | Dropout(): argument 'p' must be Number, not str
wg.optim.SGD([wg.ones(2)], "1e-3") | TypeError    | Invalid learning rate: '1e-3', which is a str
wg.ones(2).type(3)                 | TypeError    | dtype must be a type, str, or dtype object
wg.set_printoptions(precision="a") | TypeError    | 'str' object cannot be interpreted as an integer
wg.device("cpu", -2)               | RuntimeError | Device index must not be negative
wg.compile(3)                      | AssertionError | A callable function is expected, but <class
"""


def cases():
    for line in CASES.strip().splitlines():
        code, kind, text = (part.strip() for part in line.split("|"))
        yield code, kind, text


@pytest.mark.parametrize(("code", "kind", "text"), list(cases()))
def test_refusal(code, kind, text):
    with pytest.raises(getattr(__import__("builtins"), kind)) as caught:
        eval(code, {"wg": wg, "np": np, "F": wg.nn.functional})
    assert str(caught.value).startswith(text), str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")  # deprecated names
def test_text_in_place_of_the_first_tensor_is_refused_by_every_function():
    # an AttributeError would name what is inside of a tensor
    refused, found = (TypeError, RuntimeError), 0
    for module in (wg, wg.nn.functional, wg.linalg, wg.special, wg.fft):
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            params = list(inspect.signature(function).parameters.values())
            if not params or params[0].name != "input":
                continue
            needed = [p for p in params[1:] if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
            with pytest.raises(refused):
                pytest.fail(f"{name}: {function('text', *[wg.ones(2, 2)] * len(needed))}")
            found += 1
    assert found > 500


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
def test_other_devices_are_refused(device):
    for make in (
        lambda: wg.ones(2, device=device),
        lambda: wg.ones(2).to(device),
        lambda: wg.tensor([1.0], device=wg.device(device)),
    ):
        with pytest.raises((RuntimeError, NotImplementedError, AssertionError)) as caught:
            make()
        assert str(caught.value)


def test_targets_of_binary_cross_entropy_are_probabilities():
    half, target = wg.full((2,), 0.5), wg.tensor([0, 1])
    loss = wg.nn.functional.binary_cross_entropy
    for kind, name in ((wg.int64, "Long"), (wg.bool, "Bool"), (wg.float64, "Double")):
        with pytest.raises(RuntimeError, match=f"Found dtype {name} but expected Float"):
            loss(half, target.to(kind))
    loss = wg.nn.functional.binary_cross_entropy_with_logits
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        loss(half, target)
    assert loss(half, target.double()).dtype is wg.float64
