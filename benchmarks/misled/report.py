"""The tables of benchmarks/paper/misled.md: what was decided per design, the totals, and what each finding buys."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.misled.controls import NB, NEARLY_NB
from benchmarks.misled.design import BROKEN, GROUPS, IN_CLASS, POWER, SHARED, Edge
from benchmarks.misled.designs import DESIGNS
from benchmarks.misled.measure import RESULTS, Line, known_lines

SECTION = """
# Tables that mislead

Not in the paper: which directions the refinement decides on tables that break the model class in ordinary ways,
without bootstrap. A decided edge is *wrong* if it joins what is not joined, points the wrong way, or if its direction
cannot be known by construction; *in silence* if neither a finding about the table nor a note on one of its ends is
shown with it. *Class alone*: decided / wrong with every finding dismissed. `python -m benchmarks.misled`
"""
HEAD = ("design", "tables", "true edges", "edges", "false", "decided", "wrong", "in silence", "class alone", "said")
FEW = 10  # decided directions, from which on a design is judged alone
_REQUIRED = 0.9  # of them right
_LARGE = 50  # columns of the tables whose time is reported


@dataclass
class Tally:
    """Counts over some tables.

    Attributes:
        tables, true, edges, false: tables, true edges, refined edges, and those between nodes that no true edge joins.
        decided, wrong, silent: decided edges, the wrong ones, and those of them about which nothing is said.
        unknowable: the decided edges whose direction cannot be known.
        alone, alone_wrong: decided and wrong with every finding dismissed.
        flagged: tables with a finding, or refused.
        said: kinds of findings, poor fits and refusals, by tables.
    """

    tables: int = 0
    true: int = 0
    edges: int = 0
    false: int = 0
    decided: int = 0
    wrong: int = 0
    silent: int = 0
    unknowable: int = 0
    alone: int = 0
    alone_wrong: int = 0
    flagged: int = 0
    said: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, group: Iterable[Line]) -> "Tally":
        """The counts of some lines."""
        tally = cls()
        for line in group:
            tally.add(line)
        return tally

    def add(self, line: Line) -> None:
        """Count a line."""
        known = {(parent, child): knowable for parent, child, knowable in line["truth"]}
        every, decided = _edges(line), _decided(line)
        wrong = [edge for edge in decided if not known.get(edge)]
        alone = [(parent, child) for parent, child in line.get("alone", decided)]
        self.tables += 1
        self.true += len({frozenset(edge) for edge in known})
        self.edges += len(every)
        self.false += sum(edge not in known and edge[::-1] not in known for edge in every)
        self.decided += len(decided)
        self.wrong += len(wrong)
        self.silent += sum(not is_said(line, edge) for edge in wrong)
        self.unknowable += sum(known.get(edge, known.get(edge[::-1])) is False for edge in decided)
        self.alone += len(alone)
        self.alone_wrong += sum(not known.get(edge) for edge in alone)
        self.flagged += is_flagged(line)
        self.said.update(_kinds(line))

    @property
    def right(self) -> int:
        """The number of right decisions."""
        return self.decided - self.wrong


def _edges(line: Line) -> list[Edge]:
    edges = line.get("edges", {})
    return list(zip(edges.get("parent", ()), edges.get("child", ()), strict=True))


def _decided(line: Line) -> list[Edge]:
    is_decided = line.get("edges", {}).get("decided", ())
    return [edge for edge, decided in zip(_edges(line), is_decided, strict=True) if decided]


def is_flagged(line: Line) -> bool:
    """Whether something is said about the table as a whole."""
    return bool(line.get("findings")) or "refused" in line


def is_said(line: Line, edge: Edge) -> bool:
    """Whether a finding about the table, or a note that names an end of the edge, warns of it."""
    return is_flagged(line) or any(f'"{end}"' in note for note in line["notes"] for end in edge)


def _kinds(line: Line) -> set[str]:
    kinds = {kind for kind, _ in line.get("findings", ())}
    return kinds | ({"refused"} if "refused" in line else set()) | ({"poor fit"} if line.get("poor") else set())


def by_design(lines: Sequence[Line]) -> str:
    """Markdown: one row per design, and one per group."""
    grid = []
    for group in GROUPS:
        of_group = [line for line in lines if DESIGNS[line["design"]].group == group]
        if of_group:
            grid.append((f"**{group}**", *_cells(Tally.of(of_group))))
        for name in DESIGNS:
            if own := [line for line in of_group if line["design"] == name]:
                grid.append((name, *_cells(Tally.of(own))))
    return _markdown(HEAD, grid)


def _cells(tally: Tally) -> tuple[str, ...]:
    counts = (tally.tables, tally.true, tally.edges, tally.false, tally.decided, tally.wrong, tally.silent)
    said = ", ".join(
        f"{kind} {tables}" for kind, tables in sorted(tally.said.items(), key=lambda one: (-one[1], one[0]))
    )
    return (*map(str, counts), f"{tally.alone} / {tally.alone_wrong}", said)


def totals(lines: Sequence[Line]) -> str:
    """Markdown: the measures over all tables, with their goals."""
    groups = {group: [line for line in lines if DESIGNS[line["design"]].group == group] for group in GROUPS}
    whole = Tally.of(groups[BROKEN] + groups[SHARED])
    empty, control = (
        Tally.of(line for line in groups[SHARED] if not line["truth"]),
        Tally.of(groups[IN_CLASS] + groups[POWER]),
    )
    rows = [
        ("true of all decided, outside of the class", _of(whole.right, whole.decided), "97 %"),
        (f"designs with {FEW} decided, of which fewer than 90 % are right", _unreliable(lines), "none"),
        ("wrong and nothing said", _of(whole.silent, whole.decided), "1 %"),
        ("unknowable directions decided", str(whole.unknowable), "0"),
        ("dependent rows or a common factor, no edge: said so", _of(empty.flagged, empty.tables), "95 %"),
        ("tables of the class: said wrongly", _of(control.flagged, control.tables), "3 %"),
        (
            "tables of the class: decided of true edges; wrong",
            f"{_of(control.decided, control.true)}; {control.wrong}",
            "",
        ),
        ("decided and right by rows, one NB graph", _by_rows(lines, NB), "never falling"),
        ("the same, nearly of the class", _by_rows(lines, NEARLY_NB), "never falling"),
        ("seconds of a refinement at d = 50, median", _seconds(lines), "1.3 × as long"),
    ]
    return _markdown(("measure", "value", "goal"), rows)


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({part / whole:.1%})" if whole else "")


def _unreliable(lines: Sequence[Line]) -> str:
    tallies = {name: _of_designs([name], lines) for name in DESIGNS}
    poor = [
        f"{name} ({tally.right} of {tally.decided})"
        for name, tally in tallies.items()
        if tally.decided >= FEW and tally.right < _REQUIRED * tally.decided
    ]
    return "; ".join(poor) or "none"


def _seconds(lines: Sequence[Line]) -> str:
    seconds = [line["seconds"] for line in lines if line["columns"] == _LARGE]
    return f"{statistics.median(seconds):.1f}" if seconds else ""


def _by_rows(lines: Sequence[Line], start: str) -> str:
    names = [name for name in DESIGNS if name.startswith(f"{start}, ")]
    tallies = {name: _of_designs([name], lines) for name in names}
    return ", ".join(
        f"{name.removeprefix(f'{start}, ')}: {tally.right} in {tally.tables}"
        for name, tally in tallies.items()
        if tally.tables
    )


def prices(lines: Sequence[Line]) -> str:
    """Markdown: what each kind of finding prevents and withholds, over the tables where it is said."""
    rows = []
    for kind in sorted({kind for line in lines for kind, _ in line.get("findings", ())}):
        tally = Tally.of(line for line in lines if kind in _kinds(line))
        withheld = tally.alone - tally.alone_wrong - tally.right
        rows.append((kind, str(tally.tables), str(tally.alone_wrong - tally.wrong), str(withheld)))
    return _markdown(("finding", "tables", "wrong prevented", "right withheld"), rows)


def changes(before: Sequence[Line], lines: Sequence[Line]) -> str:
    """Markdown: right and wrong decisions of the tables in both, before and now, by group and by design."""
    both, rows = _in_both(before, lines), []
    for group in GROUPS:
        names = [name for name, design in DESIGNS.items() if design.group == group]
        for title, part in ((f"**{group}**", names), *((name, [name]) for name in names)):
            old, new = (_of_designs(part, some) for some in both)
            cells = ((old.right, new.right), (old.wrong, new.wrong), (old.flagged, new.flagged))
            if any(first != second for first, second in cells):
                rows.append((title, str(new.tables), *(f"{first} → {second}" for first, second in cells)))
    return _markdown(("design", "tables", "right", "wrong", "flagged"), rows)


def _in_both(*several: Sequence[Line]) -> list[list[Line]]:
    """The lines of each that are of the same tables."""
    tables = set.intersection(*({(line["design"], line["seed"]) for line in lines} for lines in several))
    return [[line for line in lines if (line["design"], line["seed"]) in tables] for lines in several]


def _of_designs(names: Sequence[str], lines: Iterable[Line]) -> Tally:
    return Tally.of(line for line in lines if line["design"] in names)


def sentences() -> str:
    """Markdown: what misleads in each design, and what a right answer is."""
    names: dict[str, list[str]] = {}
    for name, design in DESIGNS.items():
        names.setdefault(design.sentence, []).append(name)
    return _markdown(("designs", "what misleads"), (("; ".join(of), sentence) for sentence, of in names.items()))


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    grid = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def report(lines: Sequence[Line]) -> str:
    """The tables of some lines."""
    return "\n\n".join([by_design(lines), totals(lines), prices(lines)])


def section(path: Path = RESULTS) -> str:
    """A file of benchmarks/paper/, from the lines of a file."""
    lines = [line for line in known_lines(path).values() if line["design"] in DESIGNS]
    return "\n\n".join([SECTION.strip(), report(lines) if lines else "Not run yet.", sentences()])
