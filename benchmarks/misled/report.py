"""The tables of benchmarks/paper/misled.md: what was decided per design, the totals, and what each finding buys."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.misled.controls import NB, NEARLY_NB
from benchmarks.misled.design import BROKEN, GROUPS, IN_CLASS, POWER, SHARED, Edge
from benchmarks.misled.designs import DESIGNS
from benchmarks.misled.measure import measure
from benchmarks.study import Line, Study, markdown, share

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


def tally(lines: Iterable[Line]) -> Counter[str]:
    """Counts over some tables.

    Returns:
        tables, true, edges, false: tables, true edges, refined edges, and those between nodes that no true edge joins.
        decided, right, wrong, silent: decided edges, the right and wrong ones, and the wrong ones without a warning.
        unknowable: the decided edges whose direction cannot be known.
        by class, wrong by class: decided and wrong with every finding dismissed.
        flagged: tables with a finding, or refused.
    """
    counts = Counter[str]()
    for line in lines:
        truth = {(parent, child): knowable for parent, child, knowable in line["truth"]}
        edges, decided = _edges(line), _decided(line)
        wrong = [edge for edge in decided if not truth.get(edge)]
        by_class = [(parent, child) for parent, child in line.get("alone", decided)]
        counts["tables"] += 1
        counts["true"] += len({frozenset(edge) for edge in truth})
        counts["edges"] += len(edges)
        counts["false"] += sum(edge not in truth and edge[::-1] not in truth for edge in edges)
        counts["decided"] += len(decided)
        counts["right"] += len(decided) - len(wrong)
        counts["wrong"] += len(wrong)
        counts["silent"] += sum(not has_warning(line, edge) for edge in wrong)
        counts["unknowable"] += sum(truth.get(edge, truth.get(edge[::-1])) is False for edge in decided)
        counts["by class"] += len(by_class)
        counts["wrong by class"] += sum(not truth.get(edge) for edge in by_class)
        counts["flagged"] += is_flagged(line)
    return counts


def _edges(line: Line) -> list[Edge]:
    edges = line.get("edges", {})
    return list(zip(edges.get("parent", ()), edges.get("child", ()), strict=True))


def _decided(line: Line) -> list[Edge]:
    is_decided = line.get("edges", {}).get("decided", ())
    return [edge for edge, decided in zip(_edges(line), is_decided, strict=True) if decided]


def is_flagged(line: Line) -> bool:
    """Whether there is a warning about the table."""
    return bool(line.get("findings")) or "refused" in line


def has_warning(line: Line, edge: Edge) -> bool:
    """Whether a finding about the table, or a note that names an end of the edge, warns of it."""
    return is_flagged(line) or any(f'"{end}"' in note for note in line["notes"] for end in edge)


def _kinds(line: Line) -> set[str]:
    kinds = {kind for kind, _ in line.get("findings", ())}
    return kinds | ({"refused"} if "refused" in line else set()) | ({"poor fit"} if line.get("poor") else set())


def by_design(lines: Sequence[Line]) -> str:
    """Markdown: one row per design, and one per group."""
    grid = []
    for group in GROUPS.values():
        of_group = [line for line in lines if DESIGNS[line["design"]].group == group]
        designs = ((name, [line for line in of_group if line["design"] == name]) for name in DESIGNS)
        grid += [(name, *_cells(some)) for name, some in ((f"**{group}**", of_group), *designs) if some]
    return markdown(HEAD, grid)


def _cells(lines: Sequence[Line]) -> tuple[object, ...]:
    counts, kinds = tally(lines), Counter(kind for line in lines for kind in _kinds(line))
    warnings = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    numbers = (counts[name] for name in ("tables", "true", "edges", "false", "decided", "wrong", "silent"))
    by_class = f"{counts['by class']} / {counts['wrong by class']}"
    return (*numbers, by_class, ", ".join(f"{kind} {tables}" for kind, tables in warnings))


def totals(lines: Sequence[Line]) -> str:
    """Markdown: the measures over all tables, with their goals."""
    groups = {group: [line for line in lines if DESIGNS[line["design"]].group == group] for group in GROUPS.values()}
    outside = tally(groups[BROKEN] + groups[SHARED])
    empty = tally(line for line in groups[SHARED] if not line["truth"])
    control = tally(groups[IN_CLASS] + groups[POWER])
    seconds = [line["seconds"] for line in lines if line["columns"] == _LARGE]
    rows = [
        ("true of all decided, outside of the class", _of(outside["right"], outside["decided"]), "97 %"),
        (f"designs with {FEW} decided, of which fewer than 90 % are right", _unreliable(lines), "none"),
        ("wrong and nothing said", _of(outside["silent"], outside["decided"]), "1 %"),
        ("unknowable directions decided", outside["unknowable"], "0"),
        ("dependent rows or a common factor, no edge: said so", _of(empty["flagged"], empty["tables"]), "95 %"),
        ("tables of the class: said wrongly", _of(control["flagged"], control["tables"]), "3 %"),
        (
            "tables of the class: decided of true edges; wrong",
            f"{_of(control['decided'], control['true'])}; {control['wrong']}",
            "",
        ),
        ("decided and right by rows, one NB graph", _by_rows(lines, NB), "never falling"),
        ("the same, nearly of the class", _by_rows(lines, NEARLY_NB), "never falling"),
        (
            "seconds of a refinement at d = 50, median",
            f"{statistics.median(seconds):.1f}" if seconds else "",
            "1.3 × as long",
        ),
    ]
    return markdown(("measure", "value", "goal"), rows)


def _of(count: int, of: int) -> str:
    return f"{count:,} of {of:,}" + (f" ({share(count, of)})" if of else "")


def _tallies(lines: Sequence[Line], start: str = "") -> Iterator[tuple[str, Counter[str]]]:
    """The counts of every design that ran, by the end of its name."""
    for name in DESIGNS:
        if name.startswith(start) and (group := [line for line in lines if line["design"] == name]):
            yield name.removeprefix(start), tally(group)


def _unreliable(lines: Sequence[Line]) -> str:
    poor = [
        f"{name} ({counts['right']} of {counts['decided']})"
        for name, counts in _tallies(lines)
        if counts["decided"] >= FEW and counts["right"] < _REQUIRED * counts["decided"]
    ]
    return "; ".join(poor) or "none"


def _by_rows(lines: Sequence[Line], start: str) -> str:
    counts = _tallies(lines, f"{start}, ")
    return ", ".join(f"{rows}: {count['right']} in {count['tables']}" for rows, count in counts)


def prices(lines: Sequence[Line]) -> str:
    """Markdown: what each kind of finding prevents and withholds, over the tables that have it."""
    rows = []
    for kind in sorted({kind for line in lines for kind, _ in line.get("findings", ())}):
        counts = tally(line for line in lines if kind in _kinds(line))
        withheld = counts["by class"] - counts["wrong by class"] - counts["right"]
        rows.append((kind, counts["tables"], counts["wrong by class"] - counts["wrong"], withheld))
    return markdown(("finding", "tables", "wrong prevented", "right withheld"), rows)


def sentences() -> str:
    """Markdown: what misleads in each design, and what a right answer is."""
    names: dict[str, list[str]] = {}
    for name, design in DESIGNS.items():
        names.setdefault(design.sentence, []).append(name)
    return markdown(("designs", "what misleads"), (("; ".join(group), sentence) for sentence, group in names.items()))


def report(lines: Sequence[Line]) -> str:
    """All tables of some lines, and the sentences on their designs."""
    lines = [line for line in lines if line["design"] in DESIGNS]
    return "\n\n".join([by_design(lines), totals(lines), prices(lines), sentences()])


def jobs() -> Iterator[tuple[str, int]]:
    """Every table: design and seed; a design's seeds are consecutive."""
    for name, design in DESIGNS.items():
        yield from ((name, seed) for seed in range(design.seeds))


STUDY = Study("misled", ("design", "seed"), jobs, measure, report, SECTION)
