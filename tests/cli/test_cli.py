"""The command line: what it prints, where, and how it ends. Most commands run in this process, for speed."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from job_world import ENDLESS, FOREVER, PATIENCE, SHORT, at_work, wait
from made_up import finished_run

import disco
from disco.__main__ import main
from disco.cli import table_options
from disco.cli.progress_bar import Progress
from disco.cli.table_options import FilePart, chosen_columns
from disco.errors import InputError
from disco.fields import options
from disco.paper.settings import PRESETS, Settings
from disco.progress import Event
from disco.runs import create_run, list_runs, open_run
from disco.runs.origin import FromFile, Origin
from disco.server import start
from disco.subjects import FIT
from disco.subjects.fit import CHECKPOINT
from disco.subjects.fit.command import resumed
from disco.subjects.fit.events import read_events
from disco.subjects.fit.results import StoredFit
from disco.subjects.graph.provenance import about
from disco.table import prepared
from disco.table.counts import problems
from disco.work import jobs

pytestmark = pytest.mark.usefixtures("single_threaded")

ROOT = Path(disco.__file__).parents[1]


@pytest.fixture
def counts(small_table: pd.DataFrame, tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    small_table.to_csv(path, index=False)
    return str(path)


def out(tmp_path: Path) -> str:
    return str(tmp_path / "out")


def test_help_loads_nothing_slow():
    command = [sys.executable, "-X", "importtime", "-m", "disco", "--help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "simulate" in told.stdout and "disco.commands" in loaded
    assert not loaded & {"numpy", "pandas", "scipy", "networkx", "torch"}


def test_fit_prints_its_result_and_the_app_lists_it(counts, tmp_path, capsys):
    assert main(["fit", counts, "--out", out(tmp_path), "--seed", "7", "--tau-z", "1", *SHORT]) == 0
    printed = capsys.readouterr()
    run = open_run(Path(out(tmp_path)))
    assert f"Causal order, source first: {', '.join(StoredFit(run).order)}" in printed.out
    assert "Preset paper with width 8, " in printed.out and str(run.path) in printed.out
    assert "300 rows × 5 columns on cpu: about " in printed.err and "joint 1/3" in printed.err and "100%" in printed.err
    assert "\r" not in printed.err  # no terminal: plain lines
    assert list_runs() == [run] and run.settings.seed == 7 and run.settings.tau_z == 1.0
    assert run.settings.width == 8 and run.source == counts and run.status(FIT).state == "done"


def test_fit_refuses_a_full_folder_and_resumes_its_own(counts, small_table, tmp_path, capsys):
    arguments = ["fit", counts, "--out", out(tmp_path), *SHORT]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert main(arguments) == 2 and "is not empty; add --resume" in capsys.readouterr().err
    assert main([*arguments, "--resume"]) == 0 and capsys.readouterr().out == first
    assert main([*arguments, "--resume", "--seed", "3"]) == 2 and "has seed 0, not 3" in capsys.readouterr().err
    (small_table + 1).to_csv(counts, index=False)
    assert main([*arguments, "--resume"]) == 2 and "has another table" in capsys.readouterr().err
    assert main(["fit", counts, "--out", str(tmp_path / "new"), *SHORT, "--resume"]) == 0  # nothing there: start


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "nothing.csv", "--out", "OUT"], "nothing.csv does not exist"),
        (["fit", "COUNTS", "--out", "OUT", "--columns", "a,zz"], 'no column "zz"'),
        (["fit", "COUNTS", "--out", "OUT", "--columns", "a"], "at least 2"),
        (["fit", "COUNTS", "--out", "OUT", "--preset", "quick"], "preset must be one of tuned, paper"),
        (["fit", "COUNTS", "--out", "OUT", "--set", "depth=3"], "unknown setting 'depth'"),
        (["fit", "COUNTS", "--out", "OUT", "--set", "width=big"], "width must be a whole number"),
        (["fit", "COUNTS", "--out", "OUT", "--set", "width"], "--set needs name=value"),
        (["fit", "COUNTS", "--out", "OUT", "--seed", "1", "--set", "seed=2"], "seed is given twice"),
        (["fit", "COUNTS", "--out", "OUT", "--folds", "100"], "with 100 folds, at least 400"),
        (["fit", "COUNTS", "--out", "OUT", "--set", "width=10000000"], "of memory"),
        (["fit", "COUNTS", "--out", "OUT", "--tau-z", "1"], "--set fdr=0.2"),
        (["fit", "COUNTS", "--out", "COUNTS"], "is not empty"),
        (["graph", "no-such-run"], "There is no run no-such-run"),
        (["lahman", "--out", "OUT", "--years", "1066"], "1066"),
        (["lahman", "--out", "OUT", "--seeds", "0,x"], "--seeds must be whole numbers"),
        (["lahman", "--out", "OUT", "--seeds", "0,0"], "a seed twice"),
        (["lahman", "--out", "OUT", "--set", "seed=3"], "seed is no --set"),
        (["app", "--port", "0"], "--port must lie between"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, sentence, counts, tmp_path, capsys):
    places = {"COUNTS": counts, "OUT": out(tmp_path)}
    assert main([places.get(argument, argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err and len(printed.err.splitlines()) == 1 and printed.out == ""
    assert not Path(out(tmp_path)).exists() and list_runs() == []


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["fit"], ["fly"], ["graph", "x", "--format", "png"], ["fit", "--seed", "x"],
        ["refine", "x", "--device", "cpu"],  # it has none
    ],
)  # fmt: skip # a table
def test_bad_usage_gets_one_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    printed = capsys.readouterr()
    assert stop.value.code == 2 and len(printed.err.splitlines()) == 1 and "--help" in printed.err


def test_graph_writes_every_format(counts, tmp_path, capsys):
    assert main(["fit", counts, "--out", out(tmp_path), *SHORT]) == 0
    capsys.readouterr()
    run = open_run(Path(out(tmp_path)))
    assert main(["graph", run.id, "--tau-z=-9", "--pi-min", "0.3", "--format", "json"]) == 0
    graph = nx.node_link_graph(json.loads(capsys.readouterr().out), edges="edges")
    assert set(graph.edges) == set(StoredFit(run).graph(-9.0, 0.3).edges) and graph.number_of_edges() == 10
    how = {"order": "ccs-clipped", "parent_rule": "iqr", "tau_z": -9.0, "pi_min": 0.3}
    assert graph.graph == about(run, "DISCO", **how)
    for name in ("dag.csv", "dag.json", "dag.graphml", "dag.dot"):
        assert main(["graph", out(tmp_path), "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "dag.dot").read_text().startswith("digraph")
    assert set(nx.read_graphml(tmp_path / "dag.graphml").nodes) == set("abcde") and capsys.readouterr().out == ""
    assert main(["graph", out(tmp_path)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("# DISCO ")]
    assert lines[0].startswith("parent,child") and len(lines) == 1 + StoredFit(run).graph().number_of_edges()
    assert main(["graph", out(tmp_path), "--pi-min", "2"]) == 2
    assert main(["graph", out(tmp_path), "--out", str(tmp_path / "none" / "g.csv")]) == 2
    capsys.readouterr()
    assert main(["graph", out(tmp_path), "--out", str(tmp_path / "dag.png")]) == 2
    assert "csv, json, graphml, dot" in capsys.readouterr().err and not (tmp_path / "dag.png").exists()


def test_a_closed_pipe_is_no_error(counts, tmp_path):
    assert main(["fit", counts, "--out", out(tmp_path), *SHORT]) == 0
    typed = f"{sys.executable} -m disco graph {out(tmp_path)} --tau-z=-9 --format json | true; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_lahman_ends_with_one_json_line_and_refits_nothing(tmp_path, capsys, small_table, monkeypatch):
    names = ["AB", "H", "SO", "BB", "2B"]
    table = small_table.set_axis(names, axis=1)
    monkeypatch.setattr("disco.subjects.studies.command.cohort", lambda first, last: table)
    references = {"R7": (("AB", "H"), ("AB", "SO")), "R17": (("AB", "H"), ("AB", "SO"), ("H", "2B"))}
    monkeypatch.setattr("disco.subjects.studies.command.REFERENCES", references)
    arguments = ["lahman", "--years", "2012-2018", "--out", out(tmp_path), *SHORT]
    assert main([*arguments, "--seeds", "0,1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["years", "levels", "boundary", "seeds", "r7", "r17", "r7_mean", "r17_mean", "seconds"]
    assert found["seeds"] == [0, 1] and found["years"] == "2012-2018" and found["boundary"] == "clipped"
    assert found["r17_mean"] == pytest.approx(sum(found["r17"]) / 2)
    runs = list_runs()
    assert all(run.settings.preset == "paper" and run.settings.width == 8 for run in runs)
    assert {run.settings.seed for run in runs} == {0, 1} and all(run.settings.transform == "quantile" for run in runs)
    before = {run.id: run.status(FIT).finished_at for run in runs}
    assert main([*arguments, "--seeds", "0,1,2"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["r7"][:2] == found["r7"]
    assert "seed 2:" in printed.err and "seed 0:" not in printed.err
    assert {run.id: run.status(FIT).finished_at for run in runs} == before
    assert main([*arguments, "--seeds", "0", "--set", "max_rows=100"]) == 2


@pytest.fixture
def terminal(counts: str, tmp_path: Path) -> Iterator[tuple[int, int]]:
    """An endless fit in its own terminal: (process, terminal)."""
    process, handle = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        command = [sys.executable, "-m", "disco", "fit", counts, "--out", out(tmp_path), *FOREVER]
        os.execv(sys.executable, command)
    yield process, handle
    os.close(handle)


def read_until(handle: int, text: bytes) -> bytes:
    """What a terminal shows, up to a text or its end."""
    seen = b""
    while text not in seen:
        assert select.select([handle], [], [], PATIENCE)[0], seen
        try:
            seen += os.read(handle, 4096)
        except OSError:  # the terminal's other end is closed
            break
    return seen


def status_of(process: int) -> int:
    """The exit status of a process, once it ends."""
    found = []
    wait(lambda: (found.append(os.waitpid(process, os.WNOHANG)) or found[-1][0]) == process)
    return os.waitstatus_to_exitcode(found[-1][1])


def test_ctrl_c_on_a_terminal_leaves_a_run_to_resume(terminal, counts, tmp_path, capsys):
    process, handle = terminal
    assert b"[" in read_until(handle, b"joint 5")  # a bar
    assert b"\r" in read_until(handle, b"joint")
    os.write(handle, b"\x03")
    last = read_until(handle, b"continues from here.")
    assert status_of(process) == 130 and b"Traceback" not in last
    run = open_run(Path(out(tmp_path)))
    reached = run.status(FIT).done
    assert run.status(FIT).state == "cancelled" and (run.path / CHECKPOINT).exists()
    jobs.start(run, FIT)  # a page can resume what the command line started
    wait(lambda: read_events(run)["epoch"].max() >= reached + 2)
    arguments = ["fit", counts, "--out", out(tmp_path), "--resume"]
    assert main(arguments) == 2 and "already queued or running" in capsys.readouterr().err
    jobs.cancel(run, FIT)
    assert not read_events(run).duplicated(["stage", "epoch", "fold"]).any()


def test_a_run_is_resumed_by_its_values_whatever_preset_they_are_nearest_to(small_table):
    given = {"preset": "tuned", **dict([*PRESETS["paper"].items()][:11])}
    assert Settings.of(**given).preset == "paper"
    run = create_run(small_table, Settings.of(**given), name="between")
    part = FilePart(small_table, (), None, "", Origin(FromFile("t.csv")))
    assert resumed(run.path, part, given, None) == run
    with pytest.raises(InputError, match="has skip_connection False, not True"):
        resumed(run.path, part, given | {"skip_connection": True}, None)
    with pytest.raises(InputError, match="has projection_epochs 40, not 800"):
        resumed(run.path, part, given | {"preset": "paper"}, None)


@pytest.mark.parametrize("command", ["fit", "refine"])
def test_a_table_is_validated_once(command, counts, tmp_path, monkeypatch):
    """A pass over the cells of a large table takes seconds."""
    passes = []
    for module in (prepared, table_options):
        look = lambda *asked, of=module: passes.append(of) or problems(*asked)  # noqa: E731
        monkeypatch.setattr(module, "problems", look)
    arguments = {"fit": ["fit", counts, *SHORT], "refine": ["refine", "--counts", counts, "--bootstrap", "0"]}[command]
    assert main([*arguments, "--out", out(tmp_path)]) == 0
    assert passes == [table_options]


def test_every_option_of_set_is_listed(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--options"])
    lines = capsys.readouterr().out.splitlines()
    assert stop.value.code == 0 and [line.partition("=")[0] for line in lines] == list(options(Settings))
    assert any(line.startswith("max_rows=none  a whole number or none, at least 8. ") for line in lines)


def test_columns_are_chosen_by_name(small_table):
    table = small_table.rename(columns={"b": "b, too"})
    assert list(chosen_columns(table, 'e, "b, too",a')) == ["e", "b, too", "a"]
    assert list(chosen_columns(table, None)) == list(table)
    with pytest.raises(InputError, match='"f"'):
        chosen_columns(table, "f")


def test_progress_without_a_terminal_is_sparse(capsys):
    with Progress("seed 1") as progress:
        for epoch in range(1, 1001):
            progress(Event("joint", epoch, 1000, epoch / 1000))
    lines = capsys.readouterr().err.splitlines()
    assert 10 <= len(lines) <= 25 and all(line.startswith("seed 1: ") for line in lines) and "100%" in lines[-1]


def test_a_taken_port_is_refused_or_passed_over(capsys, monkeypatch):
    with socket.socket() as taken:
        taken.bind((start.HERE, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["app", "--port", str(port)]) == 2 and f"Port {port} is taken" in capsys.readouterr().err
        monkeypatch.setattr(start, "FIRST_PORT", port)
        assert start.free_port(None) > port


def test_a_fit_waits_for_the_device_and_can_be_interrupted_there(counts, small_table, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_GRACE_SECONDS", PATIENCE)
    busy = create_run(small_table, ENDLESS, name="busy", device="cpu")
    command = [sys.executable, "-m", "disco", "fit", counts, "--out", out(tmp_path), *FOREVER]
    told = tmp_path / "told"
    with at_work(busy), told.open("w") as stderr, subprocess.Popen(command, cwd=ROOT, stderr=stderr) as waiting:
        try:
            wait(lambda: "Queued behind the fit of busy: next in the queue" in told.read_text())
            run = open_run(Path(out(tmp_path)))
            assert run.status(FIT).state == "queued" and jobs.wait_of(run, FIT).position == 1
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(PATIENCE) == 130 and run.status(FIT).state == "cancelled"
            with subprocess.Popen([*command, "--resume", "--now"], cwd=ROOT) as beside:
                wait(lambda: run.status(FIT).state == "running")
                jobs.cancel(run, FIT)  # as a page does
                assert run.status(FIT).state == "cancelled" and beside.wait(PATIENCE) == 130
        finally:
            waiting.kill()


def test_a_signal_in_the_middle_of_a_line_says_so_all_the_same(tmp_path):
    """A handler that wrote through the stream would find it half-written, and end the fit with an error."""
    script = (
        "import os, signal, threading\n"
        "from disco.cli.foreground import signals\n"
        "from disco.cli.progress_bar import Progress\n"
        "stopping, progress = threading.Event(), Progress()\n"
        "class Interrupted:\n"
        "    fileno = progress.stream.fileno\n"
        "    def write(self, text):\n"
        "        if self.inside: raise RuntimeError('reentrant call')\n"
        "        self.inside = True\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        self.inside = False\n"
        "    def flush(self): pass\n"
        "    inside = False\n"
        "progress.stream = Interrupted()\n"
        "with signals(stopping, progress): progress.say('a line')\n"
        "assert stopping.is_set()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0 and "stopping after this step" in ended.stderr, ended.stderr


def test_a_stop_at_once_waits_until_the_compiler_is_out_of_the_way(tmp_path):
    """The compiler calls back from C, where an error is printed and lost, and ends in one of its own."""
    script = (
        "import os, signal, threading, time\n"
        "from disco.cli.foreground import signals\n"
        "from disco.cli.progress_bar import Progress\n"
        "def interrupt(): os.kill(os.getpid(), signal.SIGINT); return 'lived through it'\n"
        "compiler = {'interrupt': interrupt}\n"
        "exec(compile('def call(): return interrupt()', '/x/llvmlite/binding.py', 'exec'), compiler)\n"
        "try:\n"
        "    with signals(threading.Event(), Progress()):\n"
        "        interrupt()\n"
        "        print(compiler['call'](), flush=True)\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.stdout.split("\n")[:2] == ["lived through it", "stopped"], ended


@pytest.mark.parametrize("words", ["check {}", "fit {table} --out {}", "simulate --out {}", "pack {run} --out {}"])
def test_a_name_too_long_is_to_be_shortened(counts, tmp_path, capsys, words):
    made = finished_run(4)
    assert main(words.format(tmp_path / ("x" * 300), table=counts, run=made.id).split()) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said and said.endswith("give it a shorter name.\n") and "space" not in said
