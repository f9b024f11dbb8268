"""Fixtures of the tests of tables."""

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pytest
from refusals import parse

from disco.progress import Reporter
from disco.table.formats.reading import Reading


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are parsed in this process, which saves starting another."""

    def parsed(file: BinaryIO, suffix: str, reading: Reading, reporter: Reporter) -> Iterator[pa.Table]:
        yield parse(file, suffix, reading)

    monkeypatch.setattr("disco.table.read.parse_apart", parsed)
