"""The engine where a system lacks what Linux has: simulated here, and run on no such system itself."""

import os
import subprocess
import sys
from pathlib import Path

WORLD = Path(__file__).parent / "like_windows"


def test_all_work_is_done_without_what_windows_lacks(tmp_path):
    """Reading apart, workers with locks of their own, cancel, kill and resume (`like_windows/journey.py`)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(WORLD), str(WORLD.parents[1])))}
    command = [sys.executable, str(WORLD / "journey.py"), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == "read cancelled interrupted done refined compared packed deleted".split()
