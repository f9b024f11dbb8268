"""Two runs side by side: their edges, their orders, their settings. Owns the keys `compare_…`."""

import streamlit as st

from disco.errors import InputError
from disco.reports import all_results
from disco.reports.all_results import WORDS
from disco.reports.two_runs import FIRST, SECOND, TwoRuns, compare
from disco.runs import Run
from disco.subjects import stamps
from disco.words import how_many, listed, plural, series
from pages.shared.compute.cache import cached
from pages.shared.graph import paired
from pages.shared.widgets import tables
from pages.shared.widgets.names import code, plain
from pages.shared.work import fit_options

_MOST_NAMED = 12


def section(first_run: Run, second_run: Run) -> None:
    """The comparison of two runs, the older first."""
    first, second = sorted((first_run, second_run), key=lambda run: (run.created.timestamp(), run.id))
    st.subheader("Comparison", anchor=False)
    for run in (first, second):
        if not _results(run):
            what = f"{code(run.name)} has no finished {' or '.join(WORDS.values())} to compare."
            st.info(what, icon=":material/info:")
            return
    if not {*first.nodes} & {*second.nodes}:
        st.info("The two have no column in common, so there is nothing to compare.", icon=":material/info:")
        return
    chosen = _choose(first, second)
    try:
        both = _compared(first, second, chosen)
    except InputError as error:
        st.error(plain(error), icon=":material/error:")
        return
    pair = paired.Pair(both.results, FIRST, SECOND)
    _common(both)
    paired.numbers(pair)
    titles = [f"of the {WORDS[name]} of {code(run.name)}" for run, name in zip(both.runs, chosen, strict=True)]
    paired.graphs(pair, "compare", titles)
    paired.edges(pair, "compare", f"{first.id}_{second.id}_edges.csv")
    _settings(both)


def _results(run: Run) -> list[str]:
    return [name for name in all_results.names(run) if name in WORDS]


def _choose(first: Run, second: Run) -> tuple[str, str]:
    """Which result of each run to compare: its fit or its refinement; by default the same for both."""
    both = [name for name in _results(first) if name in _results(second)]
    chosen = []
    for label, run, box in zip(("First", "Second"), (first, second), paired.two_columns("compared_runs"), strict=True):
        box.markdown(f"**{label}:** {code(run.name)}")
        usual = both[0] if both else _results(run)[0]
        chosen.append(
            box.segmented_control(
                f"{label} result",
                _results(run),
                default=usual,
                required=True,
                format_func=lambda name: WORDS[name][0].upper() + WORDS[name][1:],
                key=f"compare_{label}_{run.id}",
                label_visibility="collapsed",
            )
            or usual
        )
    return chosen[0], chosen[1]


def _key(first: Run, second: Run, chosen: tuple[str, str]) -> tuple:
    return *((run.key, stamps.fit(run), stamps.refinement(run)) for run in (first, second)), chosen


@cached(_key, "Comparing …")
def _compared(first: Run, second: Run, chosen: tuple[str, str]) -> TwoRuns:
    return compare((first, chosen[0]), (second, chosen[1]))


def _common(both: TwoRuns) -> None:
    for run, only in zip(both.runs, both.results.alone.values(), strict=True):
        if only:
            named = listed([*map(code, only)], _MOST_NAMED)
            st.caption(f"{how_many(len(only), 'column')} only in {code(run.name)}: {named}.")
    if any(both.results.alone.values()):
        st.markdown(f"Compared: the **{how_many(len(both.results.nodes), 'column')}** that both have.")
    if both.differences:
        equal = "" if both.differences[0].startswith(("rows", "counts")) else " Their counts are equal."
        st.caption(f"The two tables, of these columns, have different {series(both.differences)}.{equal}")


def _settings(both: TwoRuns) -> None:
    if both.settings.empty:
        st.caption("Both have the same settings.")
        return
    st.markdown(f"**{how_many(len(both.settings), 'setting')}** {plural(len(both.settings), 'differs', 'differ')}:")
    text = st.column_config.TextColumn
    config = {"setting": text("Setting", width=380), "first": text("First"), "second": text("Second")}
    names = both.settings["setting"]
    values = {side: [*map(fit_options.value, names, both.settings[side])] for side in (FIRST, SECOND)}
    rows = both.settings.assign(setting=names.map(fit_options.label), **values)
    tables.show(rows, "Settings that differ", config)
