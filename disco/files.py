"""A file's bytes, where it is a file of a bearable size."""

import os
import stat
from pathlib import Path

from disco.errors import InputError

_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of a regular file; a link is followed.

    A pipe would keep its reader waiting and a device may never end, so neither is opened for waiting or read.

    Args:
        most: the largest size read, in bytes.

    Raises:
        InputError: there is no such file, it is no regular file, cannot be read, or is larger.
    """
    name = Path(path).name
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
            raise InputError(f"{name} cannot be read: it is {kind}, not a file.")
        with open(handle, "rb") as file:
            data = b"" if found.st_size > most else file.read(most + 1)
            check_size(name, max(found.st_size, len(data)), most)
            return data
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the path.") from None
    except (OSError, ValueError) as error:  # ValueError: a path that holds a NUL
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def check_size(name: str, size: int, most: int) -> None:
    """Refuse a file of more bytes than `most`.

    Raises:
        InputError: it is larger.
    """
    if size > most:
        raise InputError(f"{name} has {size / 1e6:,.0f} MB; at most {most / 1e6:,.0f} MB are read: give less.")
