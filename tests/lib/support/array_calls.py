"""Calls of other libraries' functions on arrays: all functions that SciPy declares portable.

Names in the calls: x (4, 3), v (4,) positive, w (4,) within the unit, s a number, n a whole
number, z a linkage; `xp` the namespace of these. The calls stand behind the module that they are
of, a part of SciPy if it is not another library.
"""

from __future__ import annotations

# What passes gradients.
CALLS = """
    special: logsumexp(v) | softmax(v) | log_softmax(v) | bdtr(2.0, 5, w) | bdtrc(2.0, 5, w)
    special: bdtri(1.0, 5, w) | betainc(2.0, 3.0, w) | betaincc(2.0, 3.0, w)
    special: betaincinv(2.0, 3.0, w) | betaln(v, w) | binom(v + 2, v) | boxcox(v, w)
    special: boxcox1p(v, w) | cbrt(v) | chdtr(3.0, v) | chdtrc(3.0, v) | chdtri(3.0, w) | cosdg(v)
    special: cosm1(v) | cotdg(v + 30) | ellipk(w) | ellipkm1(w) | entr(v) | erf(v) | erfc(v)
    special: erfcx(v) | erfinv(w) | exp1(v) | exp10(v) | exp2(v) | expi(v) | expit(v) | expn(2, v)
    special: exprel(v) | fdtr(3.0, 4.0, v) | fdtrc(3.0, 4.0, v) | fdtri(3.0, 4.0, w) | gamma(v)
    special: gammainc(2.0, v) | gammaincc(2.0, v) | gammainccinv(2.0, w) | gammaincinv(2.0, w)
    special: gammaln(v) | gdtr(2.0, 3.0, v) | gdtrc(2.0, 3.0, v) | huber(v, w) | hyp1f1(1.5, 2.5, w)
    special: i0(v) | i0e(v) | i1(v) | i1e(v) | inv_boxcox(w, v) | inv_boxcox1p(w, v) | j0(v) | j1(v)
    special: k0(v) | k0e(v) | k1(v) | k1e(v) | kl_div(v, w) | log_ndtr(v) | loggamma(v) | logit(w)
    special: lpmv(1, 2, w) | multigammaln(v + 2, 2) | nbdtr(1, 3, w) | nbdtrc(1, 3, w)
    special: nbdtri(1, 3, w) | ndtr(v) | ndtri(w) | pdtr(2.0, v) | pdtrc(2.0, v) | pdtri(2, w)
    special: poch(v, w) | polygamma(1, v) | pseudo_huber(v, w) | psi(v) | radian(v, w, s)
    special: rel_entr(v, w) | rgamma(v) | sinc(v) | sindg(v) | spence(v) | stdtr(3.0, v)
    special: stdtrit(3.0, w) | tandg(v) | xlog1py(v, w) | xlogy(v, w) | y0(v) | y1(v) | yn(2, v)
    special: zeta(3.0, w) | struve(1.0, v) | softplus(v) | voigt_profile(v, w, v) | ellipkinc(v, w)
    stats: zscore(v) | skew(v) | kurtosis(v) | moment(v, order=3) | entropy(v) | gmean(v) | hmean(v)
    stats: pmean(v, 3) | pearsonr(v, w).statistic | pearsonr(v, w).pvalue | tmean(v) | sem(v)
    stats: pearsonr(v, w).confidence_interval().low | ttest_1samp(v, 0.5).pvalue
    stats: ttest_1samp(v, 0.5).confidence_interval().low | ttest_ind(v, w).statistic
    stats: ttest_ind(v, w).pvalue | ttest_rel(v, w).pvalue | f_oneway(v, w).statistic
    stats: f_oneway(v, w).pvalue | chisquare(v, v).statistic | variation(v) | circmean(v)
    stats: circstd(v) | circvar(v) | normaltest(xp.concat((x[:, 0], x[:, 1], v))).statistic
    stats: jarque_bera(v).statistic | jarque_bera(v).pvalue | boxcox_llf(0.6, v)
    stats: yeojohnson_llf(0.6, v) | gstd(v) | tvar(v) | kstat(v, 3) | kstatvar(v, 2)
    stats: differential_entropy(xp.concat((v, w))) | trim_mean(v, 0.2) | bartlett(v, w).pvalue
    stats: levene(v, w).statistic | levene(v, w).pvalue | alexandergovern(v, w).pvalue
    stats: epps_singleton_2samp(xp.concat((v, w)), xp.concat((w, v + 1))).statistic
    stats: directional_stats(x).mean_direction | directional_stats(x).mean_resultant_length
    stats: false_discovery_control(w) | quantile(v, 0.3) | describe(v).variance | gzscore(v)
    stats: bootstrap((v,), lambda a, axis: xp.mean(a, axis=axis), rng=1).standard_error
    stats: combine_pvalues(w).statistic | combine_pvalues(w).pvalue | iqr(v) | mode(v).mode
    stats: kurtosistest(xp.concat((v, w))).pvalue | skewtest(xp.concat((v, w))).pvalue
    stats: median_abs_deviation(v) | power_divergence(v, lambda_=0.5).statistic | tmax(v) | tmin(v)
    stats: monte_carlo_test(v, lambda size: xp.ones(size), xp.mean, n_resamples=9).statistic
    stats: permutation_test((v, w), lambda a, b, axis: xp.mean(a * b, axis=axis)).statistic
    stats: sigmaclip(v).clipped | tsem(v) | tstd(v) | zmap(v, w)
    stats: ttest_ind_from_stats(s, v[0], 4, w[0], v[1], 5).pvalue
    fft: fft(v) | fft2(x) | fftn(x) | hfft(v) | hfft2(x) | hfftn(x) | ifft(v) | ifft2(x) | ifftn(x)
    fft: ihfft(v) | ihfft2(x) | ihfftn(x) | irfft(v) | irfft2(x) | irfftn(x) | rfft(x) | rfft2(x)
    fft: rfftn(x) | fht(v, 0.1, 0.5) | ifht(v, 0.1, 0.5) | fftshift(v) | ifftshift(x)
    linalg: orthogonal_procrustes(x, x + v[:, None])[0] | block_diag(x, x) | fiedler(v)
    signal: bilinear_zpk(v[:1], w, s, 2.0)[1] | bilinear_zpk(v[:1], w, s, 2.0)[2]
    signal: cheb1ord(w[0], w[1], 3.0, 40.0)[1] | cheb2ord(w[0], w[1], 3.0, 40.0)[1]
    signal: freqs(v, w, v)[1] | freqs_zpk(v, w, s, v)[1] | freqz(v, w, v)[1]
    signal: freqz_sos(xp.concat((v[:3], 1 + 0 * v[:1], w[:2]))[None], v)[1]
    signal: freqz_zpk(v, w, s, v)[1] | group_delay((v, w), v)[1] | bode((v, w), v)[1]
    signal: lp2bp(v[:2], w[:3], 0.5, 0.4)[0] | lp2bs(v[:2], w[:3], 0.5, 0.4)[0]
    signal: lp2hp(v[:2], w[:3], 0.5)[0] | lp2lp(v[:2], w[:3], 0.5)[0]
    signal: lp2bp_zpk(v[:1], w[:2], s, 0.5, 0.4)[0] | lp2bs_zpk(v[:1], w[:2], s, 0.5, 0.4)[0]
    signal: lp2hp_zpk(v[:1], w[:2], s, 0.5)[0] | lp2lp_zpk(v[:1], w[:2], s, 0.5)[0]
    signal: normalize(v, w)[0] | sos2tf(xp.concat((v, w))[None, :6])[0]
    signal: sos2zpk(xp.concat((v, w))[None, :6])[1]
    signal: sosfreqz(xp.concat((v[:3], 1 + 0 * v[:1], w[:2]))[None], v)[1] | tf2zpk(v, w)[0]
    signal: zpk2tf(v, w, s)[0] | minimum_phase(xp.concat((v, w))) | fftconvolve(v, w)
    signal: oaconvolve(v, w) | envelope(v) | hilbert(v) | hilbert2(x) | resample(v, 6)
    signal: vectorstrength(v, s)[0] | gauss_spline(v, 3) | firwin(3, s) | lfiltic(v, w, v)
    signal: abcd_normalize(x[:3], x[:3], x[:3], x[:3])[0]
    signal.windows: gaussian(4, s, xp=xp) | general_cosine(4, v)
    interpolate: RBFInterpolator(xp.reshape(v, (4, 1)), w)(xp.asarray([[1.3]]))
    integrate: trapezoid(v) | trapezoid(v, w) | cumulative_trapezoid(v) | cumulative_simpson(v)
    integrate: romb(xp.concat((v, v[:1])))
    integrate: cubature(lambda z: xp.exp(-s * z[:, 0]), 0 * v[:1], 0 * v[:1] + 1).estimate
    integrate: tanhsinh(lambda z, a: xp.exp(-a * z), 0 * s, 0 * s + 1, args=(v,)).integral
    integrate: nsum(lambda k, a: 1 / k**a, 0 * s + 1, xp.asarray(xp.inf), args=(2 + s,)).sum
    integrate: qmc_quad(lambda z: s + 0 * z[0], 0 * v[:1], 0 * v[:1] + 1).integral
    optimize: rosen(v) | rosen_der(v) | rosen_hess(v) | rosen_hess_prod(v, w)
    optimize.elementwise: find_root(lambda z, a: z * z - a, (xp.asarray(0.0), 2 + s), args=(s,)).x
    optimize.elementwise: find_minimum(lambda z, a: (z - a) ** 2, (s - 5, s, s + 5), args=(v,)).x
    optimize.elementwise: bracket_minimum(lambda z, a: (z - a) ** 2, s, args=(v,)).bracket[1]
    optimize.elementwise: bracket_root(lambda z, a: z - a, s, args=(v,)).bracket[1]
    differentiate: derivative(lambda z: xp.sin(s * z), xp.asarray(0.5)).df
    differentiate: jacobian(lambda z: z**2 * s, v).df
    differentiate: hessian(lambda z: xp.sum(z**3, axis=0) * s, xp.asarray([0.5])).ddf
    spatial.transform: Rotation.from_rotvec(v[:3]).apply(w[:3]) | Rotation.from_quat(v).as_matrix()
    spatial.transform: Rotation.from_euler("xyz", w[:3]).as_rotvec()
    spatial.transform: Rotation.from_quat(v).as_mrp() | Rotation.from_mrp(w[:3]).as_quat()
    spatial.transform: Rotation.from_quat(v).as_euler("xyz") | Rotation.from_quat(v).magnitude()
    spatial.transform: Rotation.from_quat(xp.stack((v, w)))[1].as_quat()
    spatial.transform: xp.stack([r.as_quat() for r in Rotation.from_quat(xp.stack((v, w)))])
    spatial.transform: (Rotation.from_quat(v) * Rotation.from_quat(w)).as_quat()
    spatial.transform: (Rotation.from_quat(v) ** 0.3).as_quat()
    spatial.transform: Rotation.align_vectors(x, x + w[:, None])[0].as_quat()
    spatial.transform: Rotation.from_quat(v).as_davenport(xp.eye(3), "extrinsic")
    spatial.transform: Rotation.from_davenport(xp.eye(3), "extrinsic", w[:3]).as_quat()
    spatial.transform: Rotation.concatenate([Rotation.from_quat(v)]).as_matrix()
    spatial.transform: Rotation.from_matrix(Rotation.from_quat(v).as_matrix()).as_quat()
    spatial.transform: Rotation.from_quat(v).inv().as_quat()
    spatial.transform: Rotation.from_quat(xp.stack((v, w))).mean().as_quat()
    spatial.transform: Slerp(xp.arange(2.0), Rotation.from_quat(xp.stack((v, w))))(s).as_quat()
    spatial.transform: RigidTransform.from_translation(x)[0].as_matrix()
    spatial.transform: xp.stack([r.as_matrix() for r in RigidTransform.from_translation(x)])
    spatial.transform: RigidTransform.from_components(v[:3], Rotation.from_quat(w)).as_dual_quat()
    spatial.transform: RigidTransform.from_components(v[:3], Rotation.from_quat(w)).as_exp_coords()
    spatial.transform: RigidTransform.from_exp_coords(xp.concat((v, v[:2]))).inv().as_matrix()
    spatial.transform: RigidTransform.from_translation(v[:3]).as_components()[0]
    spatial.transform: RigidTransform.from_rotation(Rotation.from_quat(v)).apply(x)
    spatial.transform: RigidTransform.from_exp_coords(xp.concat((v, w))[:6]).as_matrix()
    spatial.transform: (RigidTransform.from_translation(v[:3]) ** 1).as_matrix()
    spatial.transform: (RigidTransform.from_translation(x) * RigidTransform.identity()).as_matrix()
    spatial.transform: RigidTransform.concatenate([RigidTransform.from_translation(x)]).as_matrix()
    spatial.transform: RigidTransform.from_matrix(xp.eye(4) + 0 * v).apply(w[:3])
    spatial.transform: RigidTransform.from_translation(x).mean().as_matrix()
    constants: convert_temperature(v, "C", "K") | lambda2nu(v) | nu2lambda(v)
    cluster.vq: whiten(x)
    cluster.hierarchy: to_tree(xp.where(xp.arange(4) == 2, z, xp.round(z))).dist
    cluster.hierarchy: to_mlab_linkage(xp.where(xp.arange(4) == 2, z, xp.round(z)))
    sklearn.preprocessing: StandardScaler().fit_transform(x) | MinMaxScaler().fit_transform(x)
    sklearn.preprocessing: Normalizer().fit_transform(x) | MaxAbsScaler().fit_transform(x)
    sklearn.linear_model: Ridge(solver="svd").fit(x, v).coef_
    sklearn.linear_model: Ridge(solver="svd").fit(x, v).predict(x)
    sklearn.decomposition: PCA(2, svd_solver="full").fit(x).explained_variance_
    sklearn.metrics.pairwise: rbf_kernel(x) | cosine_similarity(x) | polynomial_kernel(x, x[:2])
    sklearn.metrics.pairwise: euclidean_distances(x, x[:2] + 3) | linear_kernel(x)
    einops.array_api: rearrange(x, "(a b) c -> b (a c)", b=2) | reduce(x, "a b -> b", "mean")
    einops.array_api: repeat(v, "a -> a b", b=2) | reduce(x, "(a b) c -> a c", "max", b=2)
    opt_einsum: xp.asarray(contract("ab,cb,a->c", x, x, v))
    opt_einsum: xp.asarray(contract("ab,cb->ca", x, x))
    opt_einsum: contract("ab,cb,a->c", x, x, v, backend=xp.__name__)
    xarray: DataArray(x, dims=("a", "b")).mean("a").data | DataArray(x, dims=("a", "b"))[1].data
    xarray: (DataArray(v, dims="a") * DataArray(x, dims=("a", "b"))).sum("b").data
    xarray: DataArray(x, dims=("a", "b")).diff("a").data
    xarray: concat([DataArray(v, dims="a")], "c").data
    pint: (Quantity(v, "m") / Quantity(2.0, "s")).to("km/s").magnitude
    """

# What has no derivative: ranks, counts, orders, and functions of numbers alone.
CONSTANT = """
    special: gammasgn(v)
    stats: ansari(v, w).statistic | brunnermunzel(v, w).statistic | chatterjeexi(v, w).statistic
    stats: cramervonmises_2samp(v, w).statistic | fligner(v, w).statistic | mood(v, w).statistic
    stats: friedmanchisquare(v, w, x[:, 0]).statistic | kruskal(v, w).statistic | rankdata(v)
    stats: mannwhitneyu(v, w).statistic | spearmanrho(v, w).statistic | wilcoxon(v, w).statistic
    stats: power(lambda a, axis: xp.mean(a, axis=axis), lambda size: xp.ones(size), n).power
    fft: fftfreq(4, 0.5, xp=xp) | rfftfreq(4, 0.5, xp=xp)
    cluster.hierarchy: correspond(z, xp.concat((v, v[:2]))) | dendrogram(z, no_plot=True)["leaves"]
    cluster.hierarchy: is_monotonic(z) | num_obs_linkage(z) | is_isomorphic(v, w) | is_valid_im(x)
    cluster.hierarchy: is_valid_linkage(x)
    signal: besselap(2, xp=xp)[1] | buttap(2, xp=xp)[1] | cheb1ap(2, 1.0, xp=xp)[1]
    signal: cheb2ap(2, 1.0, xp=xp)[1] | ellipap(2, 1.0, 40.0, xp=xp)[1] | choose_conv_method(v, w)
    signal: savgol_coeffs(3, 2, xp=xp)
    interpolate: list(generate_knots(xp.arange(4.0), v, s=0.0))[0]
    signal.windows: barthann(4, xp=xp) | bartlett(4, xp=xp) | blackman(4, xp=xp) | boxcar(4, xp=xp)
    signal.windows: blackmanharris(4, xp=xp) | bohman(4, xp=xp) | chebwin(4, 50.0, xp=xp)
    signal.windows: cosine(4, xp=xp) | exponential(4, xp=xp) | flattop(4, xp=xp) | hann(4, xp=xp)
    signal.windows: general_gaussian(4, 1.0, 2.0, xp=xp) | general_hamming(4, 0.5, xp=xp)
    signal.windows: get_window("hann", 4, xp=xp) | hamming(4, xp=xp) | kaiser(4, 2.0, xp=xp)
    signal.windows: kaiser_bessel_derived(4, 2.0, xp=xp) | lanczos(4, xp=xp) | nuttall(4, xp=xp)
    signal.windows: parzen(4, xp=xp) | taylor(4, xp=xp) | triang(4, xp=xp) | tukey(4, xp=xp)
    spatial.transform: Rotation.from_quat(v).approx_equal(Rotation.from_quat(w))
    ndimage: distance_transform_edt(x)
    """

# What SciPy computes with NumPy's arrays, or overwrites: an error for a tensor with a gradient.
CONVERTED = """
    stats: norm.logpdf(v) | norm.logpdf(0.5, loc=v) | gamma.cdf(v, 2.0) | poisson.logpmf(2, v)
    stats: t.logpdf(v, 3.0) | beta.logpdf(w, 2.0, 3.0) | norm(v).cdf(0.5) | boxcox(v, 0.5)
    stats: cramervonmises(w, lambda z: z) | ks_1samp(w, lambda z: z)
    special: zetac(v + 2) | comb(v, 2) | spherical_jn(1, v) | sph_harm_y(1, 0, v, w)
    integrate: simpson(v) | quad(lambda z: z * s, 0, 1) | solve_ivp(lambda t, y: -v * y, (0, 1), w)
    optimize: minimize(lambda z: (v * z * z).sum(), w) | root(lambda z: z - v, w)
    optimize: least_squares(lambda z: z - v, w) | curve_fit(lambda z, a: a * z * s, w, w)
    spatial.distance: cdist(x, x) | pdist(x)
    fft: dct(v) | dctn(x) | dst(v) | dstn(x) | idct(v) | idctn(x) | idst(v) | idstn(x)
    signal: convolve(v, w) | convolve2d(x, x) | correlate(v, w) | correlate2d(x, x) | detrend(v)
    signal: filtfilt(v[:2], w[:2], v, padlen=1) | lfilter(v, w, v) | lfilter_zi(v, w) | medfilt(v)
    signal: medfilt2d(x) | resample_poly(v, 2, 1) | order_filter(v, xp.ones(3), 1)
    signal: savgol_filter(v, 3, 2) | wiener(v, 3) | upfirdn(w, v, 2)
    signal: sosfilt(xp.eye(6)[None, 3], v) | sosfiltfilt(xp.eye(6)[None, 3], v, padlen=1)
    signal: sosfilt_zi(xp.concat((v[:3], 1 + 0 * v[:1], w[:2]))[None]) | cspline1d(v) | cspline2d(x)
    signal: cspline1d_eval(v, w) | qspline1d(v) | qspline1d_eval(v, w) | spline_filter(x) | stft(v)
    signal: bessel(2, s) | butter(2, s) | cheby1(2, 1.0, s) | cheby2(2, 1.0, s)
    signal: iirfilter(2, s, btype="low") | ellip(2, 1.0, 40.0, s) | buttord(w[0], w[1], 3.0, 40.0)
    signal: ellipord(w[0], w[1], 3.0, 40.0) | iircomb(0.25, s) | iirdesign(w[0], w[1], 3.0, 40.0)
    signal: iirnotch(s, 2.0) | iirpeak(s, 2.0) | gammatone(s, "iir")
    signal: firls(3, w[:2], w[:2], fs=2.0) | firwin2(3, xp.arange(2.0), v[:2])
    signal: remez(3, w, v[:2], fs=2.0) | bilinear(v, w) | tf2sos(v, w) | zpk2sos(v[:1], w[:2], s)
    signal: impulse((v[:2], w)) | place_poles(x[:3], x[:3], v[:3])
    linalg: solve(x[:3], v[:3]) | expm(x[:3]) | cholesky(x[:3]) | sqrtm(x[:3]) | toeplitz(v)
    interpolate: interp1d([1.0, 2.0, 3.0, 4.0], v) | BSpline(xp.arange(8.0), v, 3)
    interpolate: make_interp_spline(xp.arange(4.0), v) | make_lsq_spline(xp.arange(4.0), v, x[0])
    interpolate: make_smoothing_spline(xp.arange(4.0), v) | make_splprep(v[None], s=0.0)
    interpolate: make_splrep(xp.arange(4.0), v) | Akima1DInterpolator(xp.arange(4.0), v)
    interpolate: CubicSpline(xp.arange(4.0), v) | CubicHermiteSpline(xp.arange(4.0), v, w)
    interpolate: PchipInterpolator(xp.arange(4.0), v) | BPoly(v[:, None], xp.arange(2.0))
    interpolate: PPoly(v[:, None], xp.arange(2.0)) | NdBSpline((xp.arange(8.0),), v, 3)
    interpolate: RegularGridInterpolator((xp.arange(4.0),), v)
    cluster.hierarchy: average(x) | centroid(x) | complete(x) | cophenet(z) | fcluster(z, 1.0)
    cluster.hierarchy: fclusterdata(x, 1.0) | inconsistent(z)
    cluster.hierarchy: leaders(z, xp.ones(4, dtype=xp.int32)) | leaves_list(z) | linkage(x)
    cluster.hierarchy: maxdists(z) | maxRstat(z, z, 0) | maxinconsts(z, z) | median(x) | ward(x)
    cluster.hierarchy: optimal_leaf_ordering(z, x) | single(x)
    cluster.hierarchy: from_mlab_linkage(xp.concat((z[:, :2] + 1, z[:, 2:]), axis=1)) | weighted(x)
    cluster.vq: kmeans(x, x[:2]) | kmeans2(x, x[:2]) | vq(x, x[:2])
    ndimage: affine_transform(x, x[:2, :2]) | binary_closing(x) | binary_dilation(x)
    ndimage: binary_erosion(x) | binary_fill_holes(x) | binary_hit_or_miss(x) | binary_opening(x)
    ndimage: binary_propagation(x) | black_tophat(x, 2) | center_of_mass(x) | convolve(v, w)
    ndimage: convolve1d(v, w) | correlate(v, w) | correlate1d(v, w) | distance_transform_bf(x)
    ndimage: distance_transform_cdt(x) | extrema(x) | find_objects(x) | fourier_ellipsoid(x, 1.0)
    ndimage: fourier_gaussian(x, 1.0) | fourier_shift(x, 1.0) | fourier_uniform(x, 1.0)
    ndimage: gaussian_filter(x, 1.0) | gaussian_filter1d(x, 1.0) | gaussian_laplace(x, 1.0)
    ndimage: gaussian_gradient_magnitude(x, 1.0) | generic_filter(x, max, 2)
    ndimage: generic_filter1d(x, max, 2) | generic_gradient_magnitude(x, sobel)
    ndimage: generic_laplace(x, sobel) | geometric_transform(x, tuple) | grey_closing(x, 2)
    ndimage: grey_dilation(x, 2) | grey_erosion(x, 2) | grey_opening(x, 2)
    ndimage: histogram(x, 0.0, 3.0, 3) | iterate_structure(x, 2) | label(x) | laplace(x)
    ndimage: labeled_comprehension(x, x > 1, [0, 1], sum, float, 0) | map_coordinates(x, x[:2])
    ndimage: maximum(x) | maximum_filter(x, 2) | maximum_filter1d(x, 2) | maximum_position(x)
    ndimage: mean(x) | median(x) | median_filter(x, 2) | minimum(x) | minimum_filter(x, 2)
    ndimage: minimum_filter1d(x, 2) | minimum_position(x) | morphological_gradient(x, 2)
    ndimage: morphological_laplace(x, 2) | percentile_filter(x, 50, 2) | prewitt(x)
    ndimage: rank_filter(x, 1, 2) | rotate(x, 30.0) | shift(x, 0.5) | sobel(x) | spline_filter(x)
    ndimage: spline_filter1d(x) | standard_deviation(x) | sum(x) | sum_labels(x) | uniform_filter(x)
    ndimage: uniform_filter1d(x, 2) | value_indices(x) | variance(x)
    ndimage: vectorized_filter(x, max, size=2) | watershed_ift(x, x) | white_tophat(x, 2)
    ndimage: zoom(x, 2)
    """

# Functions that SciPy declares portable and no call stands for.
OMITTED = {
    "Rotation.reduce": "SciPy 1.17 gives other values for other libraries' arrays than for NumPy's",
    "RigidTransform.from_dual_quat": "overwrites values that the derivative needs: backward raises",
    "lmoment": "overwrites values that the derivative needs: backward raises",
    "deconvolve": "passes arrays to compiled code, whose ValueError says nothing of gradients",
    "normalize_dual_quaternion": "overwrites values, and is not public",
}
