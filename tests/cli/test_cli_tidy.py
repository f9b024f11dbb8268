"""Tables that hold more than counts, on the command line: a stop, what --tidy makes of them, and what it leaves."""

import numpy as np
import pandas as pd
import pytest

from disco.__main__ import main
from disco.cli import table_options
from disco.commands import parse
from disco.table.edits import BlankAsZero, applied
from disco.table.read import read_table

SAMPLES = [f"s{k}" for k in range(14)]


@pytest.fixture
def genes(rng, tmp_path):
    """Genes in rows with their lengths and a line of the counting program, as a file."""
    table = pd.DataFrame(rng.poisson(rng.lognormal(3.0, 1.5, 30)[:, None], (30, 14)), columns=SAMPLES)
    table.insert(0, "Geneid", [f"ENSG{k:011d}" for k in range(30)])
    table.insert(1, "Length", rng.integers(300, 9000, 30))
    for line in ("__no_feature", "__ambiguous"):
        table.loc[len(table)] = [line, 1, *rng.poisson(5000, 14)]
    table.to_csv(tmp_path / "genes.csv", index=False)
    return tmp_path / "genes.csv"


def part_of(path, *flags):
    return table_options.read_part(path, parse(["check", str(path), *flags]))


def test_a_command_stops_where_counts_would_be_wrong(genes, capsys):
    assert main(["check", str(genes)]) == 2
    said = capsys.readouterr().err
    assert "sum up reads that were counted for no gene" in said and "--tidy none" in said
    assert main(["check", str(genes), "--tidy", "summaries,annotation"]) == 2  # genes are still in rows
    said = capsys.readouterr().err
    assert "look like genes" in said and "With --tidy summaries,annotation,genes, " in said
    assert main(["check", str(genes), "--tidy", "gene"]) == 2
    assert "--tidy has no 'gene'" in capsys.readouterr().err
    assert part_of(genes, "--tidy", "none").table.shape == (32, 16)


def test_tidy_makes_all_changes_which_can_be_made_again(genes, capsys):
    part = part_of(genes, "--tidy")
    assert part.table.shape == (14, 30) and list(part.table.index) == SAMPLES and part.roles is None
    assert capsys.readouterr().err.count("Note: ") == 3 and part.rows_left_out == ()
    pd.testing.assert_frame_equal(applied(read_table(genes), part.origin.edits), part.table)


def test_tidy_accepts_guesses_at_roles_but_not_against_a_flag(rng, tmp_path):
    table = pd.DataFrame(rng.poisson(4.0, (60, 3)), columns=list("abc"))
    table = table.assign(effort=rng.integers(1, 9, 60), site=[f"S{k % 6}" for k in range(60)])
    table.to_csv(tmp_path / "t.csv", index=False)
    roles = part_of(tmp_path / "t.csv", "--tidy").roles
    assert roles.columns == {"effort": "exposure", "site": ("covariate", "categorical")}
    roles = part_of(tmp_path / "t.csv", "--tidy", "--group", "site").roles
    assert roles.columns == {"effort": "exposure", "site": "group"}
    assert part_of(tmp_path / "t.csv").roles is None


def test_rows_left_out_keep_their_numbers_in_the_file(rng, tmp_path):
    table = pd.DataFrame(rng.poisson(9.0, (20, 3)), columns=list("abc"))
    table.insert(0, "site", [f"S{k}" for k in range(20)])
    table.loc[20] = ["Total", *table[list("abc")].sum()]
    table.to_csv(tmp_path / "t.csv", index=False)
    part = part_of(tmp_path / "t.csv", "--tidy")
    assert part.rows_left_out == ((21, 21),) and part.table.shape == (20, 3)
    np.testing.assert_array_equal(part.table.to_numpy(), table.iloc[:20, 1:].to_numpy(dtype=int))


def test_blank_cells_become_0_by_a_flag(rng, tmp_path):
    table = pd.DataFrame(rng.poisson(0.8, (40, 5)), columns=list("abcde"))
    table.astype(float).where(table > 0).to_csv(tmp_path / "t.csv", index=False)
    part = part_of(tmp_path / "t.csv", "--blank", "0")
    pd.testing.assert_frame_equal(part.table, table, check_dtype=False)
    assert part.origin.edits == (BlankAsZero(),)
    part = part_of(tmp_path / "t.csv", "--blank", "0", "--covariates", "e")
    assert part.table["e"].isna().any() and not part.table.drop(columns="e").isna().any(axis=None)
    assert main(["check", str(tmp_path / "t.csv")]) == 2


def test_rows_without_a_count_are_left_out_before_blank_means_0(rng, tmp_path):
    table = pd.DataFrame(rng.poisson(1.8, (40, 5)), columns=list("abcde"))
    table.insert(0, "night", [f"{k + 1}. Mai" for k in range(40)])
    months = pd.concat([table.iloc[:20], pd.DataFrame({"night": ["JUNI"]}), table.iloc[20:]], ignore_index=True)
    months.replace(0, "-").to_csv(tmp_path / "t.csv", index=False)
    part = part_of(tmp_path / "t.csv", "--tidy", "--blank", "0")
    np.testing.assert_array_equal(part.table.to_numpy(), table.iloc[:, 1:].to_numpy())


def test_equal_problems_are_one_line(rng, tmp_path, capsys):
    table = pd.DataFrame(rng.normal(50, 3, (40, 30)), columns=[f"x{k}" for k in range(30)])
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv")]) == 2
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Problem")]
    assert len(lines) == 1 and lines[0].startswith("Problem: 30 columns have decimals")


def test_a_sheet_of_samples_is_joined_with_roles(genes, tmp_path, capsys):
    sheet = pd.DataFrame({"sample": SAMPLES[::-1], "batch": ["a", "b"] * 7, "age": [30, 35] * 7})
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    flags = ("--tidy", "--samples", str(tmp_path / "sheet.csv"), "--by", "sample", "--contexts", "batch")
    part = part_of(genes, *flags)
    assert part.roles.columns == {"batch": "context", "age": ("covariate", "continuous")}
    assert part.table["age"].tolist() == [35, 30] * 7 and "14 of 14 rows" in capsys.readouterr().err
    pd.testing.assert_frame_equal(applied(read_table(genes), part.origin.edits), part.table)
    assert main(["check", str(genes), "--by", "sample"]) == 2


def test_a_column_that_is_left_out_gets_no_role(rng, tmp_path, capsys):
    table = pd.DataFrame(rng.poisson(5.0, (40, 3)), columns=list("abc")).assign(total=9, age=rng.uniform(1, 9, 40))
    table["total"] = table[list("abc")].sum(axis=1) + 1
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--tidy", "--without", "total"]) == 0
    assert "t.csv: 40 rows, 3 columns." in capsys.readouterr().out


def test_numbers_without_a_name_name_the_rows(rng, tmp_path, capsys):
    table = pd.DataFrame(rng.poisson(5.0, (40, 3)), columns=list("abc"))
    table.index += 1
    table.to_csv(tmp_path / "t.csv")
    assert main(["check", str(tmp_path / "t.csv")]) == 2
    assert "Options: --row-names\n" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "t.csv"), "--row-names"]) == 0
