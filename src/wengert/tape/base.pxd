cdef class TensorBase:
    cdef object __weakref__
    cdef public object payload
    cdef public object edge
    cdef public object vc
    cdef public object ext

cdef class OutputEdge:
    cdef object __weakref__
    cdef public object index
    cdef public object node

cdef class NodeBase:
    cdef object __weakref__
    cdef public object edges
    cdef public object ext
    cdef public object seq
    cdef public object site
    cdef public object versions
