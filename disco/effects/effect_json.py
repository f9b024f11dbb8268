"""An effect as JSON, and as rows of a table."""

from typing import Any

import pandas as pd

from disco.effects.effect_records import Answer, Effect
from disco.effects.sentences import in_words


def as_json(found: Effect) -> dict[str, Any]:
    """An effect as JSON: every number with its 90 % interval, [estimate, low, high]."""
    cases = [
        {"edges": case.edges, "share_of_graphs": case.share, **case.answer._asdict()}
        | {"graphs": case.answer.graphs._asdict()}
        for case in found.cases
    ]
    told = found.total._asdict() | {"direct": _change(found.direct), "by_adjustment": _change(found.by_adjustment)}
    about = {"settled_by": found.settled_by, "notes": found.notes, "sentence": in_words(found)}
    question = {"on": found.on, "do": found.do, "against": found.against}
    return {**question, **told, "graphs": found.total.graphs._asdict(), "cases": cases, **about}


def _change(found: Answer | None) -> dict[str, Any] | None:
    return None if found is None else {"difference": found.difference, "rate_ratio": found.rate_ratio}


def as_rows(found: Effect) -> pd.DataFrame:
    """One row per number: of what, in which case, its name, estimate, low, high."""
    parts = [("total", "", found.total), ("direct", "", found.direct), ("by adjustment", "", found.by_adjustment)]
    parts += [("total", "; ".join(f"{a} -> {b}" for a, b in case.edges), case.answer) for case in found.cases]
    rows = [
        (of, case, name, *getattr(answer, name))
        for of, case, answer in parts
        if answer is not None
        for name in ("mean", "mean_against", "difference", "rate_ratio")
    ]
    return pd.DataFrame(rows, columns=["of", "case", "number", "estimate", "low", "high"])
