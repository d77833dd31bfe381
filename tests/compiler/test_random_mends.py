"""Test programs that once differed compiled and uncompiled, by symptom.

Random programs found them (see `random_programs`); each is reduced to the lines that it needs.
"""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

import pytest
from random_programs import Program, Step, check

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


class Case(NamedTuple):
    """A program: its lines, of which the last says what is returned.

    Attributes
    ----------
    given
        How the arguments ``x0``, ... are made.
    setup
        What makes the things that it closes over.
    outside
        How its results are differentiated.
    compiles
        Whether the function is compiled, and does not run as it is.
    """

    lines: str
    given: tuple[str, ...] = ("make(3)",)
    setup: tuple[str, ...] = ()
    outside: str = "grad"
    compiles: bool = True

    @property
    def text(self) -> str:
        """The source."""
        *body, returned = self.lines.strip().splitlines()
        given = tuple((f"x{n}", code) for n, code in enumerate(self.given))
        steps = (Step("\n".join(body), ""),) if body else ()
        return Program(0, self.setup, (), given, steps, returned, "float64", self.outside).text


CASES = {
    "random numbers are not drawn again where a decision has a new outcome": Case(
        "v = wg.rand(3) * x0\nv if v.sum() > 0 else v * 2"
    ),
    "numbers read off tensors bound others as they are in each call": Case(
        "v = (x0 * x0).sum()\ns = v.item()\nv.clamp(max=s * 0.9)"
    ),
    "random numbers may be what is returned": Case("wg.rand(2)", outside="none"),
    "random numbers that are written to are drawn once": Case("v = wg.rand(3)\nv.mul_(2)\nv * x0"),
    "loops over random numbers draw once": Case(
        "v = x0 * wg.rand(3)\nwhile v.abs().sum() < 8:\n    v = v * 1.5 + 0.2\nv"
    ),
    "random numbers lie along the memory of what they are like": Case(
        "F.dropout(x0.expand(2, 3, 1), 0.5)", ("make(3, 1)",)
    ),
    "what a result does not depend on gets no gradient beside a loop": Case(
        "v = F.gelu(x1)\nw = x0 * 1\nwhile w.abs().sum() < 8:\n    w = w * 1.5 + 0.2\nw",
        ("make(3)", "make(4)"),
        outside="backward",
    ),
    "a backward pass inside goes back through all repetitions of a loop": Case(
        "v = x0\nwhile v.abs().sum() < 8:\n    v = v * 1.5 + 0.2\n(v ** 2).sum().backward()\nx0 * 1"
    ),
    "histories that are written to after a loop are those of before in it": Case(
        "v = x0 + x0\ns = x1.abs().sum()\nwhile s < 8:\n    s = s * 1.5 + 0.2\n"
        "old = v.clone()\nv.sub_(s)\nold + v",
        ("make(3)", "make(3, grad=False)"),
    ),
    "hooks on what a loop starts from run once": Case(
        "v = x0 * 1\nv.register_hook(lambda g: g * 2)\nw = v\n"
        "while w.abs().sum() < 8:\n    w = w * 1.5 + 0.2\nw",
        compiles=False,
    ),
    "effects of a function with a loop happen once": Case(
        "held.add_(0.5)\nv = x0\nwhile v.abs().sum() < 8:\n    v = v * 1.5 + 0.2\nv + held",
        setup=("held = wg.zeros(3)",),
    ),
    "second derivatives do not repeat effects": Case(
        "held.add_(0.5)\nv = (x0 > 0.3).nonzero()\nx0 * x0 + held.sum()",
        setup=("held = wg.zeros(3)",),
        outside="second",
    ),
    "second derivatives do not repeat the effects of a function with a loop": Case(
        "held.add_(0.5)\nv = x0\nwhile v.abs().sum() < 8:\n    v = v * 1.5 + 0.2\nv * v + held",
        setup=("held = wg.zeros(3)",),
        outside="second",
    ),
    "values saved that were written to are named by the error": Case(
        "v = x0.clone()\nv.exp_().clamp_(max=4)\nv"
    ),
    "gradients that have a history stay what they are": Case(
        "(x0 ** 3).sum().backward(create_graph=True)\nx0 * 2", outside="none", compiles=False
    ),
    "errors of operations may be caught": Case(
        "try:\n    v = wg.linalg.cholesky(x0)\nexcept RuntimeError:\n    v = x0.abs()\nv",
        ("make(3, 3)",),
        compiles=False,
    ),
    "what is out of bounds is an error with the words of the function itself": Case(
        "x0[x0 > 0].gather(0, x1[x1 > 0].long().clamp(max=2))",
        ("make(4, grad=False)", "make(3, grad=False)"),
        outside="none",
    ),
    "strides are read where the function runs as it is": Case(
        "x0.as_strided((2,), (1,))", compiles=False
    ),
    "the number of different values is not a condition": Case(
        "x0.unique() * 2", ("make.whole(5)",), outside="none", compiles=False
    ),
    "an empty tensor may be iterated over": Case(
        "v = x0.sum()\nfor row in x0:\n    v = v + row.sum()\nv", ("make(0, 3)",)
    ),
    "softmax of numbers has one element": Case(
        "wg.func.vmap(wg.func.vmap(lambda u: u.softmax(-1)))(x0)", ("make(3, 1)",)
    ),
    "a batch that comes back as it went in is a result of its own": Case(
        "wg.func.vmap(lambda u: u.sort()[0])(x0)"
    ),
    "sums of what is expanded from one number end": Case(
        "v = x0\nfor n in range(12):\n    v = (v * x0.expand(2, 3).mean()).tanh() + 0.1\nv"
    ),
    "a view of a sum without dimensions is written to": Case(
        "v = x0.sum() * 1\nv.reshape(-1)[0] = 2.0\nv * 3"
    ),
    "reshaping what is not contiguous makes a copy": Case(
        "v = x0[:, 0]\nw = v.reshape(-1)\nw[0] = 2.0\nv * w.sum()", ("make(2, 2, 3)",)
    ),
    "writes to leaves may spoil views of them": Case(
        "with wg.no_grad():\n    x0[0] *= 0.9\nx0.sum()", ("make(2, 3)",)
    ),
    "writes through data are not counted": Case("x0.data.mul_(0.9)\nx0 * 1", outside="none"),
    "writes to empty tensors are counted": Case(
        "x0.add_(1)\nx0", ("make.whole(0, 3)",), outside="none"
    ),
    "numbers read off tensors have remainders": Case(
        "v = x0.sum().item()\n(v % 1, v // 0.5, divmod(v, 2), 7 % (abs(v) + 1))", outside="none"
    ),
    "numbers read off tensors are floats to error messages": Case(
        "wg.atan2(x0.sum().item(), x0[0].item())", outside="none"
    ),
    "numbers that an operation reads are not the numbers that are returned": Case(
        "wg.atan2(x0.sum().item(), x0)", outside="none"
    ),
    "decisions on exact numbers may be rounded otherwise": Case(
        "v = wg.stack([x0, x0], -1)\n(v * 2, float(f'{v.sum().item()!r}'))", ("make(2, 2, 3)",)
    ),
    "traces with arrays of their own may go apart at decisions": Case(
        "v = x0\ns = x0.sum().abs()\nwhile s < 9:\n    v = F.softplus(x0) + v * 0.5\n"
        "    s = s * 1.5 + 1\nx0[[0, -1, 0]]",
        ("make(2, 2, 3)",),
    ),
    "an index without dimensions takes values of another dtype": Case(
        "v = x0.clone()\nv[wg.tensor(1)] = x1.sum()\nv",
        ("make(2, 3)", "make(3, dtype=np.float32)"),
    ),
    "what is saved for a second derivative outlives the trace": Case(
        "v = wg.linalg.cholesky(x0 @ x0.mT + wg.eye(3))\nx0.data.numpy()\n(v, f'{x0.sum()}'[:0])",
        ("make(3, 3)",),
        outside="second",
        compiles=False,
    ),
    "products of nothing with constants are empty": Case(
        "F.linear(x0, wg.ones(2, 3)).detach()", ("make(0, 3)",), outside="none"
    ),
    "constants that are expanded may be factors": Case("F.bilinear(x0, x0, wg.ones(2, 3, 3))"),
    "views of what is not a result are differentiated twice": Case(
        "v = x0.clone().scatter_(0, wg.tensor([[0], [0], [1]]), x0)\nv.chunk(2)[0]",
        ("make(3, 1)",),
        outside="second",
    ),
    "numbers read off tensors fill edges": Case("F.pad(x0, (1, 1), value=x0.sum().item())"),
    "parts of what is reshaped are joined": Case("x0.unbind(0)[-1].roll(1, 0)", ("make(1, 3)",)),
    "pieces are taken of what is reshaped again": Case(
        "v = x0.expand(3, 4).reshape(3, 2, 2)\nwg.cat([v, v])", ("make(3, 1)",)
    ),
    "softmax of mapped constants without dimensions": Case(
        "x0 * wg.func.vmap(lambda u: u.softmax(-1))(wg.ones(3))"
    ),
    "numbers that were saved are written to by .data": Case(
        "v = x0.tanh()\nv.data.mul_(0.9)\nv * 1", ("make()",), outside="backward"
    ),
    "a tensor made inside whose history has been walked": Case(
        "v = x0.detach().requires_grad_() * 2\n(x0 * v).sum().backward()\nv * x0",
        outside="backward",
        compiles=False,
    ),
    "what is stacked is read where it is": Case(
        "v = [row.sum() for row in x0[0:2, None] if row.sum() > 0]\n"
        "v = wg.stack(v) if v else x0.sum()\n(x0 * x0, v.norm())",
    ),
    "zero cotangents hide what is infinite in other calls than the first": Case(
        "(x0.sum() * 1000 + x0).expm1().clamp(max=3)"
    ),
    "gradients that are retained lie in memory as uncompiled": Case(
        "v = x0.t() * 1\nv.retain_grad()\n(v ** 2).sum().backward(retain_graph=True)\n"
        "v * 1 + v.grad",
        ("make(2, 3)",),
    ),
    "blocks whose derivatives decide on values are left as they are": Case(
        "v0 = loop(x0)\nv1 = x0.clone()\nv1[v0 > 0.3] = x0.mean()\nv5 = loop(v1)\nx0 * 2",
        ("make(4)",),
        outside="second",
        compiles=False,
    ),
    "blocks have the derivatives that later traces need, where the first had no history": Case(
        "v0 = loop(x1)\nv1 = x0.sin()\nv2 = v0 - v0.mean()\nif v0.max() > 7:\n"
        "    v2 = v2 + v1.sum()\nv2",
        ("make(3, 3)", "make(4, grad=False) * 3"),
    ),
    "gradients of leaves that are made inside lie in memory as uncompiled": Case(
        "leaf = x0.t()[::2].detach().clone().requires_grad_()\n"
        "(leaf - leaf.mean()).sum().backward()\nleaf.grad",
        ("make(3, 3)",),
    ),
    "gradients that are recorded lie in memory as uncompiled": Case(
        "leaf = x0.t()[::2].detach().clone().requires_grad_()\n"
        "(leaf - leaf.mean()).square().sum().backward(create_graph=True)\nleaf.grad",
        ("make(3, 3)",),
    ),
    "gradients in transforms lie in memory as uncompiled": Case(
        "v = wg.func.grad(lambda u: (x1 @ u.t()).sum())(x0).clone()\nv.flatten()[0:1].zero_()\nv",
        ("make(2, 3)", "make(2, 3)"),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_compiled_and_uncompiled(name: str, backend: str) -> None:
    verdict = check(CASES[name].text, backend)
    assert verdict.what == ("agree" if CASES[name].compiles else "eager"), verdict.why


@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_without_a_cotangent_lead_to_no_gradient(backend: str) -> None:
    text = Case("(x0 * 2, x1 * 3)", ("make(3)", "make(3)")).text
    text = text.replace("return (x0 * 2, x1 * 3)", "return x0 * 2, x1.detach() * 0, x1 * 3")
    assert check(text, backend).what == "agree"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("made", ["tensor", "as_tensor", "asarray"])
def test_numbers_read_off_tensors_become_tensors_of_the_default_dtype(
    made: str, backend: str
) -> None:
    text = Case(f"wg.{made}(x0.sum().item())", outside="none").text
    assert check(text.replace("wg.float64", "wg.float32"), backend).what == "agree"
