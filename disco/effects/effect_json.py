"""An effect as JSON, and as rows of a table."""

from typing import Any

import pandas as pd

from disco.effects.effect_records import Answer, Effect
from disco.effects.sentences import in_words


def as_json(effect: Effect) -> dict[str, Any]:
    """An effect as JSON: every number with its 90 % interval, [estimate, low, high]."""
    cases = [
        {"edges": case.edges, "share_of_graphs": case.share, **case.answer._asdict()}
        | {"graphs": case.answer.graphs._asdict()}
        for case in effect.cases
    ]
    numbers = effect.total._asdict() | {
        "direct": _change(effect.direct),
        "by_adjustment": _change(effect.by_adjustment),
    }
    about = {"settled_by": effect.settled_by, "notes": effect.notes, "sentence": in_words(effect)}
    question = {"on": effect.on, "do": effect.do, "against": effect.against}
    return {**question, **numbers, "graphs": effect.total.graphs._asdict(), "cases": cases, **about}


def _change(answer: Answer | None) -> dict[str, Any] | None:
    return None if answer is None else {"difference": answer.difference, "rate_ratio": answer.rate_ratio}


def as_rows(effect: Effect) -> pd.DataFrame:
    """One row per number: of what, in which case, its name, estimate, low, high."""
    answers = [("total", "", effect.total), ("direct", "", effect.direct), ("by adjustment", "", effect.by_adjustment)]
    answers += [("total", "; ".join(f"{a} -> {b}" for a, b in case.edges), case.answer) for case in effect.cases]
    rows = [
        (of, case, name, *getattr(answer, name))
        for of, case, answer in answers
        if answer is not None
        for name in ("mean", "mean_against", "difference", "rate_ratio")
    ]
    return pd.DataFrame(rows, columns=["of", "case", "number", "estimate", "low", "high"])
