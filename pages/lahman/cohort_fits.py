"""The fits of one Lahman cohort: which runs there are, whatever started them, and what their orders respect."""

import contextlib
from dataclasses import dataclass

import pandas as pd

from disco import lahman, metrics, runs
from disco.errors import InputError
from disco.settings import CHOICES, Settings
from disco.work import jobs
from pages.shared.work.facts import fact

BOUNDARIES = CHOICES["boundary"]


@dataclass(frozen=True)
class Study:
    """What the reader chose.

    Attributes:
        years: first and last season.
        levels: "4", "6", "8" or "raw".
        preset: tuned or paper.
        seeds: of the fits.
    """

    years: tuple[int, int]
    levels: str
    preset: str
    seeds: tuple[int, ...]

    @property
    def representation(self) -> str:
        """As the paper writes it: q4, q6, q8 or raw."""
        return "raw" if self.levels == "raw" else f"q{self.levels}"

    def settings(self, seed: int) -> Settings:
        """The settings of one fit; the other boundary is scored from the same networks."""
        return lahman.settings(self.levels, "clipped", seed, self.preset, self.years)

    def label(self, boundary: str) -> str:
        """A row of the figures."""
        return f"{self.representation}, {boundary}, {self.years[0]}–{self.years[1]}"


@fact(lambda years: years, words="Reading the batting table …")
def cohort(years: tuple[int, int]) -> pd.DataFrame:
    """The counts of a cohort, read once."""
    return lahman.cohort(*years)


@fact(lambda run: str(run.path), 512)
def _fingerprint(run: runs.Run) -> int:
    """A number that tells the table of a run from another's; 0 when it is not batting counts."""
    table = run.table()
    return fingerprint(table) if tuple(table.columns) == lahman.COLUMNS else 0


def fingerprint(table: pd.DataFrame) -> int:
    """A number that two tables of the same rows share."""
    return int(pd.util.hash_pandas_object(table.reset_index(drop=True), index=True).sum())


def found(study: Study) -> dict[int, runs.Run]:
    """The run of each seed: of the same table, levels and preset; a finished one first, then the newest."""
    wanted = fingerprint(cohort(study.years))
    result: dict[int, runs.Run] = {}
    for run in runs.list_runs():
        seed = run.settings.seed
        if seed not in study.seeds or not _is_of(run, study, wanted):
            continue
        if seed not in result or (run.status().state == "done" and result[seed].status().state != "done"):
            result[seed] = run
    return dict(sorted(result.items()))


def _is_of(run: runs.Run, study: Study, wanted: int) -> bool:
    model = study.settings(run.settings.seed)
    # The boundary and the thresholds are applied to fitted networks, so they may differ.
    free = {name: getattr(run.settings, name) for name in ("boundary", "tau_z", "pi_min")}
    if run.settings != model.replace(**free):
        return False
    try:
        return _fingerprint(run) == wanted
    except (InputError, OSError, ValueError):
        return False


def start(study: Study, seed: int) -> runs.Run:
    """Queue the fit of one seed.

    Raises:
        InputError: it cannot be started.
    """
    years = f"{study.years[0]}-{study.years[1]}"
    name = f"Lahman {years} {study.representation} {study.preset} seed {seed}"
    run = runs.create_run(cohort(study.years), study.settings(seed), name=name, source=lahman.CREDIT)
    jobs.start(run, runs.FIT)
    return run


def scores(study: Study, done: dict[int, runs.Run]) -> pd.DataFrame:
    """Agreement of each finished run under each boundary that is scored: label, boundary, seed, r7, r17.

    A run whose order cannot be read has no row.
    """
    rows = []
    for boundary in BOUNDARIES:
        for seed, run in done.items():
            with contextlib.suppress(InputError):
                order = run.order(f"ccs-{boundary}")
                r7, r17 = metrics.a_top(order, lahman.R7), metrics.a_top(order, lahman.R17)
                rows.append((study.label(boundary), boundary, seed, r7, r17))
    return pd.DataFrame(rows, columns=["label", "boundary", "seed", "r7", "r17"])


def paper_rows() -> pd.DataFrame:
    """The paper's means as rows: label, r7, r17."""
    rows = [
        (f"{f.representation}, {f.boundary}, {f.years.replace('-', '–')}", f.r7, f.r17) for f in lahman.PAPER_FIGURES
    ]
    return pd.DataFrame(rows, columns=["label", "r7", "r17"])


def controls(table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The agreement of sorting the columns, rising and falling, with R7 and R17."""
    by_mean, by_excess = metrics.order_by_mean(table), metrics.order_by_excess(table)
    orders = {
        "by rising mean": by_mean,
        "by falling mean": by_mean[::-1],
        "by rising var. − mean": by_excess,
        "by falling var. − mean": by_excess[::-1],
    }
    return {name: (metrics.a_top(o, lahman.R7), metrics.a_top(o, lahman.R17)) for name, o in orders.items()}
