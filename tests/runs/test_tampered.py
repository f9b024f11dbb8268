"""Damaged run folders: every file damaged in every way ends in a result, or in one sentence that names the file."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_world import booted, texts

from disco.__main__ import main
from disco.errors import InputError
from disco.files import write_frame, write_json
from disco.refine import Choice
from disco.runs import FIT, REFINE, Run, create_run, find_runs, list_runs, open_run, runs_root
from disco.runs.parents import compute_candidates, read_candidates, selected_graph
from disco.runs.refined import choice_of, read_check, read_refined, save_check
from disco.settings import Settings
from disco.work import refining, serving
from disco.work.execution import execute
from disco.work.refining import refine_run

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=3, projection_epochs=2, noise_levels=2)
FAST = Choice(starts=1, restarts=0, bootstrap=0, folds=0)
CSV = (
    *("order", "ccs", "criteria", "ocs", "edges", "truth", "parents_cam"),
    *("refined_order", "refined_edges", "refined_starts", "refined_moves", "refined_orders", "refined_nodes"),
)
JSON = ("settings", "status", "training", "refined", "refined_check", "refining_status")
BINARY = ("table.parquet", "networks.safetensors", "events.jsonl", "refining.jsonl", "lock", "refining.json")
VARIANT = tuple(f"variants/constant-clipped/{name}.csv" for name in CSV[:5])
ALL = (*(f"{name}.csv" for name in CSV), *(f"{name}.json" for name in JSON), *BINARY, *VARIANT)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A finished run, refined, with a truth, a variant, a model check and another selector's parents."""
    from disco.likelihood.check import check
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
        first, second, _ = run.order()
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
    return run.path


@pytest.fixture
def run(whole) -> Run:
    """A copy for a test to damage."""
    serving.clear()
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


def sparse(path: Path) -> None:
    os.truncate(path, 1 << 36)


ANY = {
    "empty": replace_with(b""),
    "half": halve,
    "binary": replace_with(bytes(range(256)) * 8),
    "folder": in_its_place(Path.mkdir),
    "pipe": in_its_place(os.mkfifo),
    "zero": in_its_place(lambda path: path.symlink_to("/dev/zero")),
    "missing": Path.unlink,
    "endless": sparse,
}
TABLES = {
    **ANY,
    "no columns": replace_with(b"x,y\n1,2\n"),
    "many commas": replace_with(b"," * 100_000 + b"\n1"),
    "a long line": lambda path: path.write_bytes(path.read_bytes() + b"," * 200_000 + b"\n"),
    "words": cells(lambda frame: frame.map(lambda cell: "much")),
    "missing cells": cells(lambda frame: frame.map(lambda cell: None)),
    "infinite": cells(lambda frame: frame.map(lambda cell: cell if isinstance(cell, str) else float("inf"))),
    "unknown names": cells(lambda frame: frame.map(lambda cell: "=zz" if isinstance(cell, str) else cell)),
    "rows twice": cells(lambda frame: pd.concat([frame, frame])),
    "backwards": cells(lambda frame: frame.rename(columns={"parent": "child", "child": "parent"})),
}
RECORDS = {
    **ANY,
    "deep": replace_with(b"[" * 200_000),
    "deep objects": replace_with(b'{"a":' * 200_000),
    "a list": replace_with(b"[1]"),
    "nothing in it": replace_with(b"{}"),
    "half a character": replace_with(b'{"name": "\\ud800", "state": "\\ud800", "best": "\\ud800"}'),
}
CASES = [
    *((f"{name}.csv", how, damage) for name in CSV for how, damage in TABLES.items()),
    *((f"{name}.json", how, damage) for name in JSON for how, damage in RECORDS.items()),
    *((name, how, damage) for name in BINARY for how, damage in ANY.items()),
    *((name, how, TABLES[how]) for name in VARIANT for how in ("words", "pipe")),
]
ORDER = ("order.csv", "edges.csv", "table.parquet")  # edges.csv was written last: where it is, there is a result
REFINED = ("refined.json", "table.parquet", *(f"{name}.csv" for name in CSV if name.startswith("refined")))
READERS = {  # the files that each reads, besides settings.json
    "order": (lambda run: run.order(), ORDER),
    "ccs": (lambda run: run.ccs(), (*ORDER, "ccs.csv")),
    "criteria": (lambda run: run.criteria(), (*ORDER, "criteria.csv")),
    "ocs": (lambda run: run.ocs(), (*ORDER, "ocs.csv")),
    "edges": (lambda run: run.edges(), ORDER),
    "truth": (lambda run: run.truth(), ("truth.csv",)),
    "table": (lambda run: run.table(), ("table.parquet",)),
    "training": (lambda run: run.training(), ("training.json",)),
    "events": (lambda run: run.events(), ("events.jsonl",)),
    "graph": (lambda run: (run.graph().edges, run.graph(0.0, 0.3).edges, run.variants()), (*ORDER, "ocs.csv")),
    "variant": (
        lambda run: [getattr(run, name)(variant="constant-clipped") for name in CSV[:5]],
        (*VARIANT, "table.parquet"),
    ),
    "status": (lambda run: (run.status(), run.alive, run.works_on(FIT)), ("status.json", "lock")),
    "refining": (
        lambda run: (run.status(REFINE), refining.history(run)),
        ("refining_status.json", "refining.jsonl", "lock"),
    ),
    "refined": (lambda run: (read_refined(run), choice_of(run)), REFINED),
    "check": (lambda run: read_check(run), ("refined_check.json", "table.parquet")),
    "cam": (
        lambda run: (read_candidates(run, "cam"), selected_graph(run, "cam").edges),
        (*ORDER, "ocs.csv", "parents_cam.csv"),
    ),
    "networks": (lambda run: serving.fitted(run).tensors(), ("networks.safetensors", "table.parquet")),
}
COMMANDS = {  # the same of commands
    "graph damaged": (*ORDER, "ocs.csv"),
    "graph damaged --graph refined": REFINED,
    "evaluate --run damaged --truth TRUTH": (*ORDER, "ocs.csv"),
}
TYPED = ("half", "pipe", "words", "deep")  # damages for which the commands are tried
OPTIONAL = ("truth.csv", "refined_moves.csv", "refined_orders.csv", "refined_nodes.csv")  # may be missing
FITTING = {  # damages that leave a valid file, since a truth and a start may have any names
    "truth.csv": ("missing", "words", "infinite", "unknown names", "rows twice", "backwards"),
    "refined_starts.csv": ("unknown names", "backwards"),
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
    assert main(typed(command)) == 0
    assert capsys.readouterr() == before


def damage_all_but(run: Run, needed: tuple[str, ...]) -> None:
    serving.clear()
    for name in set(ALL) - {*needed, "settings.json"}:
        ANY["binary"](run.path / name)


@pytest.mark.parametrize(("name", "how", "damage"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_damaged_file_is_named_and_harms_no_other(run, capsys, name, how, damage):
    damage(run.path / name)
    assert len(list_runs()) + len(find_runs()[1]) == 1
    try:
        damaged = open_run("damaged")
    except InputError as error:
        assert name == "settings.json"
        assert "settings.json" in str(error) and "settings.json" in find_runs()[1][0].reason
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
        refused = "" if "next to nothing. Try " in printed.err else printed.err
        assert status == (2 if refused else 0)
        if refused and how != "missing":
            assert_one_sentence(refused, name)
    damaged.delete()
    assert not run.path.exists()


NOT_SHOWN = ("events.jsonl", "edges.csv")  # pages work without the losses, and take the edges from the OCS
SAMPLE = [
    ("order.csv", "words"),
    ("ccs.csv", "half"),
    ("ocs.csv", "missing cells"),
    ("edges.csv", "pipe"),
    ("table.parquet", "binary"),
    ("truth.csv", "folder"),
    ("refined.json", "a list"),
    ("refined_edges.csv", "unknown names"),
    ("events.jsonl", "binary"),
    ("status.json", "deep"),
]


@pytest.mark.parametrize(("name", "how"), SAMPLE)
def test_the_pages_of_a_damaged_run_say_what_is_damaged(run, name, how):
    {**TABLES, **RECORDS}[how](run.path / name)
    at = booted("data", run="damaged")
    said = []
    for page in ("data", "train", "ordering", "parents", "refine", "graph"):
        at.switch_page(f"pages/{page}/page.py")
        at.run()
        assert not at.exception, at.exception
        assert at.title, f"{page} is empty"
        said += [error.value.replace("\\", "") for error in at.error]
    assert any(name.split(".")[0] in sentence for sentence in said) or name in NOT_SHOWN


def test_a_folder_of_good_and_damaged_runs_is_listed(run, small_table):
    for number, (how, name) in enumerate(
        (("deep", "settings.json"), ("pipe", "settings.json"), ("missing", "settings.json"))
    ):
        other = create_run(small_table, TINY, name=f"broken {number}")
        RECORDS[how](other.path / name)
    (runs_root() / "gone").symlink_to("/nowhere")
    assert "4 folders unreadable" in [found.label for found in booted("train").get("page_link")]
    at = booted("runs")
    assert "4 folders that cannot be opened" in [found.label for found in at.expander]
    assert "nested too deeply" in texts(at) and "no regular file" in texts(at).replace("\\", "")
    (broken,) = [one for one in find_runs()[1] if "deeply" in one.reason]
    at.button(key=f"delete_unreadable_{broken.path.name!r}").click().run()
    assert not broken.path.exists() and "3 folders that cannot be opened" in [found.label for found in at.expander]
    (other,) = [one for one in find_runs()[1] if "no regular file" in one.reason]
    at = booted("train", run=other.path.name)
    assert any("settings.json is a pipe, no regular file" in warning.value.replace("\\", "") for warning in at.warning)


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


def test_deep_links_say_why_a_run_cannot_be_opened(run):
    (run.path / "settings.json").write_bytes(b"[" * 200_000)
    for page in ("data", "train", "ordering", "refine"):
        at = booted("data", run="damaged") if page == "data" else booted(page, run="damaged")
        assert any("settings.json is nested too deeply" in found.value.replace("\\", "") for found in at.warning), page
