"""Random programs whose calls come in contexts: modes, transforms, threads, and other functions.

Each is a `world` as in `random_programs`, with a ``CALL`` that calls the function. Several of these
write to results, or to tensors over the memory of results, while a transform is active.

``python tests/compiler/random_contexts.py 17 llvm`` runs the program of seed 17 and prints it.
"""

from __future__ import annotations

import random
import re
import sys

from random_runs import check

__all__ = ["CONTEXTS", "draw_call"]

CONTEXTS = {
    "nothing": "f(x, y)",
    "the same argument twice": "f(x, x)",
    "views of one tensor": "f(x[1:], x[:2])",
    "no_grad": "within(wg.no_grad(), f, x, y)",
    "inference_mode": "within(wg.inference_mode(), f, x.detach(), y.detach())",
    "autocast": "within(wg.autocast('cpu', dtype=wg.bfloat16), f, x, y)",
    "saved_tensors_hooks": "within(hooks(lambda t: t.clone(), lambda t: t), f, x, y)",
    "a checkpoint": "checkpoint(f, x, y, use_reentrant=False)",
    "a reentrant checkpoint": "checkpoint(f, x, y, use_reentrant=True)",
    "another function": "(wg.compile(g, **SAME) if hasattr(f, 'entries') else g)(x, y)",
    "a module": "functional_call(Calling(f), {'p': x.detach() * 2}, (x, y))",
    "a thread": "in_thread(f, x, y)",
    "vmap": "vmap(f)(stacked(x), stacked(y))",
    "vmap over one": "vmap(f, in_dims=(0, None))(stacked(x), y)",
    "vmap of vmap": "vmap(vmap(f, in_dims=(0, None)))(stacked(stacked(x)), stacked(y))",
    "jvp": "jvp(f, (x.detach(), y.detach()), (y.detach(), x.detach()))",
    "jvp by one": "jvp(lambda t: f(t, y), (x.detach(),), (x.detach().cos(),))",
    "jvp of jvp": "jvp(lambda t: jvp(lambda u: f(u, y), (t,), (t,))[1], (x.detach(),), (y,))",
    "grad": "grad(lambda t: total(f(t, y)))(x.detach())",
    "grad of grad": "grad(lambda t: grad(lambda u: total(f(u, y)))(t).sum())(x.detach())",
    "hessian": "hessian(lambda t: total(f(t, y)))(x.detach())",
    "jacrev": "jacrev(lambda t: total(f(t, y)))(x.detach())",
    "jacfwd of jacfwd": "jacfwd(jacfwd(lambda t: total(f(t, y))))(x.detach())",
    "vmap of grad": "vmap(grad(lambda t: total(f(t, y))))(stacked(x.detach()))",
    "vjp": "vjp(lambda t: total(f(t, y)), x.detach())[1](wg.tensor(2.0))",
    "functional.hessian": "wg.autograd.functional.hessian(lambda t: total(f(t, y)), x.detach())",
    "writes under vmap": "vmap(lambda a, b: written(f(a, b)))(stacked(x), stacked(y))",
    "writes under jvp": "jvp(lambda t: written(f(t, y)), (x.detach(),), (y.detach(),))",
    "a dual tensor": "unpacked(f, x.detach(), y)",
    "vmap in chunks": "vmap(f, chunk_size=1)(stacked(x), stacked(y))",
    "linearize": "linearize(lambda t: f(t, y), x.detach())[1](x.detach().cos())",
    "functional.hvp": "wg.autograd.functional.hvp(lambda t: total(f(t, y)), x.detach(), x)",
    "functional.jacobian": "wg.autograd.functional.jacobian(lambda t: total(f(t, y)), x, True)",
    "writes to what is saved": "mutated(f, x, y)",
    "saved on the CPU": "within(save_on_cpu(), f, x, y)",
    "gradients of one result": "slopes(tensors(f(x, y))[:1], x, y)",
    "hooks on results": "slopes(hooked(tensors(f(x, y))), x, y)",
    "a result that retains": "retained(tensors(f(x, y)), x, y)",
    "batched gradients": "slopes(tensors(f(x, y))[:1], x, y, batched=True)",
    "gradients after a write to a result": "slopes(doubled(tensors(f(x, y))), x, y)",
    "gradients after a write to an argument": "moved(f, x, y)",
    "gradients after a write to data": "moved(f, x, y, data=True)",
    "gradients twice": "twice(tensors(f(x, y)), x, y)",
    "a call on a result": "slopes(tensors(f(tensors(f(x, y))[0] * 2, y)), x, y)",
    "backward with inputs": "accumulated(tensors(f(x, y)), x)",
    "cotangents that record": "recorded(tensors(f(x, y)), x, y)",
    "an argument that leads to the other": "slopes(tensors(f(x, x * y)), x, y)",
    "an argument and a view of it": "f(x, x.view(3))",
}
SLOPE = re.compile(
    r"(?<!no_)grad\(|hess|jac|vjp|hvp|linear|slopes|moved|mutated|retained|twice|recorded|accumul"
)
"""What returns gradients, of which the memory is laid out as it comes."""
LINES = (
    """
v = v.sin() | v = v * w | v = v + W | v = v * W | v = v / (w * w + 1) | v = v.abs().sqrt() | v = -v
v = v * v | v = v.sum() * v | v = v.exp() | v = v.cumsum(0) | v = v.softmax(0) | v = v.flip(0)
v = wg.where(v > 0, v, w) | v = wg.cat([v, w])[:v.shape[0]] | v = v.float().double()
v = v * float('inf') * 0 | v = v.clamp(-1, 1) | v = v.round() + v | v = wg.maximum(v, w) | w = w * 2
v = v.clone(); v.mul_(2) | v = v * 1; v.data.mul_(1.5) | v = v * 1; v.detach().add_(1)
v = v * 2; v[:1] = 5.0 | v = v * 1; v.view(-1)[-1] = w.sum() | v = v + 0; v.add_(W.detach())
v = v.expand(2, *v.shape).sum(0) | v = v.view(-1, 1).expand(-1, 2).mean(1) | v = v.roll(1)
v = v * 3 if w.sum() > 0 else v - 1 | v = v * (1.0 if v.requires_grad else 2.0)
for n in range(2): v = v * 0.5 + n | v = grad(lambda t: (t * t).sum())(v) | v = v * LIST[0]
with wg.no_grad(): w = v * 2 | v = vmap(lambda t: t * 2)(v) | w = v.detach()
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
RETURNS = (
    *("v", "v", "v", "v.sum()", "(v, v)", "(v, v[:2])", "(v, v.view(-1))", "(v, v.detach())"),
    *("[v, {'a': w}]", "(v, w)", "(v.T, v.sum())", "(v[1:], v[:1])", "(v, 2.5)"),
)
ENDS = ("none", "backward", "grad", "twice")
HEAD = """
import threading
import wengert.autograd.forward_ad as fwd
from wengert.autograd.graph import allow_mutation_on_saved_tensors, save_on_cpu
from wengert.autograd.graph import saved_tensors_hooks as hooks
from wengert.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from wengert.utils.checkpoint import checkpoint
SAME = {"backend": "numpy", "options": {"measure": False, "quiet": True}}
LIST = [1.5]

class Calling(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f, self.p = f, nn.Parameter(wg.ones(3))

    def forward(self, x, y):
        return self.f(x * self.p, y)

def tensors(made):
    if isinstance(made, wg.Tensor):
        return [made]
    parts = made.values() if isinstance(made, dict) else made
    return [] if isinstance(made, float) else [t for part in parts for t in tensors(part)]

def total(made):
    return sum(t.sum() for t in tensors(made))

def stacked(x):
    return wg.stack([x, x * 2])

def within(context, f, x, y):
    with context:
        return f(x, y)

def in_thread(f, x, y):
    made = []
    thread = threading.Thread(target=lambda: made.append(f(x, y)))
    thread.start()
    thread.join()
    return made.pop()

def written(made):
    one, *others = tensors(made)
    with wg.no_grad():
        one.mul_(3)
    return [t * 1 for t in (one, *others)], wg.tensor(float(any(one is t for t in others)))

def slopes(made, *given, batched=False, **options):
    roots = [t for t in made if t.requires_grad and not t.is_leaf]
    leaves = [t for t in given if t.requires_grad]
    if not roots or not leaves:
        return [t.detach() for t in made]
    seeds = [stacked(t.detach().cos()) if batched else t.detach().cos() for t in roots]
    options |= {"is_grads_batched": batched, "allow_unused": True}
    found = wg.autograd.grad(roots, leaves, seeds, **options)
    return [0.5 if g is None else g for g in found]

def hooked(made):
    for t in made:
        if t.requires_grad:
            t.register_hook(lambda g: g * 2)
    return made

def doubled(made):
    with wg.no_grad():
        made[0].mul_(2)
    return made

def moved(f, x, y, data=False):
    made = tensors(f(x, y))
    with wg.no_grad():
        (x.data if data else x).add_(1)
    return slopes(made, x, y)

def mutated(f, x, y):
    with allow_mutation_on_saved_tensors():
        return moved(f, x, y)

def retained(made, x, y):
    for t in made:
        if t.requires_grad and not t.is_leaf:
            t.retain_grad()
    total(made).backward()
    return [t.grad for t in made if t.requires_grad and not t.is_leaf]

def twice(made, x, y):
    # a graph that saves nothing may be walked again
    made = [t * t for t in made]
    first = slopes(made, x, y, retain_graph=True)
    return first + slopes(made, x, y) + slopes(made, x, y)

def accumulated(made, x):
    total(made).backward(inputs=[x])
    return x.grad

def recorded(made, x, y):
    roots = [t for t in made if t.requires_grad and not t.is_leaf]
    leaves = [t for t in (x, y) if t.requires_grad]
    seeds = [t.detach().sin().requires_grad_() for t in roots]
    found = wg.autograd.grad(roots, leaves, seeds, create_graph=True, allow_unused=True)
    again = [g for g in found if g is not None and g.requires_grad]
    found += wg.autograd.grad([g.sum() for g in again], seeds, allow_unused=True)
    return [0.5 if g is None else g for g in found]

def unpacked(f, x, y):
    with fwd.dual_level():
        made = tensors(f(fwd.make_dual(x, x.cos()), y))
        first = fwd.unpack_dual(made[0]).tangent
        if first is not None and not first.requires_grad:
            first.mul_(2)
        return [part for t in made for part in fwd.unpack_dual(t * 1)]
"""


def draw_call(seed: int) -> str:
    """The program of a seed, as source."""
    rng = random.Random(seed)
    body = "; w = y\n        ".join(["v = x", rng.choice(LINES)])
    for line in rng.sample(LINES, rng.randrange(4)):
        body += f"\n        {line}"
    contexts = [rng.choice(list(CONTEXTS)) for _ in range(2)]
    turns = [CONTEXTS[name] for name in contexts]
    recorded = [rng.random() < 0.5 for _ in range(3)]
    return (
        f"{HEAD}DTYPE, OUTSIDE = wg.float64, {rng.choice(ENDS)!r}\n"
        f"LIES = {not any(SLOPE.search(call) for call in turns)}\n"
        f"TURNS = {turns}\n"
        "def CALL(f, turn, x, y):\n    def g(x, y):\n        return f(x * 2, y)\n"
        "    return eval(TURNS[turn], {**globals(), 'f': f, 'x': x, 'y': y, 'g': g})\n"
        "def world():\n"
        f"    W = wg.tensor([0.5, -1.0, 2.0], requires_grad={recorded[0]})\n"
        f"    def f(x, y):\n        {body}\n        return {rng.choice(RETURNS)}\n"
        "    def calls():\n        for turn in (0, 0, 1, 0, 1, 1):\n"
        "            make = Maker(turn)\n"
        f"            yield turn, make(3, grad={recorded[1]}), make(3, grad={recorded[2]})\n"
        "    return f, calls, [W]\n"
    )


if __name__ == "__main__":
    text = draw_call(int(sys.argv[1]))
    print(text[len(HEAD) :])
    print(check(text, sys.argv[2]))
