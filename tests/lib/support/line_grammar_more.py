"""More statements of random programs: other operations, and rarer uses of autograd.

The holes are those of `line_grammar`. A line that begins with ``~`` has a result whose order in
memory is a library's own affair.
"""

from __future__ import annotations

from support.line_grammar import lines

__all__ = ["MORE"]

POINTWISE = lines("""
~{a}.tanh().acos() | ~{a}.tanh().asin() | ~({a}.tanh() * 0.9).atanh() | ~({a}.abs() + 1.5).acosh()
{a}.ceil() | {a}.sinh() | {a}.cosh() | %nelu({a}) | %ncelu({a}) | %nselu({a}) | %nmish({a})
%nhardsigmoid({a}) | %nhardswish({a}) | %nsoftshrink({a}) | %nthreshold({a}, 0.1, 2) | %nrelu6({a})
({a}.abs() + 1).log2() | ({a}.abs() + 1).log10() | {a}.exp2() | ~({a}.abs() + 1).digamma()
~({a}.abs() + 1).lgamma() | ~{a}.i0() | {a}.sinc() | ~{a}.erfc() | ~({a}.tanh() * 0.9).erfinv()
~({a}.abs() + 1).polygamma(1) | {a}.rad2deg() | %nsoftsign({a}) | %ntanhshrink({a})
%nglu({a}, {d}) | %nprelu({a}, t.tensor(0.25, dtype={a}.dtype)) | {a}.round(decimals=1)
~t.special.entr({a}.abs() + 0.1) | ~t.special.i1({a}) | ~t.special.i0e({a}) | ~t.special.ndtr({a})
~t.special.log_ndtr({a}) | ~t.special.erfcx({a}) | ~t.xlogy({a}, {b}.abs() + 0.5)
~t.special.xlog1py({a}, {b}.abs()) | t.fmin({a}, {b}) | ~t.logaddexp2({a}, {b}) | {a}.ldexp({b})
%nbinary_cross_entropy_with_logits({a}, {b}.sigmoid())
%nbinary_cross_entropy({a}.sigmoid(), {b}.sigmoid())
%nl1_loss({a}, {b}) | %nkl_div({a}, {b}.exp()) | %nsoft_margin_loss({a}, {b}.detach().sign())
%npoisson_nll_loss({a}, {b}.abs()) | %ngaussian_nll_loss({a}, {b}, {c}.abs() + 0.1)
%nmargin_ranking_loss({a}, {b}, {a}.sign()) | %nhinge_embedding_loss({a}, {b}.sign())
%nsoftmin({a}, {d}) | {a}.float_power(2) | {a}.true_divide({b}.abs() + 1) | {a}.rsub({b})
t.clamp({a}, {b}, {b} + 1) | t.clamp({a}, min={b}) | {a}.square().sqrt() | ~{a}.nextafter({b})
{a}.isclose({b}) | t.isfinite({a}) | {a}.signbit() | t.frexp({a}).mantissa | {a}.positive()
t.where({a} > 0, {a}, 0.5) | t.where({a} > 0, -1, {a}) | {a}.xlogy(2) | ~{a}.clip(-1, 1)
""")
SHAPED = lines("""
~t.vdot({a}, {b}) | ~t.addr({a}, {b}, {c}) | ~t.addmv({a}, {b}, {c}) | ~t.inner({a}, {b})
~t.linalg.cross({a}, {b}) | ~t.kron({a}, {b}) | ~t.cdist({a}, {b}, p=1) | ~t.bmm({a}, {b})
~%npairwise_distance({a}, {b}) | ~t.addbmm({a}, {b}, {c}) | ~{a}.dist({b}, 1)
~t.chain_matmul({a}, {b})
~t.std_mean({a}, {d})[1] | ~t.var_mean({a}, {d})[0] | ~{a}.cummin({d}).values | ~{a}.nanmedian()
~{a}.nanmedian({d}).values | ~{a}.cov() | ~t.trapezoid({a}, dim={d}) | {a}.renorm(2, 0, 1.0)
~t.cumulative_trapezoid({a}, dim={d}) | ~t.vander({a}, 3) | ~{a}.topk(2, {d}).values | ~{a}.msort()
~{a}.masked_select({a} > 0) | ~{a}.masked_scatter({a} > 0, {b})
~{a}.index_copy({d}, t.tensor([0]), {b})
~{a}.index_reduce({d}, t.tensor([0]), {b}, "amax")
~{a}.scatter_add({d}, t.zeros_like({a}, dtype=t.long), {b})
~{a}.scatter_reduce({d}, t.zeros_like({a}, dtype=t.long), {b}, "mean")
~{a}.put(t.tensor([0]), {b})
~{a}.scatter_reduce({d}, t.zeros_like({a}, dtype=t.long), {b}, "amax", include_self=False)
~{a}.take_along_dim({a}.argsort(-1), -1) | ~{a}.index_fill({d}, t.tensor([0]), 2)
~{a}.index_put((t.tensor([0, 0]),), {b}, accumulate=True)
~{a}.bucketize(t.tensor([-1.0, 0.0, 1.0]))
~%navg_pool1d({a}, 2, 1) | ~%nmax_pool1d({a}, 2, 1) | ~%nmax_pool2d({a}, 2, 1)
~%navg_pool2d({a}, 2, 1)
~%nconv1d({a}, {b}) | ~%nconv1d({a}[None], {b}[None], padding=1) | ~%nadaptive_avg_pool1d({a}, 2)
~%nadaptive_max_pool1d({a}, 2) | ~%ninterpolate({a}[None], scale_factor=2)
~%ninterpolate({a}[None, None], scale_factor=2, mode="bilinear")
~%npad({a}, (1, 1), mode="reflect")
~%npad({a}, (1, 1), mode="replicate") | ~%npad({a}, (1, 1), mode="circular") | ~%npad({a}, (-1, 1))
~%ngroup_norm({a}, 1) | ~%nbatch_norm({a}, None, None, training=True) | ~%ninstance_norm({a})
~%nembedding({i}.abs() % 2, {a}) | ~%ncross_entropy({a}, t.zeros({a}.shape[0], dtype=t.long))
~%nnll_loss({a}, t.zeros({a}.shape[0], dtype=t.long))
~%nmulti_margin_loss({a}, t.zeros({a}.shape[0], dtype=t.long))
~%nscaled_dot_product_attention({a}, {a}, {b}) | ~%nbilinear({a}, {b}, {c})
~%nrms_norm({a}, {a}.shape[-1:])
~%lmatrix_exp({a}) | ~%lcholesky({a} @ {a}.mT + t.eye({a}.shape[0], dtype={a}.dtype))
~%lmatrix_power({a}, 3) | ~%lmulti_dot([{a}, {b}]) | ~%lsolve_triangular({a}, {b}, upper=True)
~%leigh({a} + {a}.mT).eigenvalues | ~%llstsq({a}, {a}).solution | ~%llu({a}).U | ~%lcond({a})
~%lvecdot({a}, {b}) | ~%lmatrix_rank({a}) | ~{a}.cholesky_inverse() | ~%leigvals({a}).abs()
~t.fft.irfft({z}) | ~t.fft.fftshift({a}) | ~t.fft.hfft({z})
~t.stft({a}, 2, 1, return_complex=True)
""")
VIEWS = lines("""
{x}[None, :, None] | {x}[:, None] | {x}[1:, ..., 0] | {x}[..., None] | {x}[t.tensor(0)] | {x}[0, 1]
{x}[:, t.tensor([0, 1])] | {x}[t.tensor([0]), :, t.tensor([0])]
{x}[t.tensor([[0, 1], [1, 0]])]
{x}[t.tensor([True, False, True])] | {x}[:, [True, False, True]] | {x}[..., -1:] | {x}[True]
{x}[()]
t.hstack([{x}, {x}]) | t.vstack([{x}, {x}]) | t.column_stack([{x}, {x}]) | t.dstack([{x}, {x}])
{x}.tensor_split(2, {d})[0] | {x}.split([1, 2], {d})[1] | {x}.vsplit(1)[0]
{x}.fliplr() | {x}.flipud() | t.atleast_2d({x}) | {x}.diag_embed() | {x}.diagflat() | {x}.adjoint()
{x}.expand(-1, 3) | {x}.movedim((0, 1), (1, 0)) | {x}.squeeze((0, 1)) | {x}.moveaxis({d}, {e})
{x}.as_strided_scatter({x}.as_strided((1,), (1,)), (1,), (1,)) | {x}.view(-1, 1)
{x}.view({x}.shape)
{x}.reshape(3, -1) | {x}.flatten({d}) | {x}.roll((1, 1), (0, 1)) | {x}.unfold(0, 1, 1)
{x}.ravel().clone()
{x}.repeat(1, 2, 1) | {x}.expand(2, 2, 3).sum(0) | {x}.chunk(3, {d})[-1] | {x}.narrow({d}, -1, 1)
{x}.diagonal(1) | {x}.diagonal(dim1=-1, dim2=-2) | {x}.select(-1, -1) | {x}.unbind({d})[-1]
t.cat([{x}, {x}.clone()], {d}) | t.cat([{a}, {b}], {d}) | t.stack([{a}, {b}], {e})
t.cat([{a}, {i}])
t.broadcast_tensors({a}, {b})[0] | t.meshgrid({a}, {b}, indexing="xy")[1]
t.cartesian_prod({a}, {b})
t.combinations({a}) | t.block_diag({a}, {b}) | t.tensor_split({x}, [1])[1] | {x}.swapdims(0, -1)
{x}._version | {x}._is_view() | {x}.storage_offset() | {x}.is_contiguous() | {x}.retains_grad
len({x})
{x}.size() | {x}.dim() | {x}.nelement() | {x}.element_size() | {x}.output_nr | {x}.is_leaf
{x}.tolist()
t.is_grad_enabled() | {x}.requires_grad | t.is_same_size({a}, {b}) | {a}.equal({b})
{a}.allclose({b})
{z}.real | {z}.imag | t.view_as_complex(t.stack([{a}, {b}], -1)) | {z}.conj().imag * 1 | {z}.mT * 1
{z}.t() | {z}[0] | {z}.resolve_conj() * 2 | {z}.square() | {z}.cos() | {z}.tanh() | {z}.abs() ** 2
""")
WRITES = lines("""
{w}.pow_(2) | {w}.clamp_min_(0.1) | {w}.clamp_max_(0.5) | {w}[1:] += 1 | {w}[1:] *= {a}
{w}.T[0] = {s}
{w}[:, 0] *= {s} | {w}.select(0, 0).zero_() | {w}.narrow(0, 0, 1).copy_({a}) | {w}.T.add_({a})
{w}.index_copy_(0, t.tensor([0]), {w}[:1] * 3) | {w}.masked_scatter_({w} > 0, {a}) | {w}.sigmoid_()
{w}.scatter_add_(0, t.zeros_like({w}, dtype=t.long), {a}) | {w}.cumprod_({d}) | {w}.tril_()
{w}.triu_()
{w}.scatter_reduce_(0, t.zeros_like({w}, dtype=t.long), {a}, "mean")
{w}.index_reduce_(0, t.tensor([0]), {a}, "prod")
{w}.addmm_({a}, {b}) | {w}.addmv_({a}, {b}) | {w}.addr_({a}, {b}) | {w}.renorm_(2, 0, 1.0)
{w}.erf_()
{w}.fmod_(2) | {w}.remainder_(2) | {w}.xlogy_(2) | {w}.frac_() | {w}.sinh_() | {w}.swapdims_(0, -1)
{w}.data = {w}.detach() * 2 | {w}.addcdiv_({a}, {b}.abs() + 1) | {w}.copysign_({a})
{w}.lerp_({a}, {b})
{w}.index_put_((t.tensor([0, 0]),), {a}, accumulate=True) | {w}.fill_diagonal_({s})
{w}.nan_to_num_()
%nrelu({w}, inplace=True) | %nleaky_relu({w}, inplace=True) | %nelu({w}, inplace=True)
{w}.atan2_({a})
%nhardtanh({w}, inplace=True) | %nthreshold({w}, 0.1, 1.0, True) | {w}.hypot_({a})
{w}.floor_divide_(2)
{w}.unsqueeze_(-1) | {w}.squeeze_(0) | {w}.movedim(0, -1).mul_(2)
{w}.unflatten(-1, (1, -1)).add_(1)
{w}.diagonal().copy_({a}) | {w}[None].mul_(2) | {w}.view(-1)[:2].mul_(3) | {w}[...] = {a}
{w}[()] = 2
{w}[:, [0]] = {s} | {w}[t.tensor([0])] += {a} | {w}[{w} > 0] *= 2 | {w}[{w} > 0] = {w}[{w} > 0] * 2
{w}.chunk(2)[0].mul_(2) | {w}.permute(1, 0).mul_({a}) | {w}.flatten().mul_(2) | {w}.mT.add_(1)
{w}.logit_(0.1)
t.cat([{a}, {b}], out={w}) | t.cumsum({a}, {d}, out={w}) | t.where({a} > 0, {a}, {b}, out={w})
t.abs({a}, out={w})
t.maximum({a}, {b}, out={w}) | t.stack([{a}, {b}], out={w}) | {z}.mul_({z}) | {z}.imag.add_({a})
{z}[0] = 1j
{z}.real = {a} | t.view_as_real({z}).mul_(2) | t.view_as_real({z})[..., 0] = {s}
{z}.conj_physical_() | {z}.zero_()
{z}.copy_({a}) | {z}.exp_() | {i}.zero_() | {i}[0] = 1 | {i}.sub_(1) | {i}.neg_()
{i}.clamp_(0, 1) | {i}.pow_(2)
{i}.copy_({a}) | {m}[0] = True | {m}.logical_and_({m}) | {m} |= {m} | {m}.copy_({a}) | {i} &= 1
{i} <<= 1
""")
WALKS = lines("""
(lambda k: k.remove())((%h([{l}, {r}], watch_all("{n}")), {r}.sum().backward(%k))[0])
{r}.register_hook(watch("{n}")).remove() | {l}.register_hook(watch("{n}")) and None
{r}.grad_fn.next_functions[0][0].register_hook(watch_node("{n}")) and None
t.autograd.backward([{r}.sum()])
t.autograd.backward([{r}.sum(), {r}.mean()], %k)
t.autograd.backward({r}, {a}.detach(), inputs=[{l}])
%g({r}.sum(), t.autograd.graph.get_gradient_edge({l}), %k)[0]
%g([{r}.sum(), ({r} * {r}).sum()], {l}, %k)[0]
%g({r}.sum(), {l}, create_graph=True, materialize_grads=True)[0] | %g({r}.sum(), [{l}, {l}], %k)[1]
%g({r}, {l}, grad_outputs=[None], %k)[0] | {r}.backward(t.ones_like({r}), %k, create_graph=True)
{r}.sum().backward(t.tensor(2.0, dtype={r}.dtype), %k)
%ahvp(lambda u: ({u}).sum(), {r}, t.ones_like({r}))[1]
%avhp(lambda u: ({u}).sum(), {r}, t.ones_like({r}))[1]
%ahessian(lambda u: ({u}).sum(), {r}, vectorize=True)
%ajacobian(lambda u: {u}, {r}, vectorize=True)
%ajacobian(lambda u: {u}, {r}, strategy="forward-mode", vectorize=True)
%ajvp(lambda u: {u}, {r}, t.ones_like({r}), create_graph=True)[1]
%avjp(lambda u: {u}, {r}, t.ones_like({r}), create_graph=True)[1]
Flagged.apply({r})[0] | Part.apply({r}) | Split.apply({r})[1] | Sine_.apply({w})
Square.apply(Exp.apply({r}))
Product.apply({r}, {r}) | Two.apply({r}) | t.vmap(lambda u: u.sin().sum())({r})
Product.apply({a}, {r}) * {b}
%c(lambda u, v: {u} * v, {r}, {a}, use_reentrant=False)
%c(Square.apply, {r}, use_reentrant=False)
%c(lambda u: %c(lambda u: {u}, u, use_reentrant=False) * u, {r}, use_reentrant=False)
{r}.grad_fn.next_functions[0][1] | len({r}.grad_fn.next_functions)
{r}.retain_grad() or {r}.sum().backward(%k)
{r}.clone().requires_grad_(False) | {l}.requires_grad_(False) | {a}.requires_grad_()
{r}.detach_() | {l}.grad.zero_()
{l}.grad = {l}.detach() * 2 | {l}.grad.sum() | {l}.grad * {r}
""")
TRANSFORMS = lines("""
%flinearize({F}, {r})[1](t.ones_like({r}))
%fhessian(lambda u, v: (({u}) * v).sum(), argnums=1)({a}, {b})
%fvmap(%fgrad({f}))({a}) | %fgrad(lambda u, v: (u * v).sum(), argnums=(0, 1))({a}, {b})[1]
%fgrad(lambda u: (({u}).sum(), u), has_aux=True)({r})[1]
%fvmap(lambda u: u.clone().mul_(2).sin())({r})
%fvmap(lambda u: {y} * u.sum())({a}) | %fvmap(lambda p: p["k"] * 2)({"k": {a}})
%fvmap({F}, out_dims=-1)({r})
%fjvp(lambda u, v: u * v, ({a}, {b}), (t.ones_like({a}), t.ones_like({b})))[1] | %fvjp({F}, {a})[0]
%fjvp(lambda u: ({u}, u), ({r},), (t.ones_like({r}),), has_aux=True)[1]
%fvmap(%fjacrev({F}))({a})
%fgrad(lambda u: %fvmap(lambda v: v * {y}.sum())(u).sum())({r})
%fvmap(%fvmap({F}, in_dims=-1))({a})
%fgrad(lambda u: {y}.mul(u).sum())({r}) * {r}
%fvmap(lambda u: %fgrad(lambda v: (v * u).sum())(u))({r})
%fjacfwd(lambda u: {u})({r}) + {r}.sum() | %fvmap(lambda u, v: t.where(u > v, u, v))({a}, {a})
{V}dual({a}, {b}.to({a}.dtype)).mul(2).add(dual({a}, {a}))).tangent
{V}dual({a}, {a}).clone().mul_(2)).tangent
{V}dual({a}, {a}).cumsum({d}).prod()).tangent | {V}t.stack([dual({a}, {a}), {a}])).tangent
{V}t.cat([dual({a}, {a}), {b}])).tangent | {V}dual({a}, {b}.to({a}.dtype)).norm()).tangent
{V}Square.apply(dual({r}, t.ones_like({r})))).primal | {V}dual({a}, {a}).max({d}).values).tangent
{V}%g((dual({r}, t.ones_like({r})) ** 2).sum(), {r}, %k)[0]).tangent
{V}dual({r}, t.ones_like({r})).detach()).tangent
{V}dual({a}, {a}).expand(2, *{a}.shape).sum(0)).tangent
{V}dual({a}, {a}).sort({d}).values).tangent
{V}dual({a}, {a}).index_select(0, t.tensor([0]))).tangent | {V}dual({z}, {z}).abs()).tangent
""")
MORE: tuple[tuple[int, list[str]], ...] = (
    *((3, POINTWISE), (5, SHAPED), (4, VIEWS), (5, WRITES), (4, WALKS), (2, TRANSFORMS)),
)
