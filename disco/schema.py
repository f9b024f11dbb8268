"""The required content of a run's files, checked on reading: a folder may be damaged, or come from a stranger."""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import numpy as np
import pandas as pd

from disco.columns import DIRECTIONS, FIT_AGAIN, RULES, SOURCES, WORDS, Schema
from disco.errors import InputError
from disco.files import read_frame

_LARGEST = 2**53  # beyond this, floats cannot represent every whole number
_HUGE = 1e100  # the square of a larger number may overflow
_SHOWN = 40  # longest value shown in an error, in characters
_Record = TypeVar("_Record")


def damaged(path: Path, what: object, remedy: str = FIT_AGAIN) -> InputError:
    """The error for a file of a run that cannot be used; `what` is wrong with it, in words or as an error."""
    return InputError(f"{path} is damaged: {str(what).rstrip('.')}. Restore the file, or {remedy}.")


def missing(path: Path, remedy: str = FIT_AGAIN) -> InputError:
    """The error for a file that a run lacks."""
    return InputError(f"{path} is missing: restore the file, or {remedy}.")


def unfit(path: Path, remedy: str = FIT_AGAIN) -> InputError:
    """The error for a file of a run that does not fit into the free memory, damaged or not."""
    return InputError(f"{path} needs more memory than is free: end other programs, restore the file, or {remedy}.")


def shown(value: object) -> str:
    """A value for a message: short, and without control characters."""
    text = repr(value) if not isinstance(value, int) or abs(value) < _LARGEST else "a huge number"
    text = "nothing" if value is None else text
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def check_kept(values: Mapping[str, Any]) -> None:
    """Refuse numbers that a run could not read back: beyond some size, floats cannot represent every whole number.

    The `InputError` names the number.
    """
    for name, value in values.items():
        if isinstance(value, int | float) and not abs(value) < _LARGEST:
            raise InputError(f"{name} must be below {_LARGEST:,} for a run to keep it; got {value}.")


def is_text(text: str) -> bool:
    """Whether a text can be displayed: JSON allows lone surrogates, which cannot be sent to a page."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Records: dataclasses from JSON ------------------------------------------------------------------------------------


def record(kind: type[_Record], values: Mapping[str, Any]) -> _Record:
    """A dataclass from JSON, each value of its field's type; unknown fields are ignored.

    Numbers are limited: whole ones to be exact, others for their squares to be finite. A ValueError names the first
    value of another type.
    """
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]  # typing has no name for "any dataclass"
    kinds = {field.name: field.type for field in fields}
    content = {name: value for name, value in values.items() if name in kinds}
    for name, value in content.items():
        if not fits(value, kinds[name]):
            raise ValueError(f"{name} is {shown(value)}")
    try:
        return kind(**content)
    except TypeError as error:
        raise ValueError(f"a value is missing ({error})") from None


def fits(value: Any, kind: Any) -> bool:
    """Whether a value from JSON has an annotated type."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, item) for item in inside)
    if origin is dict:
        return isinstance(value, dict) and all(fits(item, inside[1]) for item in value.values())
    if origin in (list, tuple):
        return isinstance(value, list) and all(fits(item, inside[0]) for item in value)
    if kind in (None, types.NoneType):
        return value is None
    if kind in (int, float):
        allowed = (int, float) if kind is float else int
        is_number = isinstance(value, allowed) and not isinstance(value, bool)
        return is_number and abs(value) < (_LARGEST if isinstance(value, int) else _HUGE)
    return isinstance(value, kind)


# Frames ------------------------------------------------------------------------------------------------------------


_CHOICES = {"direction": DIRECTIONS, "rule": RULES, "source": SOURCES}
_SHARES = ("share", "loose share")
_NUMBERS = {
    "whole": "is not a whole number from 0 up",
    "any": "is not a number",
    **dict.fromkeys(_SHARES, "is not a number from 0 to 1"),
}


def read(path: Path, schema: Schema, nodes: Sequence[str], max_rows: int) -> pd.DataFrame:
    """The frame of a CSV file, every column converted to its kind; the `InputError` has its path and a remedy.

    `nodes` are the columns of the table.
    """
    words = [name for name, kind in schema.kinds.items() if kind in WORDS]
    try:
        frame = read_frame(path, words, list(schema.kinds), max_rows + 1)
    except FileNotFoundError:
        raise missing(path, schema.remedy) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}): {schema.remedy}.") from None
    except InputError:
        raise
    except MemoryError:
        raise unfit(path, schema.remedy) from None
    except ValueError as error:
        raise damaged(path, f"it is not a readable CSV table ({' '.join(str(error).split())})", schema.remedy) from None
    try:
        return checked(frame, schema, set(nodes), max_rows)
    except ValueError as error:
        raise damaged(path, str(error), schema.remedy) from None


def checked(frame: pd.DataFrame, schema: Schema, nodes: set[str], max_rows: int) -> pd.DataFrame:
    """The frame with the schema's columns, each converted to its kind; ValueError if that is impossible."""
    for column in schema.columns:
        if column.name not in frame and not column.optional:
            raise ValueError(f"it has no column {column.name}")
    if len(frame) > max_rows:
        raise ValueError(f"it has more than {max_rows:,} rows")
    if frame.empty and not schema.empty:
        raise ValueError("it has no rows")
    kinds = schema.kinds
    frame = pd.DataFrame({name: _column(frame[name], kinds[name], nodes) for name in frame if name in kinds})
    again = frame.duplicated(list(schema.key)).to_numpy() if schema.key else np.zeros(1, bool)
    if again.any():
        raise ValueError(f"row {int(again.argmax()) + 1} repeats the {' and '.join(schema.key)} of an earlier row")
    return frame


def _column(column: pd.Series, kind: str, nodes: set[str]) -> pd.Series:
    """A column converted to its kind; ValueError with the first row that does not fit."""
    if kind == "word":
        _refuse(column, (column == "").to_numpy(), "is empty")
        return column
    if kind == "label":
        return column
    if choices := _CHOICES.get(kind):
        listed = ", ".join(filter(None, choices)) + (", or empty" if "" in choices else "")
        _refuse(column, ~column.isin(choices).to_numpy(), f"is not one of {listed}")
        return column
    if kind == "node":
        _refuse(column, ~column.isin(nodes).to_numpy(), "is not a column of the table")
        return column
    if kind == "flag":
        if column.dtype != bool:
            _refuse(column, ~column.isin([True, False, "True", "False"]).to_numpy(), "is neither True nor False")
        return column.isin([True, "True"])
    # A boolean or a word in place of a number becomes NaN.
    is_number = column.dtype.kind in "iuf"
    values = (column if is_number else pd.to_numeric(column.astype("str"), errors="coerce")).to_numpy(float)
    bad = np.isnan(values)
    if kind in ("loose", "loose share", "any"):
        bad &= column.notna().to_numpy()
    with np.errstate(invalid="ignore"):
        if kind != "any":
            bad |= np.abs(values) >= _HUGE
        if kind in _SHARES:
            bad |= (values < 0) | (values > 1)
        if kind == "whole":
            bad |= (values < 0) | (values >= _LARGEST) | (values % 1 != 0)
    _refuse(column, bad, _NUMBERS.get(kind, "is not a finite number, or is too large"))
    return pd.Series(values.astype("int64") if kind == "whole" else values, index=column.index)


def _refuse(column: pd.Series, bad: np.ndarray, what: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"column {column.name}, row {row + 1}: {shown(column.iloc[row])} {what}")


def check_order(path: Path, frame: pd.DataFrame, nodes: Sequence[str], remedy: str = FIT_AGAIN) -> list[str]:
    """The nodes by position, source first; checked to be the table's columns, each exactly once."""
    placed = frame.sort_values("position")
    if placed["position"].tolist() != list(range(1, len(nodes) + 1)):
        raise damaged(path, f"its positions are not 1 to {len(nodes)}", remedy)
    return placed["node"].tolist()


def check_edges(path: Path, edges: pd.DataFrame, order: Sequence[str], remedy: str = FIT_AGAIN) -> pd.DataFrame:
    """The edges, checked to agree with the order."""
    index = {node: number for number, node in enumerate(order)}
    against = edges["parent"].map(index).to_numpy() >= edges["child"].map(index).to_numpy()
    if len(edges) and against.any():
        parent, child = edges.iloc[int(against.argmax())][["parent", "child"]]
        raise damaged(path, f"its edge from {shown(parent)} to {shown(child)} runs against the order", remedy)
    return edges
