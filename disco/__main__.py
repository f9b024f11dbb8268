"""disco COMMAND, or `python -m disco COMMAND`: the commands of `disco.commands`.

Exit status: 0; 2 for bad input or usage, with one sentence on stderr; 130 when interrupted; the run can be resumed.
Results go to stdout, progress to stderr.
"""

import os
import sys
from collections.abc import Sequence

from disco.errors import FitStopped, InputError, ScoreUnavailable, is_of_memory

_RAN_OUT = "disco: the memory ran out: end other programs, raise a limit set by ulimit, or give fewer rows or columns."
USAGE_EXIT, INTERRUPTED_EXIT = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        from disco.apart import collect_rarely
        from disco.cli.memory import check_limits
        from disco.commands import parse

        collect_rarely()
        arguments = parse(argv)
        check_limits()
        if cluster := getattr(arguments, "cluster", None):
            os.environ["DISCO_CLUSTER"] = cluster  # for this process and those that it starts
        arguments.run_command(arguments)
        sys.stdout.flush()
    except (InputError, ScoreUnavailable) as error:
        return _tell(f"disco: {error}", USAGE_EXIT)
    except FitStopped as stop:
        return _tell(f"disco: {stop}", INTERRUPTED_EXIT)
    except KeyboardInterrupt:
        return _tell("disco: interrupted.", INTERRUPTED_EXIT)
    except BrokenPipeError:  # `disco graph RUN | head`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        if is_of_memory(error):
            return _tell(_RAN_OUT, USAGE_EXIT)
        if not isinstance(error, OSError):
            raise
        from disco.files import remedy  # a full disk, a folder without write access, a name that is too long

        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return _tell(f"disco: {where}{error.strerror or error}; {remedy(error)}.", USAGE_EXIT)
    return 0


def _tell(text: str, status: int) -> int:
    from disco.cli.saying import say, sentence

    say(sentence(" ".join(text.split())), to=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
