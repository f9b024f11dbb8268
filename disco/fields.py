"""Options: the fields of frozen dataclasses, each declared once beside the computation that uses it.

    @dataclass(frozen=True)
    class Settings:
        folds: int = whole(3, "Folds", "Each has its own networks.", at_least=2, flag="--folds")

        def __post_init__(self) -> None:
            check(self)

`check` validates the values, with a one-sentence error; a `Demand` is a test of a value and the words that follow
"must" in it. Command-line flags, widgets, scripts and fingerprints are made from `options(Settings)`.
"""

import dataclasses
import math
import numbers
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict, Unpack

from disco.errors import InputError, printable

Demand = tuple[Callable[[Any], bool], str]
_LONGEST = 200  # characters of a refused value in a message


class About(TypedDict, total=False):
    """What a field can declare besides values, label and help; the attributes of `Option` with the same names."""

    flag: str
    metavar: str
    group: str
    step: float
    resumes: bool
    older: Any


@dataclass(frozen=True)
class Option:
    """The declaration of a field.

    Attributes:
        label, help: its name, and what it does in one or more sentences. {A term} of docs/glossary.md stands for its
            definition.
        demands: on its value, in the order of checking.
        kind: int, float, bool, str, or object for any other value.
        optional: whether it may also be None.
        words: the allowed words, each with its label; empty for other fields.
        quote: put around a refused word in the error.
        low, high: the smallest and the largest number, if any.
        flag: on the command line; by default its name, but none in a class with `BY_SET = True`, which --set changes.
        metavar: the value in the help of that flag.
        group: the box of a page that shows it; empty if a page has placed it by hand.
        step: of the buttons of a number.
        resumes: whether unfinished work continues if it changes.
        older: what versions without it did, whether or not it is the default: their work continues with this value;
            ... if all versions have it.
    """

    label: str
    help: str
    demands: tuple[Demand, ...] = ()
    kind: type = object
    optional: bool = False
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    quote: str = "'"
    low: float | None = None
    high: float | None = None
    flag: str = ""
    metavar: str = ""
    group: str = ""
    step: float | None = None
    resumes: bool = False
    older: Any = ...
    name: str = ""
    default: Any = None

    @property
    def range(self) -> str:
        """The allowed values in words."""
        demands = [words for _, words in self.demands if self.kind is not float or words != "be a number"]
        return ", ".join(words.removeprefix("be ").removeprefix("lie ") for words in demands)

    def parse(self, text: str) -> Any:
        """The value that a text means; an invalid text is returned, for `check` to refuse."""
        if self.optional and text.lower() == "none":
            return None
        try:
            return {"true": True, "false": False}[text.lower()] if self.kind is bool else self.kind(text)
        except (ValueError, KeyError):
            return text

    def write(self, value: Any) -> str:
        """The text that means a value."""
        return "none" if value is None else str(value)


@cache
def options(declared: type) -> dict[str, Option]:
    """The options of a dataclass by the names of its fields, in their order."""
    has_flags = not getattr(declared, "BY_SET", False)
    declarations = dict[str, Option]()
    for item in dataclasses.fields(declared):
        if (option := item.metadata.get("option")) is not None:
            flag = option.flag or (f"--{item.name.replace('_', '-')}" if has_flags else "")
            label = option.label or item.name.replace("_", " ").capitalize()
            usual = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
            declarations[item.name] = dataclasses.replace(option, name=item.name, default=usual, flag=flag, label=label)
    return declarations


def changed(settings: Any, usual: Any = None) -> dict[str, Any]:
    """The fields of a dataclass that differ from those of another one, by default from the defaults."""
    usual = type(settings)() if usual is None else usual
    return {name: value for name, value in vars(settings).items() if value != getattr(usual, name)}


def older(declared: type) -> dict[str, Any]:
    """The values of the options that versions without them had, by name."""
    return {name: option.older for name, option in options(declared).items() if option.older is not ...}


def fingerprint(settings: Any) -> dict[str, Any]:
    """The values of a dataclass's options with which unfinished work continues."""
    declared, values = options(settings.__class__), vars(settings)
    return {
        name: values[name] for name, option in declared.items() if not (option.resumes or option.older == values[name])
    }


def continues(settings: Any, stored: Mapping[str, Any]) -> bool:
    """Whether unfinished work with stored values, perhaps of an older version, continues with a dataclass's values."""
    values = {**older(settings.__class__), **stored}
    return all(
        option.resumes or values.get(name) == getattr(settings, name)
        for name, option in options(settings.__class__).items()
    )


def whole(
    default: int | None,
    label: str = "",
    help: str = "",
    *,
    at_least: int = 0,
    within: tuple[int, int] | None = None,
    optional: bool = False,
    **about: Unpack[About],
) -> Any:
    """A field for a whole number from `at_least` up, or `within` two; with `optional`, None too."""
    low, high = within or (at_least, None)
    kind: Demand = (is_whole, f"be a whole number{' or none' if optional else ''}")
    demands = (kind, _at_least(low)) if high is None else (between(low, high, whole=True),)
    return _field(default, Option(label, help, demands, int, optional, low=low, high=high, **about))


def number(
    default: float,
    label: str = "",
    help: str = "",
    *,
    at_least: float | None = None,
    above: float | None = None,
    within: tuple[float, float] | None = None,
    **about: Unpack[About],
) -> Any:
    """A field for a finite number of at least another, above it, or `within` two."""
    low, high = within or (above if at_least is None else at_least, None)
    bounds = (() if at_least is None else (_at_least(at_least),)) + _above(above)
    demands = (*_NUMBER, *bounds) if within is None else (between(*within),)
    return _field(default, Option(label, help, demands, float, low=low, high=high, **about))


def share(
    default: float, label: str = "", help: str = "", *, above: float | None = None, **about: Unpack[About]
) -> Any:
    """A field for a number between 0 and 1."""
    demands = (*_NUMBER, *_above(above), (lambda value: 0 <= value <= 1, "lie between 0 and 1"))
    return _field(default, Option(label, help, demands, float, low=0, high=1, **about))


def boolean(default: bool, label: str = "", help: str = "", **about: Unpack[About]) -> Any:
    """A field for true or false."""
    return _field(default, Option(label, help, (_BOOL,), bool, **about))


def one_of(
    default: str | None,
    values: Iterable[str],
    label: str = "",
    help: str = "",
    *,
    optional: bool = False,
    quote: str = "'",
    **about: Unpack[About],
) -> Any:
    """A field for one of some words, with their labels if `values` is a mapping; with `optional`, None too."""
    words = dict(values) if isinstance(values, Mapping) else {value: value.capitalize() for value in values}
    return _field(default, Option(label, help, (among(words),), str, optional, words, quote=quote, **about))


def anything(default: Any, label: str = "", help: str = "", **about: Unpack[About]) -> Any:
    """A field that its class checks itself; a mutable default is a function that makes it."""
    return _field(default, Option(label, help, **about))


def among(words: Iterable[str]) -> Demand:
    """The demand to be one of some words."""
    allowed = tuple(words)
    return lambda value: isinstance(value, str) and value in allowed, f"be one of {', '.join(allowed)}"


def between(low: float, high: float, whole: bool = False) -> Demand:
    """The demand to be a number, or a whole number, from `low` to `high`."""
    if whole:
        return lambda value: is_whole(value) and low <= value <= high, f"be a whole number from {low:,} to {high:,}"
    return lambda value: is_number(value) and low <= value <= high, f"be a number from {low:g} to {high:g}"


def whole_from(minimum: int) -> Demand:
    """The demand to be a whole number of at least `minimum`."""
    return lambda value: is_whole(value) and value >= minimum, f"be a whole number from {minimum} up"


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value has a type of whole numbers; True, False and 2.0 do not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def require(name: str, value: Any, *demands: Demand, quote: str = "'") -> None:
    """Refuse a value that does not meet a demand; the `InputError` says what `name` must be, and what it is."""
    for holds, words in demands:
        if not holds(value):
            written = shown(value) if quote == "'" else f"{quote}{printable(str(value), _LONGEST)}{quote}"
            raise InputError(f"{name} must {words}; got {written}.")


def require_types(**arguments: tuple[Any, type | types.UnionType]) -> None:
    """Refuse, with an `InputError`, an argument of a wrong type; each is given with its type: `choice=(choice, Choice |
    None)`.
    """
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            words = [
                allowed_type.__name__.replace("NoneType", "None") for allowed_type in typing.get_args(kind) or (kind,)
            ]
            raise InputError(f"The argument {name} must be of type {' or '.join(words)}; got {a_thing(value)}.")


def shown(value: object) -> str:
    """A refused value for a message: as Python writes it, in one line and cut if long."""
    return printable(repr(value), _LONGEST)


def a_thing(value: object) -> str:
    """A value's type in words: a list, an int, None."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def check(settings: Any, *names: str) -> None:
    """Check all fields, or those named, of a frozen dataclass that use the functions above.

    The `InputError` says what the first field with an invalid value must be, and what it is.
    """
    for name, option in options(settings.__class__).items():
        value = getattr(settings, name)
        if (names and name not in names) or (value is None and option.optional):
            continue
        require(name, value, *option.demands, quote=option.quote)
        is_of_numpy = is_number(value) and not isinstance(value, int | float)  # JSON cannot hold it
        if option.demands and is_of_numpy:
            object.__setattr__(settings, name, int(value) if is_whole(value) else float(value))


_BOOL: Demand = (lambda value: isinstance(value, bool), "be true or false")
_NUMBER: tuple[Demand, ...] = (
    (is_number, "be a number"),
    (lambda value: isinstance(value, int) or math.isfinite(value), "be a finite number"),
)


def _at_least(low: float) -> Demand:
    return lambda value: value >= low, f"be at least {low}"


def _above(low: float | None) -> tuple[Demand, ...]:
    return () if low is None else ((lambda value: value > low, f"be greater than {low}"),)


def _field(default: Any, option: Option) -> Any:
    metadata = {"option": option}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)
