cdef object numbered(long long at)
