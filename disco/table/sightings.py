"""Lines of sightings: an event, what was seen in it, and how many, or one line per observation."""

import re
from itertools import chain, combinations

import numpy as np
import pandas as pd

from disco.table.cells import is_blank, names_of, numbers_of
from disco.table.edits import Pivot
from disco.table.finding import Finding
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.guesses import guesses
from disco.table.identifiers import is_time, phrase
from disco.table.kinds import SIGHTINGS
from disco.table.reshape import joined_cells
from disco.table.rows import kind_of_text, readable
from disco.table.values import has_decimals
from disco.words import how_many, listed, plural

_NAMED = 4
_LEAST_LINES = 1.2  # per event
_MOST_TWICE = 0.05  # share of lines of a kind that the event has already, if the lines hold counts
_MOST_PARTS, _FEWER = 3, 0.6  # lines of a kind in an event, as of females, males and young; pairs of them, by chance 1
_MUCH_FEWER = 0.2  # the same, of events that two columns identify
_LEAST_TWICE = 20  # lines of a kind that the event has already, by chance, where none has
_MOST_LOOKED_AT = 10_000  # lines by which events under other names are recognised
_MOST_KEYS = 8  # columns that may identify events
_MOST_SEEN = 0.2  # share of lines with a mark instead of a count
_SEEN = re.compile(r"\s*(x|p|present|\+|suppressed|\[?c\]?|(ca?\.?|about|~) ?\d+)\s*", re.IGNORECASE)
_SPECIES = {
    *("species", "taxon", "taxa", "genus", "scientific name", "scientificname", "vernacular name", "common name"),
    *("gene", "gene id", "feature", "otu", "asv", "item", "product", "word", "variable", "category", "tag"),
    *("term", "token", "lemma", "cause", "cause of death", "disease", "crime", "offence", "offense", "indicator"),
    *("art", "arten", "espece", "especie"),
}  # fmt: skip
_KINDS = {
    *("species", "taxon", "cause", "causes", "disease", "crime", "offence", "offense", "product", "indicator"),
    *("series", "minor", "lineitem", "icd", "icd10", "chapter"),
}  # fmt: skip
_LEAST_TIMES = 3
_COUNTED = {
    *("count", "counts", "individual count", "individuals", "abundance", "n", "num", "number", "quantity", "amount"),
    *("organism quantity", "reads", "freq", "frequency", "value", "total count", "observation count", "how many"),
    *("deaths", "cases", "obs value", "anzahl", "nombre", "cantidad"),
}  # fmt: skip
_LAST_WORDS = {"quantity", "count", "deaths", "cases"}  # of a name of counts, as in Lineitem quantity
_TIMES = {"date", "event date", "datum", "fecha", "observed on", "collect date", "ref date", "year", "month", "week"}
_EVENTS = _TIMES | {
    *("event", "event id", "sampling event", "sampling event identifier", "visit", "visit id"),
    *("site", "location", "station", "transect", "quadrat", "plot", "trap", "survey", "survey id", "sample"),
    *("sample id", "checklist", "checklist id", "transaction", "order", "order id", "document", "cell", "barcode"),
    *("doc id", "document id", "text id", "text", "locality", "place", "place guess"),
    *("submission id", "province", "state province", "region", "country", "state", "county", "geo"),
    *("transekt", "probeflaeche", "falle", "hol", "releve", "placette", "transecto", "parcela", "estacion"),
    *("ort", "standort", "fundort", "sitio", "lieu", "name", "invoice", "invoice no"),
}  # fmt: skip


def sightings(table: pd.DataFrame) -> Finding | None:
    """One line per sighting, with a count or without, to be made one row per event and one column per kind."""
    names = names_of(table)
    words = [phrase(name) for name in names]
    called = [at for at, word in enumerate(words) if word in _SPECIES]
    called = called or [at for at, word in enumerate(words) if _KINDS & {*word.split()}]
    kinds = [table.iloc[:, at].fillna("").astype(str) for at in called if _are_texts(table, at)]
    if not kinds:
        return None
    finest = max(kinds, key=lambda column: column.nunique())
    if not 2 <= finest.nunique() <= min(MOST_COLUMNS, len(table) / 2):
        return None
    if len(times := [at for at, name in enumerate(names) if is_time(name)]) >= _LEAST_TIMES:
        return _over_times(table, times, finest)
    endings = [at for at, word in enumerate(words) if word.rpartition(" ")[2] in _LAST_WORDS]
    counted = next(iter([at for at, word in enumerate(words) if word in _COUNTED] + endings), None)
    seen = np.zeros(len(table), bool) if counted is None else _are_seen(table.iloc[:, counted])
    if seen is None or (counted is None and table.shape[1] - len(guesses(table)) > 0):  # else a table of counts
        return None
    positions = [at for at, word in enumerate(words) if word in _EVENTS]
    event = _event(table, positions, finest, counted is not None)
    if not event and counted is not None:
        event = _of_parts(table, positions, finest) or _unnamed(table, counted, finest)
    if not event:
        return None
    rest = [at for at in range(len(names)) if names[at] != str(finest.name) and at not in (counted, *event)]
    stay = [at for at in rest if _is_of(table, at, event)]
    values = "" if counted is None else names[counted]
    pivot = Pivot(tuple(names[at] for at in (*event, *stay)), str(finest.name), values, len(event))
    left_out = [names[at] for at in rest if at not in stay and names[at].strip()]
    mark = None if counted is None or not seen.any() else table.iloc[int(np.argmax(seen)), counted]
    mark = "a blank" if pd.isna(mark) else f'"{mark}"'
    twice = pd.DataFrame({"event": _keys(table, event), "kind": finest}).duplicated()
    repeats = 0 if counted is None else int(twice.sum())
    message, remedy = _in_words(pivot, left_out, int(seen.sum()), mark, int(is_blank(finest).sum()), repeats)
    return Finding(SIGHTINGS, message, remedy, edits=(pivot,))


def _over_times(table: pd.DataFrame, times: list[int], kinds: pd.Series) -> Finding | None:
    """Columns named by times, with a line for each kind in each place."""
    names = names_of(table)
    rest = [at for at in range(len(names)) if at not in times and names[at] != str(kinds.name)]
    event = _event(table, [at for at in rest if table.iloc[:, at].nunique() > 1], kinds, has_counts=True)
    are_numbers = all(not numbers_of(table.iloc[:, at])[1].any() for at in times)
    if not event or not are_numbers:
        return None
    key = tuple(names[at] for at in event)
    pivot = Pivot(key, str(kinds.name), key=len(key), times=tuple(names[at] for at in times))
    left_out = [names[at] for at in rest if at not in event]
    message, remedy = _in_words(pivot, left_out)
    return Finding(SIGHTINGS, message, remedy, edits=(pivot,))


def _in_words(
    pivot: Pivot, left_out: list[str], marked: int = 0, mark: str = "", nameless: int = 0, repeats: int = 0
) -> tuple[str, str]:
    """What a list of sightings holds, and how it is changed.

    Args:
        left_out: columns that differ within an event, or never.
        marked: lines with a mark instead of a count.
        nameless: lines without a kind.
        repeats: lines of a kind that the event has already.
    """
    event = '", "'.join(pivot.rows[: pivot.key])
    key = f'"{event}" at each time' if pivot.times else f'"{event}"'
    remedy = f'Each "{pivot.names}" becomes a column and each {key} a row, with 0 where there is no line. '
    remedy += "A row without any line is not in the file."
    if left_out:
        verbs = plural(len(left_out), "is left out: it differs", "are left out: they differ")
        remedy += f" {listed(left_out, _NAMED)} {verbs} within a row, or never."
    if marked:
        cells = plural(marked, "is a missing cell", "are missing cells")
        remedy += f" {how_many(marked, 'line')} with {mark} instead of a count {cells}."
    if nameless:
        remedy += f' {how_many(nameless, "line")} without "{pivot.names}" {plural(nameless, "is", "are")} left out.'
    if repeats:
        remedy += f" The counts of several lines of one kind in a row are added up: {how_many(repeats, 'line')} more."
    if times := pivot.times:
        called = f"{len(times):,} columns are called by times, {times[0]} to {times[-1]}"
        return f'{called}, with a line for each "{pivot.names}" in each "{event}".', remedy
    what = f'"{pivot.values}"' if pivot.values else "One line"
    return f'There is one line per sighting: {what} of "{pivot.names}" in "{event}".', remedy


def _are_texts(table: pd.DataFrame, at: int) -> bool:
    column = table.iloc[:, at]
    blank = is_blank(column)
    return bool((numbers_of(column)[1] | blank).all()) and bool(blank.mean() <= _MOST_SEEN)


def _are_seen(counts: pd.Series) -> np.ndarray | None:
    """Where a mark stands instead of a count, (lines,); None if the column does not hold counts."""
    numbers, blank = readable(counts), is_blank(counts)
    texts = np.flatnonzero(np.isnan(numbers) & ~blank)
    marks = [bool(_SEEN.fullmatch(cell)) or kind_of_text(cell) != "text" for cell in map(str, counts.iloc[texts])]
    seen = blank & np.isnan(numbers)
    seen[texts] = marks
    is_known = np.isfinite(numbers) | seen
    return seen if is_known.all() and seen.mean() <= _MOST_SEEN else None


def _event(table: pd.DataFrame, positions: list[int], kinds: pd.Series, has_counts: bool) -> tuple[int, ...]:
    """The column, or two, that identify events, with most events; none if no column groups the lines.

    Without counts, every column groups them, and a place or a name takes precedence over a time.
    """
    names, most_twice = names_of(table), _MOST_TWICE if has_counts else 1.0
    for size in (1, 2):
        keys = [at for at in combinations(positions[:_MOST_KEYS], size) if _groups(_keys(table, at), kinds, most_twice)]
        if size > 1 and has_counts:
            keys = [at for at in keys if _are_fewer(_keys(table, at), kinds, _MUCH_FEWER)]
        if keys:
            are_times = {at: not has_counts and all(phrase(names[key]) in _TIMES for key in at) for at in keys}
            return max(keys, key=lambda at: (not are_times[at], _keys(table, at).nunique()))
    return ()


def _of_parts(table: pd.DataFrame, positions: list[int], kinds: pd.Series) -> tuple[int, ...]:
    """The fewest columns that identify as many events as all of them, where a kind has several lines.

    So has a species with one line for its females and one for its males.
    """
    events = _keys(table, tuple(positions)).nunique() if positions else 0
    for at in chain.from_iterable(combinations(positions[:_MOST_KEYS], size) for size in (1, 2, 3)):
        if (keys := _keys(table, at)).nunique() == events:
            are_parts = _are_fewer(keys, kinds, _FEWER, _LEAST_TWICE, _MOST_PARTS)
            return at if _groups(keys, kinds, 1) and are_parts else ()
    return ()


def _are_fewer(keys: pd.Series, kinds: pd.Series, share: float, fewest: float = 0, lines: float = np.inf) -> bool:
    """Whether far fewer pairs of lines share kind and event than by chance: at most `share` of `fewest` or more."""
    times = pd.DataFrame({"event": keys.to_numpy(), "kind": kinds.to_numpy()}).value_counts().to_numpy()
    by_chance = _pairs_by_chance(keys, kinds)
    return bool(times.max() <= lines and by_chance >= fewest and _pairs(times) <= share * by_chance)


def _pairs(lines: np.ndarray) -> float:
    """The number of pairs within groups of these sizes."""
    return float((lines * (lines - 1) / 2).sum())


def _pairs_by_chance(keys: pd.Series, kinds: pd.Series) -> float:
    """The pairs of lines of one kind in one event if kinds came in any order: all in events, by Σ p² for shares p."""
    agreement = float((kinds.value_counts(normalize=True) ** 2).sum())
    return agreement * _pairs(keys.value_counts().to_numpy())


def _unnamed(table: pd.DataFrame, counted: int, kinds: pd.Series) -> tuple[int, ...]:
    """The fewest columns of any name that identify events in which no kind occurs twice, unless by chance."""
    head, names = table.head(_MOST_LOOKED_AT), names_of(table)
    kind = kinds.head(_MOST_LOOKED_AT)
    positions = [at for at, name in enumerate(names) if at != counted and name != str(kinds.name)]
    positions = [at for at in positions if not has_decimals(readable(head.iloc[:, at]))][:_MOST_KEYS]

    def tells(at: tuple[int, ...]) -> bool:
        keys = _keys(head, at)
        by_chance = _pairs_by_chance(keys, kind)
        return by_chance >= _LEAST_TWICE and not pd.DataFrame({"event": keys, "kind": kind}).duplicated().any()

    for size in (1, 2, 3):
        events = [
            at for at in combinations(positions, size) if tells(at) and _groups(_keys(table, at), kinds, _MOST_TWICE)
        ]
        if events:
            return max(events, key=lambda at: _keys(head, at).nunique())
    return ()


def _keys(table: pd.DataFrame, at: tuple[int, ...]) -> pd.Series:
    return joined_cells([table.iloc[:, position] for position in at])


def _groups(keys: pd.Series, kinds: pd.Series, most_twice: float) -> bool:
    """Whether there are several lines per event, at most this share with a kind that the event has already."""
    pairs = pd.DataFrame({"event": keys.to_numpy(), "kind": kinds.to_numpy()})[~is_blank(kinds)]
    return (
        len(keys) >= _LEAST_LINES * keys.nunique() and pairs.duplicated().mean() <= most_twice and keys.nunique() >= 2
    )


def _is_of(table: pd.DataFrame, at: int, event: tuple[int, ...]) -> bool:
    """Whether a column has one value in every event, not the same in all."""
    cells = table.iloc[:, at].astype(str)
    return cells.nunique() > 1 and bool(cells.groupby(_keys(table, event).to_numpy()).nunique().max() == 1)
