"""Effects in words."""

from collections.abc import Sequence

from disco.effects.effect_records import Answer, Case, Effect
from disco.words import number, of_graphs, series

_SAME = 1e-9  # shares of the graphs that differ by less are equal
_EDGES = 2  # of a case that are named


def in_words(effect: Effect) -> str:
    """The answer in one or a few sentences: what changes, how sure it is, and on what it depends."""
    head, cases, tail = in_parts(effect)
    return " ".join(filter(None, [f"{head} {'; '.join(cases)}." if cases else head, tail]))


def in_parts(effect: Effect) -> tuple[str, list[str], str]:
    """The same in parts: the first sentence, one line per case, and what follows from them."""
    if effect.cases:
        told = [f"if {_when(effect, case)} ({_graphs(case.share)}), {_in_case(effect, case)}" for case in effect.cases]
        tell = f"An experiment that sets {' or '.join(effect.settled_by[:2])} would tell." if effect.settled_by else ""
        return f"{_if(effect)}, the answer depends on directions that are not decided:", told, tell
    if effect.total.graphs.none > 1 - _SAME:
        return f"{_if(effect)}, {effect.on} would not change: in all graphs left, {_no_path(effect)}.", [], ""
    return f"{_if(effect)}, {_change(effect.on, effect.total)}.", [], _sure(effect)


def apart(total: Answer, beside: Answer | None) -> tuple[str, ...]:
    """A sentence if the model and the adjustment differ by more than both intervals."""
    if beside is None:
        return ()
    one, other = total.difference, beside.difference
    if one.low <= other.high and other.low <= one.high:
        return ()
    return (
        f"By adjustment alone the difference is {_interval(other)}, not {_interval(one)}: the model of what lies "
        "between does not fit, so trust neither.",
    )


def _if(effect: Effect) -> str:
    against = effect.against
    sets = [
        f"{name} went from {against[name]:g} to {value:g}"
        for name, value in effect.do.items()
        if value != against[name]
    ]
    held = [f"{name} stayed at {value:g}" for name, value in effect.do.items() if value == against[name]]
    return f"If {series(sets)}{f' while {series(held)}' if held else ''}"


def _change(on: str, found: Answer) -> str:
    mean, before, ratio = found.mean.estimate, found.mean_against.estimate, found.rate_ratio
    told = [number(before), number(mean)]
    moves = f"stay at {told[0]}" if told[0] == told[1] else f"go from {told[0]} to {told[1]}"
    return (
        f"the mean of {on} would {moves} (ratio {number(ratio.estimate)}, "
        f"90 % interval {number(ratio.low)} to {number(ratio.high)})"
    )


def _sure(effect: Effect) -> str:
    """How many graphs agree, and whether the interval excludes none."""
    shares, ratio = effect.total.graphs, effect.total.rate_ratio
    has_more = ratio.estimate >= 1
    same, other = (shares.more, shares.less) if has_more else (shares.less, shares.more)
    parts = [f"{'An increase' if has_more else 'A decrease'} {_graphs(same)}"]
    if other > _SAME:
        parts.append(f"{'a decrease' if has_more else 'an increase'} {_graphs(other)}")
    if shares.none > _SAME:
        parts.append(f"none {_graphs(shares.none)}, where {_no_path(effect)}")
    words = f"{'; '.join(parts)}."
    return words if ratio.low > 1 or ratio.high < 1 else f"{words} That there is no effect cannot be excluded."


def _no_path(effect: Effect) -> str:
    """Why there is no effect in the graphs without one."""
    names = series(list(effect.do))
    if effect.is_reversed > 0 and effect.is_reversed > effect.total.graphs.none - _SAME:
        return f"{effect.on} comes before {names}"
    return f"no path leads from {names} to {effect.on}"


def _graphs(share: float) -> str:
    return f"in {of_graphs(share)} graphs"


def _when(effect: Effect, case: Case) -> str:
    if case.edges:
        return series(list(map(arrow, case.edges[:_EDGES])))
    return f"{'no' if case.is_none else 'a'} path leads from {series(list(effect.do))} to {effect.on}"


def arrow(edge: tuple[str, str]) -> str:
    """A direction in words."""
    return " → ".join(edge)


def short(edges: Sequence[tuple[str, str]], is_none: bool) -> str:
    """What a case stands for, in a few words: its first direction.

    Args:
        edges: its directions.
        is_none: whether no path leads to the outcome in its graphs.
    """
    return f"if {arrow(edges[0])}" if edges else f"if {'no' if is_none else 'a'} path leads there"


def _in_case(effect: Effect, case: Case) -> str:
    if case.is_none:
        return f"{effect.on} would not change"
    return _change(effect.on, case.answer)


def _interval(found: tuple[float, float, float]) -> str:
    return f"{number(found[0])} ({number(found[1])} to {number(found[2])})"
