# cython: language_level=3
cdef long long last = -1

cdef object numbered():
    """A new sequence number."""
    global last
    last -= 1
    return last

def next_sequence():
    return numbered()
