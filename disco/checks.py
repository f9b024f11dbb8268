"""Validation of dataclass fields: declared beside each field, checked in one place, with a one-sentence error.

    @dataclass(frozen=True)
    class Settings:
        folds: int = whole(3, at_least=2)
        pi_min: float = share(1.0, above=0)
        transform: str = one_of("rank", ("rank", "quantile", "none"))

        def __post_init__(self) -> None:
            check(self)

A `Demand` is a test of a value and the words that follow "must" in the error.
"""

import dataclasses
import math
import numbers
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from disco.errors import InputError, printable

Demand = tuple[Callable[[Any], bool], str]
_LONGEST = 200  # characters of a refused value in a message


@dataclass(frozen=True)
class _Rule:
    """The demands on a field.

    Attributes:
        demands: in the order of checking.
        optional: whether it may also be None.
        values: the allowed words; empty for other fields.
        quote: put around a refused word in the error.
    """

    demands: tuple[Demand, ...]
    optional: bool = False
    values: tuple[str, ...] = ()
    quote: str = "'"


def whole(default: int | None, *, at_least: int, at_most: int | None = None, optional: bool = False) -> Any:
    """A field for a whole number in a range; with `optional`, None too."""
    if at_most is not None:
        return _field(default, _Rule((between(at_least, at_most, whole=True),), optional))
    kind: Demand = (is_whole, f"be a whole number{' or none' if optional else ''}")
    return _field(default, _Rule((kind, _at_least(at_least)), optional))


def number(
    default: float, *, at_least: float | None = None, above: float | None = None, at_most: float | None = None
) -> Any:
    """A field for a finite number in a range; `at_most` goes with `at_least`."""
    if at_least is not None and at_most is not None:
        return _field(default, _Rule((between(at_least, at_most),)))
    bounds = () if at_least is None else (_at_least(at_least),)
    return _field(default, _Rule((*_NUMBER, *bounds, *_above(above))))


def share(default: float, *, above: float | None = None) -> Any:
    """A field for a number between 0 and 1."""
    return _field(default, _Rule((*_NUMBER, *_above(above), (lambda value: 0 <= value <= 1, "lie between 0 and 1"))))


def flag(default: bool) -> Any:
    """A field for true or false."""
    return _field(default, _Rule(((lambda value: isinstance(value, bool), "be true or false"),)))


def one_of(default: str, values: Iterable[str], quote: str = "'") -> Any:
    """A field for one of some words; `quote` is put around a refused word in the error."""
    known = tuple(values)
    return _field(default, _Rule((among(known),), values=known, quote=quote))


def among(words: Iterable[str]) -> Demand:
    """The demand to be one of some words."""
    known = tuple(words)
    return lambda value: isinstance(value, str) and value in known, f"be one of {', '.join(known)}"


def between(low: float, high: float, whole: bool = False) -> Demand:
    """The demand to be a number, or a whole number, from `low` to `high`."""
    if whole:
        return lambda value: is_whole(value) and low <= value <= high, f"be a whole number from {low:,} to {high:,}"
    return lambda value: is_number(value) and low <= value <= high, f"be a number from {low:g} to {high:g}"


def whole_from(least: int) -> Demand:
    """The demand to be a whole number of at least `least`."""
    return lambda value: is_whole(value) and value >= least, f"be a whole number from {least} up"


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value has a type of whole numbers; True, False and 2.0 do not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def require(name: str, value: Any, *demands: Demand, quote: str = "'") -> None:
    """Refuse a value that does not meet a demand.

    Raises:
        InputError: a demand is not met; the message says what `name` must be, and what it is.
    """
    for holds, words in demands:
        if not holds(value):
            written = shown(value) if quote == "'" else f"{quote}{printable(str(value), _LONGEST)}{quote}"
            raise InputError(f"{name} must {words}; got {written}.")


def require_types(**given: tuple[Any, type | types.UnionType]) -> None:
    """Refuse an argument of a wrong type; each is given with its type, as `choice=(choice, Choice | None)`.

    Raises:
        InputError: an argument has another type; the message says what the first such one must be, and what it is.
    """
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            words = [one.__name__.replace("NoneType", "None") for one in typing.get_args(kind) or (kind,)]
            raise InputError(f"The argument {name} must be of type {' or '.join(words)}; got {a_thing(value)}.")


def shown(value: object) -> str:
    """A refused value for a message: as Python writes it, in one line and cut if long."""
    return printable(repr(value), _LONGEST)


def a_thing(value: object) -> str:
    """A value's type in words: a list, an int, None."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def check(settings: Any, *names: str) -> None:
    """Check the fields of a frozen dataclass that use the functions above: all, or those named.

    Raises:
        InputError: a value is not allowed; the message says what the first such field must be, and what it is.
    """
    for item in dataclasses.fields(settings):
        rule, value = item.metadata.get("rule"), getattr(settings, item.name)
        if rule is None or (names and item.name not in names) or (value is None and rule.optional):
            continue
        require(item.name, value, *rule.demands, quote=rule.quote)
        if is_number(value) and not isinstance(value, int | float):  # a NumPy number, which JSON cannot hold
            object.__setattr__(settings, item.name, int(value) if is_whole(value) else float(value))


def choices(settings: type) -> dict[str, tuple[str, ...]]:
    """The allowed words of each `one_of` field of a dataclass, by the field's name."""
    rules = {item.name: item.metadata["rule"] for item in dataclasses.fields(settings) if "rule" in item.metadata}
    return {name: rule.values for name, rule in rules.items() if rule.values}


_NUMBER: tuple[Demand, ...] = (
    (is_number, "be a number"),
    (lambda value: isinstance(value, int) or math.isfinite(value), "be a finite number"),
)


def _at_least(low: float) -> Demand:
    return lambda value: value >= low, f"be at least {low}"


def _above(low: float | None) -> tuple[Demand, ...]:
    return () if low is None else ((lambda value: value > low, f"be greater than {low}"),)


def _field(default: Any, rule: _Rule) -> Any:
    return dataclasses.field(default=default, metadata={"rule": rule})
