"""Random lines of Python, drawn by running them.

NOTE [programs in lockstep]
A program follows from its seed: lines are drawn from `line_grammar`, and PyTorch runs
each as it is drawn. Of those that it refuses a few are kept, since errors are to be the same, too.
`lockstep` has both libraries run it, and compares after each line what it made or
may have changed, and at the end the derivatives of everything. Lines that lead to what
docs/differences.md lists are not drawn, or end the comparison. PyTorch is never imported here;
whoever asks hands it over.
"""

from __future__ import annotations

import functools
import random
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from support.agreement import array
from support.functions import functions
from support.line_grammar import CURVES, FUNCTIONS, GROUPS, LEAVES, REGIONS, SCALARS, SHAPES
from support.line_grammar_more import MORE
from support.line_grammar_rare import RARE
from support.parity import Failure
from support.runs import Run

__all__ = ["TRANSFORMED", "WALKS", "Copying", "Side", "draw", "is_tensor", "sound"]

WALKS = re.compile(
    r"backward\(|grad\(|checkpoint|_\.apply|t\.func\.|autograd\.functional\.|linearize"
)
"""Lines that leave something behind when they raise: gradients half added up, graphs half freed."""
TRANSFORMED = re.compile(r"t\.func\.|t\.vmap|autograd\.functional|linearize")
LAID = re.compile(
    r"grad\(|checkpoint|t\.func\.|d\.functional\.|unpack_dual|fft|linalg|scatter|index_add|rot90"
    r"|quantile|diff|unique"
    r"|logsigmoid|gelu|\d \*\* |median|normalize|layer_norm|cummax|sort|unfold"
)
"""Operations whose results need not lie in memory as PyTorch's do."""
INFINITE = re.compile(r"linalg|prod|\.mode\(|sign\(|sgn")
"""Operations whose results, or derivatives, differ where numbers are not finite."""
STEEP = re.compile(
    r"normalize\(|linalg|t\.svd|[<>=%] |//|floor|round|sign|sgn|heaviside|copysign|any|all\(|argm"
    r"|sort|nonzero|trunc|frac|angle|atan2|\.long|bool"
)
"""Operations that show roundings: of what is next to nothing, or nearly singular."""
STEPS = re.compile(r"floor|trunc|frac|round|\.long|\.to\(t\.int|//|%|rounding_mode|remainder|fmod")
"""Operations that show roundings next to whole numbers."""
SIGNED = re.compile(r"atan2|copysign|angle|signbit|qr\(")
"""Operations that show the sign of zero, which derivatives may have either way."""
CHOICE = (*GROUPS, *MORE)
WIDE = (*CHOICE, *RARE)
MOST = 1e5
"""Programs end where numbers grow beyond this."""


@functools.lru_cache(maxsize=1 << 14)
def _code(line: str) -> Any:
    return compile(line, "<program>", "exec")


class Side:
    """What one library has come to in a program."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.heard: list[tuple[str, Any]] = []
        watch = Run()
        watch.hear = self._hear  # type: ignore[method-assign]
        forward = module.autograd.forward_ad
        self.names: dict[str, Any] = {
            **{"t": module, "fw": forward, "dual": forward.make_dual},
            **{"pack": lambda saved: (saved.shape, saved), "unpack": lambda packed: packed[1]},
            **{"watch": watch.watch, "watch_node": watch.watch_node},
            **{"watch_leaf": watch.watch_leaf, "watch_all": watch.watch_all},
            **{"dense": self._dense, "trained": self._trained},
            **functions(module),
        }

    def _dense(self, value: Any) -> Any:
        """Copies that lie row by row."""
        if isinstance(value, tuple | list):
            return tuple(map(self._dense, value))
        if not isinstance(value, self.module.Tensor):
            return value
        return value.clone(memory_format=self.module.contiguous_format)

    def _trained(self, value: Any, name: str, **options: Any) -> Any:
        """What two steps of an optimizer make of a copy of a tensor."""
        module = self.module
        x = value.detach().clone().requires_grad_()
        optimizer = getattr(module.optim, name)([x], **options)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (x * x * x).sum()
            loss.backward()
            return loss

        with module.enable_grad():
            for _ in range(2):
                optimizer.step(closure)
        return x.detach()

    def _hear(self, label: str, tensor: Any) -> None:
        kept = None if tensor is None else tensor.detach().clone()
        try:
            array(kept)
        except Exception:
            kept = None  # the value of a transform, which ends with it
        self.heard.append((label, kept))

    def run(self, line: str) -> Failure | None:
        """Run a line; the `Failure`, if it raises."""
        self.heard.clear()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                exec(_code(line), self.names)
            except Exception as error:
                return Failure(error)
        return None

    def tensors(self) -> dict[str, Any]:
        """The tensors of the program by name."""
        kind = self.module.Tensor
        return {n: v for n, v in self.names.items() if n[0] == "x" and isinstance(v, kind)}

    def derivatives(self) -> list[Any]:
        """First and second derivatives by the leaves of all tensors with a history."""
        found = [
            x
            for x in self.tensors().values()
            if sound(x) and x.requires_grad and not x.is_inference()
        ]
        made = [x for x in found if x.is_leaf]
        if not made:
            return []
        grad = self.module.autograd.grad
        terms = [
            (_real(x) * (0.3 + 0.2 * i)).sin().sum().double()
            for i, x in enumerate(found)
            if x.numel()
        ]
        if not terms:
            return []
        first = grad(sum(terms), made, create_graph=True, allow_unused=True)
        curved = [_real(g).sin().sum().double() for g in first if g is not None and g.requires_grad]
        second: Sequence[Any] = [None] * len(made)
        if curved:
            second = grad(sum(curved), made, allow_unused=True, retain_graph=True)
        # whether a second derivative is zero or unknown is a matter of the rule
        second = [(0 * x if g is None else g).detach() for x, g in zip(made, second, strict=True)]
        return [[None if g is None else g.detach() for g in first], second]


class Copying(Side):
    """PyTorch where it copies what it has saved before that is written to.

    Transforms allow no hooks of saved tensors, so their lines run without.
    """

    def run(self, line: str) -> Failure | None:
        if not TRANSFORMED.search(line):
            return super().run(line)
        hooks = self.module._C._autograd
        pair = hooks._top_saved_tensors_default_hooks(False)
        hooks._pop_saved_tensors_default_hooks()
        try:
            return super().run(line)
        finally:
            hooks._push_saved_tensors_default_hooks(*pair)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of either library, be its history sound or not."""
    return hasattr(type(value), "requires_grad") and hasattr(type(value), "grad_fn")


def _real(x: Any) -> Any:
    return x.real + 2 * x.imag if x.is_complex() else x


# -- drawing --------------------------------------------------------------------------------------


class _Drawer:
    def __init__(self, torch: Any, seed: int, groups: Sequence[tuple[int, list[str]]]) -> None:
        self.chance = random.Random(seed)
        self.weights = [weight for weight, _ in groups]
        self.groups = [lines for _, lines in groups]
        self.side = Side(torch)
        self.lines: list[str] = []
        self.count = self.leaves = 0

    def name(self, letter: str = "x") -> str:
        self.count += 1
        return f"{letter}{self.count - 1}"

    def leaf(self, dtype: str, needs: bool) -> None:
        chance = self.chance
        shape = chance.choice(SHAPES)
        size = int(np.prod(shape))
        if dtype == "bool":
            values: list[Any] = [chance.random() < 0.5 for _ in range(size)]
        elif "int" in dtype:
            values = [chance.randrange(0 if dtype == "uint8" else -2, 4) for _ in range(size)]
        else:
            values = [round(chance.gauss(0, 1.2), 2) for _ in range(size)]
            if "complex" in dtype:
                values = [v + round(chance.gauss(0, 1), 2) * 1j for v in values]
            elif size and chance.random() < 0.08:
                values[chance.randrange(size)] = chance.choice(["nan", "inf", "-inf", 0.0, 1.0])
        text = repr(values if shape else values[0])
        text = re.sub(r"'(-?)(nan|inf)'", r"\1t.\2", text)
        needs_text = ", requires_grad=True" if needs else ""
        made = f"t.tensor({text}, dtype=t.{dtype})"
        if len(shape) > 1 or not size:
            made += f".reshape({shape})" + (".requires_grad_()" if needs else "")
        else:
            made = made[:-1] + needs_text + ")"
        self.accept(f"{self.name()} = {made}")
        self.leaves = self.count

    def accept(self, line: str) -> Failure | None:
        failed = self.side.run(line)
        self.lines.append(line)
        return failed

    def pick(self, kind: str) -> str | None:
        """The name of a tensor of a kind, newer ones more likely."""
        found = [n for n, x in self.side.tensors().items() if sound(x) and _is(x, kind)]
        if kind == "w":
            free = [n for n in found if not self.side.names[n].is_leaf or _free(self, n)]
            found = free if free and self.chance.random() < 0.9 else found
        if not found:
            return None
        return found[-1 - min(int(self.chance.expovariate(0.45)), len(found) - 1)]

    def fill(self, text: str) -> str | None:
        """A line's text with names and numbers in their places; None if something is missing."""
        chance = self.chance
        while True:
            hole = re.search(r"\{([a-zFVL])\}", text)
            if hole is None:
                return text
            kind = hole[1]
            if kind == "u":
                new: str | None = chance.choice(CURVES)
            elif kind == "F":
                new = chance.choice(FUNCTIONS)
            elif kind == "f":
                new = "(lambda u: ({u}).sum())"
            elif kind == "s":
                new = chance.choice(SCALARS)
            elif kind in "de":
                new = str(chance.choice([0, -1, 0, -1, 1]))
            elif kind == "n":
                new = self.name("h")
            elif kind == "V":
                new = "with fw.dual_level(): = fw.unpack_dual("
            elif kind == "L":
                new = "with fw.dual_level(): "
            else:
                new = self.pick("a" if kind == "y" else kind)
            if new is None:
                return None
            if kind in "uFfVLsden":
                text = text.replace(hole[0], new, 1)
            else:  # one tensor in all places
                text = text.replace(hole[0], new)

    def laid(self, text: str) -> bool:
        """Whether the order in memory of what a text computes is a library's own affair."""
        if LAID.search(text):
            return True
        names = set(re.findall(r"\bx\d+", text))
        apart = [n for n in names if not self.side.names[n].is_contiguous()]
        return bool(apart) and len(names) > 1 and not re.search(r"_\(|expand_as|view_as", text)

    def fits(self, line: str) -> bool:
        """Whether a line neither reads the memory it writes, nor needs more, nor maps nothing."""
        tensors = self.side.tensors()
        named = {n: tensors[n] for n in re.findall(r"\bx\d+", line) if n in tensors}
        if "dual" in line and any(x.is_inference() for x in named.values()):
            return False
        lifted = re.search(r"t\.func\.|autograd\.functional\.", line)
        if lifted and not all(x.numel() for x in named.values()):
            return False
        if STEPS.search(line) and any(_near_step(array(x)) for x in self.computed(named)):
            return False
        if SIGNED.search(line) and any((array(x) == 0).any() for x in self.computed(named)):
            return False
        if "kthvalue" in line and any(_has_ties(array(x)) for x in named.values()):
            return False
        if STEEP.search(line) and not all(_is_plain(array(x), line) for x in named.values()):
            return False
        if "huber" in line and len({x.dtype for x in named.values()}) > 1:
            return False
        if "as_strided" in line and any(x._is_view() for x in named.values()):
            return False
        if "nanmedian" in line and any(0 in x.stride() for x in named.values()):
            return False
        # PyTorch reads memory that is not set, or breaks off in the backward pass
        if re.search("multi(label)?_margin|pdist", line) and not all(
            x.numel() for x in named.values()
        ):
            return False
        if "detach_" in line and "inference" in line:
            return False
        if "conj" in line and "with" in line:
            return False
        if "t_()" in line or "swapaxes_" in line or "transpose_" in line:
            return not any(0 in x.stride() for x in named.values())
        if " ** x" in line and any(not (array(x) != 0).all() for x in named.values()):
            return False
        if INFINITE.search(line) and not all(np.isfinite(array(x)).all() for x in named.values()):
            return False
        written = re.search(r"\b(x\d+)[^ ]*(?:_\(| [-+*/]+= )|\b(x\d+)\[.*\] = ", line)
        if written is not None:
            name = written[1] or written[2]
            memory = tensors[name].untyped_storage().data_ptr()
            del named[name]
            again = len(re.findall(rf"\b{name}\b", line)) > 1
            if again and re.search(
                r"(mul|add|sub|copy|div|lerp|addcmul|put|scatter)_\(x|= x", line
            ):
                return False
            return all(x.untyped_storage().data_ptr() != memory for x in named.values())
        out = re.search(r"out=(x\d+)", line)
        if out is None:
            return True
        x = tensors[out[1]]
        memory = x.untyped_storage().data_ptr()
        if any(y is not x and y.untyped_storage().data_ptr() == memory for y in tensors.values()):
            return False
        if len(re.findall(rf"\b{out[1]}\b", line)) > 1:
            return False
        if any(y is x and n in line for n, y in tensors.items() if n != out[1]):
            return False
        bare = line.replace(f", out={out[1]}", "")
        trial = Side(self.side.module)
        trial.names.update(tensors)
        if trial.run("y = " + bare.split(" = ", 1)[-1]) is not None:
            return True
        return tuple(trial.names["y"].shape) == tuple(x.shape)

    def computed(self, tensors: dict[str, Any]) -> list[Any]:
        """Those of the tensors that are not leaves of the program."""
        return [x for name, x in tensors.items() if int(name[1:]) >= self.leaves]

    def step(self) -> bool:
        """Draw a line; whether the program may go on."""
        chance = self.chance
        group = chance.choices(self.groups, self.weights)[0]
        text = self.fill(chance.choice(group))
        if text is None:
            return True
        own = text.startswith("~")
        text = text.removeprefix("~")
        name = self.name()
        if "(): = " in text:
            text = text.replace("(): = ", f"(): {name} = dense(") + ")"
            line = text
        elif text.startswith("with") or re.search(r"[^=<>!]=+ ", re.sub(r"\(.*\)", "", text)):
            line = text
            if " == " in text or " <= " in text:
                line = f"{name} = dense({text})" if own or self.laid(text) else f"{name} = {text}"
        else:
            line = f"{name} = dense({text})" if own or self.laid(text) else f"{name} = {text}"
        walks = WALKS.search(line)
        if chance.random() < 0.08 and not walks:
            line = chance.choice(REGIONS) + line
        if not self.fits(line):
            return True
        failed = self.side.run(line)
        if failed is not None and not walks and chance.random() > 0.06:
            return True
        if _large(self.side):
            return False
        self.lines.append(line)
        return failed is None or not walks


def sound(x: Any) -> bool:
    """Whether the history of a tensor may be asked for: that of a view that was spoiled raises."""
    try:
        return isinstance(x.is_leaf, bool)
    except RuntimeError:
        return False


def _is_plain(values: Any, line: str) -> bool:
    """Whether rounding does not show in what a steep operation makes of values."""
    if values.dtype.kind not in "fc":
        return True
    size = np.abs(values)
    if "normalize(" in line and (size < 1e-9).any():
        return False
    if ".qr(" in line and values.ndim > 1:
        # its derivative is that of the first columns, as many as there are rows
        values = values[..., : values.shape[-2]]
    if (
        re.search(r"linalg|t\.svd", line)
        and values.ndim > 1
        and values.size
        and np.isfinite(size).all()
    ):
        return bool((np.linalg.cond(values.astype(np.complex128)) < 1e4).all())
    return not ((size > 0) & (size < 1e-9)).any()


def _has_ties(values: Any) -> bool:
    """Whether elements are equal: which of them is found is not specified."""
    return len(np.unique(values)) < values.size


def _near_step(values: Any) -> bool:
    """Whether roundings may have made a value greater or less than a whole number."""
    if values.dtype.kind not in "fc" or not np.isfinite(values).all():
        return False
    return bool((np.abs(values - np.round(values)) < 1e-6).any())


def _is(x: Any, kind: str) -> bool:
    if kind == "x":
        return True
    if kind in "ri" and kind == "r":
        return bool(x.requires_grad)
    if kind == "l":
        return bool(x.requires_grad and x.is_leaf)
    if kind == "m":
        return str(x.dtype).endswith("bool")
    if kind == "i":
        return not x.is_floating_point() and not x.is_complex() and not _is(x, "m")
    if kind == "z":
        return bool(x.is_complex())
    return bool(x.is_floating_point())


def _free(drawer: _Drawer, name: str) -> bool:
    return not drawer.side.names[name].requires_grad


def _large(side: Side) -> bool:
    for x in side.tensors().values():
        if str(x.dtype) == "torch.complex32" or x.numel() > 200:
            return True
        values = array(x.detach()).astype(np.complex128)
        if (np.abs(values[np.isfinite(values)]) > MOST).any():
            return True
    return False


def draw(torch: Any, seed: int, wide: bool = False) -> list[str]:
    """The lines of the program of a seed; `wide` has rare operations and idioms, too."""
    drawer = _Drawer(torch, seed, WIDE if wide else CHOICE)
    chance = drawer.chance
    drawer.leaf("float64", True)
    for _ in range(chance.randrange(1, 4)):
        drawer.leaf(*chance.choice(LEAVES))
    for _ in range(chance.randrange(3, 14)):
        if not drawer.step():
            break
    return drawer.lines
