"""Layer 6 · tensor: the handling of ``np.f(t)``, a function of NumPy or SciPy on a tensor.

NOTE [plan of this room]
NumPy dispatches the call to the tensor (`protocol`), which records a ufunc that is one primitive
directly. Every other call imports the module `dispatch`, which looks up the *kind* of the function
by its name (`kinds`), and finds

* a counterpart, which computes with tensor operations: for ufuncs in `ufuncs`, `special` and
  `ufunc_methods`; for functions in `choice`, `order`, `polynomials`, `products`, `shapes`, `spans`,
  `sums`, `writes`, `linalg` and `fourier`, with shared code in `counterparts`;
* or NumPy's own function, on arrays, where the result has no gradient (under transforms by
  `followed`);
* or an error, if a gradient would be lost (`boundary`).
"""
