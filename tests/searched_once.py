"""Searches for hidden artefacts, made once per table and test process: every fit and refinement begins with them."""

from functools import wraps

import joblib
import pytest

from disco.hidden import common, readings
from disco.progress import SILENT


class Noting:
    """A reporter that notes its calls."""

    def __init__(self, reporter):
        self.reporter, self.calls = reporter, []

    def __getattr__(self, name):
        return getattr(self.reporter, name)

    def step(self, *arguments, **fields):
        self.calls.append(("step", arguments, fields))
        self.reporter.step(*arguments, **fields)

    def check(self, *arguments):
        self.calls.append(("check", arguments, {}))
        self.reporter.check(*arguments)


def once(search):
    """The search, whose results and reports are remembered by table, adjustment and stage."""
    results = {}

    @wraps(search)
    def searched(values, adjustment=None, reporter=SILENT, *stage):
        key = joblib.hash((values, adjustment, stage))
        if key in results:
            for name, arguments, fields in results[key][1]:
                getattr(reporter, name)(*arguments, **fields)
        else:
            noting = Noting(reporter)
            results[key] = search(values, adjustment, noting, *stage), noting.calls
        return results[key][0]

    return searched


def install(patch: pytest.MonkeyPatch) -> None:
    """Whatever looks for artefacts in this process remembers them."""
    patch.setattr(common, "common_cause", once(common.common_cause))
    patch.setattr(readings, "readings", once(readings.readings))
