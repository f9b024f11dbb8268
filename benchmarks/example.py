"""The example that the app opens: the bundled 20-node table, fitted and refined with the default settings, seed 0.

    python -m benchmarks.example        writes datasets/example.zip; about a minute

It lies in the repository, so that opening it takes no fit.
"""

import os
import tempfile
from pathlib import Path

from disco import simulate
from disco.cli.foreground import work_here
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports.packing import pack
from disco.runs import create_run
from disco.subjects import FIT, REFINE

PLACE = Path(__file__).resolve().parents[1] / "datasets" / "example.zip"
SOURCE = (
    "Simulated: Erdős–Rényi graph, Poisson counts, seed 0. The example that comes with DISCO, without its networks."
)


def main() -> None:
    """Fit and refine the table in a folder of its own, and write the ZIP."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCO_RUNS"] = folder
        table, truth = simulate.poisson_er(nodes=20, rows=2000, k=3, seed=0)
        run = create_run(table, Settings(), name="Example: Poisson 20", source=SOURCE, truth=truth, device="cpu")
        for work, choice in ((FIT, ()), (REFINE, (Choice(),))):
            work_here(run, work, "", *choice, label=work.noun)
            run.update(work, host="")  # of no meaning elsewhere
        PLACE.write_bytes(pack(run, networks=False))
    print(f"{PLACE.name}: {PLACE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
