"""The statements of random programs in lockstep.

In a line, ``{a}`` to ``{c}`` are floating-point tensors, ``{r}`` is one that requires a gradient,
``{w}`` one to write to, ``{i}``, ``{m}`` and ``{z}`` are tensors of integers, bools and complex
numbers, ``{x}`` is any tensor, ``{d}`` and ``{e}`` are dimensions, ``{s}`` is a number, ``{u}`` an
expression in ``u``, ``{F}`` a function made of these, and ``{f}`` a function of one number. A line
without ``=`` gives its value a name.
"""

from __future__ import annotations

__all__ = ["CURVES", "FUNCTIONS", "GROUPS", "LEAVES", "REGIONS", "SCALARS", "SHAPES", "lines"]

SHAPES = ((), (3,), (2, 3), (3, 1), (1, 3), (3, 3), (2, 2, 3), (0, 3), (2, 3), (3,))
LEAVES = (
    *(("float64", True), ("float64", True), ("float64", False), ("float32", True)),
    *(("int64", False), ("bool", False), ("complex128", True), ("float64", True)),
    *(("int32", False), ("uint8", False), ("complex64", False), ("float16", False)),
)
SCALARS = ("2", "0.5", "-1", "True", "0", "1.5", "3", "-0.25")
REGIONS = (
    *("with t.no_grad(): ", "with t.no_grad(): ", "with t.enable_grad(): "),
    *("with t.inference_mode(): ", "with t.no_grad(), t.enable_grad(): "),
    "with t.set_grad_enabled(False): ",
    "with t.autograd.graph.saved_tensors_hooks(pack, unpack): ",
    "with t.autograd.graph.save_on_cpu(): ",
)

SHORT = {
    "%g": "t.autograd.grad",
    "%f": "t.func.",
    "%a": "t.autograd.functional.",
    "%n": "t.nn.functional.",
    "%c": "t.utils.checkpoint.checkpoint",
    "%k": "retain_graph=True",
    "%l": "t.linalg.",
    "%h": "t.autograd.graph.register_multi_grad_hook",
}
"""What stands for words that come often."""


def lines(text: str) -> list[str]:
    """The lines of a text, with long words in place of short ones."""
    for short, long in SHORT.items():
        text = text.replace(short, long)
    return text.strip().replace("\n", " | ").split(" | ")


UNARY = lines("""
{a}.sin() | {a}.cos() | {a}.tanh() | {a}.sigmoid() | {a}.exp() | {a}.abs() | {a}.relu() | -{a}
{a}.square() | ({a} * {a} + 1).log() | ({a} * {a} + 1).sqrt() | {a}.abs().sqrt() | {a}.erf()
{a}.clone() | {a}.sign() | {a}.floor() | {a}.round() | {a}.clamp(-1, 1) | {a}.clamp(min=0.5)
{a}.clamp(max=0.5) | {a}.atan() | {a}.log() | {a}.reciprocal() | {a}.rsqrt() | {a}.expm1()
{a}.log1p() | {a}.nan_to_num() | {a}.isnan() | {a}.trunc() | {a} ** 2 | {a} ** 3 | {a} ** 0.5
2 ** {a} | {a} * {s} | {s} * {a} | {a} + {s} | {s} - {a} | {a} / 3 | 1 / ({a} * {a} + 1)
{a}.logit(0.1) | %ngelu({a}) | %nsilu({a}) | %nsoftplus({a}) | %nleaky_relu({a})
{a}.frac() | %nhardtanh({a}) | %nlogsigmoid({a}) | {a}.tan()
{a}.asinh() | {a}.deg2rad() | {a}.softmax({d}) | {a}.log_softmax({d}) | {a}.hardshrink()
%nnormalize({a}, dim={d})
""")
BINARY = lines("""
{a} + {b} | {a} - {b} | {a} * {b} | {a} / {b} | {a} / ({b} * {b} + 1) | t.maximum({a}, {b})
t.minimum({a}, {b}) | t.where({a} > {b}, {a}, {b}) | t.add({a}, {b}, alpha=0.5)
t.atan2({a}, {b}) | t.hypot({a}, {b}) | {a} % ({b}.abs() + 1)
({a} // ({b}.abs() + 1.0371)).detach() | t.fmod({a}, {b}.abs() + 1)
{a}.lerp({b}, 0.3) | {a}.lerp({b}, {c}) | {a}.addcmul({b}, {c}) | {a}.addcdiv({b}, {c}, value=0.5)
{a} @ {b} | t.dot({a}, {b}) | t.outer({a}, {b}) | t.mv({a}, {b}) | t.mm({a}, {b}) | {a} > {b}
{a} == {b} | {a} <= {s} | t.logaddexp({a}, {b}) | {a}.copysign({b}) | t.fmax({a}, {b})
{a}.abs() ** {b} | {a} ** {b} | %nmse_loss({a}, {b}) | %nlinear({a}, {b})
t.einsum("...i,...i->...", {a}, {b}) | t.dist({a}, {b} + 0.3) | {a}.heaviside({b}).detach()
t.tensordot({a}, {b}, 1) | t.addmm({a}, {b}, {c}) | %ncosine_similarity({a}, {b}, dim={d})
%nsmooth_l1_loss({a}, {b}) | t.cdist({a}, {b}) | t.baddbmm({a}, {b}, {c})
%nlayer_norm({a}, {a}.shape[-1:]) | %nhuber_loss({a}, {b}, reduction="none")
""")
REDUCTIONS = lines("""
{a}.sum() | {a}.mean() | {a}.sum({d}) | {a}.mean({d}, keepdim=True) | {a}.amax({d})
{a}.amin({d}, True) | {a}.max({d}).values | {a}.min({d}).indices | {a}.max() | {a}.min()
{a}.prod() | {a}.prod({d}) | {a}.norm() | {a}.norm(dim={d}) | {a}.var()
{a}.var({d}, correction=0) | {a}.std({d}) | {a}.logsumexp({d}) | {a}.cumsum({d})
{a}.cumprod({d}) | {a}.argmax() | {a}.argmin({d}) | {a}.sort({d}).values | {a}.sort({d}).indices
{a}.median() | {a}.median({d}).values | {a}.topk(1, {d}).values | {a}.norm(1)
{a}.norm(p=float("inf")) | {a}.nansum() | {a}.nanmean() | {a}.all() | {a}.any({d})
{a}.count_nonzero() | {a}.logcumsumexp({d}) | {a}.cummax({d}).values | {a}.sum((0, 1))
{a}.sum((), keepdim=True) | %lnorm({a}) | %lvector_norm({a}, 2, {d}) | {a}.quantile(0.5)
{a}.diff(dim={d}) | {a}.kthvalue(1, {d}).values | {a}.mode({d}).values | {a}.unique()
{a}.aminmax().max | {a}.trace() | {a}.logsumexp((0, 1))
""")
MOVES = lines("""
{x}.t() | {x}.T | {x}.mT | {x}.transpose({d}, {e}) | {x}.permute(1, 0) | {x}.reshape(-1)
{x}.view(-1) | {x}.flatten() | {x}.unsqueeze({d}) | {x}.squeeze() | {x}.squeeze({d}) | {x}[0]
{x}[-1:] | {x}[::2] | {x}[..., 0] | {x}[None] | {x}[:, 1:] | {x}.select({d}, 0)
{x}.narrow({d}, 0, 1) | {x}.expand(2, *{x}.shape) | {x}.expand(3, 3) | {x}.unfold({d}, 2, 1)
{x}.diagonal() | {x}.diag() | {x}.movedim({d}, {e}) | {x}.swapaxes({d}, {e}) | {x}.flip({d})
{x}.roll(1, {d}) | {x}.rot90() | t.cat([{x}, {x}], {d}) | t.stack([{x}, {x}], {d})
{x}.repeat(2, 1) | {x}.tile(2) | {x}.contiguous() | {x}.chunk(2, {d})[0] | {x}.split(1, {d})[-1]
{x}.unbind({d})[0] | {x}.tril() | {x}.triu(1) | {x}.as_strided((2,), (1,))
{x}.as_strided((2,), (1,), 1) | {x}.ravel() | {x}.repeat_interleave(2, {d})
{x}.index_select({d}, t.tensor([0, 0])) | {x}[t.tensor([0, 1, 0])] | {x}[[1, 0]]
{x}.masked_fill({x} == 1, 0) | {x}[{x} == {x}] | {x}.take(t.tensor([0, 2]))
{x}.gather(0, t.zeros_like({x}, dtype=t.long)) | t.broadcast_to({x}, (2, 2, 3)) | {x}.view_as({x})
{x}.expand_as({a}) | {x}.unflatten(-1, (1, -1)) | {x}.mT @ {x} | %npad({x}, (1, 0))
t.meshgrid({x}, {x}, indexing="ij")[0] | {x}.detach() | {x}.data | {x}.alias() | t.zeros_like({x})
t.ones_like({x}) | {x}.new_ones(2) | t.full_like({x}, 2) | t.empty_like({x}).fill_(1)
 {x}.scatter(0, t.zeros_like({x}, dtype=t.long), 0.5)
{x}.index_add(0, t.tensor([0]), {x}[:1]) | {x}.hsplit(1)[0] | {x}.block_diag()
{x}.fill_diagonal_(2) | {x}.swapdims({d}, {e}).contiguous() | {x}.narrow_copy({d}, 0, 1) | {x}.H
{x}.select_scatter({x}[0], 0, 1) | {x}.slice_scatter({x}[:1], 0, 1, 2)
{x}.diagonal_scatter({x}.diagonal())
""")
TYPES = lines("""
{i} + 1 | {i} * 0.5 | {i} / 2 | {i} // 2 | {i} ** 2 | {i}.sum() | {i}.cumsum({d}) | {a} * {i}
{a} + {m} | {i} + {m} | {m} + {m} | {m} & {m} | {i}.bitwise_or({i}) | {i} ^ {m} | {i} << 1
{a} > {i} | ({a} * 4).round().long() | {a} * t.tensor(2) | {a} + True | {i} - t.tensor(0.5)
t.where({m}, {a}, 2) | t.where({m}, 1, 2) | {a}.bool() | t.add({a}, {i}, alpha=2) | {i}.float()
{a} % 2 | {i} % 2 | t.atan2({i}, {a}) | {i}.exp() | {i}.mean(dtype=t.float64) | {m}.sum()
{i} == {a} | t.maximum({i}, {i}) | {a}.half() | {a}.half().double() | {a} * (1 + 2j) | {i}.prod()
-{i} | ~{m} | {a}.copysign({i}) | {a}.sum(dtype=t.float32) | {i}.abs() | {i} * t.tensor(1.5)
{i}.div({i} + 2) | {i}.div({i} + 2, rounding_mode="floor") | {a}.float() | {a}.to(t.bfloat16)
{a}.to({b}.dtype) | {a}.type_as({b}) | {m} * {a} | {m} - {m} | -{m} | {i}.float() / 0 | {i} // 0
{m}.all() | {i}.sin() | {z} * {z} | {z} * {a} | {z}.abs() | {z}.angle() | {z}.real | {z}.imag
({z}.conj() * 1) | {z} * 2 | {z} + 1j | {z}.exp() | {z}.sqrt() | {z}.sum() | {z}.mean({d})
t.view_as_real({z}) | t.view_as_real({z})[..., 0] | {z} @ {z} | {z} / {z} | {z}.sin() | {z}.log()
t.complex({a}, {b}) | t.polar({a}.abs(), {b}) | {z}.real ** 2 + {z}.imag ** 2 | {z} ** 2
({z}.t().conj() * 1) | {z} > {z} | {a}.to(t.complex128) | {z}.prod()
{z}.cumsum({d}) | t.fft.fft({a})
t.fft.ifft({z}) | t.fft.rfft({a}) | {z}.float() | {z}.sgn() | {z}.norm()
{z} == {z} | {z}.reciprocal() | t.fft.fft2({z}).real | {i} - {m} | {i}.max({d}).values
{i}.sort(stable=True).indices | {i}.float().mean() | {i}.bitwise_not() | {i}.bincount()
{i}.clamp(0.5, 2) | {i}.clamp(0, 2) | {m}.nonzero() | {m}.cumsum({d}) | {m}.logical_xor({i})
{m}.float().requires_grad_() | {i}.var() | {i}.float().var() | t.result_type({i}, {a})
t.can_cast({i}.dtype, {m}.dtype) | {x}.double() | {x}.to(t.int32) | {x} + {x} | {x} * {x}
%linv({a}) | %ldet({a}) | %lsolve({a}, {b}) | %lqr({a}).R | %lsvdvals({a})
%leigvalsh({a} + {a}.mT) | %lslogdet({a}).logabsdet | %lpinv({a}) | %lmatrix_norm({a})
""")
WRITES = lines("""
{w}.mul_({s}) | {w}.zero_() | {w}.sin_() | {w}.fill_({s}) | {w}.clamp_(-0.5, 0.5) | {w}.add_({a})
{w}.mul_({a}) | {w}.sub_({a}) | {w}.copy_({a}) | {w}.div_({a} * {a} + 1) | {w} += {a} | {w} *= {a}
{w} -= {s} | {w} /= 2 | {w} **= 2 | {w}.tanh_() | {w}.exp_() | {w}.t().mul_(2) | {w}[0] = {s}
{w}[0] = {a} | {w}[:] = {a} | {w}[..., 0] = {s} | {w}[{w} > 0] = {s} | {w}[[0]] = {a}
{w}.masked_fill_({w} > 0.1, {s}) | {w}.transpose_(0, 1) | {w}.t_() | {w}.unsqueeze_(0)
{w}.squeeze_() | {w}.addcmul_({a}, {b}) | {w}.index_add_(0, t.tensor([0]), {w}[:1] * 2)
{w}.scatter_(0, t.zeros_like({w}, dtype=t.long), {s}) | {w}.relu_()
{w}.index_fill_(0, t.tensor([0]), {s}) | {w}.lerp_({a}, 0.25) | {w}.detach_()
{w}.requires_grad_() | {w}.diagonal().add_(1) | {w}.view(-1)[0] = {s} | {w}.reshape(-1).mul_(2)
{w}.expand(2, *{w}.shape).mul_(2) | {w}.data.mul_(2) | {w}.detach().add_(1)
t.add({a}, {b}, out={w}) | t.mul({a}, {b}, out={w}) | t.sin({a}, out={w})
t.sum({a}, {d}, out={w}) | t.exp({i}, out={w}) | t.matmul({a}, {b}, out={w}) | {i}.add_({i})
{i}.mul_(2) | {i}.add_(0.5) | {i}.add_({a}) | {m}.logical_not_() | {i} += 1 | {i} //= 2
{m}.fill_(True) | {z}.mul_(1j) | {z}.real.mul_(2) | {z}.add_({a}) | {w}.requires_grad_(False)
{w}.grad = None | {w}.neg_() | {w}.unbind()[0].mul_(2) | {w}.split(1)[0].mul_(2)
{w}[0].sub_({a}) | {w}.unfold({d}, 2, 2).mul_(2) | {w}.floor_()
{w}.as_strided((2,), (1,)).mul_(3) | {w}.swapaxes_(0, -1) | {w}.cumsum_({d})
{w}.index_put_((t.tensor([0]),), {a}) | {w}.put_(t.tensor([0]), {a}) | {w}.abs_().sqrt_()
""")
WALKS = lines("""
{r}.sum().backward(%k) | {r}.backward() | {r}.sum().backward() | {r}.backward({a}.detach())
{r}.mean().backward(create_graph=True) | %g({r}.sum(), {r})[0]
%g(({r} * {r}).sum(), {l}, create_graph=True, allow_unused=True)[0]
%g({r}.sin().sum(), {l}, %k)[0] | %g({r}, {l}, {a}.detach(), %k)[0]
%g({r}.sum(), {l}, %k, materialize_grads=True)[0] | %g({r}, {l}, t.ones_like({r}), True, True)[0]
%g({r}.sum(), [{l}, {r}], %k)[1] | {r}.sum().backward(inputs=[{l}], %k) | {r}.grad
%g({r}, {l}, t.ones(2, *{r}.shape, dtype={r}.dtype), %k, is_grads_batched=True)[0]
{r}.retain_grad() | {l}.grad | {l}.grad = None | {l}.grad.mul_(2)
{r}.register_hook(watch("{n}")) | {r}.register_hook(watch("{n}", 2))
{r}.register_hook(lambda g: (g.mul_(2), None)[1])
{l}.register_post_accumulate_grad_hook(watch_leaf("{n}"))
{r}.grad_fn.register_hook(watch_node("{n}")) | {r}.grad_fn.register_prehook(watch_node("{n}"))
{r}.grad_fn.register_prehook(watch_node("{n}", 2)) | {r}.output_nr | {r}.is_leaf
%ajvp(lambda u: {u}, {r}, t.ones_like({r}))[1] | %avjp(lambda u: ({u}).sum(), {r})[1]
%ahessian(lambda u: ({u}).sum(), {r}) | %ajacobian(lambda u: {u}, {r}, create_graph=True)
%c(lambda u: {u}, {r}, use_reentrant=False) | %c(lambda u: {u}, {r}, use_reentrant=True)
Square.apply({r}) | Exp.apply({r}) | Two.apply({r})[0] | Same.apply({r}) | Flat.apply({r})
Either.apply({r})[1] | Product.apply({r}, {a}) | Double_.apply({w})
{r}.detach().requires_grad_() | {r}.detach() * {r} | %g({r}.sum(), {l}, create_graph=True)[0]
{r}.clone().detach_()
""")
TRANSFORMS = lines("""
{F}({r}) | {F}({a}) | {F}({a}) | %fvmap({F})({a}) | %fvmap({F})({r})
%fvmap({F}, in_dims=-1, out_dims=-1)({a}) | %fvmap(lambda u, v: {u} * v)({a}, {b})
%fvmap(lambda u, v: {u} * v, in_dims=(0, None))({a}, {b})
%fvmap(lambda u, v: u @ v, in_dims=(None, 0))({a}, {b}) | %fvmap(%fvmap({F}))({a})
%fjvp({F}, ({r},), ({b}.to({r}.dtype),))[1] | %fjvp({F}, ({a},), (t.ones_like({a}),))
%fjvp(lambda u: {u}, ({r},), (t.ones_like({r}),))[0]
(lambda p: p[1](t.ones_like(p[0])))(%fvjp({F}, {r}))[0]
%fjvp(%fgrad({f}), ({r},), (t.ones_like({r}),))[1]
%fgrad(lambda u: %fjvp(lambda v: v * u, (u,), (u,))[1].sum())({r})
%fvmap(lambda u: %fjvp({F}, (u,), (u.cos(),))[1])({a}) | %fgrad_and_value({f})({r})[0]
%fgrad_and_value({f})({a})[1] | %fjacrev(lambda u, v: {u} * v, argnums=1)({a}, {b})
%fjacfwd(lambda u, v: {u} * v, argnums=(0, 1))({a}, {b})[1]
%fgrad(lambda u: (u * {r}.detach()).sum() + {r}.sum())({a})
%ffunctional_call(t.nn.Identity(), {}, ({r},)) | %fjacrev({F}, chunk_size=1)({a})
%fvmap({F}, chunk_size=1)({a}) | {V}dual({r}, t.ones_like({r})).sin()).tangent
{V}dual({r}, {b}.to({r}.dtype)) * {a}).tangent | {V}dual({a}, {a}).sum()).tangent
{V}dual({a}, {b}.to({a}.dtype)).t()).tangent
{V}(lambda u: {u})(dual({r}, t.ones_like({r})))).tangent
{V}dual({r}, {b}.to({r}.dtype)) @ dual({a}, {a})).primal
{V}dual({a}, {b}.to({a}.dtype)).view(-1)).tangent
{V}dual({r}, {a}.expand_as({r}).to({r}.dtype))).tangent
{V}dual({a}, {a}).softmax({d})).tangent | {V}dual({a}, {a})[0].exp()).tangent
{L}(dual({r}, t.ones_like({r})) * {a}).sum().backward(%k)
""")
CURVES = (
    *("u.sin()", "u * u", "(u * u + 1).log()", "u * {y}", "({y} * u).tanh() + {y}", "u.exp()"),
    *("u / ({y} ** 2 + 1)", "u.sum() * u", "u.softmax(-1)", "u.cumsum(0)", "u.t() @ u", "u[0]"),
    *("t.stack([u, u.cos()])", "u.clone().mul_(2)", "u.expand(2, *u.shape)", "u.detach() * u"),
    *("u.relu()", "t.where(u > 0, u, u * u)", "u.prod()", "u.norm()", "u.reshape(-1)", "u + 1"),
    *("t.cat([u, u])", "u.max()", "u.sort().values", "u.T", "{y}", "u.abs() ** 0.5"),
)
FUNCTIONS = (
    *("(lambda u: {u})", "t.func.grad({f})", "t.func.jacrev(lambda u: {u})"),
    *("t.func.jacfwd(lambda u: {u})", "t.func.hessian({f})", "t.func.jacfwd(t.func.jacrev({f}))"),
    *("t.func.jacrev(t.func.jacrev({f}))", "t.func.grad(lambda u: t.func.grad({f})(u).sum())"),
    *("t.func.vmap(lambda u: {u})", "(lambda u: t.func.vmap(lambda u: {u})(u) * 2)"),
)
GROUPS: tuple[tuple[int, list[str]], ...] = (
    *((4, UNARY), (6, BINARY), (4, REDUCTIONS), (7, MOVES), (5, TYPES), (6, WRITES), (5, WALKS)),
    (3, TRANSFORMS),
)
