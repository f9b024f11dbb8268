"""What the fields of settings may hold, and the sentence where one does not."""

import json
from dataclasses import asdict, dataclass, fields
from importlib import import_module

import numpy as np
import pytest

from disco.errors import InputError
from disco.fields import boolean, changed, check, continues, fingerprint, number, one_of, options, share, whole
from disco.methods import METHODS
from disco.paper.settings import Settings
from disco.refine.choice import Choice


@dataclass(frozen=True)
class Made:
    nodes: int = whole(5, within=(2, 5000))
    rows: int | None = whole(None, at_least=8, optional=True)
    rate: float = number(0.5, above=0)
    weight: float = number(1.0, at_least=0)
    spread: float = number(1.0, within=(0.05, 20))
    part: float = share(1.0, above=0)
    fast: bool = boolean(False)
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
    assert options(Made)["shape"].words == {"flat": "Flat", "steep": "Steep"}


def test_a_text_is_the_value_that_the_field_takes_or_stays():
    read = {"nodes": "7", "rows": "none", "rate": "1", "fast": "true", "shape": "steep", "part": "much"}
    values = {name: options(Made)[name].parse(text) for name, text in read.items()}
    assert values == {"nodes": 7, "rows": None, "rate": 1.0, "fast": True, "shape": "steep", "part": "much"}
    assert all(option.parse(option.write(option.default)) == option.default for option in options(Settings).values())


def test_what_differs_and_what_unfinished_work_needs():
    @dataclass(frozen=True)
    class Search:
        bound: float = number(10.0)
        starts: int = whole(4, at_least=1, resumes=True)
        fast: bool = boolean(False, older=False)

    assert changed(Search(starts=8)) == {"starts": 8}
    assert changed(Search(), Search(bound=2.0)) == {"bound": 10.0}
    assert fingerprint(Search(starts=8)) == {"bound": 10.0} == fingerprint(Search())
    assert fingerprint(Search(fast=True)) == {"bound": 10.0, "fast": True}
    assert continues(Search(starts=8), {"bound": 10.0}) and not continues(Search(fast=True), {"bound": 10.0})
    assert not continues(Search(), {"bound": 10.0, "fast": True}) and not continues(Search(), {"fast": False})


@pytest.mark.parametrize("kind", [Settings, Choice])
def test_every_setting_is_declared(kind):
    assert [item.name for item in fields(kind)] == list(options(kind))
    assert all(option.demands and option.label and option.help for option in options(kind).values())


@pytest.mark.parametrize("module", sorted({method.module for method in METHODS.values()}))
def test_every_option_of_a_method_says_what_it_does(module):
    declared = import_module(f"disco.methods.{module}").Options
    assert [item.name for item in fields(declared)] == list(options(declared))
    assert all(option.help for option in options(declared).values())
