"""The connection to a Dask scheduler: parts of work go to its workers, events and results come back."""

import contextlib
import pickle
import platform
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from disco.cluster import worker
from disco.errors import InputError, printable
from disco.progress import Reporter

if TYPE_CHECKING:
    from distributed import Client, Future

SAME = ("disco", "numpy", "torch", "numba")  # packages that need one version everywhere
_SECONDS = 5  # for an answer of a scheduler
_LOOK = 0.1  # seconds between two checks whether to continue
_COUNT = 2  # seconds between two counts of the workers
_ALONE = 60  # seconds without a worker, after which work ends
_KEPT = 4  # shared objects that stay with the workers
_WARNING = "distributed.admin.large-graph-warning-threshold"
_TRIES = 3  # attempts to connect

_NO_ADDRESS = "{address} is no address of a Dask scheduler: give one such as tcp://host:8786."
_NO_CERTIFICATES = (
    "{address} needs certificates, and Dask's configuration here has none: set them (docs/cluster.md), or use tcp://."
)
_ENCRYPTED = "{address} is not encrypted, and Dask's configuration here asks for it: give an address with tls://."
_MISSING = "Work on a cluster needs Dask: pip install .[cluster]."
_NOBODY = "No Dask scheduler answers at {address}: start one there (dask scheduler), or check address and network."
_EMPTY = "The Dask scheduler at {address} has no workers: start one (dask worker {address} --nthreads 1)."
_OTHER = "The worker {name} has {package} {theirs}, here it is {ours}: install the same version there."
_WITHOUT = "The worker {name} has no {package}: install disco there, in the environment of its dask worker."
_GONE = (
    "The Dask scheduler at {address} no longer answers. What is finished is kept: start the scheduler and resume, or "
    "resume without it."
)
_LEFT = (
    "The Dask scheduler at {address} has had no workers for {seconds} seconds. What is finished is kept: start workers "
    "and resume, or resume without it."
)
_DIED = (
    "The workers of {address} died again and again over the same part, perhaps for memory: give each more memory "
    "(--memory-limit), or use fewer columns or rows."
)


class Cluster:
    """A connection, and what its workers have; `InputError`s as `disco.cluster.on`."""

    def __init__(self, address: str) -> None:
        self.address = printable(address, 200)
        self.client = _connected(address, self.address)
        self.sent: deque[tuple[Any, Future]] = deque(maxlen=_KEPT)
        self.tell_versions = worker.teller(SAME)
        self.versions = self.tell_versions()
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection; the workers stop their work for it."""
        with contextlib.suppress(Exception):  # it may be broken
            self.client.close(timeout=_SECONDS)

    def count(self) -> int:
        """The number of workers."""
        return len(self.client.nthreads())

    def free_bytes(self, device: str) -> int:
        """The free memory of the worker that has least, in bytes; those that end meanwhile do not count."""
        return min(self.client.run(worker.free_bytes, device, on_error="ignore").values(), default=sys.maxsize)

    def each(
        self,
        function: Callable[..., Any],
        shared: Sequence[Any],
        parts: Sequence[Any],
        reporter: Reporter,
        own: Sequence[Reporter] | None,
    ) -> Generator[Any, None, None]:
        """As `disco.cluster.each`; without `own`, the parts' events are not reported."""
        topic, messages = f"disco-{uuid.uuid4().hex}", deque[dict[str, Any]]()
        futures: list[Future] = []

        def relay() -> None:
            while messages and own:
                message = messages.popleft()
                own[message["number"]].relay(pickle.loads(message["event"]))
            reporter.check()

        def send(number: int) -> "Future":
            of = reporter if own is None else own[number]
            seconds = max(of.until - time.monotonic(), _LOOK) if of.until else 0.0
            telling = worker.Telling(self.versions, number, topic if own else None, of.weights, of.stopped, seconds)
            return self._submitted(function, shared, parts[number], telling)

        try:
            self.client.subscribe_topic(topic, lambda message: messages.append(message[1]))
            futures = [send(number) for number in range(len(parts))]
            for number in range(len(parts)):
                self._wait(futures[number:], relay, reporter)
                result, has_enough = self._result(futures[number])
                reporter.has_enough |= has_enough
                yield result
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(futures)
                self.client.unsubscribe_topic(topic)

    def _submitted(
        self, function: Callable[..., Any], shared: Sequence[Any], item: Any, telling: worker.Telling
    ) -> "Future":
        key = f"{function.__name__.strip('_')}-{uuid.uuid4().hex}"
        return self.client.submit(
            worker.run, function, [self._shared(value) for value in shared], item, telling, key=key, pure=False
        )

    def _shared(self, value: Any) -> "Future":
        """An object that the workers fetch from each other; the scheduler keeps its bytes, so it outlives them all."""
        at = next((at for at, (sent_value, _) in enumerate(self.sent) if sent_value is value), None)
        if at is None:
            import dask

            self._check_answers()
            with dask.config.set({_WARNING: "1 TiB"}):  # a table is large
                key = f"shared-{uuid.uuid4().hex}"
                sent = value, self.client.submit(pickle.loads, pickle.dumps(value), key=key, pure=False)
        else:
            sent = self.sent[at]
            del self.sent[at]
        self.sent.append(sent)  # drop the least recently used
        return sent[1]

    def _wait(self, futures: Sequence["Future"], relay: Callable[[], None], reporter: Reporter) -> None:
        """Wait for the first of some parts; meanwhile pass on events and requests to stop."""
        ended, message = threading.Event(), None
        futures[0].add_done_callback(lambda _: ended.set())
        seen = counted = time.monotonic()
        while True:
            ended.wait(_LOOK)
            self._check_answers()
            relay()
            current_time = time.monotonic()
            if current_time > counted + _COUNT:
                counted = current_time
                seen = current_time if self._has_workers() else seen
            if current_time > seen + _ALONE:
                raise InputError(_LEFT.format(address=self.address, seconds=_ALONE))
            if ended.is_set():
                return
            if reporter.enough != message:
                message = reporter.enough
                self.client.run(worker.tell_enough, [future.key for future in futures], message, on_error="ignore")

    def _result(self, future: "Future") -> tuple[Any, bool]:
        """The result of a part, and whether it ended early with the best so far."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        try:
            return future.result()
        except (CancelledError, CommClosedError) as error:
            raise InputError(_GONE.format(address=self.address)) from error
        except KilledWorker as error:
            raise InputError(_DIED.format(address=self.address)) from error
        except ImportError:
            self._check_workers()  # one that joined later may lack disco, or have another version
            raise

    def _has_workers(self) -> bool:
        try:
            return bool(self.count())
        except OSError:  # the connection ends, which the next check reports
            return True

    def _check_answers(self) -> None:
        if self.client.status != "running":
            raise InputError(_GONE.format(address=self.address))

    def _check_workers(self) -> None:
        """Refuse, with an InputError, a cluster without workers, or with other versions than here."""
        try:
            self.client.wait_for_workers(1, timeout=_SECONDS)
        except TimeoutError as error:
            raise InputError(_EMPTY.format(address=self.address)) from error
        versions: Any = self.client.get_versions()
        pythons = {name: worker_versions["packages"]["python"] for name, worker_versions in versions["workers"].items()}
        for name, python in pythons.items():  # a function is sent as the bytecode of one version
            _check_same(name, "Python", ".".join(python.split(".")[:2]), ".".join(platform.python_version_tuple()[:2]))
        for name, theirs in self.client.run(self.tell_versions).items():
            for package, version in self.versions.items():
                _check_same(name, package, theirs[package], version)


def _check_same(worker_name: str, package: str, theirs: str | None, ours: str | None) -> None:
    if theirs != ours:
        words = _WITHOUT if theirs is None else _OTHER
        name, version = printable(worker_name, 80), printable(str(theirs), 40)
        raise InputError(words.format(name=name, package=package, theirs=version, ours=ours))


def _connected(address: str, name: str) -> "Client":
    """A client of the scheduler at an address; InputError if Dask is not installed, or nothing answers."""
    try:
        import dask
        from distributed import Client, Security
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise InputError(_MISSING) from error
    kind = address.rpartition("://")[0] or "tcp"
    try:
        _, port = get_address_host_port(address)
        if kind not in ("tcp", "tls") or not 0 < port < 1 << 16:
            raise ValueError
    except ValueError as error:
        raise InputError(_NO_ADDRESS.format(address=name)) from error
    # A client that cannot start reports it again when it is deleted.
    if kind == "tcp" and dask.config.get("distributed.comm.require-encryption"):
        raise InputError(_ENCRYPTED.format(address=name))
    if kind == "tls" and Security().get_connection_args("client").get("ssl_context") is None:
        raise InputError(_NO_CERTIFICATES.format(address=name))
    tries = 0
    while True:
        tries += 1
        try:
            return Client(address, timeout=_SECONDS, set_as_default=False, name="disco")
        except AssertionError:  # the scheduler's greeting came together with news of workers, or its thread began late
            if tries == _TRIES:
                raise
        except OSError as error:
            raise InputError(_NOBODY.format(address=name)) from error
