"""Data: each common fault of a table has its cure on the page, and every cure can be undone."""

import io

import numpy as np
import openpyxl
import pandas as pd
from app_world import booted, button, csv, draft_of, poisson, press, texts, unfold, upload, wait_until_computed
from cells_by_genes import zipped

from disco.paper.settings import Settings
from disco.runs import create_run, list_runs
from pages.data import faults
from pages.shared.table import draft_facts
from pages.shared.work import fit_start


def with_blanks() -> pd.DataFrame:
    """Six columns with seven blanks and a −1 in eight rows, a column of text and a constant one."""
    table = poisson(rows=120, names=tuple("abcdef")).astype(object)
    for row, column in ((3, 0), (4, 0), (5, 1), (20, 2), (30, 0), (40, 4), (118, 5)):
        table.iloc[row, column] = None
    table.iloc[10, 3] = -1
    return table.assign(site="here", seen=1)


def test_identifiers_are_left_out_and_taken_back_with_one_click():
    table = poisson(names=("a", "b", "c"))
    table.insert(0, "id", np.random.default_rng(0).permutation(len(table)) + 1)
    at = upload(booted(), "ids.csv", csv(table))
    assert draft_of(at).columns == (1, 2, 3) and "`id` looks like an identifier" in texts(at)
    press(at, "Choose all")
    assert draft_of(at).columns == (0, 1, 2, 3)
    at.button(key="artefact_cure_identifier").click().run()
    assert draft_of(at).columns == (1, 2, 3)
    press(at, "Choose all")
    press(at, "Choose usable")
    assert draft_of(at).columns == (1, 2, 3)


def test_genes_in_rows_are_transposed_and_turned_back():
    counts = np.random.default_rng(0).poisson(2.0, (20, 45))
    table = pd.DataFrame(counts, columns=[f"cell{place}" for place in range(45)])
    table.insert(0, "<b>gene</b>", [f"G{row}" for row in range(20)])
    at = upload(booted(), "genes.csv", csv(table))
    assert "More columns than rows: are variables in rows?" in texts(at)
    assert not at.error and "First answer the question above." in texts(at)
    press(at, "Transpose")
    now = draft_of(at)
    assert now.table.shape == (45, 20) and now.table.columns[0] == "G0" and len(now.columns) == 20 and not at.error
    np.testing.assert_array_equal(now.table.to_numpy(), counts.T)
    assert "Transposed, with names from" in texts(at) and "<b>" not in at.caption[1].value
    wait_until_computed()
    assert not button(at.run(), "Find the graph").disabled
    press(at, "Undo the last step")
    pd.testing.assert_frame_equal(draft_of(at).table, table, check_dtype=False)
    assert not draft_of(at).steps and draft_of(at).columns == tuple(range(46))


def test_a_table_with_many_columns_may_be_upright():
    table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (20, 30))).add_prefix("x")
    at = upload(booted(), "wide.csv", csv(table.assign(x0=[f"s{row}" for row in range(20)])))
    press(at, "No, rows are samples")
    assert "are variables in rows" not in texts(at) and "hold row names?" in texts(at)
    press(at, "No, it is a column like the others")
    assert "hold row names?" not in texts(at) and "One column does not look like counts" in texts(at)
    upload(at, "other.csv", csv(table))
    assert "are variables in rows" in texts(at)  # another table
    press(at, "No, rows are samples")
    assert not button(at, "Find the graph").disabled and fit_start.new_run(draft_of(at), "r").shape == (20, 30)
    assert not draft_of(at).dismissed  # an answer is no artefact


def test_a_fault_of_several_columns_is_one_line_with_the_reason_beside_the_button():
    table = with_blanks().drop(columns=["seen"]).assign(d=poisson(rows=120)["a"])
    at = upload(booted(), "field.csv", csv(table))
    assert "5 columns have blank cells: `a`, `b`, `c`, `e` and `f`." in at.error[0].value
    assert "`site`" not in at.error[0].value
    assert button(at, "Find the graph").disabled and "the blank cells and the columns that are not counts" in texts(at)
    press(at, "Accept this guess")
    assert "First say what to do with the blank cells above." in texts(at)
    press(at, "Leave out these 7 rows")
    assert not button(at, "Find the graph").disabled and not at.error and "First say" not in texts(at)


def test_rows_and_columns_that_are_not_counts_are_left_out_counted_listed_and_undone():
    at = upload(booted(), "blanks.csv", csv(with_blanks()))
    assert "Cells: 7 blank, 1 negative." in texts(at)
    cells = next(found.value for found in at.dataframe if "why" in found.value)
    assert cells["row"].tolist() == [4, 5, 6, 11, 21, 31, 41, 119]
    at.button(key="leave_asked").click().run()
    at.button(key="leave_out_columns").click().run()
    press(at, "Leave out these 8 rows")
    now = draft_of(at)
    assert not at.error and now.columns == tuple(range(6)) and len(now.table) == 112
    assert now.rows_left_out == ((4, 6), (11, 11), (21, 21), (31, 31), (41, 41), (119, 119))
    run = fit_start.new_run(now, "left", "auto")
    assert run.rows_left_out == now.rows_left_out and "8 rows left out" in run.source and "seen" in run.source
    (listed,) = list_runs()
    assert listed.rows_left_out == now.rows_left_out
    assert draft_of(booted(run=run.id)).rows_left_out == now.rows_left_out  # a second fit records them too
    at.text_input(key=f"column_search_{draft_of(at).name}").set_value("f").run()
    press(at, "Choose none")
    chosen = draft_of(at)
    press(at, "Undo the last step")
    assert len(chosen.columns) == 5 and draft_of(at).columns == tuple(range(6))
    press(at, "Undo the last step")
    assert len(draft_of(at).table) == 120 and draft_of(at).rows_left_out == ()
    press(press(at, "Redo"), "Redo")
    now = draft_of(at)
    assert now.table.equals(chosen.table) and now.key == chosen.key  # what is known of it is not computed again
    assert (now.columns, now.rows_left_out, now.steps) == (chosen.columns, chosen.rows_left_out, chosen.steps)
    press(at, "Back to the table as loaded")
    assert draft_of(at).columns == tuple(range(8)) and not draft_of(at).steps and at.error


def test_rows_can_be_left_out_before_the_question_of_row_names_is_answered():
    table = with_blanks().drop(columns=["site", "seen"])
    table.insert(0, "sample", [f"s{row}" for row in range(120)])
    at = upload(booted(), "named.csv", csv(table))
    assert not any("cannot be used" in found.value for found in at.markdown)
    press(at, "Leave out these 8 rows")
    press(at, "The first column holds row names")
    assert len(draft_of(at).table) == 112 and len(draft_of(at).rows_left_out) == 6 and not at.error
    unfold(at, "first_rows")
    shown = next(found.value for found in at.dataframe if "levels" not in found.value)
    assert shown.index.tolist()[:4] == ["s0", "s1", "s2", "s6"]


def test_rows_go_only_for_counts_and_a_value_that_goes_with_them_is_named():
    table = poisson(rows=120).assign(age=np.where(np.arange(120) < 9, 17.5, 30), d=poisson(rows=120)["b"].astype(float))
    table.loc[100:, "d"] = 5.5
    at = upload(booted(), "classes.csv", csv(table))
    assert "These are all 20 rows with `d` 5.5" in texts(at) and "17.5" not in texts(at)
    press(at, "Accept this guess")
    press(at, "Leave out d")
    assert len(draft_of(at).table) == 120 and draft_of(at).columns == (0, 1, 2) and not at.error
    press(at, "Undo the last step")
    press(at, "Leave out these 20 rows")
    assert len(draft_of(at).table) == 100 and draft_of(at).adjusted == (3,) and not at.error


def test_rows_keep_their_numbers_in_later_messages():
    table = with_blanks().drop(columns=["site", "seen"]).assign(late=0)
    table["late"] = [row % 4 for row in range(100)] + [None] * 20
    at = upload(booted(), "later.csv", csv(table))
    at.text_input(key=f"column_search_{draft_of(at).name}").set_value("late").run()
    press(at, "Choose none")
    press(at, "Leave out these 8 rows")
    press(at, "Choose all")
    assert 'Column "late", row 101' in at.error[0].value.replace("\\", "") and "101–118, 120" in texts(at)


def test_a_table_without_counts_or_with_too_few_rows_has_no_cure():
    at = upload(booted(), "text.csv", b"a,b\n" + b"x,y\nz,w\n" * 12)
    assert not faults.has_cure(draft_of(at)) and "**Choose usable**" not in at.error[0].value
    table = pd.DataFrame({"a": [None, None, *map(int, "31253213224")], "b": [*range(5, 13), *range(5)]}, dtype=object)
    upload(at, "short.csv", csv(table.assign(c=[1, 2] * 6 + [3])))
    assert button(at, "Leave out these 2 rows").disabled


GERMAN = "Zählung 2020\n\nVögel;Blätter\nn;Stück\n" + "".join(f"{row % 5},0;{1 + row % 3}.418\n" for row in range(30))


def test_a_file_with_other_marks_is_read_said_and_read_again():
    at = upload(booted(), "german.csv", GERMAN.encode("latin-1"))
    now = draft_of(at)
    assert now.table.columns.tolist() == ["Vögel", "Blätter"] and now.table.iloc[1].tolist() == [1, 2418]
    said = texts(at).replace("\\", "")
    assert '"1.418" in column "Blätter", row 1, as 1418' in said and "was left out: Zählung 2020." in said
    (how,) = [found for found in at.expander if found.label.startswith("Read as")]
    for part in ("Windows-1252", "semicolon", "decimal comma", "thousands point", "names in line 2"):
        assert part in how.label.replace("\\", "")
    at.selectbox(key=f"reading_{now.key}_thousands").set_value(",")  # no sense: the comma is the decimal mark
    press(at, "Read again")
    assert "The table is unchanged" in at.error[0].value and draft_of(at) is now
    at.selectbox(key=f"reading_{now.key}_thousands").set_value("")
    press(at, "Read again")
    assert draft_of(at).table["Blätter"].tolist()[0] == "1.418" and len(draft_of(at).steps) == 1
    press(at, "Undo the last step")
    assert draft_of(at).table["Blätter"].tolist()[0] == 1418


def test_a_file_that_is_read_again_keeps_what_was_changed_and_asks_nothing_twice():
    lines = [f"2024-{row:04};{row % 7};{row % 4};{80 if row % 3 else f'1.09{row % 10}'};{row % 5}" for row in range(40)]
    text = "\n".join(["Export by K. Müller, 12.03.2025;;;;", "id;a;b;points;late", *lines[:20], ";;;;", *lines[20:]])
    at = upload(booted(), "school.csv", text.encode())
    assert "Export by K. Müller, 12.03.2025." in texts(at).replace("\\", "") and "--read" not in texts(at)
    at.button(key="tidy").click().run()
    before = draft_of(at)
    press(at, "Read with a point between thousands")
    now = draft_of(at)
    assert now.table["points"].tolist()[:2] == [1090, 80] and now.table.index.equals(before.table.index)
    assert now.rows_left_out == before.rows_left_out and "tidy" not in {found.key for found in at.button}
    assert [step.words for step in now.steps][:-1] == [step.words for step in before.steps]
    press(at, "Undo the last step")
    assert draft_of(at).table.equals(before.table)


def test_the_table_of_a_run_raises_no_question_that_was_answered():
    table = poisson(rows=30, names=tuple(f"x{number}" for number in range(40)))
    assert "no_transposed" in {found.key for found in upload(booted(), "wide.csv", csv(table)).button}
    run = create_run(table, Settings(), name="wide")
    assert not {"no_transposed", "transpose"} & {found.key for found in booted(run=run.id).button}


def test_the_strand_of_star_is_asked_with_the_totals():
    lines = [f"N_unmapped\t{n}\t{n}\t{n}\nG1\t{9 * n}\t{4 * n}\t{5 * n}\nG2\t7\t3\t4\n" for n in range(1, 31)]
    files = {f"s{place:02}_ReadsPerGene.out.tab": text.encode() for place, text in enumerate(lines)}
    at = upload(booted(), "star.zip", zipped(files))
    assert draft_of(at).table.iloc[1].tolist() == ["G1", *(9 * n for n in range(1, 31))]
    assert "4,395 (unstranded), 1,950 (forward), 2,445 (reverse)" in texts(at).replace("\\", "")
    (how,) = [found for found in at.expander if found.label.startswith("Read as")]
    assert "unstranded" in how.label and how.proto.expanded
    at.selectbox(key=f"reading_{draft_of(at).key}_strand").set_value("reverse")
    press(at, "Read again")
    assert draft_of(at).table.iloc[1].tolist() == ["G1", *(5 * n for n in range(1, 31))] and not at.exception
    assert "reverse" in draft_of(at).description


def test_what_a_workbook_hides_is_said_and_left_out_by_choice():
    book = openpyxl.Workbook()
    for row in [["a", "b", "c"], *([k % 5, k % 3, k % 7] for k in range(40))]:
        book.active.append(row)
    book.active.row_dimensions[5].hidden = book.active.column_dimensions["B"].hidden = True
    out = io.BytesIO()
    book.save(out)
    at = upload(booted(), "t.xlsx", out.getvalue())
    assert draft_of(at).table.shape == (40, 3) and "The sheet hides 1 row and 1 column" in texts(at)
    (how,) = [found for found in at.expander if found.label.startswith("Read as")]
    assert how.proto.expanded and "hidden rows and columns read" in how.label
    at.selectbox(key=f"reading_{draft_of(at).key}_hidden").set_value("skip")
    press(at, "Read again")
    assert draft_of(at).table.shape == (39, 2) and draft_of(at).table["a"].tolist()[:4] == [0, 1, 2, 4]
    assert draft_of(at).steps[-1].edits[0].choices["hidden"] == "skip"
    press(at, "Undo the last step")
    assert draft_of(at).table.shape == (40, 3) and not at.exception


def test_a_comma_that_may_be_either_is_one_click_from_its_other_meaning():
    rows = "".join(f'"{1 + row % 3},418";{row % 4}\n' for row in range(30))
    at = upload(booted(), "either.csv", f"a;b\n{rows}".encode())
    assert draft_of(at).table["a"].tolist()[0] == 1418
    press(at, "Read with a decimal comma")
    assert draft_of(at).table["a"].tolist()[0] == 1.418 and "not a whole number" in at.error[0].value
    press(at, "Back to the table as loaded")
    assert draft_of(at).table["a"].tolist()[0] == 1418


def test_a_file_that_cannot_be_read_offers_its_choices():
    at = upload(booted(), "odd.csv", "made by me, twice\nä;b\n".encode("latin-1") + b"1;2\n" * 20 + b"7;8;9\n")
    assert "row 21" in at.error[0].value and "shared_draft" not in at.session_state
    now = [at.selectbox(key=f"reading_failed_odd.csv_{name}").value for name in ("encoding", "separator")]
    assert now == ["cp1252", ";"] and at.number_input(key="reading_failed_odd.csv_above").value == 1
    at.selectbox(key="reading_failed_odd.csv_separator").set_value("|")
    press(at, "Read again")
    assert draft_of(at).table.shape[1] == 1 and "odd" in at.subheader[0].value


def test_rare_columns_are_counted_and_the_filter_shows_what_it_leaves_out():
    rng = np.random.default_rng(0)
    table = poisson(rows=200, names=tuple("abcdefghij"))
    for place in range(6):
        table[f"rare{place}"] = (rng.permutation(200) < 2) * 1
    table["same"] = np.where(rng.permutation(200) < 2, 4, 5)
    at = upload(booted(), "species.csv", csv(table))
    said = texts(at)
    assert "above 0 in fewer than 2%" in said
    assert "keeps 10 and leaves out 7 columns of 17" in said and "`rare0` (1.0% of rows" in said
    assert draft_of(at).columns == tuple(range(17))  # shown before it is done
    key = draft_of(at).key
    at.number_input(key=f"screen_mean_{key}").set_value(10_000.0).run()
    assert not any(found.key == "screen_out" for found in at.button)  # nothing would remain
    at.number_input(key=f"screen_mean_{key}").set_value(0.0).run()
    press(at, "Leave out 7 columns")
    assert draft_of(at).columns == tuple(range(10)) and "above 0 in under 2% of rows" in draft_of(at).description
    press(at, "Undo the last step")
    assert draft_of(at).columns == tuple(range(17))


def test_a_table_that_holds_more_than_counts_is_changed_by_one_click_or_read_as_it_is(rng):
    table = pd.DataFrame(
        rng.poisson(rng.lognormal(3, 1.5, 30)[:, None], (30, 14)), columns=[f"s{k}" for k in range(14)]
    )
    table.insert(0, "Geneid", [f"ENSG{k:011d}" for k in range(30)])
    table.insert(1, "Length", rng.integers(300, 9000, 30))
    at = upload(booted(), "genes.csv", csv(table))
    assert "First answer the question above." in texts(at) and button(at, "Find the graph").disabled
    press(at, "Make all changes")
    now = draft_of(at)
    assert now.table.shape == (14, 30) and len(now.columns) == 30 and len(now.steps) == 2
    wait_until_computed()
    assert not button(at.run(), "Find the graph").disabled and "are variables in rows?" not in texts(at)
    press(at, "Transpose")
    assert button(at, "Find the graph").disabled  # although every column holds counts
    press(at, "Back to the table as loaded")
    box = next(one for one in at.checkbox if "describes the genes" in one.label)
    box.set_value(False).run()
    press(at, "Make the ticked changes")
    assert draft_of(at).table.shape[0] == 15 and "describes the genes" not in texts(at)
    press(at, "Back to the table as loaded")
    press(at, "No, read it as it is")
    assert draft_of(at).table.shape == (30, 16) and "look like genes" not in texts(at)


def test_blocks_of_rows_get_their_texts_before_any_row_can_be_left_out():
    table = poisson(64).assign(site=pd.Series(range(64)).map({k: f"S{k}" for k in range(0, 64, 8)}))
    at = upload(booted(), "sheet.csv", csv(table[["site", "a", "b", "c"]]))
    assert not any(box.label.startswith(("Accept", "Leave")) for box in at.button)
    press(at, "Make this change")
    assert draft_of(at).table["site"].tolist() == [*np.repeat(table["site"][::8], 8)] and button(
        at, "Accept this guess"
    )


def test_a_table_of_other_numbers_cannot_be_fitted_and_names_the_method_that_takes_it():
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    at = upload(booted(), "t.csv", csv(numbers))
    assert button(at, "Find the graph").disabled
    assert any('find("disco-cont", table)' in one.value for one in at.caption)


def test_closed_days_are_left_out_and_a_level_of_one_row_costs_the_row_before_the_column(rng):
    table = pd.DataFrame(rng.poisson(30, (140, 6)), columns=list("abcdef"))
    table[::7] = 0
    table.insert(0, "Wochentag", ["einmal", *[*["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"] * 20][1:]])
    table.index = pd.date_range("2024-01-01", periods=140, name="Datum").strftime("%d.%m.%Y")
    at = upload(booted(), "museum.csv", csv(table.reset_index()))
    press(press(at, "The first column holds row names"), "Accept this guess")
    keys = [one.key for one in at.button if one.key in ("leave_out_unusable", "ignore_Wochentag")]
    assert keys == ["leave_out_unusable", "ignore_Wochentag"] and draft_facts.rising_dates(draft_of(at)) == "Row names"
    press(press(at, "Leave out this row"), "Leave out 19 rows")
    assert len(draft_of(at).table) == 120 and "are all 0" in draft_of(at).steps[-1].words
    assert draft_facts.few_per_level(draft_of(at)).message in texts(at).replace("\\", "")


def test_a_table_of_one_column_is_said_to_have_one_also_if_it_numbers_the_rows():
    at = upload(booted(), "one.csv", b"id\n" + b"\n".join(b"%d" % row for row in range(1, 41)))
    (problem,) = (found for found in draft_facts.problems(draft_of(at)) if found.kind == "columns")
    assert problem.message.startswith("The table has 1 column;")
