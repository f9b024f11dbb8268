"""In CI a browser test that fails is run once more and named; no other test ever is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import repetition

TESTS = """
from pathlib import Path
import pytest
import repetition

def fails_at_first(name):
    seen = Path(__file__).with_name(name)
    if not seen.exists():
        seen.touch()
        raise AssertionError(name)

@pytest.mark.browser
def test_of_a_page():
    fails_at_first("page")

@pytest.mark.browser
def test_of_a_broken_page():
    raise AssertionError("broken")

def test_of_the_engine():
    fails_at_first("engine")
"""


def test_the_tests_here_are_run_so(pytestconfig):
    assert pytestconfig.pluginmanager.is_registered(repetition)


@pytest.mark.parametrize(("ci", "counts"), [("true", {"2 failed", "1 passed", "2 rerun"}), ("", {"3 failed"})])
def test_only_browser_tests_in_ci_are_run_once_more(tmp_path, ci, counts):
    (tmp_path / "test_some.py").write_text(TESTS)
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-m", "pytest", "-p", "repetition", "--rootdir", str(tmp_path), str(tmp_path)]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path).stdout
    assert counts == set(re.findall(r"\d+ (?:failed|passed|rerun)", told.splitlines()[-1]))
    flaky = [line for line in told.splitlines() if line.startswith("flaky: ")]
    assert [line.split(" ")[1].split("::")[1] for line in flaky] == (["test_of_a_page"] if ci else [])
