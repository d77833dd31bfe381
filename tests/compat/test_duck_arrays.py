"""Test non-tensor classes that override functions where the package is `torch`."""

from support.alone import said

CODE = """
from wengert import compat
installed = compat.install("torch")
import torch
import torch.nn.functional as F
from torch.overrides import get_overridable_functions, has_torch_function

plain = torch.add, torch.Tensor.__add__
class Unrelated: pass
print(plain == (torch.add, torch.Tensor.__add__))

class Diagonal:
    own = {torch.mean: lambda x: x.value / x.n}

    def __init__(self, n, value):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in cls.own:
            return cls.own[func](*args, **(kwargs or {}))
        return NotImplemented

def implements(function):
    return lambda body: Diagonal.own.setdefault(function, body)

@implements(torch.cat)
def cat(tensors, dim=0):
    return torch.cat([t.value * torch.eye(t.n) if type(t) is Diagonal else t for t in tensors], dim)

for name in ("matmul", "add", "__rsub__"):
    implements(getattr(torch.Tensor, name))(lambda x, y, name=name: f"Tensor.{name}")
implements(F.relu)(lambda x, inplace=False: f"relu of {type(x).__name__}")
implements(torch.linalg.det)(lambda A: A.value ** A.n)

d, x = Diagonal(2, 3.0), torch.ones(1, 2)
print(torch.mean(d), torch.linalg.det(d), torch.nn.ReLU()(d), F.relu(torch.ones(1)).item())
print(torch.cat([x, d]).tolist(), torch.cat([x, x]).shape)
print(x @ d, x + d, d + x, d - x, x.matmul(d))
for call in (lambda: torch.mul(d, 2), lambda: x.add_(d), lambda: x * d, lambda: torch.as_tensor(d)):
    try:
        print(call())
    except (TypeError, RuntimeError) as error:
        print(str(error).split(';')[0])
print(torch.is_tensor(d), has_torch_function((1, d)), has_torch_function((x, 1)))
with torch._C.DisableTorchFunctionSubclass():
    print(has_torch_function((d,)))
print(torch.add in get_overridable_functions()[torch])
import builtins
print(builtins.__build_class__.__module__)
installed.undo()
print(builtins.__build_class__.__module__)
"""


def test_functions_are_handed_to_classes_that_are_not_tensors():
    assert said(CODE).splitlines() == [
        "True",
        "1.5 9.0 relu of Diagonal 1.0",
        "[[1.0, 1.0], [3.0, 0.0], [0.0, 3.0]] torch.Size([2, 2])",
        "Tensor.matmul Tensor.add Tensor.add Tensor.__rsub__ Tensor.matmul",
        "Multiple dispatch failed for 'torch.mul'",
        "Multiple dispatch failed for 'torch.Tensor.add_'",
        "unsupported operand type(s) for *: 'Tensor' and 'Diagonal'",
        "Could not infer dtype of Diagonal",
        "False True False",
        "False",
        "True",
        "wengert.compat.installing",
        "builtins",
    ]
