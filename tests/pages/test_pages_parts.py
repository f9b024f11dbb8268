"""What the pages share: names as data, times in words, drafts within bounds, the shared state."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest
from app_world import HOSTILE, booted, box, poisson, written_run

from disco import words
from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.table import spreadsheets
from disco.table.roles import Roles
from pages.shared.compute.cache import cached
from pages.shared.table import drafts
from pages.shared.widgets import answers, errors, figure, names, tables
from pages.shared.widgets.names import bullets


@pytest.mark.parametrize("name", HOSTILE)
def test_plain_escapes_every_mark(name):
    escaped = names.plain(name)
    bare = escaped.replace("\\", "").replace("\u2060", "")
    assert bare == name
    for mark in "<>$:[]*`|":
        assert escaped.count(mark) == escaped.count("\\" + mark)


def test_code_outgrows_backticks_in_a_name():
    assert names.code("a") == "`a`" and names.code("a`b") == "``a`b``" and names.code("`tick`") == "`` `tick` ``"
    assert names.code(" \n ") == "`(empty)`"


def test_shown_cuts_long_names():
    assert names.shown("x" * 60, 10) == "x" * 6 + "…" + "x" * 3 and names.shown("") == "(empty)"


def test_labels_that_agree_are_numbered():
    assert names.distinct(["a", "b", "a", "a (2)", "a"]) == ["a", "b", "a (2)", "a (2) (2)", "a (3)"]


@pytest.mark.parametrize("answer", ["gone", 3, {}, ["a"], None])
def test_only_an_option_is_handed_on(monkeypatch, answer):
    heard = []
    monkeypatch.setattr(answers.st, "session_state", {"box": answer})
    answers.valid("box", ["a", ("b", "c")], heard.append)()
    answers.valid("box", [None, "a"], heard.append)()
    assert heard == ([None] if answer is None else [])
    monkeypatch.setattr(answers.st, "session_state", {"box": ("b", "c")})
    answers.valid("box", ["a", ("b", "c")], heard.append)()
    assert heard[-1] == ("b", "c")


def test_a_choice_that_is_no_option_any_more_gives_way_to_the_first(monkeypatch):
    state = {"box": "gone", "other": "b"}
    monkeypatch.setattr(answers.st, "session_state", state)
    monkeypatch.setattr(answers.st, "segmented_control", lambda label, options, key, **more: state[key])
    assert answers.segments("Box", {"a": "A", "b": "B"}, "box") == "a"
    assert answers.segments("Box", ["a", "b"], "box", "b") == "a"
    assert answers.segments("Other", ["a", "b"], "other") == "b"
    assert answers.segments("New", ["a", "b"], "new", "b") == "b" == state["new"]


def test_what_a_callback_could_not_do_is_told_once(monkeypatch):
    told, state = [], {}
    monkeypatch.setattr(errors.st, "session_state", state)
    monkeypatch.setattr(errors.st, "error", lambda words, icon: told.append(words))
    with errors.deferred("why", "t.csv: "):
        raise InputError("It is *empty*.")
    errors.show("why", " Try again.")
    errors.show("why")
    with errors.caught():
        raise InputError("No.")
    assert told == ["t\\.csv\\: It is \\*empty\\*\\. Try again.", "No\\."] and not state
    state["why"] = "An older one."
    with errors.deferred("why"):
        pass
    assert not state


def test_a_table_is_as_high_as_its_rows_and_its_file_is_safe_and_written_when_asked(monkeypatch):
    drawn, files, said = [], [], []
    monkeypatch.setattr(tables.st, "dataframe", lambda rows, **more: drawn.append(more))
    monkeypatch.setattr(tables.st, "download_button", lambda label, data, *given, **more: files.append((data, more)))
    monkeypatch.setattr(tables.st, "caption", said.append)
    rows = pd.DataFrame({"name": ["=1+1"]})
    csv = tables.Csv("1 row, CSV", "rows.csv", "rows_csv", lambda: rows, "All rows.")
    tables.show(rows, "Rows", empty="No rows.", csv=csv)
    tables.show(pd.concat([rows] * 99), "Rows", max_height=200)
    tables.show(rows.iloc[:0], "Rows", empty="No rows.", csv=csv)
    assert [one["height"] for one in drawn] == [73, 200] and said == ["No rows."]
    ((data, more),) = files
    assert data() == spreadsheets.to_csv(rows) and more["help"] == f"All rows. {spreadsheets.NOTE}"


def test_a_fact_is_computed_once_until_what_it_comes_from_changes():
    asked = []

    @cached(lambda path, stamp, rows: (path, stamp))
    def first(path, stamp, rows):
        asked.append(("first", path, stamp))
        return len(rows)

    @cached(lambda path, stamp, rows: (path, stamp))
    def second(path, stamp, rows):
        asked.append(("second", path, stamp))
        return -len(rows)

    assert [first("run", 1, [1, 2]), first("run", 1, []), second("run", 1, [1])] == [2, 2, -1]
    assert first("run", 2, rows=[3]) == 1 and asked == [("first", "run", 1), ("second", "run", 1), ("first", "run", 2)]


def test_lists_say_how_many_more_there_are():
    assert words.listed(["a", "b"], 2) == "a, b" and words.listed(list("abcd"), 2, "; ") == "a; b and 2 more"
    assert bullets(["a", "b", "c"], 1, "more columns.") == "- a\n- and 2 more columns." and bullets(["a"]) == "- a"


@pytest.mark.parametrize(
    ("points", "name"),
    [
        *(([], None), ([{}], None)),
        *(([{"customdata": data}], None) for data in ([], [{"a": 1}], 3)),
        *(([{"customdata": data}], "a") for data in ("a", ["a", 1])),
    ],
)
def test_a_click_on_a_figure_is_a_name_or_nothing(monkeypatch, points, name):
    state = {"chart": SimpleNamespace(selection=SimpleNamespace(points=points))}
    monkeypatch.setattr(figure.st, "session_state", state)
    assert figure.clicked("chart") == name


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        *((0.2, "under 1 s"), (8.4, "8 s"), (200, "3 min 20 s"), (1500, "25 min"), (7500, "2 h 5 min"), (7200, "2 h")),
        *((3 * 86400, "3 days"), (None, "unknown"), (float("nan"), "unknown")),
    ],
)
def test_durations(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"), [(12, "12 bytes"), (640e6, "640 MB"), (1.34e9, "1.3 GB"), (None, "unknown")]
)
def test_sizes(count, said):
    assert words.size(count) == said


def test_times_ago():
    now = datetime.now(UTC)
    assert words.ago(now) == "just now" and words.ago(now - timedelta(minutes=5)) == "5 min ago"
    assert words.ago("2020-01-02T00:00:00+00:00") == "02 Jan 2020" and words.ago("nonsense") == ""
    assert words.clock("2020-01-02T12:00:00+00:00").startswith("02 Jan 2020")


def test_drafts_are_bounded_in_number():
    store = drafts.DraftStore()
    for number in range(40):
        store.put(str(number), drafts.Draft(poisson(), "t"))
    assert store.get("0") is None and store.get("39") is not None


def test_drafts_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(drafts, "_MOST_BYTES", 10_000)
    store = drafts.DraftStore()
    for number in range(3):
        store.put(str(number), drafts.Draft(pd.DataFrame({"a": range(900)}), "t"))
    assert [store.get(str(number)) is not None for number in range(3)] == [False, False, True]


def test_run_names_and_table_names_are_inverse():
    settings = Settings.of("paper", transform="quantile", levels=6)
    assert drafts.run_name("T", Settings()) == "T" and drafts.run_name("T", settings) == "T, 6 levels, preset paper"
    for name in ("T", "T, 6 levels, preset paper", "T · 2, adjusted, with rules, 6 levels, paper, seed 7"):
        assert drafts.table_name(name, settings) == "T" and drafts.table_name("other, x", settings) == "other, x"
    other, roles = settings.replace(joint_epochs=3, seed=7), Roles({"diet": "context"}, exposure="total")
    name = drafts.run_name("T", other, roles, Knowledge(), 3)
    assert name == "T · 3, 6 levels, preset paper, joint epochs 3, seed 7, adjusted for diet, depth, with rules"
    older = "T · 3, adjusted for diet, depth, with rules, 6 levels, preset paper, joint epochs 3, seed 7"
    assert drafts.table_name(name, other) == drafts.table_name(older, other) == "T"
    assert drafts.next_number("T", [(name, other)]) == 4
    many = settings.replace(joint_epochs=3, folds=4, width=8)
    assert drafts.run_name("T", many) == "T, 6 levels, preset paper, 3 settings changed"


def test_a_second_run_of_a_table_has_the_next_number_whatever_its_settings():
    settings, other = Settings.of("paper"), Settings.of("tuned", seed=4)
    named = [(drafts.run_name("T", settings), settings), (drafts.run_name("U", other, number=7), other)]
    assert [drafts.next_number(name, named) for name in ("T", "U", "V")] == [2, 8, 1]
    named.append((drafts.run_name("T", other, number=5), other))  # those between were deleted
    assert drafts.next_number("T", named) == 6 and drafts.next_number("T", [("my own name", settings)]) == 1


def test_runs_of_one_name_and_minute_are_told_apart():
    first, second = written_run(poisson()), written_run(poisson())
    for run in (first, second):
        at = booted("train", run=run.id)
        at.run()
        assert at.query_params["run"] == run.id and box(at, "run_picker").value == run.id


def test_a_page_that_a_timer_kept_from_opening_opens_at_the_next_run():
    at = booted()
    at.session_state["shared_going"] = "runs"
    at.run()
    assert at.title[0].value == "Runs" and "shared_going" not in at.session_state
