"""python -m disco.table.formats SUFFIX [READING]: a file from stdin, to stdout as Arrow streams, with limits.

READING is a JSON object, the fields of `disco.table.formats.reading.Reading`.

Exit status: 0 for success; 2 if the file is not a table (the reason is on stdout); 3 if memory ran out; 1 if the file
crashed its reader. If the reader aborts, the process ends by a signal.
"""

import json
import mmap
import os
import resource
import sys

from disco.table.formats.limits import MATRICES, MEMORY_EXIT, UNREADABLE_EXIT, NotATable, limits_of


def main() -> int:
    """Read one file; returns the exit status."""
    suffix, size = sys.argv[1], os.fstat(sys.stdin.fileno()).st_size
    limits = limits_of(suffix, size)
    # Limit data, not address space: a library may reserve much more address space than it uses.
    for what, most in (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    from disco.table.formats import Reading, parse
    from disco.table.formats.passing import send, tell

    out = sys.stdout.buffer
    try:
        reading = Reading(**json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
        if suffix in MATRICES:
            table = parse(sys.stdin.buffer, suffix, reading)
        else:
            data = mmap.mmap(sys.stdin.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            table = parse(data, suffix, reading, lambda share: tell(share, out))
        schema, columns = table.schema, table.columns
        del table  # so that each column is freed once it is sent
        send(schema, columns, out)
    except NotATable as reason:
        out.write(str(reason).encode(errors="replace"))
        out.flush()
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
