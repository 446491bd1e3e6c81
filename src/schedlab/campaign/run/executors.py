"""Where batches run: on the cores of this host, or on the workers of a Dask cluster; one interface, `Executor`."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any, NamedTuple, ParamSpec, TypeVar

from schedlab.campaign.run.job_arrays import slurm_program
from schedlab.campaign.run.worker import end_with_parent
from schedlab.errors import InputError
from schedlab.wording import install

P = ParamSpec("P")
T = TypeVar("T")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Workers(NamedTuple):
    """An executor, how many things it does at a time, and how many of them in one process."""

    executor: Executor
    number: int
    threads: int = 1


def usable_cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class LocalExecutor(Executor):
    """Processes on this host that die one by one.

    A pool of the standard library is broken as a whole when one of its processes dies, and it is not known which work
    that was. This one has a pool of a single process for each worker: what dies is one worker with one piece of work,
    and a new one takes its place.

    Parameters
    ----------
    workers
        How many.

    Examples
    --------
    >>> with LocalExecutor(1) as executor:
    ...     executor.submit(sum, [1, 2, 3]).result()
    6
    """

    def __init__(self, workers: int) -> None:
        self._work: SimpleQueue[tuple[Future[Any], partial[Any]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._pools: list[ProcessPoolExecutor] = []
        self._killed = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a function called by the next worker that is free.

        The future's exception is a `BrokenProcessPool` if that worker died.
        """
        future: Future[T] = Future()
        self._work.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers when the work that was submitted is done, or without `wait` at once."""
        if cancel_futures or not wait:
            while not self._work.empty():
                item = self._work.get()
                if item is not None:
                    item[0].cancel()
        if not wait:
            self._kill()
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _kill(self) -> None:
        with self._lock:
            self._killed = True
            for pool in self._pools:
                for process in list((pool._processes or {}).values()):
                    process.kill()

    def _serve(self) -> None:
        """Give work to one process after the other, a new one whenever the last has died."""
        pool: ProcessPoolExecutor | None = None
        while (item := self._work.get()) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                # Here, so that a host that has no room for a process any more is an error of this piece of work.
                pool = pool or self._new_pool()
                result = self._begin_with(call, pool).result()
            except BrokenProcessPool as error:
                if pool is not None:
                    self._retire(pool)
                pool = None
                future.set_exception(error)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
        if pool is not None:
            self._retire(pool)

    def _begin_with(self, call: partial[Any], pool: ProcessPoolExecutor) -> Future[Any]:
        # A pool starts its process here, which must not happen behind the back of `_kill`.
        with self._lock:
            if self._killed:
                raise BrokenProcessPool("the workers have been ended")
            return pool.submit(call)

    def _new_pool(self) -> ProcessPoolExecutor:
        # Neither threads nor locks of this process are inherited by a process that is started afresh.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)
        with self._lock:
            self._pools.append(pool)
        return pool

    def _retire(self, pool: ProcessPoolExecutor) -> None:
        with self._lock:
            self._pools.remove(pool)
        pool.shutdown()


def _begin() -> None:
    """Prepare a worker: one thread, no interrupts from the keyboard, no warnings, no life without its parent."""
    import signal
    import warnings

    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    end_with_parent()


@contextmanager
def local_workers(number: int | None = None) -> Iterator[Workers]:
    """Give processes on this host, by default one for each core; they are killed if the context ends with an error."""
    number = number or usable_cores()
    executor = LocalExecutor(number)
    try:
        yield Workers(executor, number)
    except BaseException:
        executor.shutdown(wait=False)
        raise
    executor.shutdown()


@contextmanager
def dask_workers(
    *,
    address: str | None = None,
    scheduler_file: Path | None = None,
    slurm: dict[str, Any] | None = None,
    number: int | None = None,
    patience: float = 20.0,
) -> Iterator[Workers]:
    """Give the workers of a Dask cluster: by default, of one that is started on this host.

    Parameters
    ----------
    address
        Of a running scheduler, such as "tcp://host:8786".
    scheduler_file
        That a running scheduler has written, instead, or is about to write.
    slurm
        Start a cluster in Slurm jobs instead: arguments of `dask_jobqueue.SLURMCluster`. Each job has one worker for
        each of its `cores`, unless `processes` says otherwise.
    number
        How many jobs to start, by default one; or on this host, how many processes, by default one for each core.
    patience
        Seconds to wait for the file of a scheduler, for the scheduler, and then for its first worker. Jobs are waited
        for as long as it takes.

    Raises
    ------
    InputError
        If Dask is not installed, if the scheduler cannot be reached or has no workers, or if jobs cannot be submitted.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(f"campaigns on Dask need the extra dask: {install('dask')}") from None
    if scheduler_file is not None:
        address = _address_in(scheduler_file, patience)
    with _dask_cluster(slurm, number) if address is None else nullcontext() as cluster:
        try:
            client = Client(cluster or address, timeout=patience)
        except (OSError, ValueError) as error:
            raise InputError(f"the Dask scheduler {address} cannot be reached: {error}") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=None if slurm else patience)
            except TimeoutError:
                raise InputError(f"the Dask scheduler {address} has no workers: start them with dask worker") from None
            threads = client.nthreads().values()
            expected = (number or 1) * slurm.get("cores", 1) if slurm else 1
            yield Workers(client.get_executor(pure=False), max(sum(threads), expected), max(threads))


def _address_in(scheduler_file: Path, patience: float) -> str:
    end = monotonic() + patience
    while not scheduler_file.exists() and monotonic() < end:
        sleep(min(0.2, patience))
    try:
        return str(json.loads(scheduler_file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{scheduler_file} is not a Dask scheduler file: {error}") from None


@contextmanager
def _dask_cluster(slurm: dict[str, Any] | None, number: int | None) -> Iterator[Any]:
    if slurm is None:
        from distributed import LocalCluster

        count = number or usable_cores()
        with LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0") as cluster:
            yield cluster
        return
    # Several people share a login node, and the first of them has the usual port.
    arguments = {"cores": 1, "memory": "4GB", "scheduler_options": {"dashboard_address": ":0"}} | slurm
    with _slurm_cluster_type()(**{"processes": arguments["cores"]} | arguments) as cluster:
        _refuse_if_slurm_does(cluster.job_script())
        cluster.scale(jobs=number or 1)
        yield cluster


def _slurm_cluster_type() -> Any:
    """Return dask_jobqueue's type, whose import alone would take Ctrl-C from whoever runs a campaign."""
    answer = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import SLURMCluster

    if signal.getsignal(signal.SIGINT) is not answer:
        signal.signal(signal.SIGINT, answer)
    return SLURMCluster


def _refuse_if_slurm_does(script: str) -> None:
    """Raise InputError if a job cannot be submitted: Dask would say so in its log only, and wait for ever."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "job.sh"
        file.write_text(script, encoding="utf-8")
        slurm_program("sbatch", "--test-only", str(file))
