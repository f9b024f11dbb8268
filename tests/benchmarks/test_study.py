"""The runner of all benchmarks: what it measures, skips, stores and prints."""

import pytest

from benchmarks.study import Study, append, compact, grouped, lines, markdown
from disco.errors import InputError


def jobs():
    return [("first", 0), ("first", 1), ("second", 0), ("absent", 0)]


def measure(case: str, seed: int) -> dict:
    if case == "absent":
        raise InputError("It is not installed.")
    return {"case": case, "seed": seed, "value": 10 * seed, "seconds": 0.5}


def table(measured: list[dict]) -> str:
    return markdown(("case", "seed"), [(line["case"], line["seed"]) for line in measured])


TOY = Study("toy", ("case", "seed"), jobs, measure, table, "# Toy")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.jsonl"


def run(path, *options: str, study: Study = TOY) -> int:
    return study.main("A toy.", ["--results", str(path), *options])


@pytest.mark.parametrize("processes", ["1", "2"])
def test_every_case_is_measured_once_and_a_missing_package_stops_no_other(path, capsys, processes):
    assert run(path, "--processes", processes) == 1
    first, text = path.read_bytes(), capsys.readouterr().out
    assert set(TOY.lines(path)) == set(jobs()[:3]) and "first, seed 1 0.5 s" in text
    assert "Not measured:\n  absent, seed 0: It is not installed." in text
    assert run(path) == 1 and path.read_bytes() == first
    assert "| second | 0 |" in capsys.readouterr().out


def test_only_some_cases_are_measured_again(path, capsys):
    assert run(path, "--only", "first, seed 1$") == 0 and set(TOY.lines(path)) == {("first", 1)}
    assert run(path, "--only", "^first", "--again") == 0
    assert [line["seed"] for line in lines(path)] == [1, 0, 1] and len(TOY.lines(path)) == 2
    capsys.readouterr()
    assert run(path, "--summary") == 0 and "second" not in capsys.readouterr().out
    assert len(list(lines(path))) == 3


def test_a_torn_line_is_measured_again(path):
    run(path, "--only", "first")
    path.write_bytes(path.read_bytes()[:-20])
    assert set(TOY.lines(path)) == {("first", 0)}
    run(path, "--only", "first")
    assert [line["value"] for line in lines(path)] == [0, 10]


def test_of_lines_with_the_same_key_the_last_counts_in_the_report(tmp_path):
    assert TOY.section(tmp_path) == "# Toy\n\nNot run yet."
    for case in ("first", "second", "first"):
        append(tmp_path / "toy.jsonl", {"case": case, "seed": 0})
    assert TOY.section(tmp_path).count("| first | 0 |") == 1


def test_groups_are_in_the_order_of_the_cases_and_numbers():
    measured = [{"case": case, "rows": rows} for case, rows in (("old", 9), ("b", 5000), ("a", 9), ("b", 200))]
    assert list(grouped(measured, ("case", "rows"), "ab")) == [("a", 9), ("b", 200), ("b", 5000), ("old", 9)]


def test_values_for_json_have_four_digits():
    assert compact(float("nan")) is None and compact(1.23456e-9) == 1.235e-9 and compact("x") == "x"
