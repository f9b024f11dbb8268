"""Roles in a run: kept beside its counts, checked when they are read, packed, compared and told in exports."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from app_world import TINY, poisson, written_run
from made_up import of_an_older_version

from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.metrics.consensus import Comparison
from disco.reports.all_results import FITTED
from disco.reports.packing import pack, unpack
from disco.reports.two_runs import _settings
from disco.runs import create_run, find_runs, open_run
from disco.subjects.graph.provenance import about
from disco.table.prepared import prepare
from disco.table.roles import Roles

ROLES = Roles(
    {"site": ("covariate", "categorical"), "age": "covariate", "hours": "exposure", "who": "group", "id": "ignore"}
)


def table(rows: int = 60) -> pd.DataFrame:
    """Three counts among columns of other roles."""
    counts = poisson(rows)
    rng = np.random.default_rng(1)
    counts.insert(1, "site", rng.choice(["<b>x</b>", "y 2"], rows))
    return counts.assign(
        age=rng.normal(40, 9, rows),
        hours=rng.uniform(0.5, 4, rows),
        who=np.arange(rows) // 5,
        id=[f"r{row}" for row in range(rows)],
    )


def made(**given: object):
    return create_run(table(), TINY, name="with roles", **{"roles": ROLES, **given})


def test_a_run_gives_back_what_it_was_given():
    run = open_run(made().id)
    assert list(run.table()) == ["a", "b", "c"] and run.nodes == ["a", "b", "c"]
    assert run.roles == ROLES.needed() and "id" not in run.roles.columns
    assert run.adjustment.equals(prepare(table(), ROLES).adjustment)
    assert list(run.with_roles()) == ["a", "b", "c", "site", "age", "hours", "who"]
    assert str(run.roles) == "adjusted for site, age; exposure hours; groups by who"
    assert about(run, "a test")["roles"] == str(run.roles)


def test_a_run_of_counts_alone_has_neither_file():
    run = written_run(poisson())
    assert run.roles is None and run.adjustment is None and "roles" not in about(run, "a test")
    assert not {"roles.json", "beside.parquet"} & {path.name for path in run.path.iterdir()}
    run = create_run(poisson(), TINY, name="ignored", roles=Roles({"c": "ignore"}))
    assert run.nodes == ["a", "b"] and run.roles is None


def test_a_computed_exposure_needs_no_columns():
    run = create_run(poisson() + 1, TINY, name="total", roles=Roles(exposure="total"))
    assert not (run.path / "beside.parquet").exists()
    np.testing.assert_array_equal(open_run(run.id).adjustment.exposure, (poisson() + 1).sum(axis=1))


def test_a_packed_run_keeps_its_roles():
    run = made()
    again = unpack(io.BytesIO(pack(run)))
    assert again.id != run.id and again.roles == run.roles and again.adjustment.equals(run.adjustment)


def test_runs_that_differ_in_roles_say_so():
    other = Roles({**ROLES.columns, "age": ("covariate", "ordinal")})
    sides = [(run, FITTED) for run in (made(), made(roles=other), written_run(poisson()))]
    for one, two in ((0, 1), (1, 2)):
        assert _settings(sides[one], sides[two], Comparison.of({}))["setting"].tolist() == ["roles"]
    told = _settings(sides[0], sides[2], Comparison.of({})).iloc[0]
    assert (told["first"], told["second"]) == (str(ROLES), "none")
    alike = _settings(sides[0], sides[1], Comparison.of({})).iloc[0]  # the words would be the same
    assert "ordinal" in alike["second"] and alike["first"] != alike["second"]


REFUSED = {
    "not a column": ({"roles": Roles({"nowhere": "covariate"})}, '"nowhere", which is not a column'),
    "one node": ({"roles": Roles({**ROLES.columns, "a": "ignore", "b": "ignore"})}, 'Only "c" is left as a count'),
    "text": ({"roles": Roles({"age": "ignore"})}, 'Column "site", row 1'),
    "knowledge of a covariate": ({"knowledge": Knowledge(tiers=[["site"], ["a"]])}, '"site" is a covariate, not a n'),
    "an exposure": ({"knowledge": Knowledge(required=["hours → a"])}, '"hours" is an exposure, not a node'),
    "a pattern": ({"knowledge": Knowledge(forbidden=["ag* → a"])}, 'names "ag\\*", but "age" is a covariate'),
    "ignored": ({"knowledge": Knowledge(forbidden=["id → a"])}, '"id" is ignored, not a node'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_fitted_makes_no_run(case):
    given, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        made(**given)
    assert not find_runs()[0]


def test_a_pattern_that_fits_nodes_too_names_no_covariate():
    assert made(knowledge=Knowledge(forbidden=["a* → b"])).knowledge() is not None


def columns(**changes: object) -> pd.DataFrame:
    return table()[["site", "age", "hours", "who"]].assign(**changes)


DAMAGED = {
    "no json": ("roles.json", b"{", "is not readable JSON"),
    "no roles": ("roles.json", b"[]", "JSON object"),
    "a role": ("roles.json", b'{"columns": {"site": "node"}}', "must be one of"),
    "another column": ("roles.json", b'{"columns": {"nowhere": "covariate"}}', "differ from those in roles.json"),
    "a count": ("roles.json", b'{"columns": {"a": "covariate"}}', "differ from those in roles.json"),
    "no parquet": ("beside.parquet", b"PAR1", "cannot be read as Parquet"),
    "fewer rows": ("beside.parquet", columns()[:50], "50 rows"),
    "other columns": ("beside.parquet", columns(a=1), "differ from those in roles.json"),
    "dates": ("beside.parquet", columns(age=pd.Timestamp(0)), "neither numbers nor text"),
    "lists": ("beside.parquet", columns(age=[[1, 2]] * 60), "neither numbers nor text"),
    "blanks": ("beside.parquet", columns(site=None), ""),
    "no exposure": ("beside.parquet", columns(hours=0.0), "must be a number above zero"),
    "a long text": ("beside.parquet", columns(site="x" * 2_000_000), "too long"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_named_with_a_remedy(case):
    name, content, words = DAMAGED[case]
    run = of_an_older_version(made())
    if isinstance(content, pd.DataFrame):
        content.to_parquet(run.path / name, index=False)
    else:
        (run.path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{words}.*create a new run of the table with its roles"):
        _ = open_run(run.id).adjustment
    with pytest.raises(InputError, match="could not be opened again"):
        pack(run)


def test_a_missing_file_is_named():
    run = made()
    (run.path / "beside.parquet").unlink()
    with pytest.raises(InputError, match=r"beside.parquet is missing"):
        _ = run.adjustment


def test_a_small_file_that_repeats_a_long_text_is_not_unpacked():
    run = of_an_older_version(made())
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 60), pa.array(["y" * 50_000_000]))
    whole = {name: pa.array(values) for name, values in columns().drop(columns="site").items()}
    parquet.write_table(pa.table({**whole, "site": text}), run.path / "beside.parquet", compression="zstd")
    assert (run.path / "beside.parquet").stat().st_size < 100_000
    with pytest.raises(InputError, match="too long"):
        _ = run.adjustment


def test_roles_json_is_readable():
    kept = json.loads((made().path / "roles.json").read_text())
    assert kept["columns"]["site"] == {"role": "covariate", "kind": "categorical"} and kept["exposure"] is None
