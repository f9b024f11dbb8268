"""python -m disco.formats SUFFIX: the file on stdin as an Arrow stream on stdout, within limits on memory and time.

Exit status: 0; 2 for a file that is no table, why on stdout; 3 where memory ran out; 1 for a file that breaks its
reader. A reader that aborts ends by its signal.
"""

import os
import resource
import sys

from disco.formats.limits import MEMORY_EXIT, MOST_BYTES, MOST_MEMORY, MOST_SECONDS, UNREADABLE_EXIT, Unreadable


def main() -> int:
    """Read one file; returns the exit status."""
    # Data, not address space: of the latter a library may reserve much more than it uses.
    for what, most in (
        (resource.RLIMIT_DATA, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    import pyarrow as pa

    from disco.formats import parse

    try:
        table = parse(sys.stdin.buffer.read(MOST_BYTES + 1), sys.argv[1])
        with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
            stream.write_table(table)
        sys.stdout.buffer.flush()
    except Unreadable as reason:
        sys.stdout.buffer.write(str(reason).encode(errors="replace"))
        sys.stdout.buffer.flush()
        return UNREADABLE_EXIT
    except MemoryError:
        return MEMORY_EXIT
    return 0


if __name__ == "__main__":
    # Not the ordinary end, which may ask for memory that is not there.
    try:
        status = main()
    except BaseException:  # a reader written in Rust panics with an exception that is no Exception
        status = 1
    os._exit(status)
