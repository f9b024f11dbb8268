"""Read Stata's .dta."""

import io
import struct
import warnings

import pandas as pd
import pyarrow as pa

from disco.table.formats.catalogue import Source
from disco.table.formats.limits import MOST_CELLS, NotATable, check_shape, unreadable
from disco.table.formats.plain import with_facts

_DAMAGED = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, struct.error, StopIteration),
    *(OSError, EOFError, NotImplementedError, pa.ArrowException),
)


def read(source: Source) -> pa.Table:
    """The columns of a Stata file, with the values of labels. NotATable if it is damaged or too large."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pd.read_stata(io.BytesIO(source.data[:]), convert_categoricals=False, iterator=True) as reader:
                columns = len(reader.variable_labels())
                check_shape(1, columns)
                frame = reader.read(MOST_CELLS // max(columns, 1) + 1)
                labels = sorted(reader.value_labels())
        check_shape(len(frame), columns, MOST_CELLS)
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except _DAMAGED:
        raise NotATable(unreadable("Stata")) from None
    return with_facts(table, ["Labels of values were not taken: the numbers are as stored."] if labels else [])
