"""Where the app sends its work: chosen once, kept with the runs, given to every process that it starts."""

import json

import pytest

from disco import cluster
from disco.errors import InputError
from disco.runs import runs_root
from disco.work import where

KEPT = ".cluster.json"


@pytest.fixture
def reached(monkeypatch):
    """The addresses asked for workers; each has three."""
    asked = []
    monkeypatch.setattr(cluster, "workers", lambda address: asked.append(address) or 3)
    return asked


def test_the_environment_counts_until_something_is_chosen(monkeypatch, reached):
    assert where.address() == ""
    monkeypatch.setenv(cluster.VARIABLE, "tcp://one:8786")
    assert where.address() == "tcp://one:8786"
    assert where.choose(" tcp://two:8786 ") == 3 and reached == ["tcp://two:8786"]
    assert where.address() == "tcp://two:8786"
    assert where.choose("") == 0 and where.address() == "" and len(reached) == 1


def test_an_address_that_cannot_be_used_changes_nothing(monkeypatch, reached):
    where.choose("tcp://two:8786")

    def refused(address):
        raise InputError("No Dask scheduler answers.")

    monkeypatch.setattr(cluster, "workers", refused)
    with pytest.raises(InputError, match="No Dask scheduler"):
        where.choose("tcp://three:8786")
    assert where.address() == "tcp://two:8786"


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"address": 3}', '{"address": "' + "x" * 9000 + '"}', "\x00"])
def test_a_damaged_choice_is_this_machine(text):
    (runs_root() / KEPT).write_text(text)
    assert where.address() == ""


def test_an_address_is_shown_harmlessly():
    (runs_root() / KEPT).write_text(json.dumps({"address": "tcp://a\x1b[2J:1"}))
    assert "\x1b" not in where.address()
