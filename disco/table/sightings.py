"""Lines of sightings: an event, what was seen in it, and how many, or one line for each that was seen."""

import re

import numpy as np
import pandas as pd

from disco.table.cells import names_of, numbers_of
from disco.table.edits import Edit, LeaveOut, Pivot
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.guesses import guesses
from disco.table.identifiers import phrase
from disco.table.kinds import SIGHTINGS
from disco.table.rows import readable, stretches
from disco.table.suggestions import Suggestion
from disco.words import how_many, listed, plural

_NAMED = 4
_LEAST_LINES = 1.2  # per event
_MOST_TWICE = 0.05  # share of lines of a kind that the event has already, if the lines hold counts
_MOST_SEEN = 0.2  # share of lines with a mark instead of a count
_SEEN = re.compile(r"\s*(x|p|present|\+)\s*", re.IGNORECASE)
_SPECIES = {
    *("species", "taxon", "taxa", "genus", "scientific name", "scientificname", "vernacular name", "common name"),
    *("gene", "gene id", "feature", "otu", "asv", "item", "product", "word", "variable", "category", "tag"),
    *("term", "token", "lemma"),
}  # fmt: skip
_COUNTED = {
    *("count", "counts", "individual count", "individuals", "abundance", "n", "num", "number", "quantity", "amount"),
    *("organism quantity", "reads", "freq", "frequency", "value", "total count", "observation count", "how many"),
}  # fmt: skip
_EVENTS = {
    *("event", "event id", "event date", "sampling event", "sampling event identifier", "date", "visit", "visit id"),
    *("site", "location", "station", "transect", "quadrat", "plot", "trap", "survey", "survey id", "sample"),
    *("sample id", "checklist", "checklist id", "transaction", "order", "order id", "document", "cell", "barcode"),
    *("doc id", "document id", "text id", "text", "locality", "place", "place guess", "collect date", "observed on"),
}  # fmt: skip


def sightings(table: pd.DataFrame) -> Suggestion | None:
    """One line per sighting, with a count or without, to be made one row per event and one column per kind."""
    names = names_of(table)
    words = [phrase(name) for name in names]
    species = next((at for at, word in enumerate(words) if word in _SPECIES), None)
    if species is None or not numbers_of(table.iloc[:, species])[1].all():  # numbers: how many species there were
        return None
    kinds = table.iloc[:, species].astype(str)
    if not 2 <= kinds.nunique() <= min(MOST_COLUMNS, len(table) / 2):
        return None
    counted = next((at for at, word in enumerate(words) if word in _COUNTED), None)
    seen = np.zeros(len(table), bool) if counted is None else _are_seen(table.iloc[:, counted])
    if seen is None or (counted is None and table.shape[1] - len(guesses(table)) > 0):  # else a table of counts
        return None
    most_twice = 1 if counted is None else _MOST_TWICE
    events = [at for at, word in enumerate(words) if word in _EVENTS and _is_event(table, at, kinds, most_twice)]
    if not events:
        return None
    event = max(events, key=lambda at: table.iloc[:, at].nunique())
    others = [at for at in range(len(names)) if at not in (species, counted, event)]
    stay = [at for at in others if _is_of(table, at, event)]
    out = [names[at] for at in others if at not in stay]
    what = "One line" if counted is None else f'"{names[counted]}"'
    message = f'There is one line per sighting: {what} of "{names[species]}" in "{names[event]}".'
    verbs = plural(len(out), "differs within one and is", "differ within one and are")
    lost = f" {listed(out, _NAMED)} {verbs} left out." if out else ""
    advice = (
        f'Each "{names[species]}" becomes a column and each "{names[event]}" a row, with 0 where there is no line. '
        f"Rows without any line are missing.{lost}"
    )
    edits: list[Edit] = [
        Pivot(tuple(names[at] for at in (event, *stay)), names[species], "" if counted is None else names[counted])
    ]
    if counted is not None and seen.any():
        of = table.iloc[:, event].astype(str)
        unknown = of.isin(of[seen]).to_numpy()
        rows, mark = of[unknown].nunique(), table.iloc[int(np.argmax(seen)), counted]
        edits.insert(0, LeaveOut(stretches(np.flatnonzero(unknown) + 1)))
        advice += f' {how_many(rows, "row")} with "{mark}" instead of a count {plural(rows, "is", "are")} left out.'
    return Suggestion(SIGHTINGS, message, advice, tuple(edits))


def _are_seen(counts: pd.Series) -> np.ndarray | None:
    """Where a mark stands instead of a count, (lines,); None if the column does not hold counts."""
    seen = counts.astype(str).map(lambda cell: bool(_SEEN.fullmatch(cell))).to_numpy(bool)
    is_known = np.isfinite(readable(counts)) | seen
    return seen if is_known.all() and seen.mean() <= _MOST_SEEN else None


def _is_event(table: pd.DataFrame, at: int, kinds: pd.Series, most_twice: float) -> bool:
    """Whether a column groups the lines: several per event, few with a kind that the event has already."""
    keys = table.iloc[:, at].astype(str)
    pairs = pd.DataFrame({"event": keys.to_numpy(), "kind": kinds.to_numpy()})
    return (
        len(table) >= _LEAST_LINES * keys.nunique() and pairs.duplicated().mean() <= most_twice and keys.nunique() >= 2
    )


def _is_of(table: pd.DataFrame, at: int, event: int) -> bool:
    """Whether a column has one value in every event."""
    return bool(table.iloc[:, at].astype(str).groupby(table.iloc[:, event].astype(str).to_numpy()).nunique().max() == 1)
