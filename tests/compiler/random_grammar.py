"""The statements of random programs.

The placeholders ``a``, ``b``, ``c`` are floating-point tensors, ``i``, ``j`` integer tensors, ``m``
is a tensor of bools, ``z`` a complex tensor, and ``s`` a Python number. ``{a}`` is an elementwise
function of ``a``, ``{?}`` a decision. A line that does not assign to ``out`` is an expression.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Pair(NamedTuple):
    first: Any
    second: Any


# bounds are no 0 or 1, which sums of normalised numbers are but for rounding
LINES = [
    *("a.sin()", "a.cos()", "a.tanh()", "a.sigmoid()", "(a * a + 1).sqrt()", "(a * a + 1).log()"),
    *("a.clamp(-2, 2)", "a.relu()", "-a", "a * 0.5", "1 - a", "a / 3", "a ** 2 / 4", "a.abs()"),
    *("a.clone()", "a.detach() * a", "2 / (a * a + 1)", "a.exp().clamp(max=5)", "a.erf()"),
    *("a + b", "a - b", "a * b", "a / (b * b + 1)", "wg.maximum(a, b)", "wg.minimum(a, b)"),
    *("wg.where(a > b, a, b)", "wg.add(a, b, alpha=0.5)", "wg.atan2(a, b * b + 1)", "a @ b"),
    *("a.t() if a.dim() <= 2 else a.transpose(0, 1)", "a.reshape(-1)", "a.unsqueeze(0)"),
    *("a.flatten()", "a[0]", "a[..., -1:]", "a.squeeze()", "a[a > 0.3]", "a[[0, -1, 0]]"),
    *("wg.cat([a, a])", "wg.stack([a, a], -1)", "wg.cat([a, b], -1)", "a.flip(0)", "a.roll(1, 0)"),
    *("a.expand(2, *a.shape)", "a[::2]", "a.unbind(0)[-1]", "a.chunk(2)[0]", "a.diagonal()"),
    *("a.sum()", "a.mean()", "a.sum(0)", "a.mean(-1, keepdim=True)", "a.cumsum(0)", "a.prod()"),
    *("a.amax(0)", "a.logsumexp(0)", "a.max() * 1", "a.softmax(-1)", "a.max(0).values"),
    *("a.norm()", "a.log_softmax(0)", "a.var(0, correction=0)", "a.gather(0, (b > 0.3).long())"),
    *("a.tril()", "a * a.sum().item()", "a * 2 if a.sum() > 0.3 else a - 1"),
    *("a * float(b.sum() > 0.7)", "a.clone().mul_(b)", "a.clone().add_(1).relu_()"),
    *("wg.zeros_like(a).copy_(a)", "write(a, b)", "quiet(a)", "a.double()", "a.pow(3).sum() + b"),
    *("loop(a)",),
]
"""What the test by Hypothesis draws from, too."""

HELPERS = '''
def write(a, b):
    """A write through a view."""
    y = a.clone()
    y[..., -1:] += b.sum()
    y.reshape(-1)[0] = 0.5
    return y


def quiet(a):
    """An operation that is not recorded."""
    with wg.no_grad():
        factor = a.tanh()
    return a * factor


def loop(a):
    """A loop whose count depends on values."""
    total = a.abs().sum()
    while total < 20:
        a = a * 1.5 + 0.1
        total = a.abs().sum() + total + 1
    return a


def early(a):
    """A function that returns from the middle of a loop."""
    for n in range(4):
        if a.abs().sum() > 6 + n:
            return a - n
        a = a * 2
    return a
'''

POINTWISE = [
    *("u.sin()", "u * u", "u.tanh() + u", "wg.sigmoid(u) * 2", "u.pow(3)", "(u * u + 1).log()"),
    *("u.exp() * 0.1", "wg.where(u > 0, u, 0.1 * u)", "u.clamp(-1, 1)", "u / (1 + u * u)"),
    *("u.abs() + 0.5", "F.softplus(u)", "u.cos() * a", "u * b.sum()", "F.gelu(u)", "u - u.mean()"),
    *("u * 2 - 1", "u.softmax(-1)", "u * w.sum()", "u ** 2 / 2", "F.silu(u)", "u.detach() * u"),
]

CONDITIONS = [
    *("a.sum() > 0.3", "a.mean() < b.mean()", "(a > b).any()", "a.max().item() > 0.5"),
    *("a.numel() > 2", "a.shape[0] == 2", "bool((a * a).sum() < 3)", "len(a) > 1"),
    *("a.argmax() == 0", "float(a.norm()) < 2", "m.all()", "not m.any()", "i.sum() > 2"),
    *("a.sum() > 0.3 and s > 0", "-0.9 < a.sum() < 0.9", "a.requires_grad", "i.max().item() == 2"),
    *("a.dtype == wg.float32", "a.sum().item() * 2 > s", "int(m.sum()) > 1", "k > 2"),
    *("a.isnan().any()",),
]

MADE = {"i": ["wg.tensor([0, 2, 1])", "wg.tensor([0, 0])", "wg.arange(3)", "wg.tensor(1)"]}
"""What stands for operands that a program does not have yet."""

STEPS: dict[str, list[str]] = {
    "prints": [
        *("print(a)\nout = a * 1", "print(b, a.sum(), i)\nout = a + 1", "print(w)\nout = a * 1"),
        'out = a * 2\nprint("text", f"{out.sum().item():.3f} and {out.mean():.2e}", end=";")',
        'print(f"{a.norm():.2e}", a.shape, a.dtype, sep="|")\nout = a.detach() * 1',
        'if {?}:\n    print("taken", a)\nout = a * 1',
        'if {?}:\n    print(f"{b.sum().item()}")\n    out = a * 2\nelse:\n    out = a',
        'text = f"{a.sum().item():.3f}"\nprint("<" + text, s, sep="|")\nout = a - 1',
        'print([a.sum().item(), b], {"x": (i, m)})\nout = i * 1',
        'print(i.sum().item(), f"{i.sum().item()} {i.sum()} {m.sum().item():3d}")\nout = i + 0',
        'print(s, f"{s:.2f}", k)\nout = s * a',
        'print(len(f"{i.sum().item()}"), f"{i.sum().item()}" == "2")\nout = i * 1',
        'if s % 3 == 0:\n    print("third", s, f"{s:.1f}")\nout = a * 1',
        'print(f"{s}")\nout = a * 2 if s else a - 1',
        "for n in range(2):\n    print(n, a.sum() * n)\nout = a * 1",
        "out = a.clone()\nprint(out)\nout.mul_(2)\nprint(out[..., :1])",
        "with wg.no_grad():\n    a.mul_(0.5)\nprint(a, a.detach())\nout = a * 1",
        "print(wg.rand(2), z)\nout = z * 1",
        'text = ""\nfor part in (a, b):\n    text += f"{part.sum():.2f}"\nprint(text)\nout = a + b',
    ],
    "pointwise": [
        *("{a}", "{a}", "F.leaky_relu(a, 0.2)", "F.elu(a)", "a.sign() * a"),
        *("a.reciprocal().tanh()", "wg.lerp(a, b, 0.3)", "wg.addcmul(a, b, b, value=0.5)"),
        *("wg.hypot(a, b + 3)", "a.masked_fill(m, 0.5)", "wg.where(m, a, 0.0)"),
        *(
            "wg.where(a > 0, a.sqrt(), 0.0)",
            "wg.where(a > 0, 1 / a, b)",
            "a.relu() / a.relu().sum()",
        ),
        *("a.clamp(min=0).sqrt().clamp(max=0.5)", "(a * 500).exp().clamp(max=2)"),
        *("wg.where(m, a, b)", "a.remainder(0.7)", "a.floor() + a", "a.round() * a"),
        *("wg.logaddexp(a, b)", "a.nan_to_num()", "a.float()", "a.to(wg.float64)"),
        *("wg.fmod(a, 1.5)", "a.heaviside(b)", "a.expm1().clamp(max=3)", "a.square()"),
        *("a.rsub(1)", "F.hardtanh(a)", "a.abs().sqrt()", "a.abs().add(1).log2()"),
        *("2.0 ** a.clamp(max=2)", "a.abs().add(0.1) ** b.clamp(-2, 2)", "a.copysign(b)"),
        *("a // 0.5", "a.type_as(b)", "F.softplus(a)", "F.gelu(a)", "a.logit(eps=0.1)"),
        *("a.sinh().clamp(-5, 5)", "a.erfc()", "a.frac()", "a.deg2rad()"),
        *("a.lgamma().clamp(-9, 9)", "wg.xlogy(a, b * b + 1)"),
    ],
    "whole numbers": [
        *("i + 1", "i * i", "i // 2", "i % 2", "i - j", "-i", "i.clamp(0, 1)", "i.sum()", "i * a"),
        *("a.long().clamp(0, 2)", "a.argmax(-1)", "a.argsort()", "i.float()", "i.to(a.dtype) * a"),
        *("wg.arange(a.shape[0])", "m.long()", "i.cumsum(0)", "i.max()", "i / 2", "i.prod()"),
        *("i ** 2", "i.abs().min()", "i & 1", "i | j", "i ^ 1", "i << 1", "m.sum()", "a.int()"),
        *("i.bincount()", "a.count_nonzero()", "wg.searchsorted(a.sort().values, b)"),
        *("i.sort().values", "i.unique()", "i.int() + i", "wg.full((2,), 3)"),
        *("F.one_hot(i % 3, 3)", "i.flip(0)", "i.repeat(2)"),
        "out = i.clone()\nout += 2",
        "out = i.clone()\nout[0] = 1",
        "i.add_(1)\nout = i * 2",
    ],
    "truth values": [
        *("a > b", "a <= 0.2", "a == a", "i == 1", "i < j", "m & (a > 0)", "~m", "m | m"),
        *("m ^ (a < 1)", "m.logical_not()", "wg.logical_and(m, a > 0)", "a.isfinite()"),
        *("m.any(0)", "m.all()", "a != b", "wg.isclose(a, b)", "m.float() * a", "a * m"),
        *("m.sum(0)", "a.bool()", "wg.isin(i, j)", "a[m]", "a[m].sum()", "a.masked_select(m)"),
        *("a[~m] * 2", "m.nonzero()", "a.where(m, a * 0)"),
    ],
    "complex numbers": [
        *("wg.complex(a, a * 2)", "z * z", "z.abs()", "z.real", "z.imag + a", "z.conj() * z"),
        *("z + a", "wg.view_as_real(z)", "z.sum().abs()", "z * (1 + 2j)"),
        *("z.exp().abs().clamp(max=9)", "z.angle()", "wg.fft.fft(a).abs()", "wg.fft.rfft(a)"),
        *("wg.fft.irfft(wg.fft.rfft(a))", "wg.polar(a.abs(), a)", "z @ z", "z.mean().real"),
        *("(z - z.conj()).imag", "z / (2 + 1j)", "z.reciprocal().abs()", "z.clone().mul_(2j)"),
    ],
    "places": [
        *("a[i]", "a[i % a.shape[0]]", "a.index_select(0, i.flatten() % a.shape[0])", "a[:, 0]"),
        *("a[..., None]", "a[None]", "a[1:]", "a[:-1]", "a[0, 0]", "a[-1].unsqueeze(0)"),
        *("a[:, [0, 2]]", "a.gather(-1, i.expand_as(a).clamp(0, a.shape[-1] - 1))", "a.take(i)"),
        *("a.narrow(0, 0, 1)", "a.scatter(0, i.flatten() % 3, 0.5)", "a.scatter_add(0, i, b)"),
        *("a.index_add(0, i, b)", "a.topk(2).values", "a.topk(1, dim=0)[0]"),
        *("a.sort(descending=True).values", "a.sort(0)[1]", "a.sort().values * b"),
        *("a.kthvalue(1).values", "a.median()", "a.min(-1).values", "a.cummax(0)[0]"),
        *("a.index_fill(0, i.flatten() % 2, 1.5)", "a.index_copy(0, wg.tensor([0]), a[:1])"),
        *("a.select(0, -1)", "a.split(1)[0]", "wg.cat(a.split(2))", "a.unfold(0, 2, 1)"),
        *("a.movedim(0, -1)", "a.triu(1)", "a.mT", "a.repeat(2, *[1] * (a.dim() - 1))"),
        *("a.repeat_interleave(2, 0)", "wg.tile(a, (2,))", "a.rot90()"),
        *("wg.meshgrid(a.flatten()[:2], b.flatten()[:2], indexing='ij')[0]", "a.permute(1, 0)"),
        *("a.diag()", "a.T @ a", "a.view(-1)", "a.unflatten(0, (1, -1))", "wg.hstack([a, b])"),
        *("wg.vstack([a, b])", "a.as_strided((2,), (1,))", "a.diff()"),
        *("a.take_along_dim(a.argsort(-1), -1)", "a.diag_embed()", "F.pad(a, (1, 0))"),
        *("F.pad(a, (1, 1), value=0.5)", "a.flip(-1)", "a.roll(-1, -1)", "a.trace()"),
        *("wg.tensor_split(a, 2)[-1]", "a[a.argmax(0)]", "a[i, i]", "a[0:2, None]"),
        *("a[m] + a.sum()", "a.masked_scatter(m, b)", "wg.nonzero(a > 0).sum()"),
        *("a[wg.tensor(True)]", "a.reshape(a.shape[::-1])"),
    ],
    "sums": [
        *("a.std()", "a.var(-1)", "a.prod(0)", "a.cumprod(0)", "a.norm(dim=-1)", "a.norm(1)"),
        *("a.amin(-1)", "a.logsumexp(-1)", "a.softmax(0)", "a.log_softmax(-1)", "a.mean((0, 1))"),
        *("a.nansum()", "a.min()", "wg.std_mean(a)[1]", "wg.aminmax(a).max"),
        *("a.sum(-1, keepdim=True) * a", "a.logcumsumexp(0)", "wg.linalg.vector_norm(a, 3)"),
        *("a.nanmean()", "a.quantile(0.3)", "wg.dist(a, b)", "a.cumsum(-1)"),
        *("a.sum(dtype=wg.float64)", "wg.trapezoid(a)", "a.renorm(2, 0, 1.0)", "wg.cov(a)"),
        *("a.amax((0, 1))",),
    ],
    "products": [
        *("wg.einsum('IJ,JK->IK', a, b)", "wg.einsum('...I,...I->...', a, b)"),
        *("wg.einsum('IJ->J', a)", "a @ a.mT", "a.flatten() @ b.flatten()"),
        *("wg.outer(a.flatten(), b.flatten())", "wg.bmm(a, a.mT)", "wg.dot(a, b)", "wg.mv(a, b)"),
        *("F.linear(a, b)", "F.linear(a, wg.ones(2, 3, dtype=a.dtype))", "wg.tensordot(a, b, 1)"),
        *("wg.addmm(a, a, a)", "F.bilinear(a, a, wg.ones(2, 3, 3, dtype=a.dtype))"),
        *("F.conv1d(a, wg.ones(2, a.shape[1], 2, dtype=a.dtype), padding=1)", "wg.kron(a, b)"),
        *("wg.cdist(a, a)", "F.conv1d(a[None, None], b[None, None][..., :2])"),
        *("wg.matrix_power(a, 2)", "wg.cross(a, b, dim=-1)", "F.avg_pool1d(a.unsqueeze(0), 2)"),
        *("F.max_pool1d(a.unsqueeze(0), 2)", "wg.baddbmm(a, a, a.mT @ a)"),
        *("wg.linalg.inv(a @ a.mT + 2 * wg.eye(a.shape[-2], dtype=a.dtype))", "wg.det(a)"),
        *("wg.inner(a, b)",),
        *("wg.linalg.solve(a @ a.mT + 2 * wg.eye(a.shape[-2], dtype=a.dtype), a)",),
        *("wg.linalg.multi_dot([a, a, a])",),
        *("wg.linalg.cholesky(a @ a.mT + wg.eye(a.shape[-2], dtype=a.dtype))",),
        *("a.matrix_exp().clamp(-9, 9)",),
        *("wg.logdet(a @ a.mT + wg.eye(a.shape[-2], dtype=a.dtype))", "wg.linalg.svdvals(a)"),
        *("wg.linalg.norm(a)",),
    ],
    "losses": [
        *("F.cross_entropy(a, a.argmin(-1))", "F.mse_loss(a, b)", "F.layer_norm(a, a.shape[-1:])"),
        *("F.l1_loss(a, b)", "F.nll_loss(a.log_softmax(-1), a.argmax(-1))"),
        *("F.binary_cross_entropy_with_logits(a, b.sigmoid())", "F.smooth_l1_loss(a, b)"),
        *("F.mse_loss(a, b, reduction='none')", "F.huber_loss(a, b)"),
        *("F.kl_div(a, b.softmax(-1))", "F.cosine_similarity(a, b, dim=-1)"),
        *("F.normalize(a, dim=-1)", "F.glu(a.repeat_interleave(2, -1))", "F.group_norm(a, 1)"),
        *("F.batch_norm(a, None, None, training=True)", "F.rms_norm(a, a.shape[-1:])"),
        *("F.scaled_dot_product_attention(a, a, a)", "F.embedding(i % 3, a)"),
        *("F.pairwise_distance(a, b)", "F.cross_entropy(a, a.softmax(-1))"),
        *("F.triplet_margin_loss(a, b, a * 0.5)", "F.gaussian_nll_loss(a, b, b * b + 1)"),
        *("F.hinge_embedding_loss(a, a.sign())", "F.one_hot(a.argmax(-1), 3) * 1.0"),
        *("F.prelu(a, wg.tensor([0.1], dtype=a.dtype))",),
    ],
    "in place": [
        "out = a.clone()\nout[m] = 0.5",
        "out = a.clone()\nout[m] = b.mean()",
        "out = a.clone()\nout[out > 0] *= 0.5",
        "out = a.clone()\nout[0:2] += b.sum()",
        "out = a.clone()\nout[..., 1:] *= 2",
        "out = a * 1\nout[-1] = out[0]",
        "out = a.clone()\nview = out.view(-1)\nview[:2] += 1",
        "out = a.clone()\nout.t()[0] = b.mean()",
        "out = a.clone()\nout.index_put_((i.flatten() % a.shape[0],), b.sum(), accumulate=True)",
        "out = a.clone()\nout[i % a.shape[0]] = b.sum()",
        "out = a.clone()\nout[wg.tensor([0, -1])] += 1.5",
        *("out = a.clone().masked_fill_(m, 1.5)",),
        "out = a.clone().clamp_(-1, 1)\nout -= 0.5",
        "out = a.clone()\nout.diagonal().zero_()",
        "out = a.clone()\nout.diagonal().add_(b.mean())",
        *("out = a.clone().fill_diagonal_(0.5)",),
        *("out = a.clone().scatter_(0, i.reshape(a.shape) % 2, b)",),
        *("out = a.clone().index_add_(0, wg.tensor([0]), a[:1])",),
        "out = a.clone()\nfor row in out:\n    row *= 2",
        "out = a.clone()\nout.unbind(0)\nout.mul_(2)",
        "out = a.clone()\nleft, right = out.chunk(2)\nleft = left * 2\nout = left + right.sum()",
        "out = a.clone()\nout.select(0, 0).copy_(a[-1])",
        "out = a.clone()\npart = out[0]\nout.mul_(2)\nout = part + out",
        "out = wg.zeros(3, dtype=a.dtype)\nout[1] = a.sum()\nout[2] = out[1] * 2",
        "out = wg.empty_like(a)\nout[...] = b",
        "out = a.clone()\nout.squeeze_()\nout.unsqueeze_(0)",
        "out = a.clone()\nout.t_()",
        "out = a.clone()\nout[:, 0], out[:, 1] = out[:, 1].clone(), out[:, 0].clone()",
        "out = a.clone()\nout.requires_grad_() if not out.requires_grad else out\nout = out * 2",
        "out = a.clone()\nout.transpose(0, -1).mul_(b.sum())",
        "out = a.clone()\nout.expand(2, *out.shape)\nout.exp_().clamp_(max=4)",
        "out = a.clone()\nout.flatten()[0:1].zero_()",
        "a.mul_(0.5)\nout = a + 0",
        "a.add_(b)\nout = a * 2",
        "a[0] = 0.25\nout = a.sum()",
        "a[..., :1] += 1\nout = a * a",
        "a.copy_(b)\nout = a.sin()",
        "a.relu_()\nout = a.sum(0)",
        "a.zero_()\nout = a + b",
        "a[m] = 0.0\nout = a + 1",
        "view = a.reshape(-1)\nview[0] = 2.0\nout = a * view.sum()",
        "with wg.no_grad():\n    a.add_(0.1)\nout = a * 2",
        "with wg.no_grad():\n    a[0] *= 0.9\nout = a.sum()",
        "a.data = a.data * 0.9\nout = a * 1",
        "a.data.mul_(0.9)\nout = a * 1",
        "a.detach().add_(0.1)\nout = a * 2",
        "old = a.clone()\na.sub_(b)\nout = old + a",
        *("out = wg.add(a, 1, out=wg.empty_like(a)) if not a.requires_grad else a + 1",),
    ],
    "decisions": [
        *("{a} if {?} else {b}",),
        "if {?}:\n    out = {a}\nelse:\n    out = {b}",
        "if {?}:\n    out = {a}\nelif {?}:\n    out = a - 1\nelse:\n    out = b * 1",
        "out = {a}\nif {?}:\n    out = out * 2\nif {?}:\n    out = out + b.sum()",
        "out = a\nwhile out.abs().sum() < 8 and out.numel():\n    out = out * 1.5 + 0.2",
        (
            "out = a\ntotal = a.sum().abs()\nwhile total < 9:\n    out = {a} + out * 0.5\n    "
            "total = total * 1.5 + 1"
        ),
        "out = a\nfor n in range(3):\n    out = out * 0.5 + b.sum() * n",
        (
            "out = a\nfor n in range(6):\n    out = out * 0.9\n    if out.abs().sum() < 1.5:\n "
            "       break"
        ),
        (
            "out = a\nfor n in range(4):\n    if b.sum() * n > 1:\n        continue\n    out = "
            "out + 0.5"
        ),
        (
            "out = a\nfor n in range(2):\n    for o in range(3):\n        out = out + n * "
            "b.mean()\n        if out.sum() > 3:\n            break"
        ),
        (
            "out = 0.0\nfor row in a:\n    if row.sum() > 0.3:\n        out = out + row.sum()\n  "
            "  else:\n        out = out - 1"
        ),
        (
            "out = a\nscale = wg.tensor(0.5, dtype=a.dtype)\nwhile scale < 9:\n    inner = "
            "scale\n    while inner < 3:\n        inner = inner * 2 + 0.1\n        out = out + "
            "inner * 0.1\n    scale = scale * 2.5"
        ),
        "out = a\nfor n in range(12):\n    out = (out * b.mean()).tanh() + 0.1",
        "out = wg.zeros_like(a)\nn = 0\nwhile n < 5:\n    out = out + a * n\n    n += 1",
        (
            "out = a\nfor n in range(3):\n    out = out - out.mean() if n % 2 else out + 1\n"
            "else:\n    out = out * 2"
        ),
        *("early(a)",),
        (
            "count = 0\nfor value in a.flatten():\n    if value > 0:\n        count += 1\nout "
            "= a * count"
        ),
        (
            "out = a\nerror = a.abs().sum()\nwhile True:\n    out = out * 0.5\n    error = "
            "error * 0.5\n    if error < 0.1:\n        break"
        ),
        (
            "best = a.flatten()[0]\nfor value in a.flatten()[:4]:\n    best = value if value > "
            "best else best\nout = best * a"
        ),
        *("out = max(a.sum(), b.sum())", "out = sum(row.sum() for row in a)"),
        "parts = [row * n for n, row in enumerate(a)]\nout = wg.stack(parts)",
    ],
    "numbers": [
        *("a.sum().item()", "a.mean().item() * 2 + 1", "s * 2", "s + 1", "a * s", "a + s"),
        *("s - a.sum()", "float(a.max())", "int(a.abs().sum())", "abs(s)", "-s / 2", "s * s"),
        *("a / (abs(s) + 1)", "a.shape[0] * 1.0", "a.clamp(max=s)", "wg.full((2,), s)"),
        *("wg.tensor([s, 1.0])", "wg.tensor(s) * a", "max(s, 0.5)", "a ** min(abs(s), 2)"),
        *("wg.tensor(a.sum().item())", "i.sum().item()", "a * i.sum().item()", "a.sum() > s"),
        *("round(s)", "s if s > 0 else 1.0", "a * len(a)", "a.item()"),
        *("wg.tensor([a.sum().item(), s])", "a.masked_fill(m, s)", "wg.add(a, b, alpha=s)"),
        *("(s > 0.5) * 1.0", "a * (1 if s > 0 else -1)", "a.size(0)", "a[: int(i.flatten()[0])]"),
        *("s ** 2", "s // 0.5", "s % 1"),
    ],
    "transforms": [
        *("wg.func.grad(lambda u: {u}.sum())(a)", "wg.func.vmap(lambda u: {u})(a)"),
        *("wg.func.jacrev(lambda u: {u})(a)", "wg.func.vmap(lambda u: {u}.sum())(a)"),
        *("wg.func.jacfwd(lambda u: {u})(a)", "wg.func.hessian(lambda u: {u}.sum())(a)"),
        *("wg.func.vmap(lambda u, v: (u * {v}).sum(), in_dims=(0, None))(a, b)",),
        *("wg.func.vmap(wg.func.grad(lambda u: {u}.sum()))(a)",),
        *("wg.func.jvp(lambda u: {u}, (a,), (wg.ones_like(a),))[1]",),
        *("wg.func.vjp(lambda u: {u}, a)[1](wg.ones_like(a))[0]",),
        *("wg.func.grad_and_value(lambda u: {u}.mean())(a)[1]",),
        *("wg.func.vmap(lambda u: u * b.sum(), out_dims=-1)(a)",),
        *("wg.autograd.functional.jacobian(lambda u: {u}, a)",),
        *("wg.autograd.functional.hvp(lambda u: {u}.sum(), a, wg.ones_like(a))[1]",),
        *("wg.func.grad(wg.func.grad(lambda u: {u}.sum()))(a.sum())",),
        *("wg.func.vmap(wg.func.vmap(lambda u: {u}))(a)",),
        *("wg.func.grad(lambda u: wg.func.vmap(lambda v: {v}.sum())(u).sum())(a)",),
        *("wg.func.vmap(lambda u: wg.func.jacrev(lambda v: {v})(u))(a)",),
        *("wg.func.grad(lambda u, v: (u * {v}).sum(), argnums=1)(a, b)",),
        *("wg.func.vmap(lambda u: wg.where(u > 0, {u}, u))(a)",),
        *("wg.func.vmap(lambda u: u[0] * u.sum())(a)", "wg.func.vmap(lambda u: u.sort()[0])(a)"),
        *("wg.func.vmap(lambda u: wg.outer(u, u))(a)",),
    ],
    "derivatives": [
        *("wg.autograd.grad({a}.sum(), a, retain_graph=True)[0]",),
        *("wg.autograd.grad({a}.sum(), a, create_graph=True)[0]",),
        *("wg.autograd.grad((a * b).sum(), (a, b), create_graph=True)[1]",),
        *("wg.autograd.grad({a}.sum(), a)[0] * a",),
        "leaf = a.detach().requires_grad_()\nout = wg.autograd.grad({leaf}.sum(), leaf)[0]",
        "leaf = a.detach().clone().requires_grad_()\n{leaf}.sum().backward()\nout = leaf.grad",
        (
            "leaf = a.detach().requires_grad_()\nfirst = wg.autograd.grad((leaf ** 3).sum(), "
            "leaf, create_graph=True)[0]\nout = wg.autograd.grad(first.sum(), leaf)[0]"
        ),
        "{a}.sum().backward(retain_graph=True)\nout = a * 2",
        "{a}.sum().backward()\nout = a.detach() + 1",
        "{a}.sum().backward()\nout = a.grad * 1 if a.grad is not None else a",
        "a.grad = None\n(a * b).sum().backward()\nout = b * 2",
        "{a}.sum().backward(create_graph=True)\nout = a.grad * a",
        "with wg.no_grad():\n    out = {a}",
        "with wg.no_grad():\n    factor = a.mean()\nout = b * factor",
        "with wg.enable_grad():\n    out = {a}",
        *("a.detach()", "a.detach().requires_grad_() * 2"),
        *("out = a.detach().clone().requires_grad_()",),
        *("wg.autograd.grad(a.sum(), b, allow_unused=True)[0] or 1.0",),
        "with wg.set_grad_enabled({?}):\n    out = {a}",
        (
            "out = a * 1\nout.retain_grad()\n(out ** 2).sum().backward(retain_graph=True)\nout "
            "= out + out.grad"
        ),
        "out = a * 1\nout.requires_grad and out.retain_grad()",
        "out = a * 1\nout.register_hook(lambda g: g * 2)",
    ],
    "modules": [
        *("lin(a)", "mlp(a)", "norm(a)", "batch(a)", "conv(a)", "table(i % 4)", "rnn(a)[0]"),
        *("lin(a).relu()", "cell(a)", "mlp(a).sum()", "lin.weight.sum() * a"),
        *("F.linear(a, lin.weight, lin.bias)", "(w * a).sum()", "a @ w", "w.sum() + a"),
        *("box['shift'] + a", "a * box['scale']", "a * k", "a + k", "mlp[0](a)", "held.sum() * a"),
        *("drop(a)", "gru(a)[1]"),
        "opt.zero_grad()\n(w * a).sum().backward()\nopt.step()\nout = w.detach().sum()",
        (
            "opt.zero_grad()\nloss = ((w.sum(0) - a) ** 2).mean()\nloss.backward()\n"
            "opt.step()\nout = loss.detach()"
        ),
        (
            "adam.zero_grad()\nloss = (lin(a) ** 2).mean()\nloss.backward()\nadam.step()\nout "
            "= loss.item()"
        ),
        (
            "adam.zero_grad()\nF.cross_entropy(lin(a), a.argmax(-1) % 2).backward()\n"
            "adam.step()\nout = a * 2"
        ),
        "with wg.no_grad():\n    w -= 0.1 * a.sum()\nout = w * 1",
        (
            "w.grad = None\n(w * a).sum().backward()\nwith wg.no_grad():\n    w -= 0.1 * "
            "w.grad\nout = w.sum()"
        ),
        "with wg.no_grad():\n    for p in lin.parameters():\n        p.mul_(0.9)\nout = a * 1",
        "held.add_(a.detach().sum())\nout = held * 2",
        "held.mul_(0.5)\nout = held.sum() + a",
        "box['shift'].add_(0.5)\nout = a + box['shift'].sum()",
        *("wg.func.functional_call(lin, dict(lin.named_parameters()), (a,))",),
        (
            "wg.func.grad(lambda p: wg.func.functional_call(lin, p, "
            "(a,)).sum())(dict(lin.named_parameters()))['weight']"
        ),
        "wg.nn.utils.clip_grad_norm_([w], 1.0) if w.grad is not None else None\nout = a * 1",
    ],
    "containers": [
        "things = {'one': a, 'two': b}\nout = things['one'] + things['two'].sum()",
        "things = [a, b, a]\nthings.append(a * 2)\nout = things[-1] + things[0]",
        "pair = Pair(a, b)\nout = pair.first * pair.second.sum()",
        "first, *others = a.unbind(0)\nout = first + len(others)",
        (
            "things = {}\nfor n, row in enumerate(a):\n    things[n] = row * n\nout = "
            "sum(things.values())"
        ),
        "stack = []\nfor n in range(3):\n    stack.append(a * n)\nout = wg.cat(stack)",
        "values, places = a.max(0)\nout = values * places",
        "values, places = a.topk(1)\nout = a.gather(-1, places) + values",
        "low, high = wg.aminmax(a)\nout = (a - low) / (high - low + 1)",
        (
            "def inner(u, scale=2.0):\n    if u.sum() > 0.3:\n        return u * scale\n    "
            "return u - scale\nout = inner(a) + inner(b, 0.5).sum()"
        ),
        (
            "cache = {}\ndef inner(n):\n    if n not in cache:\n        cache[n] = a if n < 1 "
            "else inner(n - 1) * 0.5 + b.sum()\n    return cache[n]\nout = inner(3)"
        ),
        (
            "state = (a, b.sum())\nfor _ in range(3):\n    state = (state[0] * 0.5 + state[1], "
            "state[1] * 0.9)\nout = state[0]"
        ),
        "out = [row.sum() for row in a if row.sum() > 2]\nout = wg.stack(out) if out else a.sum()",
        *("out = (lambda u: {u})(a)", "out = [a, b][int(a.sum() > 0.3)]"),
        "text = f'{a.dim()}'\nout = a * int(text)",
        "assert a.dim() >= 0\nout = a + 1",
        "name = 'sin' if {?} else 'cos'\nout = getattr(a, name)()",
    ],
    "errors": [
        "try:\n    out = a + wg.ones(7, 11)\nexcept RuntimeError:\n    out = a * 2",
        "try:\n    out = a[99]\nexcept IndexError:\n    out = a + 1",
        "try:\n    out = a.reshape(17, 3)\nexcept RuntimeError:\n    out = a - 1",
        "try:\n    out = wg.linalg.cholesky(a)\nexcept RuntimeError:\n    out = a.abs()",
        (
            "try:\n    if {?}:\n        raise ValueError('no')\n    out = {a}\nexcept "
            "ValueError:\n    out = b * 1"
        ),
        "try:\n    out = a.item()\nexcept RuntimeError:\n    out = a.sum()",
        "try:\n    a.add_(1)\n    out = a * 2\nexcept RuntimeError:\n    out = a * 3",
        "try:\n    a.backward()\nexcept RuntimeError:\n    pass\nout = a * 2",
        "try:\n    out = {a}\nfinally:\n    pass",
        "out = a.sum() * 1\ntry:\n    out = out + a @ b\nexcept RuntimeError:\n    out = out - 1",
    ],
    "random numbers": [
        *("wg.rand(a.shape, dtype=a.dtype) * a", "wg.randn_like(a) + a", "F.dropout(a, 0.5)"),
        *("a + wg.randint(0, 3, a.shape)", "a[wg.randperm(a.shape[0])]", "wg.rand(2)"),
        *("a * wg.randn(())", "wg.empty(3).normal_()", "a + wg.empty(a.shape).uniform_()"),
        *("wg.bernoulli(wg.full((3,), 0.5)) * a.sum()", "a if wg.rand(()) > 0.5 else a * 2"),
        *("wg.randn(3, 3, requires_grad=True).square().sum() * a",),
    ],
    "made": [
        *("wg.zeros(3)", "wg.ones_like(a)", "wg.eye(3)", "wg.linspace(0, 1, 3)"),
        *("wg.full_like(a, 0.5)", "a.new_zeros(2)", "wg.tensor([0.5, 1.5, -1.0])"),
        *("wg.tensor([[1.0, 2.0, 3.0]])", "wg.arange(3) * a", "wg.from_numpy(np.ones(3)) * a"),
        *("wg.tensor(0.5) * a", "wg.tensor(2.0, requires_grad=True) * a"),
        *("wg.as_tensor([1.0, 2.0, 3.0]) + a", "a * np.float64(0.5)", "a * np.pi"),
        *("wg.stack([a.sum(), b.sum()])", "wg.tensor([1, 2, 3]) * a", "wg.zeros(2, 3) + a"),
        *("a * np.arange(3)",),
    ],
}

SETUPS = [
    ("w", "wg.randn(3, 3, requires_grad=True)", "w.data.mul_(0.9)"),
    ("lin", "nn.Linear(3, 2)", "lin.weight.data.add_(0.1)"),
    ("mlp", "nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))", "mlp.eval()"),
    ("norm", "nn.LayerNorm(3)", "norm.weight = nn.Parameter(norm.weight.detach() * 1.1)"),
    ("batch", "nn.BatchNorm1d(3)", "batch.train(turn % 2 == 0)"),
    ("conv", "nn.Conv1d(2, 2, 2)", ""),
    ("table", "nn.Embedding(4, 3)", ""),
    ("rnn", "nn.LSTM(3, 2)", ""),
    ("gru", "nn.GRU(3, 2)", ""),
    ("cell", "nn.RNNCell(3, 2)", ""),
    ("drop", "nn.Dropout(0.3)", "drop.train(turn % 2 == 0)"),
    ("held", "wg.ones(3)", "held = held * 1.5"),
    ("box", "{'scale': 2.0, 'shift': wg.zeros(3)}", "box['shift'] = wg.full((3,), turn * 0.5)"),
    ("k", "2", "k += turn % 2"),
    ("opt", "wg.optim.SGD([w], lr=0.05, momentum=0.9)", ""),
    ("adam", "wg.optim.Adam(lin.parameters(), lr=0.01)", ""),
]
"""Names of what functions close over, what makes it, and what changes it between calls."""
