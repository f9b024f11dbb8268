"""The only owner of what pages share: the draft, the open run, its variant and its thresholds.

The address carries `?run=ID` and `?draft=TOKEN`; both are kept in step with the session on every page, so a
refresh, a deep link or another tab finds the same things.
"""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.settings import Settings
from pages.parts import drafts
from pages.parts.drafts import Draft
from pages.parts.names import plain

_DRAFT, _TOKEN, _RUN, _MISSING = "shared_draft", "shared_token", "shared_run", "shared_missing_run"
_PREVIOUS, _TOLD = "shared_previous_token", "shared_told"
_VARIANT, _RULE, _THRESHOLDS = "shared_variant", "shared_parent_rule", "shared_thresholds"
_SELECTOR, _CUT, _COMPARED = "shared_selector", "shared_cut", "shared_compared"
_OWN_CHOICES = ("seed", "transform", "levels", "folds", "boundary", "criterion", "min_level_rows")


def start() -> None:
    """Bring session and address in step; called by app.py before the page is drawn."""
    st.session_state.pop(_TOLD, None)
    token = st.query_params.get("draft")
    if token and token != st.session_state.get(_TOKEN):
        found = drafts.store().get(token)
        if found is not None:
            st.session_state[_DRAFT], st.session_state[_TOKEN] = found, token
    current_run()
    _mirror("draft", st.session_state.get(_TOKEN))


def _mirror(name: str, value: str | None) -> None:
    # Written only on change: each write sends the browser a new address.
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


# The draft: a table and the settings of the fit to come.


def draft() -> Draft | None:
    """The draft of this session; without one of the user's own, the open run's table and settings.

    None where the open run's table cannot be read, which the page says once.
    """
    now = st.session_state.get(_DRAFT)
    if now is not None and not now.is_of_run:
        return now
    run = current_run()
    if run is not None and (now is None or now.run != run.id):
        try:
            keep_draft(_draft_of(run))
        except InputError as error:
            if st.session_state.get(_TOLD) != run.id:
                st.session_state[_TOLD] = run.id
                st.error(plain(error))
            return None
    return st.session_state.get(_DRAFT)


def _draft_of(run: runs.Run) -> Draft:
    """A run's table with its settings; InputError where it cannot be read."""
    found = run.table()
    everything = tuple(range(found.shape[1]))
    name = drafts.table_name(run.name, run.settings)
    return Draft(found, name, run.source, run.truth(), everything, run.settings, run.id, True, teaching=run.teaching)


def keep_draft(changed: Draft) -> None:
    """Make `changed` the draft of this session."""
    token = st.session_state.setdefault(_TOKEN, drafts.new_token())
    st.session_state[_DRAFT] = changed
    drafts.store().put(token, changed)
    _mirror("draft", token)


def table() -> pd.DataFrame | None:
    """The loaded table as read, all columns."""
    now = draft()
    return None if now is None else now.table


def set_table(
    table: pd.DataFrame,
    name: str,
    source: str,
    truth: pd.DataFrame | None = None,
    settings: Settings | None = None,
    teaching: bool = False,
) -> None:
    """Load a table: all columns chosen, the settings given or kept, and no run open.

    The draft before it can be gone back to, by `go_back` or the browser's button.

    Args:
        teaching: the truth stays hidden, here and in runs of this table, until the reader reveals it.
    """
    before = st.session_state.get(_DRAFT)
    if before is not None and not before.is_of_run:
        st.session_state[_PREVIOUS] = st.session_state[_TOKEN]
    st.session_state.pop(_TOKEN, None)
    kept = settings or (Settings() if before is None else before.settings)
    everything = tuple(range(table.shape[1]))
    keep_draft(Draft(table, name, source, truth, everything, kept, teaching=teaching))
    select_run(None)


def previous_draft() -> Draft | None:
    """The draft loaded before this one, while it is kept."""
    return drafts.store().get(st.session_state.get(_PREVIOUS, ""))


def go_back() -> None:
    """Take the previous draft again; the present one becomes the previous."""
    earlier, now = st.session_state[_PREVIOUS], st.session_state[_TOKEN]
    found = drafts.store().get(earlier)
    if found is not None:
        st.session_state.update({_DRAFT: found, _TOKEN: earlier, _PREVIOUS: now})
        _mirror("draft", earlier)


def table_name() -> str:
    """What the user knows the loaded table by; empty without one."""
    now = draft()
    return "" if now is None else now.name


def chosen_columns() -> list[str]:
    """Names of the chosen columns."""
    now = draft()
    return [] if now is None else [str(now.table.columns[position]) for position in now.columns]


def choose_columns(positions: tuple[int, ...]) -> None:
    """Choose columns by position, in the table's order."""
    now = draft()
    if now is not None:
        keep_draft(replace(now, columns=tuple(sorted(set(positions))), run=None, is_of_run=False))


def draft_settings() -> Settings:
    """The settings of the fit to come."""
    now = draft()
    return Settings() if now is None else now.settings


def set_truth(truth: pd.DataFrame | None) -> None:
    """Attach the true edges (parent, child) to the loaded table, or take them away; they are not hidden."""
    now = draft()
    if now is not None:
        keep_draft(replace(now, truth=truth, teaching=False, run=None, is_of_run=False))


def update_draft(**changes: Any) -> None:
    """Change settings of the fit to come; a new preset keeps the user's own choices.

    Raises:
        InputError: a value does not fit.
    """
    now = draft()
    if now is None:
        return
    settings = now.settings
    if "preset" in changes:
        own = {name: getattr(settings, name) for name in _OWN_CHOICES}
        settings = Settings.of(changes.pop("preset"), **own)
    changed = settings.replace(**changes)
    if changed != now.settings:
        keep_draft(replace(now, settings=changed, run=None, is_of_run=False))


# The open run.


def current_run() -> runs.Run | None:
    """The open run: the one in the address first, then the session's; the address follows."""
    wanted = st.query_params.get("run") or st.session_state.get(_RUN)
    if not wanted:
        return None
    try:
        run = _open(wanted)
    except InputError as error:
        st.session_state[_MISSING] = str(error)
        select_run(None)
        return None
    if st.session_state.get(_RUN) != run.id:
        st.session_state[_RUN] = run.id
        st.session_state.pop(_MISSING, None)
    _mirror("run", run.id)
    return run


def _open(run_id: str) -> runs.Run:
    """The run of an id; InputError with the reason where there is none that can be opened."""
    # An address may hold anything: only the name of a run is looked up, never a path.
    if runs.is_kept(run_id):
        return runs.open_run(run_id)
    raise InputError(f"There is no run {run_id} on this machine: it may have been deleted or moved.")


def select_run(run: runs.Run | None) -> None:
    """Open a run on every page, or none."""
    if run is None:
        st.session_state.pop(_RUN, None)
        _mirror("run", None)
        return
    st.session_state[_RUN] = run.id
    st.session_state.pop(_MISSING, None)
    _mirror("run", run.id)


def run_started(run: runs.Run) -> None:
    """Open the run that the draft was just started as."""
    now = draft()
    if now is not None:
        keep_draft(replace(now, run=run.id))
    select_run(run)


def missing_run() -> str | None:
    """Why the run in the address could not be opened, once."""
    return st.session_state.pop(_MISSING, None)


# What the result pages show of the open run.


def variant() -> str | None:
    """The recovery shown, such as "constant-admissible"; None is the run's own."""
    return _of_run(_VARIANT)


def set_variant(name: str | None) -> None:
    """Show another recovery of the open run's networks."""
    _keep_of_run(_VARIANT, name)


def parent_rule() -> str | None:
    """The rule of parent selection shown for the open run; None is the run's own."""
    return _of_run(_RULE)


def set_parent_rule(rule: str) -> None:
    """Show the edges of another rule; each rule keeps its own thresholds."""
    _keep_of_run(_RULE, rule)


def thresholds(rule: str) -> tuple[float, float] | None:
    """The (tau_z, pi_min) that the user set for a rule on the open run, if any."""
    return _of_run(f"{_THRESHOLDS}_{rule}")


def set_thresholds(rule: str, chosen: tuple[float, float] | None) -> None:
    """Keep the thresholds of a rule on the open run across pages; None goes back to the rule's own."""
    _keep_of_run(f"{_THRESHOLDS}_{rule}", chosen)


def selector() -> str | None:
    """The selector of parents shown for the open run; None is the run's own."""
    return _of_run(_SELECTOR)


def set_selector(name: str) -> None:
    """Show the edges of another selector."""
    _keep_of_run(_SELECTOR, name)


def cut(selector: str) -> float | None:
    """The cut-off that the user set for a selector on the open run, if any."""
    return _of_run(f"{_CUT}_{selector}")


def set_cut(selector: str, value: float | None) -> None:
    """Keep the cut-off of a selector on the open run across pages; None goes back to its own."""
    _keep_of_run(f"{_CUT}_{selector}", value)


def compared() -> tuple[str, str] | None:
    """The two selectors that the user put side by side for the open run, if any."""
    return _of_run(_COMPARED)


def set_compared(pair: tuple[str, str]) -> None:
    """Put two selectors side by side."""
    _keep_of_run(_COMPARED, pair)


def _of_run(key: str) -> Any:
    return st.session_state.get(key, {}).get(st.session_state.get(_RUN))


def _keep_of_run(key: str, value: Any) -> None:
    run_id = st.session_state.get(_RUN)
    st.session_state[key] = {**st.session_state.get(key, {}), run_id: value}


def require_run(needs: str = "done") -> runs.Run:
    """The open run, or an empty state that leads on and ends the page.

    Args:
        needs: "done" for a finished run, "any" for one in whatever state.
    """
    from pages.parts import empty

    run = current_run()
    if run is not None and (needs == "any" or run.status().state == "done"):
        return run

    if run is None:
        empty.no_run()
    else:
        empty.not_done(run)
    st.stop()


def run_picker() -> None:
    """The sidebar's select box over all runs, newest first."""
    from pages.parts import run_list

    run_list.picker()


def go(page: str) -> None:
    """Switch to a page of the app by its file name, the open run and draft kept in the address."""
    st.switch_page(f"pages/views/{page}.py", query_params=address())


def address() -> dict[str, str]:
    """The address's parameters that a link to another page carries."""
    kept = {"run": st.session_state.get(_RUN), "draft": st.session_state.get(_TOKEN)}
    return {name: value for name, value in kept.items() if value}
