"""The operations that ops.py measures: what is called, and on what, small and large.

Inputs are letters. ``x``, ``y``, ``z`` stand for normal numbers, ``p``, ``q`` for numbers from 0.5
to 2, ``u`` for numbers from -0.9 to 0.9, ``w`` for matrices with singular values up to about 2,
all of which require a gradient; ``i``, ``j`` for indices below
the number in brackets, ``m`` for a mask, ``k`` for probabilities, none of which does.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FAMILIES", "Operation"]


class Operation(NamedTuple):
    """A call, with the shapes of its inputs in their order: small and large."""

    call: str
    small: str
    large: str


def _each(small: str, large: str, calls: str) -> list[Operation]:
    """Calls separated by semicolons, all on inputs of the same shapes."""
    return [Operation(" ".join(call.split()), small, large) for call in calls.split(";")]


V, W = "x 10", "x 300,300"
"""A vector and a matrix."""

FAMILIES: dict[str, list[Operation]] = {
    "element by element": [
        *_each(
            V,
            W,
            """t.exp(x); t.sin(x); t.tanh(x); t.sigmoid(x); t.abs(x); t.neg(x); t.square(x);
            t.erf(x); t.erfc(x); t.expm1(x); t.atan(x); t.cosh(x); t.asinh(x); t.floor(x);
            t.round(x); t.sign(x); t.clamp(x, -1, 1); x ** 3; x * 2.5; 1 - x; t.nan_to_num(x);
            t.sinc(x); t.isnan(x)""",
        ),
        *_each(
            "p 10",
            "p 300,300",
            "t.log(p); t.log1p(p); t.sqrt(p); t.rsqrt(p); t.reciprocal(p); p ** 2.5; t.lgamma(p); "
            "t.digamma(p)",
        ),
        *_each("u 10", "u 300,300", "t.asin(u); t.atanh(u); t.erfinv(u); t.logit((u + 1) / 2)"),
        *_each(
            "x 10; y 10",
            "x 300,300; y 300,300",
            """x + y; x - y; x * y; t.maximum(x, y); t.atan2(x, y); t.hypot(x, y); x > y;
            t.isclose(x, y); t.lerp(x, y, 0.3); t.logaddexp(x, y); t.fmax(x, y);
            t.copysign(x, y); t.add(x, y, alpha=2); t.where(x > 0, x, y)""",
        ),
        *_each("x 10; p 10", "x 300,300; p 300,300", "x / p; t.remainder(x, p); t.fmod(x, p)"),
        *_each("p 10; q 10", "p 300,300; q 300,300", "p ** q; t.xlogy(p, q)"),
        Operation("x + y", "x 3,4; y 4", "x 300,300; y 300"),
        Operation("x * y", "x 3,4; y 3,1", "x 300,300; y 300,1"),
        Operation("t.addcmul(x, y, z)", "x 10; y 10; z 10", "x 300,300; y 300,300; z 300,300"),
    ],
    "reductions": [
        *_each(
            "x 3,4",
            W,
            """x.sum(); x.sum(0); x.sum(1); x.mean(); x.mean(1); x.prod(1); x.var(); x.var(1);
            x.std(0); x.amax(1); x.max(); x.max(1); x.argmax(1); x.logsumexp(1); x.norm();
            x.norm(dim=1); t.norm(x, 1); t.median(x); t.median(x, 1); t.quantile(x, 0.3, 1);
            t.nansum(x); t.aminmax(x); t.count_nonzero(x); (x > 0).all(); (x > 0).any(1);
            t.var_mean(x, 1); t.cov(x); t.histc(x.detach(), 10)""",
        ),
    ],
    "scans": _each(
        "x 3,4",
        W,
        "x.cumsum(0); x.cumsum(1); x.cumprod(1); t.cummax(x, 1); t.logcumsumexp(x, 1); t.diff(x); "
        "t.trapezoid(x)",
    ),
    "sorting and searching": [
        *_each(
            "x 3,4",
            W,
            """t.sort(x); t.argsort(x); t.topk(x, 2); t.kthvalue(x, 2); t.msort(x);
            t.unique(x.detach()); t.searchsorted(t.tensor([-1.0, 0.0, 1.0]), x.detach());
            t.isin(x.detach(), t.tensor([1.0, 2.0]))""",
        ),
    ],
    "indexing and scatter": [
        *_each(
            "x 6,4; i(4) 5", "x 300,300; i(300) 200", "x[i]; x[:, i % 4]; t.index_select(x, 0, i)"
        ),
        *_each("x 6,4", W, "x[1:-1]; x[::2]; x[0]; x[..., None]; x.narrow(1, 1, 2)"),
        *_each(
            "x 6,4; m 6,4",
            "x 300,300; m 300,300",
            "x[m]; t.masked_select(x, m); t.masked_fill(x, m, 0.0); t.where(m, x, 0.0)",
        ),
        *_each(
            "x 6,4; i(6) 5,4",
            "x 300,300; i(300) 200,300",
            "t.gather(x, 0, i); t.take_along_dim(x, i, 0); t.take(x, i)",
        ),
        *_each(
            "x 6,4; i(6) 5,4; y 5,4",
            "x 300,300; i(300) 200,300; y 200,300",
            """t.scatter(x, 0, i, y); t.scatter_add(x, 0, i, y);
            t.scatter_reduce(x, 0, i, y, 'amax')""",
        ),
        *_each(
            "x 6,4; i(6) 5; y 5,4",
            "x 300,300; i(300) 200; y 200,300",
            """t.index_add(x, 0, i, y); t.index_put(x, (i,), y);
            t.index_put(x, (i,), y, accumulate=True); t.index_copy(x, 0, i, y)""",
        ),
        Operation("F.one_hot(i, 10)", "i(10) 5", "i(10) 20000"),
    ],
    "joins and views": [
        *_each(
            "x 3,4; y 3,4",
            "x 300,300; y 300,300",
            "t.cat((x, y)); t.cat((x, y), 1); t.stack((x, y)); t.stack((x, y), -1)",
        ),
        *_each(
            "x 4,6",
            W,
            """x.split(2, 1)[0]; x.chunk(2)[1]; x.unbind(1)[0]; x.reshape(-1); x.view(2, -1);
            x.t(); x.transpose(0, 1).contiguous(); x.permute(1, 0); x.unsqueeze(1); x.flatten();
            x.flip(0); x.roll(1, 0); x.tril(); x.diagonal(); x.repeat(2, 2); x.tile((2, 2));
            t.repeat_interleave(x, 2, 0); x.clone(); t.movedim(x, 0, 1); t.rot90(x);
            F.pad(x, (1, 1)); F.pad(x[None], (1, 1), mode='reflect')""",
        ),
        Operation("x.expand(5, 8)", "x 8", "x 8"),
        Operation("t.diag_embed(x)", "x 3,4", "x 20,60"),
    ],
    "products": [
        *_each("x 4,5; y 5,6", "x 256,256; y 256,256", "x @ y; t.einsum('ij,jk->ik', x, y)"),
        *_each(
            "x 3,4,5; y 3,5,6",
            "x 32,64,64; y 32,64,64",
            "t.bmm(x, y); t.einsum('bij,bjk->bik', x, y)",
        ),
        *_each(
            "x 2,3,4,5; y 2,3,4,5",
            "x 4,8,64,32; y 4,8,64,32",
            "t.einsum('bhid,bhjd->bhij', x, y); t.tensordot(x, y, ([2, 3], [2, 3]))",
        ),
        Operation("x @ y", "x 4,5; y 5", "x 500,500; y 500"),
        Operation("t.dot(x, y)", "x 10; y 10", "x 100000; y 100000"),
        Operation("t.outer(x, y)", "x 5; y 6", "x 300; y 300"),
        Operation("t.kron(x, y)", "x 2,3; y 3,2", "x 20,20; y 20,20"),
        Operation("t.addmm(z, x, y)", "z 4,6; x 4,5; y 5,6", "z 256,256; x 256,256; y 256,256"),
        Operation("F.linear(x, y, z)", "x 4,5; y 6,5; z 6", "x 256,256; y 256,256; z 256"),
        Operation("F.bilinear(x, y, z)", "x 4,3; y 4,2; z 5,3,2", "x 64,32; y 64,32; z 32,32,32"),
        Operation("t.cdist(x, y)", "x 4,3; y 5,3", "x 200,16; y 200,16"),
        Operation("t.cross(x, y, dim=1)", "x 4,3; y 4,3", "x 20000,3; y 20000,3"),
    ],
    "linear algebra": [
        *_each(
            "w 3,3",
            "w 100,100",
            """t.linalg.inv(w); t.linalg.det(w); t.linalg.slogdet(w); t.linalg.qr(w);
            t.linalg.svd(w); t.linalg.svdvals(w); t.linalg.eigvals(w); t.linalg.pinv(w);
            t.linalg.lu_factor(w); t.linalg.matrix_norm(w); t.linalg.norm(w, 2);
            t.linalg.matrix_power(w, 3); t.matrix_exp(w)""",
        ),
        *_each(
            "w 3,3",
            "w 100,100",
            """t.linalg.eigh(w + w.mT)[0]; t.linalg.eigvalsh(w + w.mT);
            t.linalg.cholesky(w @ w.mT + 9 * t.eye(w.shape[0]))""",
        ),
        *_each(
            "w 3,3; y 3,2", "w 100,100; y 100,10", "t.linalg.solve(w, y); t.linalg.lstsq(w, y)[0]"
        ),
        Operation(
            "t.linalg.solve_triangular(w.triu() + 9 * t.eye(w.shape[0]), y, upper=True)",
            "w 3,3; y 3,2",
            "w 100,100; y 100,10",
        ),
        Operation("t.linalg.inv(w)", "w 4,3,3", "w 1000,4,4"),
    ],
    "fft": [
        *_each("x 8", "x 64,1024", "t.fft.fft(x); t.fft.rfft(x); t.fft.irfft(t.fft.rfft(x))"),
        *_each("x 4,4", "x 256,256", "t.fft.fft2(x); t.fft.rfft2(x); t.fft.fftshift(x)"),
        Operation("t.stft(x, 16, 4, window=t.ones(16), return_complex=True)", "x 64", "x 8,4096"),
    ],
    "special functions": [
        *_each(
            "p 10",
            "p 100,100",
            """t.special.i0(p); t.special.i1e(p); t.special.ndtr(p); t.special.log_ndtr(p);
            t.special.entr(p); t.special.polygamma(1, p); t.special.zeta(p.detach() + 1.5, 2.0);
            t.special.bessel_j0(p.detach()); t.special.erfcx(p)""",
        ),
        *_each(
            "p 10; q 10",
            "p 100,100; q 100,100",
            "t.special.xlog1py(p, q); t.special.gammainc(p.detach(), q)",
        ),
        Operation("t.special.ndtri((u + 1) / 2)", "u 10", "u 100,100"),
    ],
    "convolution": [
        Operation("F.conv1d(x, y)", "x 1,2,8; y 3,2,3", "x 8,32,256; y 32,32,5"),
        Operation(
            "F.conv2d(x, y, z, padding=1)",
            "x 1,2,6,6; y 3,2,3,3; z 3",
            "x 8,32,28,28; y 32,32,3,3; z 32",
        ),
        Operation("F.conv2d(x, y)", "x 1,2,6,6; y 3,2,1,1", "x 8,64,28,28; y 64,64,1,1"),
        Operation("F.conv2d(x, y, stride=2)", "x 1,2,7,7; y 3,2,3,3", "x 8,32,57,57; y 32,32,3,3"),
        Operation(
            "F.conv2d(x, y, padding=1, groups=x.shape[1])",
            "x 1,2,6,6; y 2,1,3,3",
            "x 8,32,28,28; y 32,1,3,3",
        ),
        Operation(
            "F.conv2d(x, y, dilation=2)", "x 1,2,8,8; y 3,2,3,3", "x 4,16,32,32; y 16,16,3,3"
        ),
        Operation(
            "F.conv_transpose2d(x, y, stride=2)",
            "x 1,2,4,4; y 2,3,3,3",
            "x 8,32,14,14; y 32,32,3,3",
        ),
        Operation("F.conv3d(x, y)", "x 1,2,4,4,4; y 3,2,2,2,2", "x 2,8,12,12,12; y 8,8,3,3,3"),
        Operation("F.unfold(x, 3)", "x 1,2,5,5", "x 4,16,32,32"),
    ],
    "pooling": [
        Operation("F.max_pool1d(x, 2)", "x 1,2,8", "x 8,32,1024"),
        *_each(
            "x 1,2,6,6",
            "x 8,32,28,28",
            """F.max_pool2d(x, 2); F.max_pool2d(x, 3, 1, 1); F.avg_pool2d(x, 2);
            F.avg_pool2d(x, 3, 1, 1); F.adaptive_avg_pool2d(x, 3); F.adaptive_avg_pool2d(x, 1);
            F.adaptive_max_pool2d(x, 3)""",
        ),
        Operation("F.lp_pool2d(x.abs() + 1, 2, 2)", "x 1,2,6,6", "x 8,32,28,28"),
        Operation("F.max_pool3d(x, 2)", "x 1,2,4,4,4", "x 2,8,16,16,16"),
    ],
    "resampling": [
        *_each(
            "x 1,2,4,4",
            "x 4,16,32,32",
            """F.interpolate(x, scale_factor=2);
            F.interpolate(x, scale_factor=2, mode='bilinear');
            F.interpolate(x, scale_factor=2, mode='bicubic'); F.interpolate(x, size=7)""",
        ),
        Operation("F.pixel_shuffle(x, 2)", "x 1,4,3,3", "x 4,16,32,32"),
        Operation(
            "F.grid_sample(x, u, align_corners=False)",
            "x 1,2,4,4; u 1,3,3,2",
            "x 4,8,32,32; u 4,32,32,2",
        ),
    ],
    "normalisation": [
        Operation(
            "F.batch_norm(x, None, None, p, y, True)", "x 4,3; p 3; y 3", "x 256,256; p 256; y 256"
        ),
        Operation(
            "F.batch_norm(x, None, None, p, y, True)",
            "x 2,3,4,4; p 3; y 3",
            "x 8,32,28,28; p 32; y 32",
        ),
        Operation("F.layer_norm(x, y.shape, p, y)", "x 4,8; p 8; y 8", "x 512,256; p 256; y 256"),
        Operation("F.rms_norm(x, p.shape, p)", "x 4,8; p 8", "x 512,256; p 256"),
        Operation("F.group_norm(x, 2, p, y)", "x 2,4,3,3; p 4; y 4", "x 8,32,28,28; p 32; y 32"),
        *_each(
            "x 2,4,3,3",
            "x 8,32,28,28",
            "F.instance_norm(x); F.local_response_norm(x, 3); F.normalize(x)",
        ),
    ],
    "embedding and attention": [
        Operation("F.embedding(i, x)", "i(5) 3,4; x 5,6", "i(1000) 32,64; x 1000,64"),
        Operation("F.embedding_bag(i, x)", "i(5) 3,4; x 5,6", "i(1000) 64,32; x 1000,64"),
        *_each(
            "x 1,2,4,8; y 1,2,4,8; z 1,2,4,8",
            "x 4,8,64,32; y 4,8,64,32; z 4,8,64,32",
            """F.scaled_dot_product_attention(x, y, z);
            F.scaled_dot_product_attention(x, y, z, is_causal=True)""",
        ),
    ],
    "losses": [
        *_each(
            "x 4,5; y 4,5",
            "x 300,300; y 300,300",
            """F.mse_loss(x, y); F.l1_loss(x, y); F.smooth_l1_loss(x, y); F.huber_loss(x, y);
            F.poisson_nll_loss(x, y); F.soft_margin_loss(x, y.detach().sign());
            F.kl_div(x, y.softmax(1)); F.pairwise_distance(x, y); F.cosine_similarity(x, y)""",
        ),
        *_each(
            "x 4,5; k 4,5",
            "x 300,300; k 300,300",
            """F.binary_cross_entropy_with_logits(x, k); F.binary_cross_entropy(x.sigmoid(), k);
            F.multilabel_soft_margin_loss(x, k)""",
        ),
        *_each(
            "x 4,5; i(5) 4",
            "x 300,300; i(300) 300",
            "F.cross_entropy(x, i); F.nll_loss(x, i); F.multi_margin_loss(x, i)",
        ),
        Operation(
            "F.gaussian_nll_loss(x, y, p)", "x 4,5; y 4,5; p 4,5", "x 300,300; y 300,300; p 300,300"
        ),
        *_each(
            "x 4,5; y 4,5; z 4,5",
            "x 300,300; y 300,300; z 300,300",
            "F.triplet_margin_loss(x, y, z)",
        ),
        Operation(
            "F.ctc_loss(x.log_softmax(2), j + 1, t.full((x.shape[1],), x.shape[0]), "
            "t.full((x.shape[1],), j.shape[1]))",
            "x 8,2,5; j(4) 2,3",
            "x 50,16,20; j(19) 16,15",
        ),
    ],
    "activations": [
        *_each(
            "x 4,5",
            W,
            """t.relu(x); F.gelu(x); F.gelu(x, approximate='tanh'); F.silu(x); F.elu(x);
            F.selu(x); F.leaky_relu(x); F.softplus(x); F.mish(x); F.hardswish(x);
            F.hardtanh(x); F.hardsigmoid(x); F.logsigmoid(x); F.softsign(x); F.tanhshrink(x);
            F.hardshrink(x); F.softshrink(x); F.threshold(x, 0.1, 0.0); t.softmax(x, 1);
            t.log_softmax(x, 1); F.softmin(x, 1)""",
        ),
        Operation("F.prelu(x, y)", "x 4,5; y 5", "x 300,300; y 300"),
        Operation("F.glu(x)", "x 4,6", W),
    ],
    "dropout": _each("x 4,5", W, "F.dropout(x, 0.5); F.dropout(x, 0.5, False)"),
}
"""The operations by family."""
