cimport cython

@cython.locals(pending=dict, owned=set, heap=list, edges=tuple, grads=tuple, position=Py_ssize_t)
cpdef walk(roots, keep, raw, wanted=*, watch=*)
