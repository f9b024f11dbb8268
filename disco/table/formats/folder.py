"""A folder of matrix.mtx, features.tsv and barcodes.tsv as one ZIP, which is read like an uploaded one."""

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO

from disco.files import open_regular
from disco.table.formats.limits import MOST_BYTES_IN_PIECES, NotATable

PARTS = (("matrix.mtx",), ("features.tsv", "genes.tsv"), ("barcodes.tsv",))  # each also with .gz
NEEDED = " needs matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv in one folder, each also as .gz"


def endings(names: tuple[str, ...]) -> list[str]:
    """The possible names of a part."""
    return [f"{name}{ending}" for name in names for ending in (".gz", "")]


def packed(folder: Path) -> BinaryIO:
    """The three files of a folder in a temporary ZIP, deleted when it is closed.

    Raises:
        NotATable: a file is missing.
        InputError: a file cannot be read, or is too large.
    """
    found = [[folder / name for name in endings(names) if (folder / name).exists()] for names in PARTS]
    if not all(found):
        missing = next(names for names, paths in zip(PARTS, found, strict=True) if not paths)
        raise NotATable(f" is a folder without {' or '.join(missing)}: it{NEEDED}.")
    target = tempfile.TemporaryFile()
    with zipfile.ZipFile(target, "w") as archive:
        for paths in found:
            with (
                open_regular(paths[0], MOST_BYTES_IN_PIECES) as source,
                archive.open(paths[0].name, "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(source, member, 1 << 20)
    target.seek(0)
    return target
