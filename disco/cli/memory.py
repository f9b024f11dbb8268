"""The memory that a shell leaves: said at once where it is too little for the libraries."""

from disco.errors import InputError
from disco.system import shell_limits

_NEEDED = {"v": 2_800_000_000, "d": 800_000_000}  # bytes of the libraries before they see a table, by ulimit's options


def check_limits() -> None:
    """Refuse to begin where a limit of the shell leaves too little memory for the libraries.

    Beyond it some of them end the process, wait for ever, or take a whole file for a damaged one.

    Raises:
        InputError: a limit is too low; the message says which, and how to raise it.
    """
    for option, limit in shell_limits().items():
        needed = _NEEDED[option]
        if limit < needed:
            raise InputError(
                f"this shell leaves {limit / 1e9:.1f} GB of memory (ulimit -{option}), and {needed / 1e9:.1f} GB are "
                f"needed: set ulimit -{option} unlimited, or start from another shell."
            )
