"""How promptly the app answers, as ratios that hold on any machine.

    python -m benchmarks.prompt       # about a minute

It measures the time to cancel a fit, at several moments, over the 2 seconds that are promised, and the time to redraw
the edges of a refined graph of a hundred nodes after moving a filter, over that of its whole page. One JSON line per
measurement.
"""

import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from benchmarks.machine import describe
from disco.found import Found
from disco.refine import Choice, Refined
from disco.runs import FIT, Run, create_run, refined
from disco.settings import Settings
from disco.work import jobs

PROMISED = 2.0  # seconds, of `disco.work.jobs.cancel`
APP = Path(__file__).resolve().parents[1] / "app.py"


def cancel(delay: float, repeats: int = 3) -> dict:
    """Median seconds to cancel an endless fit, `delay` seconds after its start, over those promised."""
    tiny = {"width": 8, "projection_epochs": 2, "projection_steps": 0}
    endless = Settings.of(**tiny, joint_epochs=100_000, validation_start=100_000)
    times = []
    for _ in range(repeats):
        run = create_run(_counts(5), endless, name="cancel", device="cpu")
        jobs.start(run, FIT)
        time.sleep(delay)
        begun = time.perf_counter()
        jobs.cancel(run, FIT)
        times.append(time.perf_counter() - begun)
    seconds = float(np.median(times))
    return {
        "measure": f"cancel, {delay:g} s after the start",
        "seconds": round(seconds, 2),
        "ratio": round(seconds / PROMISED, 2),
    }


def filter_move(nodes: int = 100, repeats: int = 5) -> dict:
    """Median seconds to redraw the edges after moving a filter, over those to draw the whole page."""
    from pages.refine import edge_list

    run, edges, pages = _refined(nodes), [], []
    explore = edge_list.explore

    def timed(*given: object) -> None:
        begun = time.perf_counter()
        explore(*given)
        edges.append(time.perf_counter() - begun)

    edge_list.explore = timed
    app = AppTest.from_file(str(APP), default_timeout=600)
    app.query_params["run"] = run.id
    app.run()
    app.switch_page("pages/refine/page.py").run()
    for gain in [1, 2, 3, 5, 7][:repeats]:
        begun = time.perf_counter()
        app.select_slider(key=f"refine_least_gain_{run.id}").set_value(gain).run()
        pages.append(time.perf_counter() - begun)
    edge_list.explore = explore
    part, whole = np.median(edges[-repeats:]), np.median(pages)
    return {
        "measure": f"edges drawn again after a filter was moved, {nodes} nodes",
        "seconds": round(float(part), 3),
        "ratio": round(float(part / whole), 2),
    }


def _counts(columns: int, rows: int = 300) -> pd.DataFrame:
    table = np.random.default_rng(0).poisson(3.0, (rows, columns))
    return pd.DataFrame(table, columns=[f"x{k}" for k in range(1, columns + 1)])


def _refined(nodes: int) -> Run:
    """A refinement written by hand, four edges per node."""
    run = create_run(_counts(nodes), Settings(), name="filter", device="cpu")
    order = list(run.table().columns)
    pairs = [pair for step in (1, 2, 7, 20) for pair in zip(order, order[step:], strict=False)]
    gain = np.geomspace(500, 1, len(pairs))
    edges = pd.DataFrame(pairs, columns=["parent", "child"]).assign(
        gain_nats=gain,
        log_likelihood_nats=gain + 4,
        bic_nats=gain - 3,
        direction_nats=gain / 2,
        robust_nats=gain / 3,
        linear_nats=gain / 9,
        spread_nats=0.0,
        decided=gain > 10,
        p_value=np.exp(-gain),
        folds=1.0,
        bootstrap=1.0,
    )
    starts = pd.DataFrame([("by mean", 1, -100.0)], columns=["start", "sweep", "score"])
    refined.save(run.path, Refined(Found(order, edges), starts, "by mean", -100.0, len(edges), 50), Choice())
    return run


def main() -> None:
    """Run all measurements in a separate folder of runs."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCO_RUNS"] = folder
        for delay in (0.0, 0.5, 2.0, 8.0):
            print(json.dumps(cancel(delay)), flush=True)
        print(json.dumps({**filter_move(), "machine": describe()}), flush=True)


if __name__ == "__main__":
    main()
