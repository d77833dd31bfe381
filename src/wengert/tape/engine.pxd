cimport cython

@cython.locals(pending=dict, owned=set, heap=list, edges=tuple, grads=tuple, position=Py_ssize_t)
cpdef walk(roots, keep, raw, wanted=*, watch=*)

@cython.locals(seen=set, stack=list, came=dict)
cpdef ends_at(edges, leaves, rules=*, noted=*)
