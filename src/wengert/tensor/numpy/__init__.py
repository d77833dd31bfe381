"""Layer 6 · tensor: the handling of ``np.f(t)``, a function of NumPy or SciPy on a tensor.

NOTE [plan of this room]
NumPy hands the call to the tensor (`protocol`). A ufunc that is one primitive is recorded there and
then. For all else the module `dispatch` is imported: it knows the *kind* of each function by its
name (`kinds`), and finds

* a counterpart, which computes with the operations of tensors: of ufuncs in `ufuncs`, `special` and
  `ufunc_methods`; of functions in `choice`, `order`, `polynomials`, `products`, `shapes`, `spans`,
  `sums`, `writes`, `linalg` and `fourier`, with what they share in `counterparts`;
* or NumPy's own function, on arrays, where the result has no gradient (under transforms by
  `followed`);
* or an error, where one would be lost (`boundary`).
"""
