"""Methods in a process of their own: results, errors, time limits, and ends of every kind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from disco.errors import FitStopped, InputError
from disco.knowledge import Knowledge
from disco.methods import find
from disco.methods.isolated import OutOfTime, find_apart
from disco.table.roles import Roles

PATIENCE = 120.0
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process within C code with its caller")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    names = ['a "quoted", name', "NA", "c\nd", "e"]
    return pd.DataFrame(rng.poisson(3.0, (60, 4)), columns=names)


def children() -> list[psutil.Process]:
    """The processes of methods; other tests may have others."""
    return [one for one in psutil.Process().children(recursive=True) if "disco.methods.alone" in one.cmdline()]


def until(holds) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_the_result_is_that_of_the_method_itself(small_table):
    table = small_table.assign(site=np.arange(300) % 3)
    roles = Roles({"site": ("covariate", "categorical")})
    knowledge = Knowledge(tiers=(("a", "b"), ("c", "d", "e")))
    told = {"roles": roles, "knowledge": knowledge}
    events = []
    found = find_apart("sort-variance", table, {"cutoff": 0.01}, **told, callback=events.append)
    expected = find("sort-variance", table, {"cutoff": 0.01}, **told)
    assert found.order == expected.order and found.notes == expected.notes and found.seconds > 0
    pd.testing.assert_frame_equal(found.edges, expected.edges)
    pd.testing.assert_frame_equal(found.scores, expected.scores)
    assert events and all(0 <= event.progress <= 1 for event in events)


def test_names_edges_without_direction_and_missing_orders_come_back_as_they_are(strange, table):
    names = list(table.columns)
    found = find_apart("undirected", table)
    assert found.order is None and found.scores.empty and found.nodes == names
    assert found.undirected == [(names[0], names[1])] and found.directed == [(names[1], names[2]), (names[2], names[3])]


def test_what_a_method_prints_goes_to_its_log(strange, table, tmp_path):
    assert find_apart("chatty", table, log=tmp_path / "log.txt").order == list(table.columns)
    text = (tmp_path / "log.txt").read_text()
    assert "from a child" in text and "####" in text


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("input", r"^The column <b> has no values above 3: leave it out\.$"),
        ("memory", "ran out of memory: use fewer columns or rows"),
        ("killed", "The killed one was killed by the system, probably because memory ran out"),
        ("crash", "The crash one crashed by signal SIGSEGV"),
        ("bug", r"^It failed with an unexpected KeyError; its log says where\.$"),
        ("absent", r"the absent one needs the package no-such: pip install \.\[rivals\]\.$"),
    ],
)
def test_every_failure_is_one_sentence(strange, table, tmp_path, way, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        find_apart(way, table, log=tmp_path / "log.txt")
    assert len(str(caught.value).splitlines()) == 1
    assert ("a secret of the table" in (tmp_path / "log.txt").read_text()) == (way == "bug") and not children()


@pytest.mark.parametrize("way", ["slow", "deep"])
def test_a_time_limit_ends_it(strange, table, way):
    with pytest.raises(OutOfTime, match=f"The {way} one was stopped at its time limit, 1 seconds"):
        find_apart(way, table, limit=1)
    assert not children()


@pytest.mark.parametrize("way", ["slow", "deep"])
def test_a_callback_ends_it_even_in_c_code(strange, table, way):
    def hear(event):
        return event.stage != "work"

    with pytest.raises(FitStopped, match=f"The {way} one was stopped"):
        find_apart(way, table, callback=hear)
    assert not children()


@pytest.mark.parametrize("way", ["slow", pytest.param("deep", marks=LINUX)])
def test_it_has_one_thread_and_ends_with_its_caller(way):
    """The caller is killed, so it can say nothing."""
    text = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from strange_methods import MODULE, registered\n"
        "import numpy as np, pandas as pd\n"
        "from disco.methods import isolated\n"
        "registered(); isolated._MODULE = MODULE\n"
        f"isolated.find_apart('{way}', pd.DataFrame({{'a': np.arange(12), 'b': np.arange(12)}}),"
        " callback=lambda event: print(event.stage, flush=True))\n"
    )
    root = Path(__file__).parents[2]
    caller = subprocess.Popen([sys.executable, "-c", text], cwd=root, stdout=subprocess.PIPE)
    try:
        while caller.stdout.readline().strip() != b"work":
            assert caller.poll() is None
        child = psutil.Process(caller.pid).children()[0]
        assert child.environ()["OMP_NUM_THREADS"] == child.environ()["OPENBLAS_NUM_THREADS"] == "1"
    finally:
        os.kill(caller.pid, signal.SIGKILL)
        caller.wait()
        caller.stdout.close()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
