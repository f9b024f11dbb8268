"""Read BIOM tables of samples and features, such as taxa: version 1 in JSON, version 2 in HDF5, and BIOM as text.

The format is described at https://biom-format.org. Metadata, such as a taxonomy, are left out.
"""

import json
import re
from typing import Any

import h5py
import numpy as np
import pyarrow as pa

from disco.table.formats import hdf5, text
from disco.table.formats.header import BIOM
from disco.table.formats.limits import MOST_NAME, NotATable
from disco.table.formats.matrix import Blocks, Matrix, check_once, check_size, dense_blocks, distinct
from disco.table.formats.reading import Reading

_TAXONOMY = re.compile(r"(?i)taxonomy|consensus ?lineage")
_WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
_DAMAGED = " cannot be read as BIOM in JSON: it is damaged, or of another version. Convert it to HDF5 or to text."


def read(file: h5py.File) -> Matrix:
    """The matrix of version 2; NotATable if it is damaged or too large."""
    features, samples = (hdf5.texts(hdf5.group_of(file, name), "ids") for name in ("observation", "sample"))
    group = hdf5.group_of(hdf5.group_of(file, "sample"), "matrix")
    check_size(len(samples), len(features), hdf5.numbers(group, "data").size)
    return _matrix(hdf5.compressed(group, len(samples), len(features)), samples, features)


def of_text(data: bytes) -> Matrix:
    """The matrix of a BIOM table as text or JSON; NotATable if it is neither, damaged or too large."""
    if match := BIOM.match(data[:2000]):
        return _of_lines(data[match.start("names") :])
    if not re.match(rb"(\xef\xbb\xbf)?\s*\{", data[:100]):
        raise NotATable(" is no BIOM table: neither HDF5, JSON nor text that begins with #OTU ID.")
    try:
        return _of_json(json.loads(data, object_pairs_hook=_unique))
    except _WRONG:
        raise NotATable(_DAMAGED) from None


def _of_lines(data: bytes) -> Matrix:
    """A line per feature, with a column per sample, and possibly one of the taxonomy."""
    table = text.read(data, Reading(separator="\t", above=0, names=1, below=0))
    names = table.column_names
    columns = [index for index in range(1, len(names)) if not _TAXONOMY.fullmatch(names[index])]
    check_size(len(columns), len(table), len(table) * len(columns))
    for index in columns:
        if not (pa.types.is_integer(kind := table.schema.types[index]) or pa.types.is_floating(kind)):
            raise NotATable(f': column "{names[index][:40]}" holds text where the counts of a sample belong.')
    values = np.stack([table.column(index).to_numpy() for index in columns])
    features = [str(name) for name in table.column(0).to_pylist()]
    return _matrix(lambda: dense_blocks(values), [names[index] for index in columns], features)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError if a key occurs twice."""
    if len(record := dict(pairs)) < len(pairs):
        raise ValueError
    return record


def _of_json(table: dict[str, Any]) -> Matrix:
    """Version 1: rows of features × samples, or lists of feature, sample and value; raises any of `_WRONG`."""
    features, samples = ([str(entry["id"]) for entry in table[name]] for name in ("rows", "columns"))
    if any(len(name) > MOST_NAME for name in (*features, *samples)):
        raise NotATable(f": a name in it is longer than {MOST_NAME} characters.")
    "".join([*features, *samples]).encode()  # half of a character cannot be written
    values, shape = np.array(table["data"], float), (len(features), len(samples))
    check_size(shape[1], shape[0], values.size)
    if "shape" in table and table["shape"] != [*shape]:
        raise NotATable(f" has names of {shape[0]:,} features and {shape[1]:,} samples, but another shape.")
    if table["matrix_type"] == "sparse":
        if values.size and values.shape[1:] != (3,):
            raise ValueError
        values = values.reshape(-1, 3)
        rows, columns = values[:, 0].astype(np.int64), values[:, 1].astype(np.int64)
        inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        if not inside.all() or (values[:, :2] % 1 != 0).any():
            raise NotATable(": a value of its matrix lies outside of it: it is damaged.")
        check_once(columns * shape[0] + rows)
        return _matrix(lambda: iter([(columns, rows, values[:, 2])]), samples, features)
    if values.shape != shape:
        size = " × ".join(f"{length:,}" for length in values.shape)
        raise NotATable(f" has a matrix of {size} for {shape[0]:,} features and {shape[1]:,} samples.")
    return _matrix(lambda: dense_blocks(values.T), samples, features)


def _matrix(blocks: Blocks, samples: list[str], features: list[str]) -> Matrix:
    note = "In this BIOM table samples are the rows; metadata, such as a taxonomy, were left out."
    return Matrix(blocks, samples, distinct(features), (note,), nouns=("sample", "feature"))
