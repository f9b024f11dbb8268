"""Refuse at once a shell whose memory limit is too low for the libraries."""

from disco.errors import InputError
from disco.system import shell_limits

_NEEDED = {"v": 2_800_000_000, "d": 800_000_000}  # bytes of the libraries without a table, by ulimit's options


def check_limits() -> None:
    """InputError if a limit of the shell leaves too little memory for the libraries, with the way to raise it.

    Below it, some libraries end the process, wait forever, or report an intact file as damaged.
    """
    for option, limit in shell_limits().items():
        needed = _NEEDED[option]
        if limit < needed:
            raise InputError(
                f"this shell leaves {limit / 1e9:.1f} GB of memory (ulimit -{option}), and {needed / 1e9:.1f} GB are "
                f"needed: set ulimit -{option} unlimited, or start from another shell."
            )
