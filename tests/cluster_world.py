"""What the parts do in tests of a cluster; workers import this module."""

import os
import signal
import time
from pathlib import Path

from disco.errors import InputError
from disco.progress import Reporter, Sketch


def total(numbers, part: int, reporter: Reporter) -> int:
    """A part that asks whether to continue."""
    reporter.check()
    return int(numbers.sum()) + part


def steps(part: int, reporter: Reporter) -> int:
    """A part that reports; returns how many steps it made."""
    for number in range(part):
        if reporter.has_enough:
            return number
        reporter.step("steps", number, part, message=f"step {number}", graph=Sketch(["a", "b"], [("a", "b", 1.5)]))
        time.sleep(0.02)
    return part


def noted(folder: Path, part: str, reporter: Reporter) -> None:
    """A part that notes every step in a file, until it is stopped."""
    while True:
        with open(folder / part, "a") as file:
            file.write(".")
        reporter.step("steps", 0, 1)
        time.sleep(0.02)


def killed_once(folder: Path, part: int, reporter: Reporter) -> int:
    """A part whose first worker dies."""
    mark = folder / f"killed {part}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def killing(part: int, reporter: Reporter) -> None:
    """A part that kills every worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def refusing(part: int, reporter: Reporter) -> None:
    """A part that fails with a sentence."""
    raise InputError(f"The part {part} cannot be used.")
