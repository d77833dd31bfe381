"""Test installing the package and the idioms under other libraries' names.

Each runs in a process of its own, since a name that is installed holds for all of it.
"""

import os
import subprocess
import sys

import pytest

import wengert as wg

# each starts a process: they take turns
pytestmark = pytest.mark.sampled(3, "install")

PYTHON = (sys.executable, "-W", "ignore::DeprecationWarning")


def run(code, *command):
    """What a program prints."""
    command = [*PYTHON, *(command or ("-c", code))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


INSTALLED = """
import sys
import wengert as wg
done = wg.compat.install("torch")
"""


def test_it_says_what_it_did():
    out = run(INSTALLED + "print(done); print(done.name, done.module is wg)")
    version = f"2.13.0+wengert.{wg.__version__}"
    assert out == f"<wengert {wg.__version__}, installed as torch {version}>\ntorch True\n"


def test_modules_have_one_object_whichever_name_they_are_imported_by():
    out = run(
        INSTALLED
        + """
before = {name: sys.modules[name].__spec__ for name in sys.modules if name[:8] == "wengert."}
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.optim import lr_scheduler
import torch.special, torch.nn.utils.rnn, torch.optim.adam
import wengert.special, wengert.nn.utils.rnn
assert torch is wg and nn is wg.nn and F is wg.nn.functional
assert torch.special is wengert.special is sys.modules["torch.special"]
assert torch.nn.utils.rnn is wengert.nn.utils.rnn
assert DataLoader is wg.utils.data.DataLoader
assert sys.modules["torch.optim.adam"].Adam is wg.optim.Adam
assert isinstance(nn.Linear(1, 1), wengert.nn.Module)
for name, module in list(sys.modules.items()):
    if name[:8] == "wengert.":
        assert module.__spec__.name == name == module.__name__, name
        assert sys.modules.get("torch" + name[7:], module) is module, name
for name, spec in before.items():
    assert sys.modules[name].__spec__ is spec
sys.modules["torch._made"] = type(sys)("torch._made")  # by the program itself
try:
    import torch._made.more
except ModuleNotFoundError:
    pass
print("one")
"""
    )
    assert out == "one\n"


def test_a_function_keeps_its_name_beside_a_module_of_the_same():
    out = run(
        INSTALLED
        + """
from torch.autograd.gradcheck import gradcheck
import torch.autograd.gradcheck
import torch.tensor, torch.nn.utils.spectral_norm
from torch.nn.utils.weight_norm import weight_norm
assert torch.nn.utils.weight_norm is weight_norm
assert torch.nn.utils.spectral_norm.__name__ == "spectral_norm"
print(torch.tensor([1.0]), torch.autograd.gradcheck is gradcheck)
"""
    )
    assert out == "tensor([1.]) True\n"


def test_what_is_not_there_is_not_found():
    out = run(
        INSTALLED
        + """
import importlib.util
print(importlib.util.find_spec("torch.nope"), importlib.util.find_spec("torch.nn") is not None)
try:
    import torch.nope
except ModuleNotFoundError as error:
    print(error, error.name)
try:
    from torch.nn import nope
except ImportError as error:
    print(type(error).__name__)
"""
    )
    assert out == "None True\nNo module named 'torch.nope' torch.nope\nImportError\n"


def test_versions_are_those_that_are_followed():
    out = run(
        INSTALLED
        + """
import importlib.metadata
import torch
print(importlib.metadata.version("torch") == torch.__version__ == torch.version.__version__)
print(torch.__version__ >= (2, 0), torch.__version__ < "2.9", torch.version.wengert)
print("torch" in {one.metadata["Name"] for one in importlib.metadata.distributions()})
done.undo()
print(wg.__version__)
"""
    )
    own = wg.__version__
    assert out == f"True\nTrue False {own}\nTrue\n{own}\n"


def test_classes_are_made_and_printed_with_the_name():
    out = run(
        INSTALLED
        + """
import torch
print(type(torch.ones(1)), type(torch.float32), type(torch.ones(1).shape), torch.device)
class Base:
    def __init_subclass__(cls, func=0, name=0):
        print(cls.__name__, func + name)
class Named(Base, func=1, name=2): ...
done.undo()
print("torch" in repr(type(wg.ones(1))))
"""
    )
    kinds = [f"<class 'torch.{name}'>" for name in ("Tensor", "dtype", "Size", "device")]
    assert out == " ".join(kinds) + "\nNamed 3\nFalse\n"


def test_methods_that_a_program_adds_are_not_overridden():
    out = run(
        INSTALLED
        + """
import torch
cast = torch.as_subclass = torch.Tensor.as_subclass
torch.Tensor.as_subclass = lambda self, kind: torch.as_subclass(self, kind)
torch.Tensor.named = lambda self, other: type(self).__name__
class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)
loud = torch.ones(1).as_subclass(Loud)
print(type(loud.as_subclass(torch.Tensor)) is torch.Tensor, loud.named(loud), type(loud + 1))
torch.Tensor.as_subclass = cast
"""
    )
    assert out == "add\nTrue Loud <class '__main__.Loud'>\n"


def test_subclasses_are_asked_although_their_base_prints_in_the_module_c():
    out = run(
        INSTALLED
        + """
import torch
torch._C._log_api_usage_once("use")
class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__
print(torch.ones(2).as_subclass(Named) + 1, (torch.ones(2, device="meta") + 1).device)
"""
    )
    assert out == "add meta\n"


def test_layers_are_printed_where_pytorch_has_them():
    out = run(
        """
import wengert as wg
before = wg.nn.Linear(1, 1)
done = wg.compat.install("torch")
import pickle
import torch.nn as nn
made = (before, nn.ReLU(), nn.LayerNorm(2), nn.GRUCell(1, 1), nn.Parameter(wg.ones(1)))
for one in made:
    print(type(one))
    assert pickle.loads(pickle.dumps(type(one))) is type(one)
class Net(nn.Module):
    pass
print(Net, wg.compile(nn.Tanh())(wg.zeros(1)))
done.undo()
print(*[type(one).__module__.split(".")[0] for one in made])
"""
    )
    kinds = (
        *("modules.linear.Linear", "modules.activation.ReLU", "modules.normalization.LayerNorm"),
        *("modules.rnn.GRUCell", "parameter.Parameter"),
    )
    lines = [f"<class 'torch.nn.{kind}'>" for kind in kinds]
    last = ["<class '__main__.Net'> tensor([0.])", " ".join(["wengert"] * 5)]
    assert out.splitlines() == [*lines, *last]


def test_classes_are_printed_where_pytorch_has_them():
    out = run(
        """
import wengert as wg
before = wg.optim.SGD([wg.zeros(1)], 0.1)
done = wg.compat.install("torch")
import pickle
import torch
from torch import distributions, optim, utils
made = (
    before, optim.AdamW([torch.zeros(1)]), optim.lr_scheduler.StepLR(before, 1),
    utils.data.DataLoader([1]), utils.data.TensorDataset(torch.zeros(1)),
    distributions.Normal(0.0, 1.0), distributions.OneHotCategorical(torch.ones(2)),
    distributions.ExpTransform(), distributions.constraints.interval(0, 1), torch.ones(2).max(0),
    torch.ones(2).sort(), torch.linalg.slogdet(torch.eye(2)), torch.linalg.LinAlgError(),
    torch.amp.GradScaler("cpu", enabled=False),
)
for one in made:
    print(str(type(one))[14:-2])
    assert pickle.loads(pickle.dumps(type(one))) is type(one)
done.undo()
print({type(one).__module__.split(".")[0] for one in made})
"""
    )
    assert out.split() == [
        *("optim.sgd.SGD", "optim.adamw.AdamW", "optim.lr_scheduler.StepLR"),
        *("utils.data.dataloader.DataLoader", "utils.data.dataset.TensorDataset"),
        *("distributions.normal.Normal", "distributions.one_hot_categorical.OneHotCategorical"),
        *("distributions.transforms.ExpTransform", "distributions.constraints._Interval"),
        *("return_types.max", "return_types.sort", "return_types.linalg_slogdet"),
        *("_C._LinAlgError", "amp.grad_scaler.GradScaler", "{'wengert'}"),
    ]


def test_pickles_work():
    out = run(
        INSTALLED
        + """
import copy, pickle
import torch
layer = torch.nn.Linear(2, 3)
held = (torch.arange(3.0), layer, torch.Size((1, 2)), torch.float64, torch.device("cpu"))
for again in (pickle.loads(pickle.dumps(held)), copy.deepcopy(held)):
    assert torch.equal(again[0], held[0]) and torch.equal(again[1].weight, layer.weight)
    assert again[2:] == held[2:] and type(again[2]) is torch.Size and again[3] is held[3]
text = pickle.dumps(torch.ones(2))
done.undo()
print(pickle.loads(text))
"""
    )
    assert out == "tensor([1., 1.])\n"


def test_functions_are_compiled_as_ever():
    pytest.importorskip("llvmlite")
    out = run(
        INSTALLED
        + """
import torch
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        return (self.by * x).sin().sum()
f = torch.compile(Scale())
for _ in range(3):
    f(torch.ones(3)).backward()
print(f.explain())
"""
    )
    assert "backend llvm" in out and "from <string>:" in out


def test_what_is_imported_already_is_refused_and_unknown_names_are():
    out = run(
        """
import sys, types
import wengert as wg
sys.modules["torch"] = types.ModuleType("torch")
for name in ("torch", "numpy"):
    try:
        wg.compat.install(name)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, str(error)[:24])
kinds = [type(one).__module__ for one in sys.meta_path]
print(wg.__version__, sum("wengert.compat" in kind for kind in kinds))
"""
    )
    assert out == (
        "RuntimeError torch is imported alread\nValueError nothing here stands for \n"
        f"{wg.__version__} 0\n"
    )


def test_transforms_refuse_functions_that_pytorch_lets_none_call():
    out = run(
        INSTALLED
        + """
import torch
from torch.func import grad, vmap

class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g

class New(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return 2 * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    backward = Old.backward

x = torch.ones(2)
def tried(f):
    try:
        print(f(x).tolist())
    except RuntimeError as error:
        print(str(error)[:50])
tried(vmap(Old.apply))
tried(grad(lambda x: Old.apply(x).sum()))
tried(vmap(New.apply))
tried(grad(lambda x: New.apply(x).sum()))
tried(Old.apply)
tried(lambda x: torch.autograd.functional.jacobian(Old.apply, x, vectorize=True))
done.undo()
tried(vmap(Old.apply))
"""
    )
    needs = "In order to use an autograd.Function with functorc"
    assert out.splitlines() == [
        needs,
        needs,
        "You tried to vmap over New, but it does not have v",
        "[2.0, 2.0]",
        "[2.0, 2.0]",
        "[[2.0, 0.0], [0.0, 2.0]]",
        "[2.0, 2.0]",
    ]


def test_it_can_be_undone_and_done_again():
    out = run(
        INSTALLED
        + """
import importlib.metadata
assert wg.compat.install("torch") is done
import torch.nn
done.undo()
done.undo()
print(done)
print([name for name in sys.modules if name.split(".")[0] == "torch"], len(sys.meta_path))
with wg.compat.install("torch") as again:
    import torch.fft
    assert torch.fft is wg.fft
print(again is done, "torch" in sys.modules, wg.fft.__spec__.name)
"""
    )
    assert "was installed as torch" in out
    assert out.endswith("False False wengert.fft\n")
    assert "\n[] " in out


def test_names_for_star_imports_are_taken_back():
    out = run(
        """
import wengert as wg
import wengert._dynamo.config  # an object that stands for a module
before = list(wg.nn.__all__)
with wg.compat.install("torch"):
    from torch.nn import *
    print(NLLLoss2d.__name__, "NLLLoss2d" in wg.nn.__all__, "NLLLoss2d" in before)
print(wg.nn.__all__ == before)
"""
    )
    assert out == "NLLLoss True False\nTrue\n"


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        (
            "jax",
            "import jax, jax.numpy as jnp\nfrom jax.scipy.special import logsumexp\n"
            "from jax import random\nprint(jax.grad(jnp.sin)(0.0), jax.__version__)",
            "1.0 0.10.2",
        ),
        (
            "autograd",
            "import autograd.numpy as np, autograd.scipy.stats.norm as norm\n"
            "from autograd import grad\nfrom autograd.misc.optimizers import adam\n"
            "print(float(grad(np.sin)(0.0)))",
            "1.0",
        ),
        (
            "tensorflow",
            "import tensorflow as tf\nfrom tensorflow import keras\n"
            "from tensorflow.keras import layers\nassert layers is tf.keras.layers\n"
            "import keras as alone\nfrom keras.layers import Dense\nassert alone is keras\n"
            "print(float(tf.reduce_sum(tf.ones(3))))",
            "3.0",
        ),
        (
            "mxnet",
            "import mxnet as mx, mxnet.nd\nfrom mxnet import autograd, gluon\n"
            "from mxnet.gluon import nn\nassert mxnet.nd is mx.ndarray\n"
            "print(float(mx.nd.ones(3).sum().asscalar()))",
            "3.0",
        ),
    ],
)
def test_idioms_are_found_under_the_names_of_their_originals(name, code, expected):
    out = run(
        f"import wengert.compat as compat\nprint(compat.install({name!r}))\n{code}\n"
        f"import importlib.metadata\nprint(importlib.metadata.version({name!r}))"
    )
    assert out.splitlines()[1] == expected
    assert f"installed as {name}" in out
    assert out.strip().endswith(f"+wengert.{wg.__version__}")


PROGRAM = """
import multiprocessing, pickle, sys
import torch
import beside

class Here:
    pass

def work(queue):
    queue.put((torch.ones(2).sum().item(), type(torch.ones(1)).__module__, sys.argv[1:]))

if __name__ == "__main__":
    assert isinstance(pickle.loads(pickle.dumps(Here())), Here)
    for way in ("spawn", "fork") if hasattr(multiprocessing, "get_context") else ():
        context = multiprocessing.get_context(way)
        queue = context.Queue()
        child = context.Process(target=work, args=(queue,))
        child.start()
        print(way, queue.get(timeout=60), flush=True)
        child.join()
    print(sys.argv[1:], sys.argv[0] == __file__, beside.torch is torch)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied")
def test_a_script_runs_as_it_is_and_so_do_its_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "beside.py").write_text("import torch\n", encoding="utf-8")
    out = run("", "-m", "wengert.compat", "--as", "torch", str(script), "--as", "a", "-v")
    arguments = "['--as', 'a', '-v']"
    assert out == (
        f"spawn (2.0, 'torch', {arguments})\nfork (2.0, 'torch', {arguments})\n"
        f"{arguments} True True\n"
    )


def test_a_module_and_a_line_of_code_run_as_they_are(tmp_path):
    code = "import torch, sys; print(torch.ones(1), sys.argv)"
    assert run("", "-m", "wengert.compat", "--as=torch", "-c", code, "x") == (
        "tensor([1.]) ['-c', 'x']\n"
    )
    (tmp_path / "named_module.py").write_text(
        "import jax, torch, sys\nprint(__name__, torch.__name__, sys.argv[1:])", encoding="utf-8"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*sys.path, str(tmp_path)]))
    command = [*PYTHON, "-m", "wengert.compat", "--as", "torch", "--as", "jax", "-v"]
    done = subprocess.run(
        [*command, "-m", "named_module", "-q"], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "__main__ torch ['-q']\n", done.stderr
    assert "installed as torch" in done.stderr and "installed as jax" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("-", "x")])
def test_a_program_is_read_from_standard_input(arguments):
    command = [*PYTHON, "-m", "wengert.compat", "--as", "torch", *arguments]
    text = "import torch, sys\nprint(torch.ones(1), sys.argv, __name__)"
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    argv = [*arguments] or ["-"]
    assert done.stdout == f"tensor([1.]) {argv} __main__\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--as", "torch", "-c"), "Argument expected for the -c option"),
        (("--as", "nothing", "x.py"), "nothing here stands for 'nothing'"),
        (("--as", "torch", "no/such/file.py"), "cannot read the program"),
        (("--as", "torch", "-m", "no_such_module"), "No module named no_such_module"),
        (("x.py",), "--as"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, message):
    command = [*PYTHON, "-m", "wengert.compat", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("1.9", "1.10"),
        ("2.0", "2.0.1"),
        ("2.1.0a0+git", "2.1.0"),
        ("2.1.0rc1", "2.1"),
        ("2.13.0", "2.13.0+wengert.0.1.0"),
        ("2.2.dev1", "2.2"),
    ],
)
def test_versions_compare_by_their_numbers(less, more):
    version = wg.torch_version.TorchVersion
    for other in (more, version(more)):
        assert version(less) < other and version(less) <= other and version(less) != other
        assert not version(less) > other and not version(less) >= other
    assert version(more) > less and version(more) >= version(less)


def test_versions_compare_with_tuples_and_are_texts():
    version = wg.torch_version.TorchVersion("2.13.0")
    assert version == (2, 13) and version == "2.13.0" and version >= [2, 13, 0]
    assert version != None and version != 2  # noqa: E711
    assert version < "unreadable", "what is not a version compares as text"
    assert hash(version) == hash("2.13.0") and version.split(".") == ["2", "13", "0"]


@pytest.mark.parametrize(
    ("name", "made"), [("jax", "jax.numpy"), ("tensorflow", "tensorflow"), ("torch", "torch")]
)
def test_the_module_of_an_array_tells_the_installed_library(name, made):
    # opt_einsum and autoray look functions up by it
    out = run(
        f"""
import pickle
import wengert as wg
with wg.compat.install({name!r}):
    import {made} as np
    x = np.ones((2, 3))
    print(type(x).__module__.split(".")[0], type(pickle.loads(pickle.dumps(x))) is type(x))
print(type(x).__module__.split(".")[0])
"""
    )
    assert out == f"{name} True\nwengert\n"


def test_star_imports_give_what_is_looked_up_elsewhere():
    program = """
for module, names in (
    ("nn.modules", "Linear ReLU"),
    ("nn.modules.activation", "ReLU Sigmoid"),
    ("nn.modules.pooling", "MaxPool1d AdaptiveAvgPool2d"),
    ("nn.utils", "clip_grad_norm_ parameters_to_vector"),
    ("autograd", "Function grad"),
):
    got = {}
    exec(f"from torch.{module} import *", got)
    assert {*names.split()} <= got.keys(), module
"""
    run(INSTALLED + program)
