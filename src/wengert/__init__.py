"""wengert"""
from wengert.tensor.tensor import Tensor
