"""Random programs over tensors that share memory, as lines of Python.

NOTE [programs from numbers]
`write` makes a program from a list of steps, each a tuple of small numbers, so that any source of
numbers can draw and shrink programs. Shapes are tracked along with the text, so that lines usually
run. `support.runs` runs the programs, and `support.exclusions` lists what they leave out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from support.exclusions import without
from support.pool import Picker, Value, Writer

__all__ = ["CHOICES", "KINDS", "write"]

CHOICES = 6
"""How many numbers a step takes after its kind."""

SHAPES: tuple[tuple[int, ...], ...] = ((2, 3), (3,), (), (3, 1), (2, 2, 3), (2, 3), (0, 3))


# -- steps ----------------------------------------------------------------------------------------


def _view(w: Writer, pick: Picker) -> None:
    of = pick.one(w.values)
    like = of.like
    n = like.ndim
    dim = pick.below(n) if n else 0
    size = like.shape[dim] if n else 0
    i = pick.below(max(size, 1))
    options = [(f".unsqueeze({dim})", np.expand_dims(like, dim)), ("[...]", like[...])]
    lead = ":, " * dim
    if n:
        cut = (slice(None),) * dim
        if size:
            options.insert(0, (f".select({dim}, {i})", like[(*cut, i)]))
            options.append((f".narrow({dim}, {i}, 1)", like[(*cut, slice(i, i + 1))]))
            options.append((f"[{lead}{i}]", like[(*cut, i)]))
        options.append((f"[{lead}{i}:]", like[(*cut, slice(i, None))]))
        options.append((f"[{lead}::2]", like[(*cut, slice(None, None, 2))]))
        options.append((f".transpose({dim}, -1)", np.swapaxes(like, dim, -1)))
        options.append((f".movedim({dim}, 0)", np.moveaxis(like, dim, 0)))
        if size == 1:
            options.append((f".squeeze({dim})", np.squeeze(like, dim)))
        if n <= 2:
            options.append((".t()", like.T))
    if n > 1:
        options.append((".diagonal()", np.diagonal(like, 0, 0, 1)))
        options.append((f".permute(1, 0, *range(2, {n}))", np.swapaxes(like, 0, 1)))
        options.append((f".flatten(0, {n - 1})", like.reshape(-1)))
    if like.flags.c_contiguous:
        options.append((".view(-1)", like.reshape(-1)))
        options.append((f".view(1, {', '.join(map(str, like.shape))})", like[None]))
        if like.shape[-1:] == (3,) and n == 2:
            options.append((".view(3, 2)", like.reshape(3, -1)))
        options.append((".reshape(-1)", like.reshape(-1)))
    text, seen = pick.one(options)
    w.new(of.name + text, seen, of, of.needs)


def _view_of_several(w: Writer, pick: Picker) -> None:
    of = pick.one([v for v in w.values if v.like.ndim and v.like.size] or w.values)
    like = of.like
    if not like.ndim or not like.size:
        return
    dim = pick.below(like.ndim)
    i = pick.below(like.shape[dim])
    cut = (slice(None),) * dim
    part = like[(*cut, slice(i, i + 1))]
    text, seen = pick.one(
        [
            (f".unbind({dim})[{i}]", like[(*cut, i)]),
            (f".split(1, {dim})[{i}]", part),
            (f".chunk({like.shape[dim]}, {dim})[{i}]", part),
            (f".split([{i}, {like.shape[dim] - i}], {dim})[1]", like[(*cut, slice(i, None))]),
            (f".tensor_split({like.shape[dim]}, {dim})[{i}]", part),
        ]
    )
    w.new(of.name + text, seen, of, of.needs)
    w.values[0] = w.values[0]._replace(several=True)


def _expand(w: Writer, pick: Picker) -> None:
    of = pick.one([v for v in w.values if v.like.ndim < 3] or w.values)
    shape = pick.one([(2, *of.like.shape), of.like.shape])
    if 1 in shape:
        shape = tuple(3 if n == 1 else n for n in shape)
    w.new(f"{of.name}.expand({shape})", np.broadcast_to(of.like, shape), of, of.needs)


def _alias(w: Writer, pick: Picker) -> None:
    of = pick.one(w.values)
    text, needs = pick.one(
        [
            (".detach()", False),
            (".data", False),
            (".contiguous()", of.needs),
            (f".view_as({of.name})", of.needs),
            (f".expand_as({of.name})", of.needs),
            (f".to(t.{w.dtype})", of.needs),
        ]
    )
    copies = (text == ".contiguous()" and not of.like.flags.c_contiguous) or (
        text.startswith(".to") and of.like.dtype.kind != "f"
    )
    like = np.zeros(of.like.shape, "f" if text.startswith(".to") else of.like.dtype)
    if "view_as" in text and not of.like.flags.c_contiguous:
        return
    w.new(of.name + text, like if copies else of.like, None if copies else of, needs)


WRITES_ALONE = (
    *("mul_(2)", "zero_()", "sin_()", "fill_(0.5)", "clamp_(-0.5, 0.5)", "tanh_()", "neg_()"),
    *("add_(1)", "clamp_(max=0.5).exp_()", "sigmoid_()", "relu_()", "square_()", "abs_()"),
    *("cos_()", "pow_(2)", "clamp_(min=0.25)", "clamp_min_(0.5).sqrt_()", "floor_()"),
)


WRITES = (
    *(".add_({})", ".mul_({})", ".sub_({})", ".copy_({})", ".div_({0} * {0} + 1)", " += {}"),
    *(".add_({}, alpha=0.5)", ".sub_({}, alpha=2)", ".atan2_({})", ".hypot_({})", " *= {}"),
    *(".addcmul_({0}, {0}, value=0.5)", ".addcdiv_({0}, {0} * {0} + 1)", ".lerp_({}, 0.25)"),
)
PICKY = (".copy_", ".addc", ".atan2", ".hypot", ".lerp")
"""Those that take no number."""


def _write(w: Writer, pick: Picker) -> None:
    target = w.target(pick)
    source = w.source(pick, target.like.shape, target)
    form = pick.one(WRITES)
    if source[0] != "x" and form.startswith(PICKY):
        form = ".mul_({})"
    _written(w, target, target.name + form.format(source), source)


def _write_alone(w: Writer, pick: Picker) -> None:
    target = w.target(pick)
    form = pick.one(WRITES_ALONE)
    w.lines.append(f"{target.name}.{form}")
    _look(w, target)


def _written(w: Writer, target: Value, line: str, source: str) -> None:
    """Add a line that writes `source` to `target`."""
    w.lines.append(line)
    if any(v.name == source and v.needs for v in w.values):
        _look(w, target)
        w.values = [
            v._replace(needs=True) if v.memory == target.memory and v.like.dtype.kind == "f" else v
            for v in w.values
        ]


def _look(w: Writer, target: Value) -> None:
    """Ask for the histories of what was written, which PyTorch makes when they are asked for."""
    w.lines += [f"{v.name}.grad_fn" for v in w.values if v.memory == target.memory]


def _set_item(w: Writer, pick: Picker) -> None:
    target = w.target(pick)
    like = target.like
    source = w.source(pick, like.shape[1:], target)
    if not like.ndim:
        w.lines.append(f"{target.name}[...] = 0.5")
        return
    n = like.shape[0]
    options = ["[-1] = {}" if n else "[:1] = {}", "[::2] = {}", "[0:1] = {}", "[..., :] = {}"]
    options += ["[t.tensor([0])] = {}" if n else "[:] = {}", "[None] = {}", "[:] = {}"]
    if n > 1:
        options += ["[[0, 1]] = {}", "[t.tensor([0, 1])] = {}", "[1] += {}", "[0] *= {}"]
        options += ["[1].mul_({})", "[0].copy_({})", "[0, ...] = {}"]
    form = pick.one(options)
    if source[0] != "x" and "copy_" in form:
        source = f"t.tensor(0.25, dtype=t.{w.dtype})"
    _written(w, target, target.name + form.format(source), source)


def _write_masked(w: Writer, pick: Picker) -> None:
    target = w.target(pick)
    mask, memory = w.mask(pick, target.like)
    if memory == target.memory:
        return
    scalar = w.source(pick, (), target)
    full = w.source(pick, target.like.shape, target)
    form = pick.one(
        [
            "{0}.masked_fill_({1}, {2})",
            "{0}[{1}] = {2}",
            "{0}.index_put_(({1},), {3})",
            "{0}.copy_(t.where({1}, {0}, {4}))",
            "{0}.masked_fill_({1}, 0.5)",
            "{0}[{1}] *= 2",
        ]
    )
    if "index_put" in form and not target.like.ndim:
        form = "{0}[{1}] = {2}"
    tensor = scalar if scalar[0] == "x" else f"t.tensor(0.25, dtype=t.{w.dtype})"
    source = full if "{4}" in form else scalar
    if "{4}" in form and full[0] != "x":
        source = full = f"t.tensor(0.25, dtype=t.{w.dtype})"
    if "index_put" in form and source == scalar:
        source = tensor
    line = form.format(target.name, mask, scalar, tensor, full)
    _written(w, target, line, source)


UNARY = (
    *("{}.sin()", "{} * 2", "{}.tanh()", "{}.clone()", "{} + 1", "-{}", "{}.clamp(-0.5, 0.5)"),
    *("{}.clamp(max=1).exp()", "({0} * {0} + 1).sqrt()", "{}.relu()", "1 / ({0} * {0} + 1)"),
    *("{} ** 2", "{}.sigmoid()", "{}.detach() * {}", "{}.abs()", "{}.clone().detach_()"),
)
BINARY = (
    *("{} + {}", "{} * {}", "{} - {}", "{} / ({1} * {1} + 1)", "t.where({0} > 0.1, {0}, {1})"),
    *("t.maximum({}, {})", "{}.atan2({1} * {1} + 1)", "t.where({1} > 0.1, {1} * {0}, 0.5)"),
)
REDUCE = ("{}.sum({})", "{}.mean({})", "{}.amax({})", "{}.sum({}, keepdim=True)")


def _unary(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    form = pick.one(UNARY)
    w.new(form.format(*[a.name] * form.count("{}") or [a.name]), np.zeros(a.like.shape), None)
    w.values[0] = w.values[0]._replace(needs=a.needs)


def _binary(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    found = [v for v in w.values if v.like.dtype.kind == "f" and _broadcast(a.like, v.like)]
    b = pick.one(found)
    form = pick.one(BINARY)
    if form.startswith("{} / (") or "atan2" in form:
        form = form.replace("{}", "{0}")
    shape = np.broadcast_shapes(a.like.shape, b.like.shape)
    w.new(form.format(a.name, b.name), np.zeros(shape), None, a.needs or b.needs)


def _broadcast(a: Any, b: Any) -> bool:
    pairs = zip(a.shape[::-1], b.shape[::-1], strict=False)
    return all(m in (1, n) or n == 1 for m, n in pairs)


def _reduce(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    if not a.like.ndim or not a.like.size:
        w.new(f"{a.name}.sum()", np.zeros(()), None, a.needs)
        return
    dim = pick.below(a.like.ndim)
    form = pick.one(REDUCE)
    like = np.zeros(a.like.shape).sum(dim, keepdims="keepdim" in form)
    w.new(form.format(a.name, dim), np.asarray(like), None, a.needs)


def _mask(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    form = pick.one(["{} > 0.1", "{} < 0.25", "~({} > -0.2)"])
    w.new(form.format(a.name), np.zeros(a.like.shape, "?"), None, False)


def _join(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    b = pick.one([v for v in w.values if v.like.shape == a.like.shape and v.like.dtype.kind == "f"])
    needs = a.needs or b.needs
    if a.like.ndim and pick.below(2):
        like = np.concatenate([np.zeros(a.like.shape)] * 2)
        w.new(f"t.cat([{a.name}, {b.name}])", like, None, needs)
    else:
        w.new(f"t.stack([{a.name}, {b.name}])", np.zeros((2, *a.like.shape)), None, needs)
    w.values[0] = w.values[0]._replace(joined=True)


def _gather(w: Writer, pick: Picker) -> None:
    a = pick.one([v for v in w.values if v.like.ndim and v.like.shape[0] > 1] or w.values)
    if not a.like.ndim or a.like.shape[0] < 2:
        return
    form = pick.one(["{}[[0, 1, 0]]", "{}[t.tensor([1])]", "{}.index_select(0, t.tensor([0, 0]))"])
    like = np.zeros((3 if "0, 1, 0" in form else 1 if "[1]" in form else 2, *a.like.shape[1:]))
    w.new(form.format(a.name), like.astype(a.like.dtype), None, a.needs)


def _hook(w: Writer, pick: Picker) -> None:
    a = w.recorded(pick)
    handle = w.fresh("h")
    what = pick.one([f'"{handle}"', f'"{handle}", 2', f'"{handle}"'])
    w.hooked(f"{a.name}.grad_fn; {handle} = {a.name}.register_hook(watch({what}))", a)
    w.handles.append(handle)


def _other_hook(w: Writer, pick: Picker) -> None:
    b = w.recorded(pick)
    inner = [v for v in w.values if v.needs and not v.rooted]
    a = pick.one(inner or [b])
    handle = w.fresh("h")
    form = pick.one(
        [
            "{0}.grad_fn.register_hook(watch_node({2}))",
            "{0}.grad_fn.register_prehook(watch_node({2}))",
            "{1}.register_post_accumulate_grad_hook(watch_leaf({2}))",
            "{0}.grad_fn.register_prehook(watch_node({2}, 2))",
            "{0}.grad_fn.register_hook(watch_node({2}, 2))",
            "t.autograd.graph.register_multi_grad_hook([{0}, {3}], watch_all({2}))",
            't.autograd.graph.register_multi_grad_hook([{0}, {3}], watch({2}), mode="any")',
        ]
    )
    leaf = pick.one([v for v in w.values if v.needs and v.rooted] or [a])
    if "multi" in form:
        # PyTorch does not support leaves there while `grad` runs
        if not inner:
            return
        b = pick.one(inner)
        handle = f"{a.name}.grad_fn, {b.name}.grad_fn; {handle}"
    elif a.joined:
        return
    name = handle.split()[-1]
    line = form.format(a.name, leaf.name, f'"{name}"', b.name)
    w.hooked(f"{handle} = {line}", a, b)
    w.handles.append(name)


def _retain(w: Writer, pick: Picker) -> None:
    a = w.recorded(pick)
    if not a.several:
        w.hooked(f"{a.name}.grad_fn; {a.name}.retain_grad()", a)


def _remove(w: Writer, pick: Picker) -> None:
    if w.handles:
        w.lines.append(f"{pick.one(w.handles)}.remove()")


def _requires(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    form = pick.one([".requires_grad_()", ".grad = None", ".requires_grad_(False)"])
    if form == ".requires_grad_()":
        if w.values[0] is not a or any(v.memory == a.memory for v in w.values[1:]):
            return
        w.values = [v._replace(needs=True, rooted=True) if v is a else v for v in w.values]
    if form == ".requires_grad_(False)" and any(
        re.search(rf"\b{a.name}\b(?! = )", line) for line in w.lines
    ):
        return
    w.lines.append(a.name + form)


def _function(w: Writer, pick: Picker) -> None:
    a = w.number(pick)
    like = np.zeros(a.like.shape)
    name = pick.one(
        [
            *("Square", "Exp", "Two", "Same", "Double_", "Part", "Flat", "Flagged", "Either"),
            *("Product", "Sine_", "Split"),
        ]
    )
    if name == "Double_" or name == "Sine_":
        a = w.target(pick)
        if a.rooted or a.several:
            return
        w.new(f"{name}.apply({a.name})", a.like, a, a.needs)
    elif name == "Same" or name == "Flat":
        seen = a.like if name == "Same" else a.like.reshape(-1)
        w.new(f"{name}.apply({a.name})", seen, a, a.needs)
        w.values[0] = w.values[0]._replace(several=True)
    elif name == "Part" or name == "Split":
        of_first = a.like[0] if a.like.ndim and a.like.shape[0] else a.like
        end = "" if name == "Part" else f"[{pick.below(2)}]"
        w.new(f"{name}.apply({a.name}){end}", of_first, a, a.needs)
        w.values[0] = w.values[0]._replace(several=True)
    elif name in ("Two", "Either", "Flagged"):
        i = pick.below(2)
        kind = "?" if name == "Flagged" and i else "f"
        w.new(f"{name}.apply({a.name})[{i}]", like.astype(kind), None, a.needs)
        w.values[0] = w.values[0]._replace(several=True)
    elif name == "Product":
        found = [v for v in w.values if v.like.shape == a.like.shape and v.like.dtype.kind == "f"]
        b = pick.one(found)
        w.new(
            f"Product.apply({a.name}, {b.name}.to({a.name}.dtype))", like, None, a.needs or b.needs
        )
    else:
        w.new(f"{name}.apply({a.name})", like, None, a.needs)


def _backward(w: Writer, pick: Picker) -> None:
    a, b = w.recorded(pick), w.recorded(pick)
    form = pick.one(
        [
            "{0}.sum().backward(retain_graph=True)",
            "({0} * {0}).sum().backward(retain_graph=True)",
            "{0}.backward(t.ones_like({0}), create_graph=True)",
            "{1}.grad_fn; ({0} * {0}).sum().backward(inputs=[{1}], retain_graph=True)",
            "{0}.sum().backward()",
        ]
    )
    line = form.format(a.name, b.name)
    if "inputs" in line:
        # it retains the gradient of the tensor
        if not (a.several or b.several):
            w.hooked(line, b)
    else:
        w.lines.append(line)


def _grad(w: Writer, pick: Picker) -> None:
    a, b = w.recorded(pick), w.recorded(pick)
    form = pick.one(["{}.sum()", "({0} * {0}).sum()", "{}.sin().sum()"])
    how = pick.one(["create_graph=True", "retain_graph=True"])
    text = f"t.autograd.grad({form.format(a.name)}, {b.name}, {how})[0].clone()"
    w.new(text, np.zeros(b.like.shape), None, how[0] == "c")


KINDS: tuple[Callable[[Writer, Picker], None], ...] = (
    *(_view, _write, _unary, _view, _write_alone, _binary, _set_item, _view, _write),
    *(_write_masked, _view_of_several, _hook, _function, _expand, _alias, _reduce, _mask),
    *(_other_hook, _retain, _backward, _grad, _join, _gather, _requires, _remove, _view, _write),
    *(_hook, _function, _write_alone),
)
MODES = (*[""] * 8, "with t.no_grad(): ", "with t.no_grad(), t.enable_grad(): ")


LEAVES = (
    *(("", True), ("", False), ("", True), ("bool", False), ("", True), ("int64", False)),
    *(("", False), ("", True)),
)
"""The dtypes of leaves (the program's, where there is none) and whether they require gradients."""


def write(leaves: Sequence[tuple[int, int]], steps: Sequence[Sequence[int]]) -> list[str]:
    """The lines of a program.

    Parameters
    ----------
    leaves
        For each of the first tensors, the number of its shape and of its kind.
    steps
        For each step its kind (below ``len(KINDS)``) and `CHOICES` more numbers.
    """
    w = Writer()
    for i, (shape, kind) in enumerate(leaves):
        if i == 0:
            w.dtype = "float32" if kind % 8 == 7 else "float64"
        dtype, needs = LEAVES[0 if i == 0 else kind % len(LEAVES)]
        w.leaf(SHAPES[shape % len(SHAPES)], dtype or w.dtype, needs, i)
    for kind, mode, *numbers in steps:
        count = len(w.lines)
        KINDS[kind % len(KINDS)](w, Picker(numbers))
        w.lines[count:] = [MODES[mode % len(MODES)] + line for line in w.lines[count:]]
        if "no_grad(): x" in w.lines[-1] and len(w.lines) > count:
            w.values[0] = w.values[0]._replace(needs=False)
    if any(0 in value.like.shape for value in w.values):
        # what PyTorch records of gradients without elements depends on the operation
        w.lines = [line.replace("create_graph=", "retain_graph=") for line in w.lines]
    return without(w.lines, w.on_views)
