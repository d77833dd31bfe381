cdef class TensorBase:
    cdef object __weakref__
    cdef public object _payload
    cdef public object _edge
    cdef public object _vc
    cdef public object _ext

cdef class OutputEdge:
    cdef object __weakref__
    cdef public object index
    cdef public object node

cdef class NodeBase:
    cdef object __weakref__
    cdef public object edges
    cdef public object _ext
    cdef public object _seq
    cdef public object site
    cdef public object versions
