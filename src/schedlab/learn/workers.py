"""Who simulates in a search: threads or processes that hold the training windows, so that tasks are short texts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

from schedlab.errors import SchedlabError
from schedlab.learn.training import Losses, Training

_held = threading.local()


@contextmanager
def training_workers(training: Training, number: int = 1) -> Iterator[Executor]:
    """Give an executor whose workers know the training windows: a thread, or several processes.

    Parameters
    ----------
    training
        What `losses_of` is about.
    number
        How many workers. Much of a short simulation is Python, which only processes do side by side.

    Raises
    ------
    SchedlabError
        If a process dies.
    """
    executor: Executor
    if number == 1:
        executor = ThreadPoolExecutor(1, initializer=hold, initargs=(training,))
    else:
        # Neither threads nor locks of this process are inherited by a process that is started afresh.
        context = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(number, context, initializer=_begin_process, initargs=(training,))
    try:
        yield executor
    except BrokenExecutor as error:
        raise SchedlabError("a process of the search died (killed, or out of memory): use fewer workers") from error
    finally:
        executor.shutdown(cancel_futures=True)


def hold(training: Training) -> None:
    """Let this thread know the training windows: the initializer of an executor of one's own."""
    _held.training = training


def losses_of(formula: str, numbers: Sequence[int]) -> Losses:
    """Return `Training.losses` of the training windows that this thread holds: what is submitted to an executor."""
    training: Training = _held.training
    return training.losses(formula, numbers)


def _begin_process(training: Training) -> None:
    """Prepare a process: no interrupts from the keyboard, no life without its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    hold(training)


def _end_after(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
