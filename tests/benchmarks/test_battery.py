"""Real and synthetic tables through the whole engine: every step ends with a result or one sentence.

The fast part of `benchmarks.battery`, whose steps and tables these are.
"""

import os
from itertools import cycle

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.battery import processes
from benchmarks.battery.steps import RESULT, SENTENCE, SHORT, STEPS, Outcome, Size, Wrong, checked, number, through
from benchmarks.battery.synthetic import KINDS, synthetic
from benchmarks.packages import REAL, whole_numbers
from disco.refine import Choice

few = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a failing table is already small, and shrinking it takes minutes
)


ROWS = (12, 40, 150)
FAST = Size(
    SHORT | {"joint_epochs": 1, "projection_epochs": 1, "width": 4, "hidden_layers": 1},
    Choice(starts=1, restarts=0, bootstrap=2, folds=2),
    None,
    trees=3,
    simulations=2,
    folds=2,
    curves=1,
)


def any_table() -> st.SearchStrategy[pd.DataFrame]:
    """Any small table of counts, including constant columns and huge counts."""
    count = st.one_of(st.integers(0, 3), st.integers(0, 10**9))
    shapes = st.tuples(st.integers(12, 20), st.integers(2, 5))

    def rows_of(shape: tuple[int, int]) -> st.SearchStrategy[list[list[int]]]:
        row = st.lists(count, min_size=shape[1], max_size=shape[1])
        return st.lists(row, min_size=shape[0], max_size=shape[0])

    tables = shapes.flatmap(rows_of)
    return tables.map(lambda rows: pd.DataFrame(rows).rename(columns="x{}".format))


def check(table: pd.DataFrame) -> list[Outcome]:
    """All outcomes of a table, after checking that none is a failure."""
    results = list(through(table, FAST))
    failed = [f"{outcome.step}: {outcome.words}" for outcome in results if outcome.outcome not in (RESULT, SENTENCE)]
    assert not failed, "\n".join(failed)
    return results


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("kind", "rows"), zip(KINDS, cycle(ROWS)))
def test_made_tables_end_with_a_result_or_a_sentence(kind, rows):
    check(synthetic(kind, 0, rows))


def test_every_synthetic_table_can_be_made_and_every_result_is_of_a_table():
    tables = processes.all_tables()
    assert all(len(table()) > 0 for name, table in tables.items() if name.startswith("made "))
    (names,) = zip(*processes.STUDY.lines(), strict=True)
    assert len(names) > 100 and set(names) <= set(tables)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@given(table=any_table())
@few
def test_any_table_ends_with_a_result_or_a_sentence(table):
    check(table)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    [
        *("portal control", "portal exclosure", "sklearn digits", "sklearn wine", "lahman Teams"),
        *("lahman PitchingPost", "statsmodels anes96", "statsmodels fair", "statsmodels longley"),
    ],
)
def test_real_tables_end_with_a_result(name):
    table = REAL[name]()
    part = table.iloc[:: max(len(table) // 200, 1)].reset_index(drop=True)
    found = check(part.loc[:, part.nunique() > 1].iloc[:, -5:])
    assert {"counts", "refinement", "model", "exports", "evaluate"} <= {o.step for o in found if o.outcome == RESULT}


def test_a_real_table_is_its_whole_numbers():
    frame = pd.DataFrame({"count": [1, 2, 0, 4, 5, None], "half": 0.5, "constant": 3, "word": list("abcdef")})
    frame = frame.assign(gaps=[1, None, None, 2, 3, 4], below=[-1, 0, 1, 2, 3, 4])
    frame[7] = [True, False, True, True, False, True]
    expected = pd.DataFrame({"count": [1, 2, 0, 4, 5], "7": [1, 0, 1, 1, 0]})
    pd.testing.assert_frame_equal(whole_numbers(frame), expected, check_dtype=False)
    assert whole_numbers(pd.DataFrame({"a": range(50), "b": range(50), "c": range(50)}), 20, 2).shape == (20, 2)


def test_a_step_that_fails_is_a_failure_and_the_next_ones_go_on(monkeypatch):
    def broken(bench):
        checked(pd.DataFrame({"score": [1.0, float("inf")]}))

    monkeypatch.setitem(STEPS, "cam", broken)
    found = {outcome.step: outcome for outcome in through(synthetic("sum", 0, 40), FAST)}
    assert found["cam"].outcome == "traceback" and "score holds an infinite number" in found["cam"].words
    assert found["pcm"].outcome == RESULT and found["evaluate"].outcome == RESULT


def test_numbers_are_finite_or_missing():
    gap = pd.DataFrame({"score": [1.0, float("nan")]})
    assert checked(gap) is gap and number(1.0, "it") == 1.0
    with pytest.raises(Wrong, match="score has a gap"):
        checked(gap, "score")
    with pytest.raises(Wrong, match="the BIC is nan"):
        number(float("nan"), "the BIC")


def dying(sender, table, size, skip):
    """A process that aborts in fit and never ends in cam."""
    for step in ("counts", "fit", "cam", "pcm"):
        if step not in skip:
            sender.send(("begins", step))
            if step == "fit":
                os.abort()
            while step == "cam":
                pass
            sender.send(("ends", Outcome(step, RESULT), 10))
    sender.send(("done",))


def test_an_abort_and_a_hang_are_named_and_the_next_step_goes_on():
    results = [outcome for outcome, _ in processes.outcomes(synthetic("sum", 0, 40), FAST, patience=1.5, target=dying)]
    ends = {outcome.step: outcome.outcome for outcome in results}
    assert ends == {"counts": RESULT, "fit": processes.ABORT, "cam": processes.HANG, "pcm": RESULT}


def test_a_line_has_every_step(monkeypatch):
    monkeypatch.setattr(processes, "all_tables", lambda: {"small": lambda: synthetic("twelve rows", 0, 12)})
    monkeypatch.setattr(processes, "Size", lambda: FAST)
    line = processes.measure("small")
    assert (line["table"], line["rows"], line["columns"]) == ("small", 12, 3)
    assert [step["step"] for step in line["steps"]] == [name for name in STEPS if name != "longer refinement"]
    assert all(step["peak_mb"] > 50 and step["outcome"] in (RESULT, SENTENCE) for step in line["steps"])
    assert "traceback 0, abort 0, hang 0" in processes.summary([line])


def test_failures_are_printed_and_summed_up():
    steps = [
        {"step": "fit", "outcome": "traceback", "words": "Traceback\nValueError: no", "seconds": 1.0, "peak_mb": 10},
        {"step": "cam", "outcome": "result", "words": "", "seconds": 40.0, "peak_mb": 3000},
        {"step": "pcm", "outcome": "stopped", "words": "Stopped.", "seconds": 1.0, "peak_mb": 10},
    ]
    line = {"table": "made sum 0", "rows": 12, "columns": 3, "steps": steps}
    failed, totals = processes.summary([line]).splitlines()
    assert failed == "made sum 0: fit: traceback, ValueError: no; cam: 3000 MB"
    assert "1 tables, 0 of them real; 3 steps: result 1, sentence 0, stopped 1, traceback 1" in totals
