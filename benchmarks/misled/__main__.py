"""The gauntlet: what the refinement decides on tables that break the model class in ordinary ways.

    python -m benchmarks.misled                                   # the tables that results/misled.jsonl lacks
    python -m benchmarks.misled --only "hurdle.*seed [0-2]$" --results /tmp/trial.jsonl
    python -m benchmarks.misled --only "[02468]$"                 # even seeds, to choose rules on; odd ones to report
    python -m benchmarks.misled --summary                         # of the existing lines

One line per table: its truth, all refined edges with their evidence, the misfit of the nodes, and the warnings.
"""

from benchmarks.misled.report import STUDY

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
