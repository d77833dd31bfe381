"""Layer 6 · tensor: the kinds of NumPy's functions: differentiable, constant, or refused.

NOTE [kinds of functions]
Every public function of ``numpy``, ``numpy.linalg`` and ``numpy.fft``, and every ufunc of
``scipy.special``, has one kind, which `wengert.tensor.numpy.dispatch.kind_of` returns:

* *rule*: it has a counterpart, whose operations or writes are recorded;
* *constant*: its result carries no gradient (positions, predicates, strings), and is computed on
  the values;
* *refused*: it has no counterpart. For tensors that need no gradient it computes on the values; for
  others it raises before any computation, and says what to write instead;
* *apart*: NumPy's protocols do not dispatch it: it makes arrays, or reports dtypes and settings. A
  tensor that needs a gradient raises in its ``__array__``, if the function calls it.
"""

_CONSTANT = """
    allclose argmax argmin argpartition argsort argwhere array2string array_equal array_equiv
    array_repr array_str can_cast common_type count_nonzero diag_indices_from digitize einsum_path
    empty_like flatnonzero in1d isclose iscomplex iscomplexobj isin isneginf isposinf
    isreal isrealobj lexsort linalg.matrix_rank may_share_memory min_scalar_type nanargmax
    nanargmin ndim nonzero ones_like packbits ravel_multi_index result_type searchsorted shape
    shares_memory size tril_indices_from triu_indices_from unpackbits unravel_index zeros_like
    """
CONSTANT = frozenset(_CONSTANT.split())
"""Functions whose results carry no gradient."""

_SAVED = "To save the values, pass x.detach(); wengert.save keeps tensors as they are."
_DATES = "It is for dates, which have no gradient."

REFUSED = {
    "busday_count": _DATES,
    "busday_offset": _DATES,
    "datetime_as_string": _DATES,
    "histogram2d": "Write np.histogram2d(x.detach(), ...) for counts; for sums of weights, "
    "np.bincount of the flattened bins with weights=.",
    "histogramdd": "Write np.histogramdd(x.detach(), ...) for counts; for sums of weights, "
    "np.bincount of the flattened bins with weights=.",
    "is_busday": _DATES,
    "save": _SAVED,
    "savetxt": _SAVED,
    "savez": _SAVED,
    "savez_compressed": _SAVED,
}

_APART = """
    arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix
    bartlett base_repr binary_repr blackman bmat broadcast_shapes datetime_data diag_indices empty
    eye format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromfunction
    fromiter frompyfunc fromregex fromstring full genfromtxt get_include get_printoptions getbufsize
    geterr geterrcall hamming hanning identity indices info isdtype isfortran isscalar issubdtype
    iterable kaiser load loadtxt mask_indices mintypecode nested_iters ones printoptions
    promote_types require row_stack set_printoptions setbufsize seterr seterrcall show_config
    show_runtime test tri trapz tril_indices triu_indices typename zeros
    fft.fftfreq fft.rfftfreq fft.test linalg.test
    """
APART = frozenset(_APART.split())
"""Functions that NumPy's protocols do not dispatch."""

_SPECIAL = {
    "It is the inverse of a distribution: x = inverse(p) has the derivative 1 / density(x) "
    "by p. Write an autograd.Function with that.": """
        chndtridf chndtrinc ncfdtridfd ncfdtridfn ncfdtrinc nctdtridf nctdtrinc
        """,
    "Its derivative by x is (elliprj(x, y, z, p) - elliprd(y, z, x)) / (2 * (p - x)) where x and p "
    "differ: write an autograd.Function with that.": "elliprj",
    "No derivative of it is known here: write an autograd.Function around it.": """
        besselpoly modfresnelm modfresnelp obl_ang1_cv obl_rad1_cv obl_rad2 obl_rad2_cv
        pro_ang1_cv pro_rad1_cv pro_rad2 pro_rad2_cv sph_harm
        """,
    "SciPy does not compute its derivative, mpmath.zeta(x, 1, 1): write an autograd.Function with "
    "that.": "_riemann_zeta zetac",
}
REFUSED.update(
    {f"special.{name}": cure for cure, names in _SPECIAL.items() for name in names.split()}
)

CURES = {
    "elliprd": "That by x is (elliprd(x, y, z) - elliprd(y, z, x)) / (2 * (z - x)) where x and z "
    "differ: write an autograd.Function with that.",
    "_zeta": "SciPy does not compute it, mpmath.zeta(x, q, 1): write an autograd.Function with "
    "that.",
}
"""What to write for ufuncs without a derivative with respect to some arguments."""
