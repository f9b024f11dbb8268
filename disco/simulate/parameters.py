"""The parameters of a family: numbers with a range and a default."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from disco.checks import between, require


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
        if self.whole and isinstance(value, float) and value.is_integer():
            value = int(value)  # the command line gives floats
        require(f'"{name}" ({self.label})', value, between(self.low, self.high, self.whole))
        return int(value) if self.whole else float(value)


def parameter(label: str, default: float, low: float, high: float, whole: bool = False) -> Any:
    """A field of a law that users can set."""
    return dataclasses.field(default=default, metadata={"parameter": Parameter(label, default, low, high, whole)})


def parameters_of(law: type) -> dict[str, Parameter]:
    """The parameters of a law by name."""
    return {item.name: item.metadata["parameter"] for item in dataclasses.fields(law)}
