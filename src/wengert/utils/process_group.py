"""Layer 8 · utils: torch.distributed's functions for many processes, with a single process.

A group has one member, of rank 0, so collectives leave values as they are. Programs written for
many processes run on one; operations that need another process raise an error. The rest of
`wengert.distributed` distributes data among workers.
"""

from __future__ import annotations

import enum
import os
import pickle
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

from wengert.tape.modes import no_grad

__all__ = [
    "Backend",
    "GroupMember",
    "HashStore",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "supports_complex",
]

default_pg_timeout = timedelta(minutes=30)
_ONE = (
    "there is one process here. Share data out by wengert.distributed.fit or value_and_grad, which "
    "run on Dask"
)


class ReduceOp(enum.Enum):
    """How values of many processes are reduced; with one process the result is its value."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # what PyTorch's members are of


class Backend(str):
    """The name of a communication backend, in lower case."""

    __slots__ = ()
    GLOO, MPI, NCCL, UCC, UNDEFINED = "gloo", "mpi", "nccl", "ucc", "undefined"

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """A group of one process."""

    def __init__(self, backend: str = "gloo") -> None:
        self._backend = backend

    def rank(self) -> int:
        """Return 0, the rank of this process."""
        return 0

    def size(self) -> int:
        """Return 1, the number of processes."""
        return 1

    def name(self) -> str:
        """Return the name of the backend."""
        return self._backend


class _World(type):
    """Exposes the default group as an attribute of a class."""

    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before `init_process_group`."""
        return _world


class group(metaclass=_World):
    """Has the default group, `WORLD`."""


class GroupMember(metaclass=_World):
    """Has the default group, `WORLD`, and the value for a group without this process."""

    NON_GROUP_MEMBER = object()


class Work:
    """An operation between processes, which is complete."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True, at once."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True

    def is_success(self) -> bool:
        """Return True."""
        return True


class HashStore:
    """A key-value store for processes; with one process it is a dictionary."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}

    def set(self, key: str, value: Any) -> None:
        """Store a value."""
        self._held[key] = value.encode() if isinstance(value, str) else bytes(value)

    def get(self, key: str) -> bytes:
        """Return the value; a missing key is a KeyError, since no process can set it later."""
        return self._held[key]

    def add(self, key: str, amount: int) -> int:
        """Add to a stored number."""
        self._held[key] = str(int(self._held.get(key, b"0")) + amount).encode()
        return int(self._held[key])

    def delete_key(self, key: str) -> bool:
        """Delete a key; return whether it existed."""
        return self._held.pop(key, None) is not None

    def num_keys(self) -> int:
        """Return the number of keys."""
        return len(self._held)


_world: ProcessGroup | None = None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Initialise the default group, which consists of this process.

    Parameters
    ----------
    backend : str, optional. Kept for `get_backend`.
    world_size, rank : int. The number of processes, and the rank of this one; by default from the
        environment (``WORLD_SIZE``, ``RANK``), or 1 and 0.
    init_method, timeout, store, group_name, pg_options, device_id: Have no effect.

    Raises
    ------
    NotImplementedError: For more than one process.
    ValueError: If the group already exists, or the rank is out of range.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("gloo")
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> gradient = wg.ones(2)
    >>> dist.all_reduce(gradient)
    >>> gradient
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    global _world
    if _world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    size = world_size if world_size >= 0 else int(os.environ.get("WORLD_SIZE", 1))
    own = rank if rank >= 0 else int(os.environ.get("RANK", 0))
    if size != 1:
        raise NotImplementedError(f"a group of {size} processes was asked for, but {_ONE}")
    if own != 0:
        raise ValueError(f"the rank is {own}, but the ranks of a group of one process are 0")
    _world = ProcessGroup(Backend(backend or "gloo"))


def destroy_process_group(group: Any = None) -> None:
    """Destroy the default group, or do nothing for another group."""
    global _world
    if group is None or group is _member():
        _member()
        _world = None


def is_available() -> bool:
    """Return True: the functions for many processes work, on one."""
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` has been called."""
    return _world is not None


def is_nccl_available() -> bool:
    """Return False: there is no GPU."""
    return False


def is_mpi_available() -> bool:
    """Return False: there is one process."""
    return False


def is_gloo_available() -> bool:
    """Return True: programs that ask for the CPU backend run."""
    return True


def is_backend_available(backend: str) -> bool:
    """Return whether a backend is the one for CPUs."""
    return backend.lower() == "gloo"


def is_torchelastic_launched() -> bool:
    """Return whether the environment says that a PyTorch launcher started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def supports_complex(reduceOp: Any) -> bool:
    """Return whether complex values can be reduced by an operation."""
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)


def _member(group: Any = None) -> ProcessGroup:
    if _world is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return _world if group is None else group


def get_rank(group: Any = None) -> int:
    """Return 0, the rank of this process; -1 in a group that it is not in."""
    _member()
    return -1 if group is GroupMember.NON_GROUP_MEMBER else 0


def get_world_size(group: Any = None) -> int:
    """Return 1, the number of processes; -1 in a group that this one is not in."""
    _member()
    return -1 if group is GroupMember.NON_GROUP_MEMBER else 1


def get_backend(group: Any = None) -> str:
    """Return the backend that `init_process_group` was given."""
    return _member(group).name()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return this process's rank among those of this machine, from the environment; else 0."""
    return int(os.environ.get("LOCAL_RANK", fallback_rank or 0))


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the rank in the default group."""
    return _ranked(group_rank)


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the rank in a group."""
    return _ranked(global_rank)


def get_process_group_ranks(group: Any) -> list[int]:
    """Return the ranks of a group's members."""
    return [0]


def new_group(ranks: Sequence[int] | None = None, *args: Any, **kwargs: Any) -> Any:
    """Make a group of some processes; one without this process is ``NON_GROUP_MEMBER``."""
    world = _member()
    for rank in ranks or ():
        _ranked(rank)
    if ranks is not None and not ranks:
        return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(kwargs.get("backend") or world.name())


def new_subgroups(group_size: int | None = None, *args: Any, **kwargs: Any) -> Any:
    """Return the group of this process, and the list of all such groups."""
    if group_size not in (None, 1):
        raise ValueError(f"groups of {group_size} processes were asked for, but {_ONE}")
    made = new_group()
    return made, [made]


def _ranked(rank: int | None) -> int:
    if rank not in (0, None):
        raise ValueError(f"the rank {rank} was named, but {_ONE}")
    return 0


def _work(
    group: Any,
    async_op: bool,
    rank: int | None = None,
    outputs: Sequence[Any] = (),
    values: Sequence[Any] = (),
) -> Work | None:
    """Copy the values that all processes of a group have for this process to their destinations."""
    _member(group)
    _ranked(rank)
    if len(outputs) != len(values):
        raise ValueError(
            f"expected a list of {len(values)} tensors, one for each process, but got "
            f"{len(outputs)}"
        )
    with no_grad():
        for output, value in zip(outputs, values, strict=True):
            output.copy_(value)
    return Work() if async_op else None


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Return at once: there are no other processes to wait for."""
    return _work(group, async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Return at once, like `barrier`."""
    _member(group)


def all_reduce(
    tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, in place; it is left unchanged."""
    return _work(group, async_op)


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce a tensor over all processes to one of them; it is left unchanged."""
    return _work(group, async_op, dst)


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Broadcast a tensor to all processes; it is left unchanged."""
    return _work(group, async_op, src)


def all_gather(
    tensor_list: list[Any], tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all processes into a list of tensors."""
    return _work(group, async_op, None, tensor_list, [tensor])


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all processes into one tensor."""
    return _work(
        group, async_op, None, [output_tensor], [input_tensor.reshape(output_tensor.shape)]
    )


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Gather the tensors of all processes into a list in one of them."""
    _member(group)
    _ranked(dst)
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return _work(group, async_op, dst, gather_list, [tensor])


def scatter(
    tensor: Any,
    scatter_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Scatter one process's list of tensors over all processes."""
    _member(group)
    _ranked(src)
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return _work(group, async_op, src, [tensor], scatter_list)


def reduce_scatter(
    output: Any,
    input_list: list[Any],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce lists of tensors over all processes, and scatter the result."""
    return _work(group, async_op, None, [output], input_list)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, and scatter its parts."""
    return _work(group, async_op, None, [output], [input.reshape(output.shape)])


def all_to_all(
    output_tensor_list: list[Any],
    input_tensor_list: list[Any],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Exchange lists of tensors between all processes."""
    return _work(group, async_op, None, output_tensor_list, input_tensor_list)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Exchange the parts of a tensor between all processes."""
    return _work(group, async_op, None, [output], [input])


def _sent(value: Any) -> Any:
    """Return a value as it would arrive: a copy, as if it had been pickled."""
    return pickle.loads(pickle.dumps(value))


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Gather the objects of all processes into a list."""
    _member(group)
    object_list[0] = _sent(obj)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Gather the objects of all processes into a list in one of them."""
    _member(group)
    _ranked(dst)
    if object_gather_list is None:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    object_gather_list[0] = _sent(obj)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Broadcast a list of objects to all processes; it is left unchanged."""
    _member(group)
    _ranked(src)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Scatter one process's list of objects over all processes."""
    _member(group)
    _ranked(src)
    if not scatter_object_input_list:
        raise ValueError("Argument ``scatter_object_input_list`` must hold one object.")
    scatter_object_output_list[0] = _sent(scatter_object_input_list[0])


def _alone(*args: Any, **kwargs: Any) -> NoReturn:
    _member()
    raise ValueError(f"a tensor was to go to another process, or come from one, but {_ONE}")


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0) -> NoReturn:
    """Raise a ValueError: there is no other process to send to."""
    _alone()


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0) -> NoReturn:
    """Raise a ValueError: there is no other process to receive from."""
    _alone()


def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0) -> NoReturn:
    """Raise a ValueError, like `send`."""
    _alone()


def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0) -> NoReturn:
    """Raise a ValueError, like `recv`."""
    _alone()


class P2POp:
    """A tensor to be sent or received; using it raises, since there is no other process."""

    def __init__(self, op: Any, tensor: Any, peer: int | None = None, group: Any = None) -> None:
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group
