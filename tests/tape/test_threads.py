"""Test several threads: separate graphs and modes, and one leaf that all accumulate into."""

import asyncio
import contextvars
import sys
import threading
import warnings
import weakref

import pytest

import wengert as wg
from wengert.tape import base

COUNT = 8


@pytest.fixture(autouse=True)
def _switch_often():
    """Let threads take turns as often as they can, so that races show."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run_all(target, count=COUNT):
    """Run ``target(index)`` in threads that start together; none may hang or raise."""
    failures = []
    barrier = threading.Barrier(count)

    def guarded(index):
        try:
            barrier.wait(60)
            target(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    assert not failures, failures


def test_one_graph_is_walked_by_several_threads():
    x = wg.ones(10, dtype=wg.float64, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * x
    y = y.sum()

    def work(index):
        for _ in range(10):
            assert wg.autograd.grad(y, x, retain_graph=True)[0].tolist() == [21.0] * 10

    run_all(work)


# -- shared leaves --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, 1, 3, 1000])
@pytest.mark.parametrize("start", [False, True])
def test_no_accumulation_is_lost(size, start):
    shape = () if size is None else (size,)
    x = wg.zeros(shape, dtype=wg.float64, requires_grad=True)
    y = wg.ones(shape, dtype=wg.float64, requires_grad=True)
    if start:
        x.grad, y.grad = wg.zeros_like(x), wg.zeros_like(y)

    def work(index):
        for _ in range(50):
            (x * (index + 1) + y * 2).sum().backward()

    run_all(work)
    assert (x.grad == 50.0 * COUNT * (COUNT + 1) / 2).all()
    assert (y.grad == 2.0 * 50 * COUNT).all()


def test_no_accumulation_is_lost_with_hooks():
    x = wg.zeros(3, dtype=wg.float64, requires_grad=True)
    lock, calls = threading.Lock(), [0, 0, 0]

    def count(which):
        def hook(*args):
            with lock:
                calls[which] += 1

        return hook

    x.register_hook(count(0))
    x.register_post_accumulate_grad_hook(count(1))

    def work(index):
        for _ in range(50):
            y = x * 2
            y.register_hook(count(2))
            y.sum().backward()

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT * 50] * 3
    assert calls == [COUNT * 50] * 3


def test_no_accumulation_is_lost_while_others_register_and_remove_hooks():
    x = wg.zeros(3, dtype=wg.float64, requires_grad=True)

    def work(index):
        for _ in range(50):
            if index % 2:
                x.register_hook(lambda g: None).remove()
                x.register_post_accumulate_grad_hook(lambda p: None).remove()
            else:
                (x * 2).sum().backward()

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT / 2 * 50] * 3


def test_no_accumulation_is_lost_under_create_graph():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)

    def work(index):
        for _ in range(20):
            (x * x).sum().backward(create_graph=True)

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT * 20] * 3
    x.grad = None


def test_no_accumulation_is_lost_with_custom_functions():
    class Double(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].shape == grad.shape
            return grad * 2

    x = wg.ones(3, dtype=wg.float64, requires_grad=True)

    def work(index):
        for _ in range(30):
            Double.apply(x).sum().backward()

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT * 30] * 3


def test_retained_gradients_of_a_shared_graph_add_up():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)
    y = x * 3
    y.retain_grad()
    z = (y * y).sum()

    def work(index):
        for _ in range(20):
            z.backward(retain_graph=True)

    run_all(work)
    assert y.grad.tolist() == [6.0 * COUNT * 20] * 3
    assert x.grad.tolist() == [18.0 * COUNT * 20] * 3


def test_a_hook_for_several_gradients_counts_each_pass_for_itself():
    x = wg.ones(1, dtype=wg.float64, requires_grad=True)
    y = wg.ones(1, dtype=wg.float64, requires_grad=True)
    lock, seen = threading.Lock(), []

    def hook(grads):
        with lock:
            seen.append([grad.item() for grad in grads])

    wg.autograd.graph.register_multi_grad_hook((x, y), hook)

    def work(index):
        for _ in range(20):
            (x * (index + 1) + y * 10 * (index + 1)).sum().backward()

    run_all(work)
    assert sorted(seen) == sorted(
        [i + 1.0, 10.0 * (i + 1)] for i in range(COUNT) for _ in range(20)
    )


def test_nested_passes_from_hooks_do_not_deadlock():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)
    w = wg.ones(3, dtype=wg.float64, requires_grad=True)

    def work(index):
        for _ in range(10):
            y = x * 2

            def deeper(grad):
                with wg.enable_grad():
                    return grad * wg.autograd.grad((w * w).sum(), w)[0]

            def nested(grad):
                with wg.enable_grad():
                    z = w * 3
                    z.register_hook(deeper)
                    z.sum().backward()

            y.register_hook(nested)
            y.sum().backward()

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT * 10] * 3
    assert w.grad.tolist() == [6.0 * COUNT * 10] * 3


def test_a_nested_pass_from_a_post_accumulate_hook_does_not_deadlock():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)
    w = wg.ones(3, dtype=wg.float64, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: (w * 3).sum().backward())

    def run(index):
        with wg.enable_grad():
            for _ in range(10):
                (x * 2).sum().backward(create_graph=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_all(run)
    assert w.grad.tolist() == [3.0 * COUNT * 10] * 3
    x.grad = None


def test_a_finalizer_that_runs_backward_while_gradients_are_added_does_not_deadlock():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)
    w = wg.ones(3, dtype=wg.float64, requires_grad=True)

    x.grad = wg.zeros(3, dtype=wg.float64)
    weakref.finalize(x.grad, lambda: (w * 3).sum().backward())

    def work(index):
        (x * 2).sum().backward(create_graph=True)

    run_all(work, 1)
    assert x.grad.tolist() == [2.0] * 3
    assert w.grad.tolist() == [3.0] * 3
    x.grad = None


def test_an_exception_in_one_thread_leaves_the_others_alone():
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)

    def work(index):
        leaf = wg.ones(3, dtype=wg.float64, requires_grad=True)
        for _ in range(20):
            y = leaf * 2
            if index == 0:

                def fail(grad):
                    raise KeyError("no")

                y.register_hook(fail)
                with pytest.raises(KeyError, match="no"):
                    y.sum().backward()
            else:
                (y + x * 5).sum().backward()
        assert (leaf.grad is None) if index == 0 else leaf.grad.tolist() == [40.0] * 3

    run_all(work)
    assert x.grad.tolist() == [5.0 * (COUNT - 1) * 20] * 3


def test_a_gradient_is_not_lost_when_two_threads_first_touch_a_leaf(monkeypatch):
    x = wg.ones(3, dtype=wg.float64, requires_grad=True)
    y = (x * 2).sum()
    making, done = threading.Event(), threading.Event()
    original = base.Extra

    def make():
        extra = original()
        if threading.current_thread() is first:
            making.set()
            done.wait(60)
        return extra

    first = threading.Thread(target=lambda: x.register_hook(lambda g: None))
    monkeypatch.setattr(base, "Extra", make)
    first.start()
    assert making.wait(60)
    y.backward()
    done.set()
    first.join()
    assert x.grad is not None and x.grad.tolist() == [2.0] * 3


# -- modes ----------------------------------------------------------------------------------------


def test_eight_modes_at_once():
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    packed = [0] * COUNT

    def pack(index):
        def hook(tensor):
            packed[index] += 1
            return tensor.detach()

        return hook

    def plain(index):
        (g,) = wg.autograd.grad((x * x).sum(), x)
        assert g.tolist() == [2.0, 4.0]

    def silent(index):
        with wg.no_grad():
            assert not (x * x).requires_grad

    def inference(index):
        with wg.inference_mode():
            y = x * x
            assert y.is_inference() and not y.requires_grad

    def hooked(index):
        with wg.autograd.graph.saved_tensors_hooks(pack(index), lambda p: p):
            plain(index)

    def mutating(index):
        with wg.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = (y * y).sum()
            y.zero_()
            assert wg.autograd.grad(z, x)[0].tolist() == [2.0, 4.0]

    def looking(index):
        with wg.autograd.set_detect_anomaly(True, check_nan=False):
            assert wg.is_anomaly_enabled()
            plain(index)

    def disabled(index):
        with wg.autograd.graph.disable_saved_tensors_hooks("not here"):
            with pytest.raises(RuntimeError, match="not here"), wg.autograd.graph.save_on_cpu():
                pass
            plain(index)

    def switched(index):
        wg.set_grad_enabled(False)
        assert not (x * x).requires_grad
        wg.set_grad_enabled(True)
        assert (x * x).requires_grad

    kinds = [plain, silent, inference, hooked, mutating, looking, disabled, switched]

    def work(index):
        for _ in range(30):
            kinds[index](index)
            assert wg.is_grad_enabled() and not wg.is_inference_mode_enabled()
            assert not wg.is_anomaly_enabled()

    run_all(work)
    assert [count > 0 for count in packed] == [kind is hooked for kind in kinds]


def test_a_thread_starts_with_the_default_mode():
    seen = []
    with wg.inference_mode(), wg.autograd.set_detect_anomaly(True):
        thread = threading.Thread(
            target=lambda: seen.append((wg.is_grad_enabled(), wg.is_anomaly_enabled()))
        )
        thread.start()
        thread.join()
    assert seen == [(True, False)]


# -- contexts, tasks ------------------------------------------------------------------------------


def test_each_task_has_its_own_mode():
    x = wg.ones(2, requires_grad=True)

    async def silent():
        with wg.no_grad():
            for _ in range(5):
                assert not wg.is_grad_enabled() and not (x * 2).requires_grad
                await asyncio.sleep(0)

    async def loud():
        for _ in range(5):
            assert wg.is_grad_enabled() and (x * 2).requires_grad
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(silent(), loud(), silent(), loud())

    asyncio.run(both())
    assert wg.is_grad_enabled()


def test_a_task_inherits_the_mode_of_its_maker():
    async def look():
        return wg.is_grad_enabled()

    async def main():
        with wg.no_grad():
            task = asyncio.create_task(look())
        return await task, wg.is_grad_enabled()

    assert asyncio.run(main()) == (False, True)


def test_hooks_for_saved_tensors_belong_to_the_task():
    x = wg.ones(2, requires_grad=True)
    packed = []

    def pack(tensor):
        packed.append(1)
        return tensor.detach()

    async def hooked():
        with wg.autograd.graph.saved_tensors_hooks(pack, lambda p: p):
            await asyncio.sleep(0)
            x.exp()
            await asyncio.sleep(0)

    async def plain():
        await asyncio.sleep(0)
        x.exp()
        await asyncio.sleep(0)

    async def both():
        await asyncio.gather(hooked(), plain())

    asyncio.run(both())
    assert packed == [1]


def test_a_mode_set_in_a_copied_context_stays_there():
    context = contextvars.copy_context()
    context.run(wg.set_grad_enabled, False)
    assert wg.is_grad_enabled()
    assert context.run(wg.is_grad_enabled) is False


def test_anomaly_mode_in_tasks():
    async def looking():
        with wg.autograd.set_detect_anomaly(True):
            await asyncio.sleep(0)
            return wg.is_anomaly_enabled()

    async def plain():
        await asyncio.sleep(0)
        return wg.is_anomaly_enabled()

    async def both():
        return await asyncio.gather(looking(), plain())

    assert asyncio.run(both()) == [True, False]
