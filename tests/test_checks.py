"""What the fields of settings may hold, and the sentence where one does not."""

import json
from dataclasses import asdict, dataclass, fields

import numpy as np
import pytest

from disco.checks import check, choices, flag, number, one_of, share, whole
from disco.errors import InputError
from disco.refine.choice import Choice
from disco.settings import Settings
from disco.simulate import Design


@dataclass(frozen=True)
class Made:
    nodes: int = whole(5, at_least=2, at_most=5000)
    rows: int | None = whole(None, at_least=8, optional=True)
    rate: float = number(0.5, above=0)
    weight: float = number(1.0, at_least=0)
    spread: float = number(1.0, at_least=0.05, at_most=20)
    part: float = share(1.0, above=0)
    fast: bool = flag(False)
    shape: str = one_of("flat", ("flat", "steep"))
    free: object = None

    def __post_init__(self) -> None:
        check(self)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"nodes": 1}, "nodes must be a whole number from 2 to 5,000; got 1."),
        ({"nodes": 2.0}, "nodes must be a whole number from 2 to 5,000; got 2.0."),
        ({"nodes": None}, "nodes must be a whole number from 2 to 5,000; got None."),
        ({"rows": True}, "rows must be a whole number or none; got True."),
        ({"rows": 7}, "rows must be at least 8; got 7."),
        ({"rate": 0}, "rate must be greater than 0; got 0."),
        ({"rate": "1"}, "rate must be a number; got '1'."),
        ({"rate": float("inf")}, "rate must be a finite number; got inf."),
        ({"weight": -1.5}, "weight must be at least 0; got -1.5."),
        ({"spread": float("nan")}, "spread must be a number from 0.05 to 20; got nan."),
        ({"part": 0}, "part must be greater than 0; got 0."),
        ({"part": 1.5}, "part must lie between 0 and 1; got 1.5."),
        ({"fast": 1}, "fast must be true or false; got 1."),
        ({"shape": "round"}, "shape must be one of flat, steep; got 'round'."),
        ({"shape": 3}, "shape must be one of flat, steep; got 3."),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(changes, sentence):
    with pytest.raises(InputError) as caught:
        Made(**changes)
    assert str(caught.value) == sentence


def test_what_fits_is_taken_and_numbers_of_numpy_become_plain():
    made = Made(nodes=np.int64(7), rows=None, rate=np.float32(0.5), weight=2, spread=20, free="anything")
    assert json.loads(json.dumps(asdict(made)))["nodes"] == 7
    assert type(made.nodes) is int and type(made.rate) is float and type(made.weight) is int
    assert choices(Made) == {"shape": ("flat", "steep")}


@pytest.mark.parametrize("kind", [Settings, Choice])
def test_every_setting_has_its_check(kind):
    assert all("rule" in item.metadata for item in fields(kind))
    by_hand = {item.name for item in fields(Design) if "rule" not in item.metadata}
    assert by_hand == {"edges", "names", "family", "parameters", "interventions", "contexts"}
