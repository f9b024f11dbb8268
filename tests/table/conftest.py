"""Fixtures of the tests of tables."""

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pytest

from disco.progress import Reporter
from disco.table.formats.archive import unwrapped
from disco.table.formats.catalogue import MATRICES
from disco.table.formats.parsing import parse
from disco.table.formats.reading import Reading


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are parsed in this process, which saves starting another."""

    def parsed(file: BinaryIO, suffix: str, reading: Reading, reporter: Reporter) -> Iterator[pa.Table]:
        content, inner = unwrapped(file, suffix)
        yield parse(content if inner in MATRICES else content.read(), inner, reading)

    monkeypatch.setattr("disco.table.read.parse_apart", parsed)
