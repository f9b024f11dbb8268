"""What differs between Linux, macOS and Windows: opening files, locks, processes, priorities and limits.

All other modules are the same on the three. Where a system lacks something, the function does what is possible: Windows
has no sessions of processes, no limits on a process, no lock that a child inherits, and neither renames nor removes an
open file or its folder.
"""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

_NICE = 5  # one step of it costs about a fifth of a contested processor
if sys.platform == "linux":
    _ALL_CORES = os.sched_getaffinity(0)
else:
    _ALL_CORES = set[int]()  # these systems do not report it
_LOCKED_AT = 1 << 30  # the byte that a lock on Windows covers: beyond all notes, which others may read

if sys.platform == "win32":
    import msvcrt

    import psutil

    STOPPING = (signal.SIGINT, signal.SIGBREAK)  # signals that ask a command to end
    INHERITS_LOCKS = MOVES_OPEN_FILES = False

    def open_handle(path: str | Path, flags: int, *, follow: bool = True) -> int:
        if not follow and os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.open(path, flags | os.O_BINARY | os.O_NOINHERIT, 0o644)

    def try_lock(handle: int, *, shared: bool = False) -> bool:
        os.lseek(handle, _LOCKED_AT, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            if shared:
                os.lseek(handle, _LOCKED_AT, os.SEEK_SET)
                msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        except OSError:
            return False
        return True

    def of_new_process(*locks: int) -> dict[str, Any]:
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def ask_to_stop(pid: int) -> None:
        with contextlib.suppress(OSError):  # on another console, only `kill` ends it
            os.kill(pid, signal.CTRL_BREAK_EVENT)

    def kill(pid: int) -> None:
        try:
            psutil.Process(pid).kill()
        except psutil.NoSuchProcess:  # `os.kill` says that its argument is not valid
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH)) from None

    def when_asked_to_stop(act: Callable[[], object]) -> None:
        signal.signal(signal.SIGBREAK, lambda *_: act())

    def end_session(leader: int, *, at_once: bool) -> None:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(leader)
            for member in (*process.children(recursive=True), process):
                with contextlib.suppress(psutil.Error):
                    member.terminate()

    def end_with_caller() -> None:
        """Windows has no signal for it."""

    def share_one_core() -> None:
        """A thread of Windows cannot be bound from here."""

    @contextlib.contextmanager
    def all_cores() -> Iterator[None]:
        yield

    def limit_process(memory: int, seconds: int) -> None:
        """Windows has no limits on a process."""

    def shell_limits() -> dict[str, int]:
        return {}

    def lower_priority(process: int) -> None:
        with contextlib.suppress(psutil.Error):
            psutil.Process(process or None).nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)

    def sync_folder(folder: Path) -> None:
        """Windows makes a rename durable by itself."""

else:
    import fcntl
    import resource

    STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    INHERITS_LOCKS = MOVES_OPEN_FILES = True

    def open_handle(path: str | Path, flags: int, *, follow: bool = True) -> int:
        """A descriptor that never waits for the other end of a pipe, and that no child inherits.

        Args:
            flags: of `os.open`.
            follow: whether a link is followed; otherwise it is an OSError, ELOOP.
        """
        return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW), 0o644)

    def try_lock(handle: int, *, shared: bool = False) -> bool:
        """Lock an open file until it is closed; False if another process holds it.

        Args:
            shared: only see whether another process holds it; two such probes do not conflict.
        """
        try:
            fcntl.flock(handle, fcntl.LOCK_NB | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
        except BlockingIOError:
            return False
        return True

    def of_new_process(*locks: int) -> dict[str, Any]:
        """Arguments of `subprocess.Popen` for a process in a session of its own.

        Args:
            locks: descriptors that it inherits, with their locks (`INHERITS_LOCKS`).
        """
        return {"start_new_session": True, "pass_fds": locks}

    def ask_to_stop(pid: int) -> None:
        """Ask a process to stop; a ProcessLookupError without one, where the system says so."""
        os.kill(pid, signal.SIGTERM)

    def kill(pid: int) -> None:
        """End a process at once; ProcessLookupError without one."""
        os.kill(pid, signal.SIGKILL)

    def when_asked_to_stop(act: Callable[[], object]) -> None:
        """Have something done when `ask_to_stop` reaches this process."""
        signal.signal(signal.SIGTERM, lambda *_: act())

    def end_session(leader: int, *, at_once: bool) -> None:
        """End a process with all that it started, by a request or at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL if at_once else signal.SIGTERM)

    def end_with_caller() -> None:
        """Have the system kill this process when its caller ends, even within C code; on Linux alone."""
        if sys.platform == "linux":
            import ctypes

            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

    if sys.platform == "linux":

        def share_one_core() -> None:
            """Let this thread, and those that it starts from now on, use one core together.

            Python runs one thread at a time. On several cores, threads that compute hand the interpreter from core to
            core, and thirty pages take twice the processor time.
            """
            os.sched_setaffinity(0, {max(_ALL_CORES)})

        @contextlib.contextmanager
        def all_cores() -> Iterator[None]:
            """Let this thread, and what it starts meanwhile, use all cores."""
            previous = os.sched_getaffinity(0)
            os.sched_setaffinity(0, _ALL_CORES)
            try:
                yield
            finally:
                os.sched_setaffinity(0, previous)

    else:

        def share_one_core() -> None:
            """A thread of macOS cannot be bound to a core."""

        @contextlib.contextmanager
        def all_cores() -> Iterator[None]:
            yield

    def limit_process(memory: int, seconds: int) -> None:
        """Limit this process from now on.

        Data are limited, not address space: a library may reserve much more address space than it uses.

        Args:
            memory: bytes.
            seconds: of its processor time, counted from its start.
        """
        limits = {resource.RLIMIT_DATA: memory, resource.RLIMIT_CPU: seconds, resource.RLIMIT_CORE: 0}
        for which, limit in limits.items():
            hard = resource.getrlimit(which)[1]
            resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

    def shell_limits() -> dict[str, int]:
        """The bytes that this process may take, by options of `ulimit`; without those that are unlimited."""
        limits = {"v": resource.getrlimit(resource.RLIMIT_AS)[0], "d": resource.getrlimit(resource.RLIMIT_DATA)[0]}
        return {option: limit for option, limit in limits.items() if limit != resource.RLIM_INFINITY}

    def lower_priority(process: int) -> None:
        """Lower the priority of a process, or of this one (0), for good, so that short work beside it goes first."""
        with contextlib.suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, process) + _NICE)
        with contextlib.suppress(OSError):  # where Linux weighs sessions instead of processes
            Path(f"/proc/{process or 'self'}/autogroup").write_text(str(_NICE))

    def sync_folder(folder: Path) -> None:
        """Make a rename in a folder durable."""
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def temporary_file() -> BinaryIO:
    """A file without a name, for reading and writing, gone when it is closed."""
    return cast(BinaryIO, tempfile.TemporaryFile())


def threads() -> int:
    """The number of threads that this process may use: OMP_NUM_THREADS, as for other libraries, or one per core."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdecimal() and int(limit) else len(_ALL_CORES) or os.cpu_count() or 1


def running() -> int:
    """The number of threads on this machine that run or wait for a processor now, without this one; Linux alone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1
    return 0


def was_ended_by(status: int | None, *names: str) -> bool:
    """Whether an exit status is that of a process ended by one of some signals, such as SIGKILL."""
    return status in {-getattr(signal, name) for name in names if hasattr(signal, name)}


def first_to_go(score: int) -> None:
    """If memory runs out, have the system end this process before others; on Linux alone.

    `score` goes up to 1000, the first of all.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(score))
