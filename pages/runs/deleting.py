"""Deletes runs and folders that cannot be opened, and restores runs of the trash. Owns the key `runs_problem`."""

from pathlib import Path

import streamlit as st

from disco.errors import InputError
from disco.runs import Run, Unreadable, trash
from disco.subjects import FIT
from disco.words import how_many, plural, size
from pages.shared import session
from pages.shared.widgets import errors
from pages.shared.widgets.names import WORKS, bullets, code, plain

PROBLEM = "runs_problem"
_MOST_NAMED, _MOST_SHOWN = 20, 50  # runs, folders


def section(picked: list[Run]) -> None:
    """A button that asks, then deletes; a run with work in progress stays."""
    with st.popover(f"Delete {how_many(len(picked), 'run')}", icon=":material/delete:", type="tertiary"):
        busy = [run for run in picked if run.alive]
        free = [run for run in picked if run not in busy]
        for run in busy[:_MOST_NAMED]:
            page = next((page for work, (page, *_) in WORKS.items() if run.status(work).active), WORKS[FIT][0])
            st.markdown(f"{code(run.name)} has work in progress and is kept: cancel that first, on {page}.")
        if len(busy) > _MOST_NAMED:
            st.caption(f"{len(busy) - _MOST_NAMED:,} more runs have work in progress and are kept.")
        if not free:
            return
        st.markdown(f"Move {plural(len(free), 'this run', 'these runs')} to the trash? It keeps the last {trash.MOST}.")
        st.markdown(bullets([code(run.name) for run in free], _MOST_NAMED))
        if st.button(f"Delete {how_many(len(free), 'run')}", type="primary", key="runs_delete"):
            _delete(free)


def _delete(selected: list[Run]) -> None:
    """Delete runs; a run that was started meanwhile or cannot be removed is named and stays."""
    current, problems = session.run.current(), []
    for run in selected:
        try:
            trash.discard(run)
        except InputError as error:
            problems.append(str(error))
            continue
        if run == current:
            session.run.select(None)
    if problems:
        st.session_state[PROBLEM] = " ".join(problems)  # shown by the page, whose table is drawn again
    st.rerun()


def trashed() -> None:
    """The deleted runs, each with a button that restores it, and one that empties the trash; nothing without any."""
    paths, taken = trash.discarded()
    if not paths:
        return
    with st.expander(f"Trash: {how_many(len(paths), 'deleted run')}, {size(taken)}", icon=":material/delete:"):
        for path in paths:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(_name(path)))
                st.button("Restore", key=f"restore_{path.name}", type="tertiary", on_click=_restore, args=(path,))
        with st.popover("Empty the trash", icon=":material/delete_forever:", type="tertiary"):
            st.markdown(f"Delete {how_many(len(paths), 'run')} from disk? This cannot be undone.")
            st.button("Empty", key="empty_trash", type="primary", on_click=_empty)


def _name(path: Path) -> str:
    try:
        return Run(path).name
    except InputError:
        return path.name


def _restore(path: Path) -> None:
    with errors.deferred(PROBLEM):
        trash.restore(path)


def _empty() -> None:
    with errors.deferred(PROBLEM):
        trash.empty()


def unreadable(folders: list[Unreadable]) -> None:
    """Folders that cannot be opened, each with the reason and a button that deletes it; nothing if there are none."""
    if not folders:
        return
    with st.expander(f"{how_many(len(folders), 'folder')} that cannot be opened", icon=":material/warning:"):
        for folder in folders[:_MOST_SHOWN]:
            st.markdown(f"**{plain(folder.name)}**")
            st.caption(plain(folder.reason))
            if folder.deletable:
                _delete_folder(folder)
        if len(folders) > _MOST_SHOWN:
            st.caption(f"{len(folders) - _MOST_SHOWN:,} more.")


def _delete_folder(folder: Unreadable) -> None:
    with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"unreadable_{folder.path.name!r}"):
        what = "the link but not its target" if folder.path.is_symlink() else "the folder and everything in it"
        st.markdown(f"Delete {code(folder.name)}, {what}? This cannot be undone.")
        if st.button("Delete", type="primary", key=f"delete_unreadable_{folder.path.name!r}"):
            with errors.caught():
                folder.delete()
                st.rerun()
