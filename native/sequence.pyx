# cython: language_level=3
from wengert.tape.sites import OFFSETS

cdef long long STEP = OFFSETS
cdef long long LEAST = -(1 << 62)
cdef long long last = -STEP
cdef object beyond = None

cdef object numbered(long long at):
    """A new sequence number, with the offset of an instruction in it."""
    global last, beyond
    if last > LEAST:
        last -= STEP
        return last + at
    # Python's numbers go on
    beyond = (last if beyond is None else beyond) - STEP
    return beyond + at

def next_sequence():
    return numbered(0)
