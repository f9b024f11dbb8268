"""Series of counts: edges of the same step and from earlier steps, with and without what disturbs them declared.

    python -m benchmarks.series                               # the lines that results/series.jsonl lacks
    python -m benchmarks.series --only "PCMCI"                # beside it (pip install tigramite)
    python -m benchmarks.series --summary

One line per design, variant and seed. *Declared*: the roles that are right for the disturbance. *Not*: that of the time
alone. *No time*: the columns alone, as a table without roles is read. PCMCI+ (Runge, UAI 2020) has partial
correlations of log(1 + count) and a level of .01.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from benchmarks.study import Line, Study, grouped, markdown, share, timed, total
from disco.errors import InputError
from disco.refine import QUICK, refine
from disco.simulate.series import Series, SeriesDesign, series
from disco.table.roles import Roles

SEEDS = 10
_LARGE = {"nodes": 20, "lags": 2}
_PANEL, _SINGLE = {"units": 50, "steps": 100}, {"steps": 5000}
DESIGNS = {
    **{
        f"{family}, 50 × 100": SeriesDesign(**_LARGE, **_PANEL, family=family)
        for family in ("poisson", "nb", "binomial")
    },
    **{
        f"{family}, 5,000": SeriesDesign(**_LARGE, **_SINGLE, family=family) for family in ("poisson", "nb", "binomial")
    },
    "short": SeriesDesign(nodes=8, steps=300),
    "unit effects": SeriesDesign(nodes=8, **_PANEL, unit_effect=0.4),
    "season": SeriesDesign(nodes=8, steps=1500, season=12),
    "trend": SeriesDesign(nodes=8, steps=1500, trend=0.5),
}
RIGHT = {"unit effects": {"group_effects": True}, "season": {"season": 12}}  # besides the time
ALONE = {"INAR": 0.0, "log-AR": 0.9, "random walk": 1.0}  # independent series of ten columns and 500 steps
DECLARED, NOT, NO_TIME, PCMCI = "declared", "not", "no time", "PCMCI+"


def alone(name: str, seed: int, steps: int = 500, nodes: int = 10) -> pd.DataFrame:
    """Independent series: thinned counts with immigrants, or Poisson counts at rates that follow their own past."""
    random, values = np.random.default_rng([seed, 7]), np.zeros((steps + 60, nodes), np.int64)
    rates, stays, own = np.zeros(nodes), random.uniform(0.3, 0.8, nodes), ALONE[name]
    for step in range(1, len(values)):
        rates = np.clip(own * rates + (0.25 if own < 1 else 0.08) * random.standard_normal(nodes), -1.5, 1.8)
        drawn = random.poisson(4 * np.exp(rates))
        thinned = random.binomial(values[step - 1], stays) + random.poisson(4 * (1 - stays))
        values[step] = drawn if own else thinned
    return pd.DataFrame(values[60:], columns=[f"x{node + 1}" for node in range(nodes)]).assign(step=range(steps))


def jobs() -> Iterator[tuple[str, str, int]]:
    """Everything to measure, all of one seed before the next; independent series have ten times the seeds."""
    for seed in range(10 * SEEDS):
        for name in DESIGNS if seed < SEEDS else ():
            variants = [
                DECLARED,
                *([NOT] if name in RIGHT or name == "trend" else []),
                *([PCMCI] if name == "short" else []),
            ]
            yield from ((name, variant, seed) for variant in variants)
        yield from ((name, variant, seed) for name in ALONE for variant in (DECLARED, NO_TIME))


def measure(name: str, variant: str, seed: int) -> Line:
    """One line."""
    drawn = None
    if name in ALONE:
        table, lags, roles = alone(name, seed), 1, dict[str, str]()
    else:
        design = DESIGNS[name]
        drawn = series(SeriesDesign(**{**vars(design), "seed": seed}))
        table, lags, roles = drawn.table, design.lags, {"unit": "group"} if design.units > 1 else {}
    figures, seconds = timed(VARIANTS[variant], table, {**roles, "step": "time"}, lags, RIGHT.get(name, {}))
    lagged, same, decided, flagged = figures
    line = {"design": name, "variant": variant, "seed": seed, "seconds": seconds, "flagged": flagged}
    return line | judged(drawn, lagged, same, decided)


Figures = tuple[set[tuple[str, str, int]], set[frozenset], set[tuple[str, str]], bool]


def _searched(table: pd.DataFrame, columns: dict[str, str], lags: int, right: dict) -> Figures:
    result = refine(table, QUICK, roles=Roles(columns, lags=lags, **right))
    edges = result.edges
    pairs = list(zip(edges["parent"], edges["child"], strict=True))
    lagged = set() if result.lagged is None else _lagged(result.lagged)
    decided = {pair for pair, is_decided in zip(pairs, edges["decided"], strict=True) if is_decided}
    return lagged, {frozenset(pair) for pair in pairs}, decided, bool(result.found.artefacts)


def _lagged(frame: pd.DataFrame) -> set[tuple[str, str, int]]:
    edges = frame[["parent", "child", "lag"]].itertuples(index=False, name=None)
    return {edge for edge in edges if edge[0] != edge[1]}


def _plain(table: pd.DataFrame) -> Figures:
    result = refine(table.drop(columns="step"), QUICK)
    pairs = {frozenset(pair) for pair in zip(result.edges["parent"], result.edges["child"], strict=True)}
    return set(), pairs, set(), any(finding.kind == "serial" for finding in result.found.artefacts)


def _by_pcmci(table: pd.DataFrame, columns: dict[str, str], lags: int, right: dict) -> Figures:
    try:
        from tigramite.data_processing import DataFrame
        from tigramite.independence_tests.parcorr import ParCorr
        from tigramite.pcmci import PCMCI as Search
    except ImportError:
        raise InputError("PCMCI+ needs the package tigramite.") from None
    nodes = table.drop(columns=[name for name in columns])
    frame = DataFrame(np.log1p(nodes.to_numpy(float)))
    graph = Search(dataframe=frame, cond_ind_test=ParCorr()).run_pcmciplus(tau_max=lags, pc_alpha=0.01)["graph"]
    names, size = list(nodes), range(nodes.shape[1])
    lagged = {
        (names[i], names[j], lag)
        for lag in range(1, lags + 1)
        for i in size
        for j in size
        if i != j and graph[i, j, lag]
    }
    same = {frozenset((names[i], names[j])) for i in size for j in size if i < j and graph[i, j, 0]}
    decided = {(names[i], names[j]) for i in size for j in size if graph[i, j, 0] == "-->"}
    return lagged, same, decided, False


VARIANTS: dict[str, Callable[..., Figures]] = {
    DECLARED: _searched,
    NOT: lambda table, columns, lags, right: _searched(table, columns, lags, {}),
    NO_TIME: lambda table, *_: _plain(table),
    PCMCI: _by_pcmci,
}


def judged(drawn: Series | None, lagged: set, same: set, decided: set) -> Line:
    """The accuracy of a graph; of independent series, what it joins."""
    true_lagged = set() if drawn is None else set(drawn.lagged.itertuples(index=False, name=None))
    true_same = set() if drawn is None else set(drawn.truth.itertuples(index=False, name=None))
    return {
        "lagged": len(lagged),
        "lagged_false": len(lagged - true_lagged),
        "lagged_f1": _f1(lagged, true_lagged),
        "same": len(same),
        "same_f1": _f1(same, {frozenset(pair) for pair in true_same}),
        "decided": len(decided),
        "decided_true": len(decided & true_same),
    }


def _f1(edges: set, truth: set) -> float | None:
    return round(2 * len(edges & truth) / (len(edges) + len(truth)), 4) if edges or truth else None


HEAD = ("design", "variant", "seeds", "lagged F1", "false of lagged", "tables with a false lagged edge", "same-step F1")
HEAD += ("same-step edges", "decided", "true of decided", "warned", "seconds")


def table(lines: Iterable[Line]) -> str:
    """Markdown: means over the seeds, one row per design and variant."""
    rows = []
    for (name, variant), group in grouped(lines, ("design", "variant"), (*DESIGNS, *ALONE, *VARIANTS)).items():
        false = share(sum(line["lagged_false"] > 0 for line in group), len(group), ".0%")
        rows.append(
            (
                *(
                    name,
                    variant,
                    len(group),
                    _mean(group, "lagged_f1"),
                    share(*_sums(group, "lagged_false", "lagged"), ".1%"),
                ),
                *(false, _mean(group, "same_f1"), f"{statistics.fmean(line['same'] for line in group):.1f}"),
                *(total(group, "decided"), share(*_sums(group, "decided_true", "decided"), ".1%")),
                *(share(sum(line["flagged"] for line in group), len(group), ".0%"), _mean(group, "seconds", ".1f")),
            )
        )
    return markdown(HEAD, rows)


def _sums(group: list[Line], part: str, of: str) -> tuple[int, int]:
    return total(group, part), total(group, of)


def _mean(group: list[Line], name: str, form: str = ".3f") -> str:
    values = [line[name] for line in group if line[name] is not None]
    return format(statistics.fmean(values), form) if values else ""


STUDY = Study("series", ("design", "variant", "seed"), jobs, measure, table)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
