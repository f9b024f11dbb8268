"""Effects in words, as JSON, and as rows of a table."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from disco.effects.effect_records import Answer, Case, Effect
from disco.words import number, of_graphs, series

_SAME = 1e-9  # shares of the graphs that differ by less are equal
_EDGES = 2  # of a case that are named
_DRAWN = 0.02  # relative; numbers that differ by less differ by their draws


def in_words(effect: Effect) -> str:
    """The answer in one or a few sentences: what changes, how sure it is, and on what it depends."""
    head, cases, tail = in_parts(effect)
    return " ".join(filter(None, [f"{head} {'; '.join(cases)}." if cases else head, tail]))


def in_parts(effect: Effect) -> tuple[str, list[str], str]:
    """The same divided: the first sentence, one line per case, and what follows from them."""
    if effect.cases:
        only = "only if" if any(case.is_none for case in effect.cases) else "if"
        case_sentences = [
            f"{'if' if case.is_none else only} {_when(effect, case)}, {_in_case(effect, case)}" for case in effect.cases
        ]
        tell = f"An experiment that sets {' or '.join(effect.settled_by[:2])} would tell." if effect.settled_by else ""
        return f"{_if(effect)}, the answer depends on directions that are not decided:", case_sentences, tell
    if effect.total.graphs.none > 1 - _SAME:
        return f"{_if(effect)}, {effect.on} would not change: in all compatible graphs, {_no_path(effect)}.", [], ""
    return f"{_if(effect)}, {_change(effect.on, effect.total)}.", [], _sure(effect)


def disagreement(total: Answer, by_adjustment: Answer | None) -> tuple[str, ...]:
    """A sentence if the model and the adjustment differ by more than both intervals."""
    if by_adjustment is None:
        return ()
    model, adjusted = total.difference, by_adjustment.difference
    if model.low <= adjusted.high and adjusted.low <= model.high:
        return ()
    return (
        f"By adjustment alone the difference is {_interval(adjusted)}, not {_interval(model)}: they should "
        "agree, so trust neither.",
    )


def three_ways(effect: Effect) -> list[tuple[str, Answer]]:
    """The answer along all paths, directly and by adjustment, each with its name; those that agree are one."""
    different: dict[Answer, list[str]] = {}
    ways = ("all paths", effect.total), ("direct", effect.direct), ("adjusted", effect.by_adjustment)
    for name, answer in ways:
        if answer is not None:
            different.setdefault(next((first for first in different if _agree(first, answer)), answer), []).append(name)
    return [
        ("All three ways" if len(names) == len(ways) else " = ".join(names).capitalize(), answer)
        for answer, names in different.items()
    ]


def _agree(first: Answer, second: Answer) -> bool:
    """Whether two answers differ by no more than their draws."""
    pairs = zip((*first.rate_ratio, *first.difference), (*second.rate_ratio, *second.difference), strict=True)
    return all(math.isclose(a, b, rel_tol=_DRAWN) for a, b in pairs)


def _if(effect: Effect) -> str:
    against = effect.against
    sets = [
        f"{name} went from {against[name]:g} to {value:g}"
        for name, value in effect.do.items()
        if value != against[name]
    ]
    held = [f"{name} stayed at {value:g}" for name, value in effect.do.items() if value == against[name]]
    return f"If {series(sets)}{f' while {series(held)}' if held else ''}"


def _change(on: str, answer: Answer) -> str:
    mean, reference, ratio = answer.mean.estimate, answer.mean_against.estimate, answer.rate_ratio
    means = [number(reference), number(mean)]
    moves = f"would stay at {means[0]}" if means[0] == means[1] else f"would go from {means[0]} to {means[1]}"
    if not _has_sign(answer):  # the estimates alone would say one
        possible = [word for word, is_possible in (("rise", ratio.high > 1), ("fall", ratio.low < 1)) if is_possible]
        moves = f"may {', '.join(possible)} or stay near {means[0]}" if possible else f"would stay at {means[0]}"
    interval = f"90% interval {number(ratio.low)} to {number(ratio.high)}"
    return f"the mean of {on} {moves} (ratio {number(ratio.estimate)}, {interval})"


def _has_sign(answer: Answer) -> bool:
    """Whether the interval excludes that nothing changes."""
    return answer.rate_ratio.low > 1 or answer.rate_ratio.high < 1


def _sure(effect: Effect) -> str:
    """How many graphs agree: on a sign, if the interval has one, and on no change."""
    shares = effect.total.graphs
    signs = {"an increase": shares.more, "a decrease": shares.less} if _has_sign(effect.total) else {}
    clauses = [f"{sign} {_graphs(share)}" for sign, share in signs.items() if share > _SAME]
    if shares.none > _SAME:
        clauses.append(f"no change {_graphs(shares.none)}, where {_no_path(effect)}")
    words = "; ".join(clauses)
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _no_path(effect: Effect) -> str:
    names = series(list(effect.do))
    if effect.is_reversed > 0 and effect.is_reversed > effect.total.graphs.none - _SAME:
        return f"{effect.on} comes before {names}"
    return f"no path leads from {names} to {effect.on}"


def _graphs(share: float) -> str:
    return f"in {of_graphs(share)} of the graphs"


def _when(effect: Effect, case: Case) -> str:
    if case.edges:
        return series(list(map(arrow, case.edges[:_EDGES])))
    return f"{'no' if case.is_none else 'a'} path leads from {series(list(effect.do))} to {effect.on}"


def arrow(edge: tuple[str, str]) -> str:
    """A direction in words."""
    return " → ".join(edge)


def short(edges: Sequence[tuple[str, str]], is_none: bool) -> str:
    """A case in a few words: its first direction, or whether a path leads to the outcome in its graphs."""
    return f"if {arrow(edges[0])}" if edges else f"if {'no' if is_none else 'a'} path leads there"


def _in_case(effect: Effect, case: Case) -> str:
    if case.is_none:
        return f"{effect.on} would not change"
    return _change(effect.on, case.answer)


def _interval(interval: tuple[float, float, float]) -> str:
    return f"{number(interval[0])} ({number(interval[1])} to {number(interval[2])})"


def as_json(effect: Effect) -> dict[str, Any]:
    """An effect as JSON: every number with its 90% interval, [estimate, low, high]."""
    cases = [
        {"edges": case.edges, "share_of_graphs": case.share, **case.answer._asdict()}
        | {"graphs": case.answer.graphs._asdict()}
        for case in effect.cases
    ]
    numbers = effect.total._asdict() | {
        "direct": _numbers(effect.direct),
        "by_adjustment": _numbers(effect.by_adjustment),
    }
    about = {"settled_by": effect.settled_by, "notes": effect.notes, "sentence": in_words(effect)}
    question = {"on": effect.on, "do": effect.do, "against": effect.against}
    return {**question, **numbers, "graphs": effect.total.graphs._asdict(), "cases": cases, **about}


def _numbers(answer: Answer | None) -> dict[str, Any] | None:
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
