from wengert.tape.base cimport TensorBase

cpdef attach_view(TensorBase source, TensorBase out, prim, params, index, recording)
cpdef tuple attach_views(
    TensorBase source, tuple results, prim, params, node, recording
)
