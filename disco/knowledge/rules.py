"""Rules about the graph, by name or by pattern, as given by a user.

    Knowledge(tiers=[["age", "sex"], ["gene_*"]], required=["tf_1 → gene_3"], forbidden=["gene_* → tf_*"], closed=[1])

- *Tiers* are a temporal order: no node has a cause in a later tier, directly or through other nodes. A closed tier has
  no edge between its own nodes. A node without a tier may be anywhere.
- A *required* edge is in every graph. A *forbidden* edge is in none, but a path may connect the same nodes.

A text is the column of that name if there is one. Otherwise `*`, `?` and `[…]` in it make it a pattern (`fnmatch`;
upper and lower case differ). A pattern stands for all matching columns, a pair of patterns for all matching pairs of
two different columns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import translate
from typing import Any

import numpy as np

from disco.errors import InputError
from disco.files import plain
from disco.graph.dag import positions
from disco.knowledge.contradictions import EdgeRule, check, pairs_of
from disco.knowledge.resolved import Resolved, closure
from disco.table.roles import Roles
from disco.words import how_many

MOST_TEXTS = 10_000  # names and patterns
LONGEST_TEXT = 1000
_ARROW = re.compile(r"\s*(?:→|->)\s*")
_SIGNS = re.compile(r"[*?\[]")
_KINDS = ("required", "forbidden")


@dataclass(frozen=True)
class Knowledge:
    """Rules about a graph; raises InputError if one is not of this form, or there are too many.

    Attributes:
        tiers: names and patterns of each tier, earliest first.
        required, forbidden: pairs (parent, child) of names or patterns, or texts "parent → child".
        closed: the numbers, from 1, of the tiers without edges between their own nodes.
    """

    tiers: Sequence[Sequence[str]] = ()
    required: Sequence[Sequence[str] | str] = ()
    forbidden: Sequence[Sequence[str] | str] = ()
    closed: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name in ("tiers", *_KINDS, "closed"):
            if not isinstance(getattr(self, name), list | tuple):
                raise InputError(f'"{name}" of the knowledge must be a list; see docs/knowledge.md.')
        tiers = tuple(_tier(texts, number) for number, texts in enumerate(self.tiers, start=1))
        pairs = {kind: tuple(_pair(pair, kind) for pair in getattr(self, kind)) for kind in _KINDS}
        for number in self.closed:
            if type(number) is not int or not 1 <= number <= len(tiers):
                raise InputError(f"A closed tier must be a number from 1 to {len(tiers)}; got {_short(number)}.")
        count = sum(map(len, tiers)) + 2 * sum(map(len, pairs.values()))
        if count > MOST_TEXTS:
            raise InputError(f"The knowledge has {count:,} names and patterns; at most {MOST_TEXTS:,} are read.")
        for name, value in {"tiers": tiers, **pairs, "closed": tuple(sorted(set(self.closed)))}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Knowledge":
        """The knowledge of `to_dict`, or of a file with some of its entries; raises InputError for other entries or
        forms.
        """
        entries = [item.name for item in fields(cls)]
        for name in values:
            if name not in entries:
                raise InputError(f"Knowledge has the entries {', '.join(entries)}; got {_short(name)}.")
        return cls(**values)

    def to_dict(self) -> dict[str, list]:
        """All rules in JSON's types, without empty entries."""
        entries = {item.name: plain(getattr(self, item.name)) for item in fields(self)}
        return {name: value for name, value in entries.items() if value}

    def __str__(self) -> str:
        """How many rules there are, in words."""
        counts = [(len(self.tiers), "tier"), *((len(getattr(self, kind)), f"{kind} rule") for kind in _KINDS)]
        phrases = [how_many(count, word) for count, word in counts if count]
        return ", ".join(phrases) or "no rules"

    def without_each(self) -> list[tuple[str, "Knowledge"]]:
        """Every rule in words, and the knowledge without it; all tiers together are one rule."""
        rules = []
        if self.tiers:
            rules.append((f"{len(self.tiers)} tiers", replace(self, tiers=(), closed=())))
        for number in self.closed:
            closed = [tier for tier in self.closed if tier != number]
            rules.append((f"closed tier {number}", replace(self, closed=closed)))
        for kind in _KINDS:
            pairs = getattr(self, kind)
            for index, pair in enumerate(pairs):
                less = [*pairs[:index], *pairs[index + 1 :]]
                rules.append((f"{kind} {' → '.join(pair)}", replace(self, **{kind: less})))
        return rules

    def resolve(self, names: Sequence[str], roles: Roles | None = None) -> Resolved:
        """The rules over the nodes of a table; the matrices are in the order of the names.

        Raises InputError if a rule matches no column or pair, if it names a column in `roles`, or if rules contradict
        each other; the message then has the fewest rules that do.
        """
        index = positions(names, "table")
        if roles is not None:
            self._refuse_others(index, roles)
        tier = self._tier_of(index)
        rules = {kind: [_edge_rule(pair, kind, index) for pair in getattr(self, kind)] for kind in _KINDS}
        earlier = (tier[:, None] > 0) & (tier[:, None] < tier)
        inside = (tier[:, None] == tier) & np.isin(tier, self.closed) & ~np.eye(len(index), dtype=bool)
        check(names, tier, inside, *rules.values())
        required, forbidden = (pairs_of(rules[kind], len(index)) for kind in _KINDS)
        return Resolved(forbidden | earlier.T | inside, required, closure(required | earlier))

    def _refuse_others(self, index: dict[str, int], roles: Roles) -> None:
        """Refuse rules that name a column of another role than count."""
        for text in dict.fromkeys(text for texts in (*self.tiers, *self.required, *self.forbidden) for text in texts):
            fits = re.compile(translate(text)).match if _SIGNS.search(text) else text.__eq__
            columns = [name for name in roles.columns if roles.role(name) != "count" and fits(name)]
            if columns and text not in index and not any(map(fits, index)):
                role = roles.role(columns[0])
                what = "is ignored" if role == "ignore" else f"is {'an' if role == 'exposure' else 'a'} {role}"
                raise InputError(
                    f'The knowledge names "{text}", but "{columns[0]}" {what}, not a node: remove that rule, or make '
                    "the column a count."
                )

    def _tier_of(self, index: dict[str, int]) -> np.ndarray:
        """The tier of every column, from 1; 0 without a tier."""
        tier, by = np.zeros(len(index), dtype=int), dict[int, str]()
        for number, texts in enumerate(self.tiers, start=1):
            for text in texts:
                for column in _columns(text, index):
                    if tier[column] not in (0, number):
                        name = list(index)[column]
                        raise InputError(
                            f'The knowledge puts "{name}" in two tiers, tier {tier[column]} by "{by[column]}" and tier '
                            f'{number} by "{text}": keep it in one of them.'
                        )
                    tier[column], by[column] = number, text
        return tier


def _tier(texts: Any, number: int) -> tuple[str, ...]:
    if not isinstance(texts, list | tuple) or not texts:
        raise InputError(f"Tier {number} of the knowledge must be a list of names or patterns; got {_short(texts)}.")
    return tuple(_text(text) for text in texts)


def _pair(value: Any, kind: str) -> tuple[str, str]:
    """A checked pair, from a pair or from a text with one arrow."""
    pair = _ARROW.split(value) if isinstance(value, str) else value
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise InputError(
            f'A {kind} edge of the knowledge must be ["parent", "child"] or "parent → child"; got {_short(value)}.'
        )
    return _text(pair[0]), _text(pair[1])


def _text(text: Any) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
        raise InputError(f"A name or pattern must be a text of 1 to {LONGEST_TEXT:,} characters; got {_short(text)}.")
    return text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _columns(text: str, index: dict[str, int]) -> list[int]:
    if text in index:
        return [index[text]]
    if not _SIGNS.search(text):
        raise InputError(f'The knowledge names "{text}", which is not a column of the table: correct or remove it.')
    fits = re.compile(translate(text)).match
    matching = [number for name, number in index.items() if fits(name)]
    if not matching:
        raise InputError(f'No column of the table matches the pattern "{text}" of the knowledge: correct or remove it.')
    return matching


def _edge_rule(pair: tuple[str, str], kind: str, index: dict[str, int]) -> EdgeRule:
    words = " → ".join(pair)
    parents, children = (frozenset(_columns(text, index)) for text in pair)
    if len(parents | children) == 1:
        raise InputError(f'The {kind} edge "{words}" joins a column only with itself: correct or remove it.')
    return EdgeRule(words, parents, children)
