"""Whole numbers of large tables in 4 bytes each, half of the usual."""

import pyarrow as pa

FROM_CELLS = 20_000_000  # smaller tables keep 8 bytes: 160 MB at most
_NARROW = pa.int32()


def compact(cells: pa.Array) -> pa.Array:
    """The same whole numbers as int32 if all fit; other cells as they are."""
    if not pa.types.is_integer(cells.type) or cells.type.bit_width <= _NARROW.bit_width:
        return cells
    try:
        return cells.cast(_NARROW)
    except pa.ArrowInvalid:
        return cells


def widest(pieces: list[pa.Array]) -> pa.ChunkedArray:
    """One column from its pieces, which have one type except for the width of whole numbers."""
    kind = max((piece.type for piece in pieces), key=lambda kind: kind.bit_width if pa.types.is_integer(kind) else 0)
    return pa.chunked_array([piece.cast(kind) for piece in pieces], kind)
