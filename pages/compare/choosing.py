"""The choice of methods and their options, how long they take, and their start.

Owns the keys `compare_pick_…`, `compare_limit_…` and `compare_options_…`.
"""

import dataclasses
from typing import Any

import pandas as pd
import streamlit as st

from disco import fields
from disco.errors import InputError
from disco.fields import options as declared
from disco.methods import GROUPS, INSTALL, METHODS, Method, options_of
from disco.methods.option_text import EXAMPLE, asked_for, in_words
from disco.reports import all_results
from disco.runs import Run
from disco.subjects import COMPARE, stamps
from disco.subjects.comparison import comparing
from disco.subjects.comparison.compared import MethodsRequest, asked
from disco.subjects.fit.forecast import about, crowding
from disco.words import duration, how_many
from disco.work import jobs
from pages.compare.comparison import Compared
from pages.shared import session
from pages.shared.table.drafts import Draft
from pages.shared.widgets import errors, tables
from pages.shared.widgets.answers import forget, lasting, widget
from pages.shared.widgets.names import code, plain
from pages.shared.work import fit_start

Options = dict[str, dict[str, Any]]

_USUAL = ("refined", "disco", "boss", "ods-poisson")
_BASELINES = ("sort-mean", "sort-excess")  # beside methods that a known truth measures; else they say nothing
_ABOUT = {
    "ours": "DISCO, its variants and the likelihood search, run like the others.",
    "count models": "Every node is Poisson, negative binomial, binomial or similar given its parents.",
    "general": "Not made for counts: they use log(1 + count).",
    "continuous": "For continuous data. Their results on counts are shown as they are.",
    "controls": "Columns sorted by one statistic. They fit nothing: compare every other method with them.",
}


def section(run: Run, comparison: Compared) -> None:
    """The choice of methods, and the button; in an expander if some have already ended."""
    with st.expander("Add methods", icon=":material/add:") if comparison.methods else st.container():
        _choose(run, comparison)


def _choose(run: Run, comparison: Compared) -> None:
    chosen = _picked(run, comparison)
    last = asked(run)
    changed = options_box(run, chosen, last)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    usual = declared(MethodsRequest)["limit"]
    key = lasting(f"compare_limit_{run.id}", usual.default if last is None else last.limit)
    limit = widget(usual, row, key=key, step=1.0, width=250)
    start = row.container(horizontal=True, vertical_alignment="center", width="content")  # the time stays beside it
    if start.button(
        "Run methods",
        type="primary",
        icon=":material/play_arrow:",
        key="start_comparison",
        disabled=not chosen or changed is None,
    ):
        begin(run, {name: changed[name] for name in chosen}, limit)
    load = crowding("cpu", threads=1)
    seconds = sum(min(comparing.seconds(run, name) * load, limit) for name in chosen)
    if chosen:
        start.markdown(f":material/timer: about **{about(seconds / 2, seconds * 2)}**", width="content")
    _tell(comparison, chosen, seconds)


def _picked(run: Run, comparison: Compared) -> list[str]:
    """Draw the methods, one folded group each so that the button below stays in sight; return those ticked."""
    has_arms = run.roles is not None and bool(run.roles.named("intervention"))
    run_has = {"roles": run.roles is not None, "interventions": has_arms, "knowledge": run.knowledge() is not None}
    chosen = []
    for group in GROUPS:
        methods = {
            name: method for name, method in METHODS.items() if method.group == group and has_arms >= method.needs_arms
        }
        if not methods:
            continue
        with st.expander(f"**{group[0].upper()}{group[1:]}** · {how_many(len(methods), 'method')}"):
            st.caption(_ABOUT[group])
            columns = st.container(key=f"beside_compare_{group.replace(' ', '_')}").columns(2, gap="medium")
            for index, (name, method) in enumerate(methods.items()):
                with columns[index % 2], st.container(gap=None):
                    if _is_picked(comparison, name, comparing.seconds(run, name)):
                        chosen.append(name)
                    note = " Already done." if name in comparison.done else ""
                    st.caption(f"{plain(method.about)}{_missing(method, run_has)}{note}")
    return chosen


def _is_picked(comparison: Compared, name: str, seconds: float) -> bool:
    method = METHODS[name]
    usual = (*_USUAL, *_BASELINES) if stamps.truth(comparison.run) else _USUAL
    is_new = name not in comparison.done and not comparison.repeats(name)
    is_long = name == "disco" and (all_results.FITTED in comparison.done or seconds > fit_start.LONG_SECONDS)
    is_usual = method.installed and name in usual and is_new and not is_long
    picked = st.checkbox(
        f"{plain(method.label)} · {duration(seconds)}",
        disabled=not method.installed,
        key=lasting(_pick(name, comparison.run), is_usual),
    )
    return picked and method.installed


def _pick(name: str, run: Run) -> str:
    return f"compare_pick_{name}_{run.id}"


def _missing(method: Method, run_has: dict[str, bool]) -> str:
    if not method.installed:
        return f" Not installed: {code(INSTALL)}."
    unused = [what for what, is_told in run_has.items() if is_told and not getattr(method, what)]
    return f" It does not use this run's {' and '.join(unused)}." if unused else ""


def _tell(comparison: Compared, chosen: list[str], seconds: float) -> None:
    if not chosen:
        st.caption("Choose at least one method.")
        return
    unable = comparison.unadjusted(chosen)
    marks = dict.fromkeys(unable, " (cannot adjust)")
    names = " · ".join(f"{plain(METHODS[name].label)}{marks.get(name, '')}" for name in chosen)
    st.caption(
        f"{how_many(len(chosen), 'method')} chosen: **{names}**. They run one after the other on one core, with a few "
        "seconds to start each. You can leave the page or close the tab meanwhile."
        + (" Fewer methods or a lower time limit make it shorter." if seconds > fit_start.LONG_SECONDS else "")
        + (" What cannot adjust also finds the edges that the adjustment removes." if unable else "")
    )


def begin(run: Run, methods: Options, limit: float) -> None:
    """Start a comparison, or say in a sentence why not; methods already done with these options are not run again."""
    with errors.caught():
        request = MethodsRequest(methods, limit)
        if not comparing.left(run, request):
            st.info("All of these are done. Their results are below.", icon=":material/check:")
            return
        jobs.start(run, COMPARE, request)
        for name in methods:  # once done, they are no longer wanted
            forget(_pick(name, run))
        st.rerun()


def offer(draft: Draft) -> None:
    """The button that makes a run of the loaded table, without a fit, and opens it."""
    if st.button("Choose methods for this table", type="primary", key="compare_table"):
        with errors.caught():
            session.draft.started_as(fit_start.new_run(draft))
            st.rerun()


def options_box(run: Run, chosen: list[str], last: MethodsRequest | None) -> Options | None:
    """The changed options by method, at first those of the last request; None, with a sentence, if unreadable."""
    with st.expander("Options", icon=":material/tune:"):
        written = st.text_area(
            "Options to change, one per line",
            placeholder=EXAMPLE,
            key=lasting(f"compare_options_{run.id}", "" if last is None else _option_lines(last)),
            help="METHOD.OPTION=VALUE. Lists and mappings are written as JSON: "
            '`ods-oracle.families={"a": ["nb", 3]}` makes the column a negative binomial of size 3.',
        )
        try:
            changed = asked_for(METHODS, filter(None, map(str.strip, written.splitlines())))
        except InputError as error:
            refused, changed = error, None
        if chosen:
            tables.show(_option_table(chosen, changed or {}), "Options of the chosen methods", height=240)
        else:
            st.caption("Choose methods above to see their options here.")
    if changed is None:
        st.error(plain(refused))
        return None
    unused = [name for name, options in changed.items() if options and name not in chosen]
    if unused:
        st.caption(f"Not chosen, so Run methods ignores their options: {', '.join(unused)}.")
    return changed


def _option_lines(request: MethodsRequest) -> str:
    changed = ((name, option, value) for name, options in request.methods.items() for option, value in options.items())
    return "\n".join(f"{name}.{option}={in_words(value)}" for name, option, value in changed)


def _option_table(chosen: list[str], changed: Options) -> pd.DataFrame:
    rows = []
    for name in chosen:
        defining = METHODS[name].changes
        changes = changed.get(name, {})
        method_options = options_of(name, changes)
        for option, value in dataclasses.asdict(method_options).items():
            if option not in defining:
                option_field = fields.options(type(method_options)).get(option)
                meaning = "" if option_field is None else option_field.help
                rows.append((f"{name}.{option}", in_words(value), "changed" if option in changes else "", meaning))
    return pd.DataFrame(rows, columns=["Option", "Value", "", "Meaning"])
