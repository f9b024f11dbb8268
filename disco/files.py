"""Read regular files up to a given size."""

import os
import stat
from pathlib import Path

from disco.errors import InputError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotAFile(ValueError):
    """The path leads to something else, such as "a pipe"."""


def opened(path: str | Path) -> int:
    """A file descriptor of a regular file, opened for reading; links are followed.

    A pipe would make its reader wait and a device may never end, so neither is read.

    Raises:
        OSError: the file does not exist or cannot be read.
        NotAFile: it is not a regular file.
        ValueError: the path holds a NUL.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise NotAFile(_KINDS.get(stat.S_IFMT(mode), "something else"))
    return handle


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of a regular file.

    Args:
        most: the largest size read, in bytes.

    Raises:
        InputError: the file does not exist, is not a regular file, cannot be read, or is larger.
    """
    name = Path(path).name
    try:
        with open(opened(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > most else file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the path.") from None
    except NotAFile as error:
        raise InputError(f"{name} cannot be read: it is {error}, not a file.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    check_size(name, max(size, len(data)), most)
    return data


def check_size(name: str, size: int, most: int) -> None:
    """Refuse a file of more bytes than `most`.

    Raises:
        InputError: it is larger.
    """
    if size > most:
        raise InputError(f"{name} has {size / 1e6:,.0f} MB; at most {most / 1e6:,.0f} MB are read: give a smaller one.")
