"""The headline table of benchmarks/README.md: the refinement, DISCO, the paper, BOSS and sorting side by side.

Mean F1 and A_top on the design of the paper's first table (ER3, d = 50, n = 5,000), from the lines of `ccs`.
"""

import statistics
from collections.abc import Iterable
from pathlib import Path

from benchmarks.paper.report import CONTROLS, FIGURES, FOLDER, read, spans, valid
from benchmarks.paper.tables import TABLES
from benchmarks.study import RESULTS, Line, markdown

README = FOLDER.parent / "README.md"
MARKS = "<!-- headline -->\n", "\n<!-- /headline -->"  # around the table
_FAMILIES = {"Poi": "Poisson", "NB": "NB", "Bin": "binomial"}
OURS = {"the refinement (`refined`)": "refined", "DISCO, preset `tuned` (`disco-tuned`)": "disco-tuned"}
RIVAL = {"BOSS (`boss`)": "boss"}
NONE = "–"


def headline(results: Path = RESULTS) -> str:
    """The table: a row per method, F1 and A_top of each family, seeds."""
    rows = {row.labels[0]: row for row in TABLES["ccs"].rows(50) if row.labels[1] == "CCS"}
    answers = [line for line in read(results, "ccs").values() if line["nodes"] == 50 and "error" not in line]
    families = [[line for line in answers if valid(rows[name], line)] for name in _FAMILIES]
    paper = [FIGURES["ccs"][rows[name].key] for name in _FAMILIES]
    body = {label: [_of_method(group, method) for group in families] for label, method in OURS.items()}
    body["the paper's DISCO"] = [(f"{row['f1'][0]:.3f}", f"{row['a_top'][0]:.3f}", "10 of its own") for row in paper]
    body |= {label: [_of_method(group, method) for group in families] for label, method in RIVAL.items()}
    body["sorting the columns, the best of three"] = [_sorted(group) for group in families]
    rows_of_cells = []
    for label, cells in body.items():
        values = [value for *pair, _ in cells for value in pair]
        rows_of_cells.append([label, *values, " / ".join(dict.fromkeys(seeds for *_, seeds in cells))])
    head = ["", *(f"{name}: {metric}" for name in _FAMILIES.values() for metric in ("F1", "A_top")), "seeds"]
    return markdown(head, rows_of_cells)


def _of_method(group: list[Line], method: str) -> tuple[str, str, str]:
    """Mean F1 and A_top of a method, and its seeds."""
    answers = [line for line in group if line["method"] == method]
    f1, a_top = (_mean(line["metrics"][metric] for line in answers) for metric in ("f1", "a_top"))
    return f1, a_top, spans(line["seed"] for line in answers) or "not run"


def _sorted(group: list[Line]) -> tuple[str, str, str]:
    """Mean A_top of the best sorting control, and the seeds of all lines; sorting gives no edges."""
    controls = {line["seed"]: line["controls"] for line in group}
    if not controls:
        return NONE, NONE, "not run"
    best = max(statistics.fmean(values[key] for values in controls.values()) for key in CONTROLS)
    return NONE, f"{best:.3f}", spans(controls)


def _mean(values: Iterable[float | None]) -> str:
    """The mean of what is there."""
    present = [value for value in values if value is not None]
    return f"{statistics.fmean(present):.3f}" if present else NONE


def renewed(text: str, results: Path = RESULTS) -> str:
    """The text of README.md with the table between its marks."""
    start, end = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
    return start + MARKS[0] + headline(results) + MARKS[1] + end


def write(results: Path = RESULTS) -> None:
    """Renew the table in README.md."""
    README.write_text(renewed(README.read_text(encoding="utf-8"), results), encoding="utf-8")
