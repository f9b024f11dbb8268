"""Searches for hidden artefacts, made once per table and test process: every fit and refinement begins with them."""

from collections.abc import Callable
from typing import Any

import joblib
import pytest

from disco.hidden import common, readings
from disco.progress import SILENT, Reporter


class _Noting:
    """A reporter that notes what is reported."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter, self.calls = reporter, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reporter, name)

    def step(self, *arguments: Any, **fields: Any) -> None:
        self.calls.append(("step", arguments, fields))
        self.reporter.step(*arguments, **fields)

    def check(self, *arguments: Any) -> None:
        self.calls.append(("check", arguments, {}))
        self.reporter.check(*arguments)


def once(search: Callable) -> Callable:
    """The search with its results and reports remembered by table, adjustment and stage."""
    results: dict[str, tuple[Any, list]] = {}

    def searched(values: Any, adjustment: Any = None, reporter: Reporter = SILENT, *stage: str) -> Any:
        key = joblib.hash((values, adjustment, stage))
        if key not in results:
            noting = _Noting(reporter)
            results[key] = search(values, adjustment, noting, *stage), noting.calls
            return results[key][0]
        result, calls = results[key]
        for name, arguments, fields in calls:
            getattr(reporter, name)(*arguments, **fields)
        return result

    return searched


def install(patch: pytest.MonkeyPatch) -> None:
    """Whatever looks for artefacts in this process remembers them."""
    patch.setattr(common, "common_cause", once(common.common_cause))
    patch.setattr(readings, "readings", once(readings.readings))
