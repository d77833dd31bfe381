"""Statements of random programs with rare operations and idioms.

The holes are those of `line_grammar`. A line that begins with ``~`` has a result whose order in
memory is a library's own affair.
"""

from __future__ import annotations

from support.line_grammar import lines as _lines

__all__ = ["RARE"]

SHORT = {
    # positive definite matrices, a batch of images, and the same with a depth
    "%p": "({a} @ {a}.mT + t.eye({a}.shape[-2], dtype={a}.dtype))",
    "%i": "{a}.reshape(1, -1, *{a}.shape[-2:])",
    "%d": "{a}.reshape(1, 1, -1, *{a}.shape[-2:])",
    "%s": "t.special.",
    "%r": "(t.manual_seed(3), ",
}


def lines(text: str) -> list[str]:
    """The lines of a text, with long words in place of short ones."""
    for short, long in SHORT.items():
        text = text.replace(short, long)
    return _lines(text)


POINTWISE = lines("""
~%si1e({a}) | ~%sndtri({a}.sigmoid()) | ~%spolygamma(2, {a}.abs() + 1)
~%szeta({a}.detach().abs() + 1.5, {b}.detach().abs() + 1) | ~({a}.abs() + 1.5).mvlgamma(2)
~%schebyshev_polynomial_t({a}.detach(), 3) | ~%schebyshev_polynomial_u({a}.detach(), 2)
~%schebyshev_polynomial_v({a}.detach(), 2) | ~%schebyshev_polynomial_w({a}.detach(), 3)
~%sshifted_chebyshev_polynomial_t({a}.detach(), 2) | ~%shermite_polynomial_h({a}.detach(), 3)
~%shermite_polynomial_he({a}.detach(), 2) | ~%slaguerre_polynomial_l({a}.detach(), 3)
~%slegendre_polynomial_p({a}.detach().tanh(), 3) | %nhardshrink({a})
~%nrrelu({a}, training=False) | ~t.igamma({a}.detach().abs() + 0.5, {b}.detach().abs())
%ndropout({a}, 0.5, False) | ~t.igammac({a}.detach().abs() + 0.5, {b}.detach().abs())
%nalpha_dropout({a}, 0.5, False) | t.isin({i}, t.tensor([0, 2])) | {a}.isinf() | {a}.isneginf()
{a}.isposinf() | t.isreal({z}) | {a}.eq({b}) | {a}.ne({b}) | {a}.lt({s}) | {a}.le({b})
{a}.gt({b}) | {a}.ge({s}) | t.logical_and({m}, {a} > 0) | t.logical_or({m}, {i})
t.logical_xor({m}, {m}) | {m}.byte() | {i}.short() | {i}.char() | {m}.int() | {a}.cdouble()
{a}.cfloat() | {i}.int() | {m}.long() | {a}.add(other={b}) | t.add(input={a}, other=2)
{a}.sub({b}, alpha=2) | {a}.mul(other=3)
t.div({a}, {b}.abs() + 1, rounding_mode="trunc").detach() | {a}.pow(exponent=2)
{a}.type(t.float32) | {a}.clamp(max={b}) | {a}.clamp(-1, None) | {a}.to({b})
{a}.to(dtype=t.float32, copy=True) | {a}.softmax(dim={d}, dtype=t.float32)
{a}.sum({d}, dtype=t.float32) | {a}.nan_to_num(nan=1.0) | {a}.where({a} > 0, {b})
{a}.masked_fill({m}, 0.5) | {a}.round().to(t.int16) | {a} * {z} | {z}.pow(3) | {z}.rsqrt()
{z}.tan() | {z}.sigmoid() | {z}.log1p() | {z}.diff() | {z}.isfinite() | t.dstack([{z}, {z}])
{z}.mH * 1 | {z}.resolve_neg() * 1 | {z}.conj_physical() | {z}.trace()
""")
SHAPED = lines("""
~t.addmv({a}[..., 0], {a}, {a}[0]) | ~t.bmm({a}[None], {b}[None])
~t.addbmm({a}, {b}[None], {c}[None]) | ~{a}.matmul({a}.mT) | ~{a}.corrcoef()
~t.gradient({a}, dim={d})[0] | ~t.trapz({a}, dim={d}) | {a}.histc(4, -2, 2)
t.histogram({a}.detach(), 3)[0] | {m}.argwhere() | {i}.unique_consecutive()
t.searchsorted(t.tensor([-1.0, 0.0, 1.0]), {i}.float()) | t.atleast_1d({x}) | t.atleast_3d({x})
{x}.dsplit(1)[0] | {x}.split_with_sizes([1, 2], {d})[0] | {x}.reshape_as({x}) | {x}.sum_to_size(1)
{x}.expand(2, *{x}.shape).sum_to_size({x}.shape) | t.constant_pad_nd({x}, (1, 0), 2)
t.arange(3) * {a} | t.linspace(0, 1, 3) + {a} | t.full((2, 3), 0.5) * {a}
t.scalar_tensor(2.0) * {a} | {x}.new_zeros(2) | {a}.new_full((2,), 3.0)
{x}.new_empty(2).fill_(1) | t.empty_like({x}).zero_() | ~%linv(%p) | ~%linv_ex(%p).inverse
~%lcholesky_ex(%p).L | ~t.cholesky_solve({a}, %lcholesky(%p)) | ~%llu_factor(%p).LU
~%llu_solve(*%llu_factor(%p), {a}) | ~%lsolve(%p, {a}) | ~%lsolve_ex(%p, {a}).result
~%lsvd({a}).S | ~(lambda q: q.U @ q.S.diag_embed() @ q.Vh)(%lsvd({a}, full_matrices=False))
~%leig(%p).eigenvalues.sum() | ~%lvander({a}) | ~%ltensorinv(%p, ind=1)
~%ltensorsolve(%p, {a}[..., 0]) | ~t.logdet(%p) | ~t.lu_unpack(*%llu_factor(%p))[2]
~t.triangular_solve({a}, %p).solution | ~t.svd({a}).S | %ldiagonal({x})
~%lmatrix_norm({a}, "nuc") | ~%lnorm({a}, 1) | ~%lvector_norm({a}, 3) | ~%lmatrix_norm({a}, 1)
~t.fft.fftn({a}) | ~t.fft.hfft2({z}) | ~t.fft.hfftn({z}) | ~t.fft.ifft2({z}) | ~t.fft.ifftn({z})
~t.fft.ifftshift({a}) | ~t.fft.ihfft({a}) | ~t.fft.ihfft2({a}) | ~t.fft.ihfftn({a})
~t.fft.irfft2({z}) | ~t.fft.irfftn({z}) | ~t.fft.rfft2({a}) | ~t.fft.rfftn({a})
~t.fft.fft({a}, n=4, dim={d}, norm="ortho")
~t.stft({a}, 2, 1, window=t.ones(2, dtype={a}.dtype), return_complex=True)
~t.fft.ifft({z}, n=2, norm="forward")
""")
IMAGES = lines("""
~%nconv2d(%i, {a}.reshape(1, -1, *{a}.shape[-2:])[:, :, :2, :2], padding=1)
~%nconv2d(%i, {b}.reshape(1, -1, *{b}.shape[-2:]), {b}.reshape(-1)[:1], stride=2, padding=2)
~%nconv2d(%i, {b}.reshape(1, -1, *{b}.shape[-2:])[..., :1, :], padding="same")
~%nconv_transpose2d(%i, {b}.reshape(-1, 1, *{b}.shape[-2:]), stride=2)
~%nmax_pool3d(%d, (1, 2, 2)) | ~%nconv_transpose1d({a}[None], {b}[:, None], padding=1)
~%nconv1d({a}[None], {b}[None], stride=2, padding=2)
~%nconv1d({a}[None], {b}[:, None], groups={a}.shape[0]) | ~%navg_pool3d(%d, (1, 2, 2))
~%nconv3d(%d, t.ones(1, 1, 1, 2, 2, dtype={a}.dtype)) | ~%nadaptive_avg_pool3d(%d, (1, 1, 2))
~%nconv_transpose3d(%d, t.ones(1, 1, 1, 2, 2, dtype={a}.dtype), stride=2)
~%nadaptive_avg_pool2d(%i, (1, 2)) | ~%nadaptive_max_pool2d(%i, (1, 2))
~%nadaptive_max_pool3d(%d, 1) | ~%nmax_unpool2d(*%nmax_pool2d(%i, 2, return_indices=True), 2)
~%nlocal_response_norm(%i, 2) | ~%nmax_unpool1d(*%nmax_pool1d({a}, 2, return_indices=True), 2)
~%navg_pool2d(%i, 2, padding=1) | ~%npixel_shuffle({a}.reshape(1, 4, 1, -1), 2)
~%npixel_unshuffle({a}.reshape(1, 1, 2, -1), 2) | ~%nchannel_shuffle({a}.reshape(1, 2, -1, 1), 2)
~%nunfold(%i, 2) | ~%nunfold(%i, 2, padding=1, stride=2)
~%ngrid_sample(%i, t.tensor([[[[0.1, -0.3], [0.55, 0.9]]]], dtype={a}.dtype), align_corners=False)
~%ngrid_sample(%i, {b}.reshape(-1)[:2].tanh().reshape(1, 1, 1, 2), align_corners=True)
~%ninterpolate(%i, scale_factor=2, mode="bicubic") | ~%ninterpolate(%i, size=(2, 2), mode="area")
~%ninterpolate(%i, size=(3, 4), mode="bilinear", align_corners=True)
~%nbatch_norm(%i, None, None, training=True) | ~%npad(%i, (1, 1, 1, 1), mode="reflect")
~%npad(%i, (2, 0, 0, 1), value=0.5) | ~%ngroup_norm(%i, 1)
""")
LOSSES = lines("""
~%ncosine_embedding_loss({a}, {b}, t.ones({a}.shape[0])) | ~%npdist({a}) | ~%npdist({a}, 1)
~%nmultilabel_margin_loss({a}, t.zeros_like({a}, dtype=t.long))
~%nmultilabel_soft_margin_loss({a}, ({b} > 0).to({a}.dtype))
~%ntriplet_margin_loss({a}, {b}, {c})
~%ntriplet_margin_with_distance_loss({a}, {b}, {c}, margin=2)
~%ncross_entropy({a}, {b}.softmax(-1))
~%ncross_entropy({a}, t.zeros({a}.shape[0], dtype=t.long), label_smoothing=0.1)
~%ncross_entropy({a}, t.zeros({a}.shape[0], dtype=t.long), {b}.detach().abs())
~%nnll_loss({a}, t.zeros({a}.shape[0], dtype=t.long), ignore_index=0, reduction="sum")
~%nembedding_bag({i}.abs() % 2, {a}, mode="mean")
~%nembedding_bag({i}.abs() % 2, {a}, mode="sum") | ~%nembedding({i}.abs() % 2, {a}, padding_idx=0)
~%none_hot({i}.abs() % 3, 3)
~%nctc_loss({a}.reshape(-1, 1, 3).log_softmax(-1), t.tensor([[1]]), (1,), (1,))
~%nkl_div({a}.log_softmax(-1), {b}.softmax(-1), reduction="batchmean")
~%nmse_loss({a}, {b}, reduction="sum") | ~%nl1_loss({a}, {b}, reduction="none")
~%nbinary_cross_entropy({a}.sigmoid(), ({b} > 0).to({a}.dtype))
~%nbinary_cross_entropy_with_logits({a}, {b}.sigmoid(), pos_weight=t.tensor(2.0, dtype={a}.dtype))
~%nscaled_dot_product_attention({a}, {a}, {b}, is_causal=True)
~%nlayer_norm({a}, {a}.shape[-1:], {b}, {b})
~%nscaled_dot_product_attention({a}, {a}, {b}, attn_mask={a} @ {a}.mT > 0)
""")
IDIOMS = lines("""
sum([{a}, {b}]) | sum(({a} * {a}).unbind()) | t.stack([v * 2 for v in {x}])
t.cat([v.sum()[None] for v in {x}]) | t.stack([v.sum() for v in {x}.split(1)])
{x}[{x} > 0].sum() | t.where({a} > 0)[0] | {x}[t.where({x} > 0)] | {a}.nonzero(as_tuple=True)[0]
{x}[t.arange(2), t.tensor([0, 1])] | {x}[..., [0, 1]] | {x}[[0, 1], :, None] | {x}[t.tensor([-1])]
{x}[{i}.abs() % 2] | {x}[:, t.tensor([True, False, True])] | {x}[0][..., None]
{w}[t.arange(2), t.tensor([0, 1])] = {s} | {w}[{w}.argmax()] = 0 | {w}[..., [0]] += {a}
{w}[::2] *= 2 | {w}[:, 0], {w}[:, 1] = {w}[:, 1].clone(), {w}[:, 0].clone() | {w}[{w} < 0] = {a}
{w}[None, 0] = {a} | {w}.index_put_((t.tensor([0]), t.tensor([1])), {a})
{w}.add_({a}, alpha=0.5) | {w}.copy_({b}.expand_as({w})) | {w}.resize_as_({w})
{w}.set_({w}.detach()) | {w}.masked_fill_({m}, {s}) | {w}[{m}] = {s} | {w}.clamp_(min={a})
{w}.mul_({m}) | {w}.sub_({i}) | t.nn.init.constant_({w}, 0.5) | t.nn.init.ones_({w})
t.nn.init.eye_({w}) | {w}.bernoulli_(1.0) | {x}.split(split_size=1, dim={d})[0]
{x}.sum(axis={d}) | {a}.mean(axis={d}, keepdim=True) | {a}.amax(axis={d})
t.squeeze({x}, dim={d}) | t.unsqueeze(input={x}, dim={d}) | t.transpose({x}, dim0={d}, dim1={e})
t.permute({x}, (1, 0)) | t.reshape({x}, shape=(-1,)) | {x}.view(size=(-1,)) | {x}.repeat((2, 1))
{x}.view(t.Size([-1])) | float({a}.sum()) | int({i}.sum()) | bool({m}.all()) | {a}.sum().item()
len({x}.shape) | {x}.numel() | {a}.tolist() | [float(v) for v in {a}.detach().reshape(-1)]
{a}.detach().numpy().sum() | t.from_numpy({a}.detach().numpy()) * 1 | t.as_tensor({a})
t.as_tensor({a}.tolist()) | t.tensor({a}.detach().numpy()) | {a}.new_tensor([1.0, 2.0])
__import__("copy").deepcopy({l}) | __import__("copy").copy({x}) | t.clone({x})
{x}.clone(memory_format=t.preserve_format) | %r(t.rand(3)))[1] | %r(t.randn_like({a}) * {a}))[1]
%r(t.randint(0, 5, (2, 3))))[1] | %r(t.rand_like({a})))[1] | %r(%ndropout({a}, 0.5)))[1]
%r(t.randperm(3)))[1] | %r({a}[t.randperm({a}.shape[0])]))[1]
%r(t.bernoulli({a}.detach().sigmoid())))[1] | %r(t.normal({a}.detach(), 1.0)))[1]
%r({w}.normal_()))[1] | %r({w}.uniform_(-1, 1)))[1] | %r(t.nn.init.xavier_uniform_({w})))[1]
%r(t.nn.Linear(3, 2, dtype={a}.dtype)({a})))[1] | %r(t.nn.LSTM(3, 2, dtype={a}.dtype)({a})[0]))[1]
%r(t.nn.Sequential(t.nn.Linear(3, 3), t.nn.ReLU(), t.nn.Linear(3, 1)).to({a}.dtype)({a})))[1]
%r(t.nn.MultiheadAttention(3, 1, dtype={a}.dtype)({a}, {a}, {a})[0]))[1]
%r(t.nn.GRUCell(3, 2, dtype={a}.dtype)({a})))[1] | t.nn.LayerNorm(3, dtype={a}.dtype)({a})
t.nn.BatchNorm1d(3, dtype={a}.dtype)({a}) | t.nn.Softmax({d})({a}) | t.nn.Flatten(0)({x})
t.nn.utils.parameters_to_vector([{a}, {b}]) | t.nn.utils.rnn.pad_sequence([{a}, {a}[:1]])
t.nn.Parameter({a}.detach()) * {b} | trained({a}, "SGD", lr=0.1, momentum=0.9)
trained({a}, "Adam", lr=0.1) | trained({a}, "AdamW", lr=0.1) | trained({a}, "RMSprop", lr=0.1)
trained({a}, "Adagrad", lr=0.1) | trained({a}, "LBFGS", lr=0.1)
{r}.register_hook(lambda g: g.clamp(-1, 1)) and None | {r}.register_hook(lambda g: g * 0) and None
t.nn.utils.clip_grad_norm_([{l}], 1.0) | %ajacobian(lambda u, v: u * v, ({r}, {a}))[0]
%avjp(lambda u, v: u * v, ({r}, {a}), t.ones_like({r}))[1][1]
%fvmap(lambda u: u[None].new_zeros(2) + u.sum())({a})
~%fvmap(lambda u: t.zeros_like(u).add_(u))({a})
%fgrad(lambda p: (p["w"] * {a}).sum())({"w": {r}})["w"]
%fvmap(%fgrad(lambda u, v: (u * v).sum()), (None, 0))({a}, {b})
%fjacrev(lambda p: p[0] * p[1])(({a}, {b}))[1]
%ffunctional_call(t.nn.Linear(3, 1, dtype={a}.dtype), {"weight": {r}, "bias": {b}}, ({a},))
""")
RARE: tuple[tuple[int, list[str]], ...] = (
    *((3, POINTWISE), (5, SHAPED), (4, IMAGES), (3, LOSSES), (6, IDIOMS)),
)
