"""The battery: real and synthetic tables through the whole engine; none may end in a traceback, an abort or a hang.

    pip install -r requirements-test.txt -r benchmarks/requirements.txt
    python -m benchmarks.battery                        # the tables that results/battery.jsonl lacks
    python -m benchmarks.battery --only "sklearn digits" --again
    python -m benchmarks.battery --summary              # of the existing lines

One line per table: rows, columns and, for each step (`benchmarks.battery.steps`), how it ended, its words, its seconds
and its peak memory. Each table runs in its own process; a step that dies or hangs is reported, and a new process
continues with the next step. A step is stopped after `LONGEST` seconds of work, which is no failure, and hangs if it
then does not end.
"""

from benchmarks.battery.processes import STUDY

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
