"""Progress on stderr: a bar on a terminal, otherwise a line every few per cent."""

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

from disco.errors import printable
from disco.words import duration

if TYPE_CHECKING:
    from disco.progress import Event

_BAR_WIDTH = 30
_REDRAW_SECONDS = 0.1
_LINE_SHARE = 0.05  # smallest share of the fit between two plain lines


class Progress:
    """The callback of work in the foreground; `label` precedes each line."""

    def __init__(self, label: str = "", stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.label = f"{label}: " if label else ""
        self.bar = self.stream.isatty()
        self.first: tuple[float, float] | None = None
        self.drawn_at = self.line_at = 0.0
        self.stage = self.waiting = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar and self.drawn_at:
            self._write("\n")

    def say(self, text: str) -> None:
        """Write a separate line."""
        self._write(self._line(text))

    def say_from_handler(self, text: str) -> None:
        """`say` from a signal handler: it bypasses the stream, since the signal may have interrupted a write."""
        with contextlib.suppress(OSError, ValueError):
            os.write(self.stream.fileno(), self._line(text).encode())

    def _line(self, text: str) -> str:
        clear = "\r\x1b[K" if self.bar else ""
        return f"{clear}{self.label}{printable(text)}\n"

    def __call__(self, event: "Event") -> None:
        if event.stage == "queue":
            self._wait(event.message)
            return
        clock = time.monotonic()
        if self.first is None:
            self.first = (clock, event.progress)
            self.line_at = event.progress - _LINE_SHARE
        ended = event.done >= event.total
        if self.bar:
            if clock - self.drawn_at >= _REDRAW_SECONDS or ended:
                self.drawn_at = clock
                self._write(f"\r\x1b[K{self.label}{_bar(event.progress)} {self._words(event, clock)}")
        elif event.stage != self.stage or event.progress - self.line_at >= _LINE_SHARE or event.progress >= 1:
            self.stage, self.line_at = event.stage, event.progress
            self._write(f"{self.label}{event.progress:4.0%}  {self._words(event, clock)}\n")

    def _wait(self, words: str) -> None:
        if words and words != self.waiting:
            self.say(words)
        self.waiting = words

    def _words(self, event: "Event", clock: float) -> str:
        return f"{event.stage} {event.done}/{event.total}{self._remaining(event.progress, clock)}"

    def _remaining(self, progress: float, clock: float) -> str:
        """The remaining time at the pace so far."""
        since, at = self.first or (clock, progress)
        if clock - since < 1 or progress <= at:
            return ""
        return f", {duration((clock - since) * (1 - progress) / (progress - at))} left"

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal must not stop the work
            self.stream.write(text)
            self.stream.flush()


def _bar(share: float) -> str:
    full = round(min(max(share, 0.0), 1.0) * _BAR_WIDTH)
    return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {share:4.0%}"
