"""The parameters of a family: numbers with a range and a default."""

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any

from disco.errors import InputError


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family, with an inclusive range."""

    label: str
    default: float
    low: float
    high: float
    whole: bool = False

    def check(self, name: str, value: Any) -> float:
        """The value as a number.

        Raises:
            InputError: it is not a number, or outside the range.
        """
        number = not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
        if not number or not self.low <= value <= self.high or (self.whole and value != round(value)):
            kind = "a whole number" if self.whole else "a number"
            raise InputError(
                f'"{name}" ({self.label}) must be {kind} from {self.low:g} to {self.high:g}; got {value!r}.'
            )
        return int(value) if self.whole else float(value)


def parameter(label: str, default: float, low: float, high: float, whole: bool = False) -> Any:
    """A field of a law that users can set."""
    return dataclasses.field(default=default, metadata={"parameter": Parameter(label, default, low, high, whole)})


def parameters_of(law: type) -> dict[str, Parameter]:
    """The parameters of a law by name."""
    return {item.name: item.metadata["parameter"] for item in dataclasses.fields(law)}
