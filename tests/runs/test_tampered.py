"""Damaged run folders: every file damaged in every way ends in a result, or in one sentence that names the file."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_world import booted, texts
from made_up import finished_run, of_an_older_version, refine_by_hand

from disco.__main__ import main
from disco.errors import InputError
from disco.files import append_bytes, write_frame, write_json
from disco.knowledge import Knowledge
from disco.paper.ocs import select
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports.summary import Summary, edge_counts
from disco.runs import Run, create_run, find_runs, list_runs, open_run, runs_root
from disco.subjects import FIT, REFINE
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import MethodResult
from disco.subjects.fit import network_cache, results
from disco.subjects.fit.candidates import compute_candidates, read_candidates, selected_edges
from disco.subjects.fit.events import read_events
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit
from disco.subjects.graph.provenance import about
from disco.subjects.refinement import refining
from disco.subjects.refinement.refined import choice_of, read_check, read_refined, save_check
from disco.subjects.refinement.refining import refine_run
from disco.table.roles import Roles
from disco.work import jobs

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=3, projection_epochs=2, noise_levels=2)
FAST = Choice(starts=1, restarts=0, bootstrap=2, folds=0)
CSV = (
    *("order", "ccs", "criteria", "ocs", "edges", "truth", "parents_cam"),
    *("refined_order", "refined_edges", "refined_starts", "refined_moves", "refined_orders", "refined_nodes"),
    "refined_tables",
)
JSON = ("settings", "status", "training", "refined", "refined_check", "refining_status")
BINARY = ("table.parquet", "networks.safetensors", "events.jsonl", "refining.jsonl", "lock", "refining.json")
OTHER = "constant-clipped"
VARIANT = tuple(f"variants/{OTHER}/{name}.csv" for name in CSV[:5])
ALL = (*(f"{name}.csv" for name in CSV), *(f"{name}.json" for name in JSON), *BINARY, *VARIANT)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A finished run, refined, with a truth, a variant, a model check and another selector's parents."""
    from disco.likelihood.model_check import check
    from disco.refine.prior import BEFORE

    place = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCO_RUNS", str(place))
        rng = np.random.default_rng(0)
        a = rng.poisson(2.0, 120)
        table = pd.DataFrame({"a": a, "b": rng.poisson(0.4 + 0.9 * a), "c": rng.poisson(1.5, 120)})
        truth = pd.DataFrame({"parent": ["a"], "child": ["b"]})
        run = create_run(table, TINY, name="whole", truth=truth, device="cpu")
        execute(run)
        of_an_older_version(run)
        first, second, _ = StoredFit(run).order
        edge = {"parent": [first], "child": [second], "ocs": 0.1, "frequency": 1.0, "z": 3.0}
        write_frame(run.path / "edges.csv", pd.DataFrame(edge))  # so that there is an edge to damage
        shutil.copytree(run.path, place / "variant")
        refine_run(run, FAST)
        compute_candidates(run, "cam")
        save_check(run, check(table, {"empty": {}, "refined": {"b": ["a"]}}, prior=BEFORE, simulations=3))
        (run.path / "variants").mkdir()
        (place / "variant").rename(run.path / "variants" / "constant-clipped")
        run.update(REFINE, state="cancelled", choice={"starts": 1})
        write_json(run.path / "refining.json", {"key": "another", "first": None, "starts": [], "drawn": {}})
        (run.path / "refining.jsonl").write_text('["by mean", 1, -3.0]\n')
    return of_an_older_version(run).path  # with digests, whatever was exchanged is refused already


@pytest.fixture
def run(whole) -> Run:
    """A copy for a test to damage."""
    network_cache.clear()
    place = runs_root() / "damaged"
    shutil.copytree(whole, place)
    return Run(place)


def replace_with(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data)


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def in_its_place(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def cells(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """A damage that changes the frame of a CSV file."""
    return lambda path: change(pd.read_csv(path).astype(object)).to_csv(path, index=False)


def link(path: Path) -> None:
    """The same file, but behind a link that leads out of the run."""
    path.rename(runs_root().parent / "elsewhere")
    path.symlink_to(runs_root().parent / "elsewhere")


def without_rows(path: Path) -> None:
    path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n")


def sparse(path: Path) -> None:
    os.truncate(path, 1 << 36)


ANY = {
    "empty": replace_with(b""), "half": halve, "binary": replace_with(bytes(range(256)) * 8),
    "folder": in_its_place(Path.mkdir), "pipe": in_its_place(os.mkfifo),
    "zero": in_its_place(lambda path: path.symlink_to("/dev/zero")), "link": link, "missing": Path.unlink,
    "endless": sparse,
}  # fmt: skip # a table
TABLES = {
    **ANY,
    "no rows": without_rows,
    "no columns": replace_with(b"x,y\n1,2\n"),
    "many commas": replace_with(b"," * 100_000 + b"\n1"),
    "a long line": lambda path: path.write_bytes(path.read_bytes() + b"," * 200_000 + b"\n"),
    "words": cells(lambda frame: frame.map(lambda cell: "much")),
    "missing cells": cells(lambda frame: frame.map(lambda cell: None)),
    "infinite": cells(lambda frame: frame.map(lambda cell: cell if isinstance(cell, str) else float("inf"))),
    "huge": cells(lambda frame: frame.map(lambda cell: cell if isinstance(cell, str) else 1e300)),
    "negative": cells(lambda frame: frame.map(lambda cell: cell if isinstance(cell, str) else -5)),
    "unknown names": cells(lambda frame: frame.map(lambda cell: "=zz" if isinstance(cell, str) else cell)),
    "rows twice": cells(lambda frame: pd.concat([frame, frame])),
    "backwards": cells(lambda frame: frame.rename(columns={"parent": "child", "child": "parent"})),
}
RECORDS = {
    **ANY, "deep": replace_with(b"[" * 200_000), "deep objects": replace_with(b'{"a":' * 200_000),
    "a list": replace_with(b"[1]"), "nothing in it": replace_with(b"{}"),
    "half a character": replace_with(b'{"name": "\\ud800", "state": "\\ud800", "best": "\\ud800"}'),
}  # fmt: skip # a table
CASES = [
    *((f"{name}.csv", how, damage) for name in CSV for how, damage in TABLES.items()),
    *((f"{name}.json", how, damage) for name in JSON for how, damage in RECORDS.items()),
    *((name, how, damage) for name in BINARY for how, damage in ANY.items()),
    *((name, how, TABLES[how]) for name in VARIANT for how in ("words", "pipe", "no rows", "link")),
]
ORDER = ("order.csv", "edges.csv", "table.parquet")  # edges.csv was written last: where it is, there is a result
REFINED = ("refined.json", "table.parquet", *(f"{name}.csv" for name in CSV if name.startswith("refined")))
CAM, DIRECTED = ("ocs.csv", "parents_cam.csv"), (*ORDER, "ocs.csv", "ccs.csv")
READERS = {  # the files that each reads, besides settings.json
    "order": (lambda run: StoredFit(run).order, ORDER), "ccs": (lambda run: StoredFit(run).ccs, (*ORDER, "ccs.csv")),
    "criteria": (lambda run: StoredFit(run).criteria, (*ORDER, "criteria.csv")),
    "ocs": (lambda run: StoredFit(run).ocs, (*ORDER, "ocs.csv")), "edges": (lambda run: StoredFit(run).edges(), ORDER),
    "truth": (lambda run: run.truth(), ("truth.csv",)), "table": (lambda run: run.table(), ("table.parquet",)),
    "training": (lambda run: results.training(run), ("training.json",)),
    "events": (lambda run: read_events(run), ("events.jsonl",)),
    "graph": (lambda run: (StoredFit(run).graph(0.0, 0.3).edges, results.variants(run)), DIRECTED),
    "variant": (lambda run: StoredFit(run, OTHER).read_all(), (*VARIANT, "table.parquet")),
    "status": (lambda run: (run.status(FIT), run.alive, run.works_on(FIT)), ("status.json", "lock")),
    "refining": (lambda run: (run.status(REFINE), refining.history(run)), (REFINE.file, "refining.jsonl", "lock")),
    "refined": (lambda run: (read_refined(run), choice_of(run)), REFINED),
    "check": (lambda run: read_check(run), ("refined_check.json", "table.parquet")),
    "cam": (lambda run: (read_candidates(run, "cam"), selected_edges(run, "cam")), (*ORDER, *CAM)),
    "networks": (lambda run: network_cache.fitted(run).tensors(), ("networks.safetensors", "table.parquet")),
}  # fmt: skip # a table
COMMANDS = {  # the same of commands
    "graph damaged --graph disco": DIRECTED,
    "graph damaged": REFINED,
    "evaluate --run damaged --truth TRUTH --graph disco": DIRECTED,
}
TYPED = ("half", "pipe", "words", "deep", "no rows", "huge", "link")  # damages for which the commands are tried
NUMBERS = ("infinite", "huge", "negative")
OPTIONAL = (
    "truth.csv",
    "refined_moves.csv",
    "refined_orders.csv",
    "refined_tables.csv",
    "refined_nodes.csv",
)  # may be missing
FITTING = {  # damages that leave a valid file, since a truth and a start may have any names
    "truth.csv": ("missing", "no rows", *NUMBERS, "words", "unknown names", "rows twice", "backwards"),
    "edges.csv": ("no rows", "backwards"),  # its candidates do not pass either
    "refined_starts.csv": ("unknown names", "backwards"),
    "refined_tables.csv": ("no rows", "backwards"),
}
REFUSED = {  # reader → the file that it needs
    **{name: f"{name}.csv" for name in ("order", "ccs", "criteria", "ocs", "edges", "truth")},
    **{"table": "table.parquet", "training": "training.json", "networks": "networks.safetensors"},
}


def assert_one_sentence(error: str, name: str) -> None:
    assert name.split("/")[-1].removesuffix(".csv").removesuffix(".parquet") in error, error
    assert "\n" not in error.strip() and len(error) < 700 and "Traceback" not in error


def typed(command: str) -> list[str]:
    truth = runs_root() / "truth.csv"
    truth.write_text("parent,child\na,b\n")
    return [str(truth) if word == "TRUTH" else word for word in command.split()]


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_is_not_harmed_by_files_that_it_does_not_need(run, reader):
    read, needed = READERS[reader]
    before = repr(read(run))
    damage_all_but(run, needed)
    assert repr(read(Run(run.path))) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_not_harmed_by_files_that_it_does_not_need(run, capsys, command):
    assert main(typed(command)) == 0
    before = capsys.readouterr()
    damage_all_but(run, COMMANDS[command])
    assert main(typed(command)) == 0 and capsys.readouterr() == before


def damage_all_but(run: Run, needed: tuple[str, ...]) -> None:
    network_cache.clear()
    for name in set(ALL) - {*needed, "settings.json"}:
        ANY["binary"](run.path / name)


@pytest.mark.parametrize(("name", "how", "damage"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_damaged_file_is_named_and_harms_no_other(run, capsys, name, how, damage):
    damage(run.path / name)
    assert len(list_runs()) + len(find_runs()[1]) == 1
    try:
        damaged = open_run("damaged")
    except InputError as error:
        assert name == "settings.json" and "settings.json" in str(error) and "settings.json" in find_runs()[1][0].reason
        find_runs()[1][0].delete()
        assert not run.path.exists()
        return
    told = {}
    for reader, (read, needed) in READERS.items():
        if name not in needed:
            continue
        try:
            read(damaged)
        except InputError as error:
            told[reader] = str(error)
            # A run without a result is not damaged, and the parents of a selector are computed again.
            if how != "missing" and reader != "cam":
                assert_one_sentence(told[reader], name)
    for reader, file in REFUSED.items():
        if file == name and how not in FITTING.get(name, ("backwards",)):
            assert reader in told, f"{reader} took a damaged {name}"
    if name.startswith("refined") and name not in ("refined_check.json", *OPTIONAL):
        assert "refined" in told or how in FITTING.get(name, ("backwards", "rows twice"))
    for command in (command for command, needed in COMMANDS.items() if how in TYPED and name in needed):
        status, printed = main(typed(command)), capsys.readouterr()
        refused = "" if "Few edges: " in printed.err else printed.err
        assert status == (2 if refused else 0)
        if refused and how != "missing":
            assert_one_sentence(refused, name)
    damaged.delete()
    assert not run.path.exists()


NOT_SHOWN = ("events.jsonl", "edges.csv")  # pages work without the losses, and take the edges from the OCS
SAMPLE = [
    ("order.csv", "words"), ("ccs.csv", "no rows"), ("criteria.csv", "no rows"), ("ocs.csv", "missing cells"),
    ("table.parquet", "binary"), ("truth.csv", "folder"), ("refined_edges.csv", "unknown names"),
    ("events.jsonl", "binary"), ("status.json", "deep"),
]  # fmt: skip # a table


@pytest.mark.parametrize(("name", "how"), SAMPLE)
def test_the_pages_of_a_damaged_run_say_what_is_damaged(run, name, how):
    {**TABLES, **RECORDS}[how](run.path / name)
    at = booted("data", run="damaged")
    said = []
    for page in ("data", "train", "ordering", "parents", "graph"):
        at.switch_page(f"pages/{page}/page.py").run()
        if (page, name) == ("ordering", "criteria.csv"):  # read where it is drawn
            at.segmented_control(key="ordering_section").set_value("criteria").run()
        assert not at.exception, at.exception
        assert at.title, f"{page} is empty"
        said += [error.value.replace("\\", "") for error in at.error]
    assert any(name.split(".")[0] in sentence for sentence in said) or name in NOT_SHOWN


def test_a_folder_of_good_and_damaged_runs_is_listed(run, small_table):
    for how in ("deep", "pipe", "missing"):
        RECORDS[how](create_run(small_table, TINY, name=f"broken, {how}").path / "settings.json")
    (runs_root() / "gone").symlink_to("/nowhere")
    assert "4 folders unreadable" in [found.label for found in booted("train").get("page_link")]
    at = booted("runs")
    assert "4 folders that cannot be opened" in [found.label for found in at.expander]
    assert "nested too deeply" in texts(at) and "not a regular file" in texts(at).replace("\\", "")
    (broken,) = [one for one in find_runs()[1] if "deeply" in one.reason]
    at.button(key=f"delete_unreadable_{broken.path.name!r}").click().run()
    assert not broken.path.exists() and "3 folders that cannot be opened" in [found.label for found in at.expander]
    (other,) = [one for one in find_runs()[1] if "not a regular file" in one.reason]
    at = booted("train", run=other.path.name)
    assert any("settings.json is a pipe, not a regular" in warning.value.replace("\\", "") for warning in at.warning)


@pytest.mark.parametrize("name", ["refining.json", "refining_status.json", "refining.jsonl", "table.parquet", "lock"])
@pytest.mark.parametrize("how", ["binary", "pipe", "folder"])
def test_a_refinement_of_a_damaged_run_works_or_says_why(run, capsys, name, how):
    ANY[how](run.path / name)
    status = main(["refine", "damaged", "--starts", "1", "--restarts", "0", "--bootstrap", "0"])
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("disco: ")]
    assert status == (2 if told else 0) and len(told) <= 1
    for sentence in told:
        assert_one_sentence(sentence, name)
    assert not run.status(REFINE).active and not run.alive


def frame_with(path: Path, **values: object) -> None:
    """The CSV file with other values in some columns."""
    pd.read_csv(path).assign(**values).to_csv(path, index=False)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("edges.csv", {"frequency": -5}), ("edges.csv", {"frequency": 1.5}), ("edges.csv", {"p_value": 1e300}),
        ("edges.csv", {"ocs": 1e300}), ("ocs.csv", {"z": -1e300}), ("ccs.csv", {"score": 1e300}),
        ("refined_edges.csv", {"bootstrap": -5}), ("refined_edges.csv", {"folds": 2}),
        ("refined_edges.csv", {"p_value": 1e300}), ("refined_edges.csv", {"gain_nats": 1e300}),
        ("refined_nodes.csv", {"misfit_nats": -1e300}), ("refined_starts.csv", {"score": 1e300}),
    ],
    ids=str,
)  # fmt: skip # a table
def test_numbers_that_cannot_be_are_refused(run, name, values):
    frame_with(run.path / name, **values)
    reader = "refined" if name.startswith("refined") else name.removesuffix(".csv")
    with pytest.raises(InputError) as error:
        READERS[reader][0](run)
    assert f"column {next(iter(values))}, row 1: " in str(error.value)
    assert_one_sentence(str(error.value), name)


def test_p_values_of_another_selector_that_cannot_be_count_as_not_computed(run):
    assert read_candidates(run, "cam") is not None
    frame_with(run.path / "parents_cam.csv", p_value=1e300)
    assert read_candidates(run, "cam") is None


@pytest.mark.parametrize("selector", ["ocs", "cam"])
@pytest.mark.parametrize("variant", [None, "constant-clipped"])
def test_no_edges_are_believed_only_if_no_candidate_was_selected(selector, variant):
    run = finished_run(4, settings=Settings.of("paper", selector=selector))
    candidates = select(StoredFit(run).ocs, 2.0, 1.0)
    assert len(candidates)
    if selector == "cam":
        compute_candidates(run, "cam")
        of_an_older_version(run)
        found = pd.read_csv(run.path / "parents_cam.csv").assign(p_value=0.0, selected=True)
        write_frame(run.path / "parents_cam.csv", found)
    if variant:
        shutil.copytree(run.path, run.path / "variants" / variant)
    run = of_an_older_version(run)
    edges = StoredFit(run, variant).folder / "edges.csv"
    without_rows(edges)
    assert read_edges(run, variant) == "edges.csv is damaged: it has no edges, but"
    if variant is None:
        assert edge_counts(run) == (None, None)
    if selector == "cam" and variant is None:
        write_frame(run.path / "parents_cam.csv", found.assign(selected=False))
    else:
        write_frame(edges.with_name("ocs.csv"), StoredFit(run, variant).ocs.assign(z=0.0))
    assert read_edges(run, variant) == "0 edges"


def read_edges(run: Run, variant: str | None) -> str:
    """How many edges an order has, or the first words of why that is not known."""
    try:
        return f"{len(StoredFit(run, variant).edges())} edges"
    except InputError as error:
        return str(error).removeprefix(f"{StoredFit(run, variant).folder}{os.sep}").partition(" candidates")[0]


def test_a_refinement_has_as_many_edges_as_it_says():
    run = refine_by_hand(finished_run(4))
    assert edge_counts(run)[1] == len(read_refined(run).edges) == 3
    path = run.path / "refined_edges.csv"
    for rows in (1, 3):
        of_an_older_version(run)
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:rows]))
        with pytest.raises(InputError, match=r"refined_edges\.csv is damaged: it has . edges, but refined.json says 3"):
            read_refined(run)
        assert edge_counts(run)[1] is None
        refine_by_hand(run)
    head = json.loads((run.path / "refined.json").read_text())
    del head["edges"]  # as an older version wrote it
    write_json(run.path / "refined.json", head)
    assert len(read_refined(run).edges) == 3


@pytest.mark.parametrize("name", ["candidates", "fits", "edges"])
def test_counts_of_a_refinement_are_not_negative(run, name):
    head = json.loads((run.path / "refined.json").read_text())
    write_json(run.path / "refined.json", {**head, name: -5})
    with pytest.raises(InputError, match=r"refined(_edges)?\.(json|csv) is damaged"):
        read_refined(run)


def test_a_table_has_the_rows_and_columns_that_the_run_says(run):
    assert run.shape == run.table().shape == (120, 3)
    table = run.table()
    for other in (table.iloc[:100], table.assign(d=1)):
        other.to_parquet(run.path / "table.parquet", index=False)
        found = Run(run.path)
        for read in (Run.table, lambda run: run.nodes, lambda run: run.shape):
            with pytest.raises(InputError, match=r"parquet is damaged: it has .*, but settings\.json says (120|3)\."):
                read(found)
        assert Summary.of(found).shape is None
    settings = json.loads((run.path / "settings.json").read_text())
    del settings["rows"], settings["nodes"]
    write_json(run.path / "settings.json", settings)
    assert Run(run.path).shape == (120, 4)


# Links ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["variants", "variants/constant-clipped"])
def test_a_folder_of_another_order_is_not_looked_for_behind_a_link(run, name):
    link(run.path / name)
    with pytest.raises(InputError, match=f"{name} is a link: replace it by the file or folder itself"):
        StoredFit(run, "constant-clipped").edges()
    with pytest.raises(InputError, match="is a link"):
        results.save_variant(run, None, "constant-clipped")


@pytest.mark.parametrize("name", ["compare", "compare/sort-mean"])
def test_a_method_is_not_looked_for_behind_a_link(run, name):
    compared.save(run, MethodResult("sort-mean", "failed", error="It failed."))
    link(run.path / name)
    (found,) = compared.read_all(run)
    assert found.state == "failed" and f"{name} is a link" in found.error
    elsewhere = runs_root().parent / "elsewhere"
    before = sorted(elsewhere.rglob("*"))
    compared.make_folder(run, "sort-mean")
    assert not (run.path / name).is_symlink() and sorted(elsewhere.rglob("*")) == before


def test_another_file_is_not_shown_or_exported_as_a_name(run, capsys, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("what nobody may see")
    (run.path / "name.txt").symlink_to(secret)
    assert run.name == "whole" and "nobody" not in json.dumps(about(run, "test"))
    assert main(["graph", str(run.path)]) == 0 and "nobody" not in "".join(capsys.readouterr())
    run.rename("mine")
    assert run.name == "mine" and secret.read_text() == "what nobody may see"


def test_knowledge_roles_and_columns_are_not_read_behind_a_link(small_table):
    table = small_table.assign(batch=np.arange(len(small_table)) % 2)
    roles, known = Roles({"batch": "covariate"}), Knowledge(forbidden=[tuple(small_table.columns[:2])])
    made = create_run(table, TINY, name="roles", roles=roles, knowledge=known)
    for name, read in (
        ("knowledge.json", Run.knowledge),
        ("beside.parquet", Run.with_roles),
        ("roles.json", lambda run: run.roles),
    ):
        read(Run(made.path))
        link(made.path / name)
        with pytest.raises(InputError, match=f"{name} is .*link"):
            read(Run(made.path))


@pytest.mark.parametrize("name", ["lock", "events.jsonl", "refining.jsonl", "worker.log"])
def test_nothing_is_written_through_a_link(run, tmp_path, name):
    other = tmp_path / "other"
    other.write_text('{"mine": 1}')
    (run.path / name).unlink(missing_ok=True)
    (run.path / name).symlink_to(other)
    append_bytes(run.path / name, b"more")
    jobs._log(run).close()
    try:
        run.take({"pid": 5}).release()
    except InputError as error:
        assert name == "lock" and "lock cannot be written" in str(error) and "delete the link" in str(error)
    assert other.read_text() == '{"mine": 1}' and not run.alive
