"""python -m disco.table.formats SUFFIX [READING]: a file from stdin, to stdout as Arrow streams, with limits.

READING is a JSON object, the fields of `disco.table.formats.reading.Reading`.

Exit status: 0 for success; 2 if the file is not a table (the reason is on stdout); 3 if memory ran out; 1 if the file
crashed its reader. If the reader aborts, the process ends by a signal.
"""

import json
import mmap
import os
import sys
import time

from disco.system import limit_process
from disco.table.formats.catalogue import MATRICES, limits_of
from disco.table.formats.limits import MEMORY_EXIT, UNREADABLE_EXIT, NotATable
from disco.table.formats.reading import Reading

_UNPACKING = 0.3  # share of the time that a packed file takes


def main() -> int:
    """Read one file; returns the exit status."""
    suffix, size = sys.argv[1], os.fstat(sys.stdin.fileno()).st_size
    _limit(suffix, size)
    from disco.table.formats.archive import unwrapped  # after the limits are set
    from disco.table.formats.exchange import send, send_share
    from disco.table.formats.parsing import parse

    out, start = sys.stdout.buffer, 0.0
    try:
        reading = Reading(**json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
        file, inner = unwrapped(sys.stdin.buffer, suffix, lambda share: send_share(share * _UNPACKING, out))
        if inner != suffix:
            suffix, size, start = inner, os.fstat(file.fileno()).st_size, _UNPACKING
            _limit(suffix, size)
        if suffix in MATRICES:
            table = parse(file, suffix, reading)
        else:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            table = parse(data, suffix, reading, lambda share: send_share(start + share * (1 - start), out))
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


def _limit(suffix: str, size: int) -> None:
    limits = limits_of(suffix, size)
    limit_process(limits.memory, limits.seconds + int(time.process_time()))


if __name__ == "__main__":
    # Skip the ordinary exit: it may need memory that is not available.
    try:
        status = main()
    except BaseException:  # a panic of a reader written in Rust is not an Exception
        status = 1
    os._exit(status)
