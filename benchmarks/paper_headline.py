"""The headline table of benchmarks/README.md: the refinement, DISCO, the paper, BOSS and sorting side by side.

Mean F1 and A_top on the design of the paper's first table (ER3, d = 50, n = 5,000), from the lines of `ccs`.
"""

import statistics
from collections.abc import Iterable
from pathlib import Path

from benchmarks import paper_results
from benchmarks.paper_figures import CCS
from benchmarks.paper_report import CONTROLS, HERE, RESULTS, mark_stale, markdown, seeds_of, spans, valid
from benchmarks.paper_results import Line
from benchmarks.paper_tables import TABLES

README = HERE / "README.md"
MARKS = "<!-- headline -->\n", "\n<!-- /headline -->"  # around the table
FAMILIES = {"Poi": "Poisson", "NB": "NB", "Bin": "binomial"}
OURS = {"the refinement (`refined`)": "refined", "DISCO, preset `tuned` (`disco-tuned`)": "disco-tuned"}
RIVAL = {"BOSS (`boss`)": "boss"}
NONE = "–"


def headline(results: Path = RESULTS) -> str:
    """The table: a row per method, F1 and A_top of each family, seeds."""
    rows = {row.labels[0]: row for row in TABLES["ccs"].rows(50) if row.labels[1] == "CCS"}
    found = [line for line in paper_results.read(results, "ccs").values() if line["nodes"] == 50]
    for row in rows.values():
        mark_stale(row, found, results)
    lines = [[line for line in found if "error" not in line and valid(rows[name], line)] for name in FAMILIES]
    paper = [CCS[rows[name].key] for name in FAMILIES]
    body = {label: [_ours(part, method) for part in lines] for label, method in OURS.items()}
    body["the paper's DISCO"] = [(f"{one['f1'][0]:.3f}", f"{one['a_top'][0]:.3f}", "10 of its own") for one in paper]
    body |= {label: [_ours(part, method) for part in lines] for label, method in RIVAL.items()}
    body["sorting the columns, the best of three"] = [_sorted(part) for part in lines]
    grid = [["", *(f"{name}: {metric}" for name in FAMILIES.values() for metric in ("F1", "A_top")), "seeds"]]
    for label, parts in body.items():
        values = [value for *pair, _ in parts for value in pair]
        grid.append([label, *values, " / ".join(dict.fromkeys(seeds for *_, seeds in parts))])
    return markdown(grid)


def _ours(lines: list[Line], method: str) -> tuple[str, str, str]:
    """Mean F1 and A_top of a method, and its seeds."""
    own = [line for line in lines if line["method"] == method]
    f1, a_top = (_mean(line["metrics"][metric] for line in own) for metric in ("f1", "a_top"))
    return f1, a_top, seeds_of(own) or "not run"


def _sorted(lines: list[Line]) -> tuple[str, str, str]:
    """Mean A_top of the best sorting control, and the seeds of all lines; sorting gives no edges."""
    controls = {line["seed"]: line["controls"] for line in lines}
    if not controls:
        return NONE, NONE, "not run"
    best = max(statistics.fmean(one[key] for one in controls.values()) for key in CONTROLS)
    return NONE, f"{best:.3f}", spans(controls)


def _mean(values: Iterable[float | None]) -> str:
    """The mean of what is there."""
    there = [value for value in values if value is not None]
    return f"{statistics.fmean(there):.3f}" if there else NONE


def renewed(text: str, results: Path = RESULTS) -> str:
    """The text of README.md with the table between its marks."""
    before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
    return before + MARKS[0] + headline(results) + MARKS[1] + after


def write(results: Path = RESULTS) -> None:
    """Renew the table in README.md."""
    README.write_text(renewed(README.read_text(encoding="utf-8"), results), encoding="utf-8")
