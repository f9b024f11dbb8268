"""Options from their declarations: what a script writes is what the command line reads."""

import argparse
from typing import Any

import pytest

from disco.cli.options import add, specified
from disco.commands import parse
from disco.errors import InputError
from disco.fields import Option, options
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports.script.shell import _flags as words
from disco.server.user_limits import UserLimits
from disco.simulate import Design

COMMANDS = {
    Settings: ["fit", "counts.csv", "--out", "run"],
    Choice: ["refine", "run"],
    Design: ["simulate", "--out", "folder"],
}
ALL = [(of, option) for of in COMMANDS for option in options(of).values() if option.kind is not object]


def another(option: Option) -> Any:
    """A value that is not the default."""
    if option.kind is bool:
        return not option.default
    if option.words:
        return next(word for word in option.words if word != option.default)
    return option.kind((option.default or option.low) + 1) if option.high != 1 else 0.25


@pytest.mark.parametrize(("of", "option"), ALL, ids=lambda one: getattr(one, "name", ""))
def test_a_script_gives_each_option(of, option):
    value = another(option)
    arguments = parse([*COMMANDS[of], *words(of, {option.name: value})])
    assert specified(arguments, of) == {option.name: value}
    if of is not Settings:
        assert option.flag


def test_an_option_of_another_class_is_not_taken():
    arguments = parse(["refine", "--counts", "t.csv", "--transform", "none", "--folds", "5", "--set", "seed=3"])
    assert specified(arguments, Settings, "transform", "levels") == {"transform": "none"}
    assert specified(arguments, Choice) == {"folds": 5, "seed": 3}
    with pytest.raises(InputError, match="unknown setting 'width'"):
        specified(parse(["refine", "run", "--set", "width=3"]), Choice)
    with pytest.raises(InputError, match="seconds is given twice, as --time-limit and by --set"):
        specified(parse(["refine", "run", "--time-limit", "3", "--set", "seconds=4"]), Choice)


@pytest.mark.parametrize(
    ("of", "texts"),
    [
        (Settings, {"--parents": "ocs (default), cam, pcm or evidence: ", "--folds": "(3)", "--tau-z": "(2)"}),
        (Choice, {"--starts": "(4)", "--bound": "Misfit raises this (10)", "--margin": "(0.1)"}),
        (Design, {"--d": "columns of the table (20)", "--depth-causes": "rates (default) or counts: "}),
        (UserLimits, {"--disk": "(2)", "--most-cells": "(20000000)"}),
    ],
)
def test_the_help_has_the_true_defaults(of, texts):
    command = argparse.ArgumentParser(add_help=False)
    add(command, of)
    helps = {action.option_strings[0]: action.help for action in command._actions}
    assert list(helps) == [option.flag for option in options(of).values() if option.flag]
    assert [flag for flag, text in texts.items() if text not in helps[flag]] == []
    assert not any("{" in text or text.endswith(".") for text in helps.values())
