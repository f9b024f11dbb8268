"""The memory that a shell leaves: said at once where it is too little for the libraries."""

import resource

from disco.errors import InputError

_NEEDED = (  # bytes that the libraries take before they see a table, by the limits of a shell
    (resource.RLIMIT_AS, "v", 2_800_000_000),
    (resource.RLIMIT_DATA, "d", 800_000_000),
)


def check_limits() -> None:
    """Refuse to begin where a limit of the shell leaves too little memory for the libraries.

    Beyond it some of them end the process, wait for ever, or take a whole file for a damaged one.

    Raises:
        InputError: a limit is too low; the message says which, and how to raise it.
    """
    for which, option, needed in _NEEDED:
        most = resource.getrlimit(which)[0]
        if most != resource.RLIM_INFINITY and most < needed:
            raise InputError(
                f"this shell leaves {most / 1e9:.1f} GB of memory (ulimit -{option}), and {needed / 1e9:.1f} GB are "
                f"needed: set ulimit -{option} unlimited, or start from another shell."
            )
