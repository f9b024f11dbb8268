"""Progress on stderr: a bar on a terminal, a line every few per cent elsewhere."""

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from disco.progress import Event

_BAR_WIDTH = 30
_REDRAW_SECONDS = 0.1
_LINE_SHARE = 0.05  # of the whole fit, between two plain lines


class Progress:
    """The callback of a fit in the foreground.

    Args:
        label: what stands before each line.
        stream: where to; stderr unless given.
    """

    def __init__(self, label: str = "", stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.label = f"{label}: " if label else ""
        self.bar = self.stream.isatty()
        self.first: tuple[float, float] | None = None
        self.drawn_at = self.line_at = 0.0
        self.stage = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar and self.drawn_at:
            self._write("\n")

    def ahead(self, place: int) -> None:
        """Say that the device is in use."""
        others = "another fit" if place == 1 else f"{place} other fits"
        self.say(f"waiting for the device, in use by {others}")

    def say(self, text: str) -> None:
        """Write a line of its own."""
        self._write(self._line(text))

    def say_from_handler(self, text: str) -> None:
        """`say` from a signal handler: past the stream, in whose middle the signal may have come."""
        with contextlib.suppress(OSError, ValueError):
            os.write(self.stream.fileno(), self._line(text).encode())

    def _line(self, text: str) -> str:
        clear = "\r\x1b[K" if self.bar else ""
        return f"{clear}{self.label}{text}\n"

    def __call__(self, event: "Event") -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = (now, event.progress)
            self.line_at = event.progress - _LINE_SHARE
        ended = event.done >= event.total
        if self.bar:
            if now - self.drawn_at >= _REDRAW_SECONDS or ended:
                self.drawn_at = now
                self._write(f"\r\x1b[K{self.label}{_bar(event.progress)} {self._words(event, now)}")
        elif event.stage != self.stage or event.progress - self.line_at >= _LINE_SHARE or event.progress >= 1:
            self.stage, self.line_at = event.stage, event.progress
            self._write(f"{self.label}{event.progress:4.0%}  {self._words(event, now)}\n")

    def _words(self, event: "Event", now: float) -> str:
        return f"{event.stage} {event.done}/{event.total}{self._left(event.progress, now)}"

    def _left(self, progress: float, now: float) -> str:
        """The time left at the pace so far."""
        since, at = self.first or (now, progress)
        if now - since < 1 or progress <= at:
            return ""
        return f", {duration((now - since) * (1 - progress) / (progress - at))} left"

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone is no reason to stop
            self.stream.write(text)
            self.stream.flush()


def duration(seconds: float) -> str:
    """12 s, 3 min 20 s, 2 h 5 min; at least 1 s."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _bar(share: float) -> str:
    full = round(min(max(share, 0.0), 1.0) * _BAR_WIDTH)
    return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {share:4.0%}"
