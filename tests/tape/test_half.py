"""Test that half precision is the same by generated recorders, the general path, and in place."""

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.base.dtypes import from_numpy_dtype
from wengert.prims.facet import IN_PLACE
from wengert.prims.whole import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.forms import is_common
from wengert.tape.operands import as_operands
from wengert.tape.record import T, record, run

HALF = np.dtype(np.float16)


def tensors(prim, arrays, recorded):
    slopes = differentiable_args(prim, arrays) if recorded else []
    made = [wg.from_numpy(np.array(array)) for array in arrays]
    return [tensor.requires_grad_(i in slopes) for i, tensor in enumerate(made)]


def outputs(made):
    return [made] if isinstance(made, TensorBase) else list(made)


def bits(tensor):
    array = tensor.detach().numpy()
    return array.dtype, array.shape, array.tobytes()


def is_tested(prim):
    drawn = any(not callable(spec) for case in prim.cases for spec in case.shapes)
    common = is_common(prim) and not prim.variadic and prim.outputs is not None
    return drawn and common and "f" not in prim.refuses and supports(prim, HALF)


@pytest.mark.parametrize("name", sorted(name for name, prim in TABLE.items() if is_tested(prim)))
def test_half_precision_is_the_same_by_the_general_path(name):
    prim = TABLE[name]
    for sample in samples(prim, HALF, np.random.default_rng(0)):
        for recorded in (False, True):
            args = [tensors(prim, sample.arrays, recorded) for _ in range(2)]
            expected = outputs(run(prim, as_operands(prim, args[0]), sample.params))
            found = outputs(record(prim, tuple(args[1]), sample.params))
            assert list(map(bits, found)) == list(map(bits, expected))
            for one, other in zip(found, expected, strict=True):
                assert type(one.grad_fn) is type(other.grad_fn)
                if other.grad_fn is None or not other.dtype.is_floating_point:
                    continue
                slopes = [
                    wg.autograd.grad(
                        result, some, wg.ones_like(result), retain_graph=True, allow_unused=True
                    )
                    for result, some in ((one, args[1]), (other, args[0]))
                    for some in [[x for x in some if x.requires_grad]]
                ]
                for g, h in zip(*slopes, strict=True):
                    assert (g is None) == (h is None)
                    assert g is None or bits(g) == bits(h)
                    assert g is None or g.dtype is from_numpy_dtype(HALF)


def test_mixed_precision_takes_the_general_path():
    x, w = wg.ones(2, 3).half(), wg.full((3,), 1e-4)
    assert wg.nn.functional.layer_norm(x, (3,), w.half()).dtype is wg.float16
    assert (x * w).dtype is wg.float32 and T.mul(x, w).dtype is wg.float32
    assert T.where(x > 0, x, w).dtype is wg.float32


def methods():
    """The in-place methods of element-wise operations, with arguments in (0, 1)."""
    x, y = wg.linspace(0.05, 0.95, 60), wg.linspace(0.9, 0.1, 60)
    numbers = ["add", "sub", "mul", "div", "pow", "remainder", "fmod", "floor_divide"]
    for prim, has_form in IN_PLACE.items():
        if has_form and len(prim.args) <= 2 and hasattr(x, f"{prim.name}_"):
            yield prim.name, (y,) * (len(prim.args) - 1), {}
    yield from [(name, (2.3,), {}) for name in numbers]
    yield from [(name, (y,), {"alpha": 0.3}) for name in ("add", "sub")]
    yield from [("addcmul", (y, x), {"value": 0.3}), ("lerp", (y, 0.3), {})]
    yield from [("addcdiv", (y, x), {"value": 0.3}), ("clamp", (0.1, 0.33), {})]


@pytest.mark.parametrize(("name", "others", "params"), list(methods()))
def test_half_precision_is_the_same_in_place(name, others, params):
    x, *others = [
        one.half() if isinstance(one, wg.Tensor) else one
        for one in (wg.linspace(0.05, 0.95, 60), *others)
    ]
    with np.errstate(invalid="ignore"):  # acosh
        try:
            expected = getattr(x, name)(*others, **params)
        except (RuntimeError, NotImplementedError):
            return  # of integers
        if expected.dtype is wg.float16:
            assert bits(getattr(x.clone(), f"{name}_")(*others, **params)) == bits(expected)
