"""python -m disco.table.formats SUFFIX [READING]: a file from stdin, to stdout as an Arrow stream, with limits.

READING is a JSON object, the fields of `disco.table.formats.reading.Reading`.

Exit status: 0 for success; 2 if the file is not a table (the reason is on stdout); 3 if memory ran out; 1 if the file
crashed its reader. If the reader aborts, the process ends by a signal.
"""

import json
import os
import resource
import sys

from disco.table.formats.limits import (
    MATRICES,
    MEMORY_EXIT,
    MOST_BYTES,
    MOST_MATRIX_SECONDS,
    MOST_MEMORY,
    MOST_SECONDS,
    UNREADABLE_EXIT,
    NotATable,
)


def main() -> int:
    """Read one file; returns the exit status."""
    is_matrix = sys.argv[1] in MATRICES
    # Limit data, not address space: a library may reserve much more address space than it uses.
    for what, most in (
        (resource.RLIMIT_DATA, MOST_MEMORY),
        (resource.RLIMIT_CPU, MOST_MATRIX_SECONDS if is_matrix else MOST_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    import pyarrow as pa

    from disco.table.formats import Reading, parse

    try:
        reading = Reading(**json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
        is_file = is_matrix and sys.stdin.buffer.seekable()
        table = parse(sys.stdin.buffer if is_file else sys.stdin.buffer.read(MOST_BYTES + 1), sys.argv[1], reading)
        with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
            stream.write_table(table)
        sys.stdout.buffer.flush()
    except NotATable as reason:
        sys.stdout.buffer.write(str(reason).encode(errors="replace"))
        sys.stdout.buffer.flush()
        return UNREADABLE_EXIT
    except MemoryError:
        return MEMORY_EXIT
    return 0


if __name__ == "__main__":
    # Skip the ordinary exit: it may need memory that is not available.
    try:
        status = main()
    except BaseException:  # a panic of a reader written in Rust is not an Exception
        status = 1
    os._exit(status)
