"""A problem of a table, and many of them in few lines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from disco.words import how_many, listed, series

_NAMED = 8
_OF_ONE = {"Leave it out": "Leave them out", "Its position in the order is": "Their positions in the order are"}


@dataclass(frozen=True)
class Problem:
    """One problem of a table, or a note about it.

    Attributes:
        column: the column's name, None for the table as a whole.
        row: the first row concerned, its number from 1; None for a whole column or table.
        message: a full sentence that names the column and the row.
        remedy: a full sentence that says what to do.
        blocking: whether it must be solved before the table can be used; otherwise it is a note.
        kind: "identifier"; "name", missing or repeated; "names", the first row may have been read as names; "columns",
            too few of them; "file", how it was read; or "".
        fault: what several columns with this problem have, such as "blank cells"; "" if each is described alone.
        example: the cell that shows the fault; "" if it says no more.
    """

    column: str | None
    row: int | None
    message: str
    remedy: str
    blocking: bool = True
    kind: str = ""
    fault: str = ""
    example: str = ""


def in_lines(
    found: Iterable[Problem], code: Callable[[str], str] = '"{}"'.format, plain: Callable[[str], str] = str
) -> list[str]:
    """One line for all problems that differ only in the column.

    Args:
        code: a column's name as it is shown.
        plain: a sentence as it is shown.
    """
    alike: dict[tuple[str, str], list[Problem]] = {}
    for problem in found:
        words = problem.fault or problem.message.replace(f'"{problem.column}"', "", 1)
        alike.setdefault((words, problem.remedy), []).append(problem)
    return [f"{_said(those, code, plain)} {plain(_remedy(those))}".rstrip() for those in alike.values()]


def _said(those: Sequence[Problem], code: Callable[[str], str], plain: Callable[[str], str]) -> str:
    """Problems with the same fault in a sentence: one as it is, several by the names of their columns."""
    first, count = those[0], len(those)
    if count > 1 and first.fault:
        examples = [one.example for one in those if one.example]
        telling = [one for one in examples if any(map(str.isdigit, one)) and not any(map(str.isalpha, one))]
        such = f', such as "{plain((telling or examples)[0])}"' if examples else ""
        names = named([str(one.column) for one in those], code)
        return f"{how_many(count, 'column')} have {first.fault}{such}: {names}."
    more = f" The same holds for {how_many(count - 1, 'more column')}." if count > 1 else ""
    return f"{plain(first.message)}{more}"


def _remedy(those: Sequence[Problem]) -> str:
    """The remedy of problems with the same fault, in the plural for several columns."""
    remedy = those[0].remedy
    for one, several in _OF_ONE.items() if len(those) > 1 else ():
        remedy = remedy.replace(one, several)
    return remedy


def named(names: Sequence[str], code: Callable[[str], str]) -> str:
    """The names of columns in a sentence: `a`, `b` and `c`; only the first if there are many."""
    shown = [code(name) for name in names]
    return series(shown) if len(shown) <= _NAMED else listed(shown, _NAMED)
