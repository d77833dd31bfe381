cdef object numbered()
