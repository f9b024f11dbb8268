"""What is wrong with a table: what creates edges, with its cure or a reason to dismiss it; doubts; and problems."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st

from disco.runs.artefacts import LONGEST_REASON
from disco.table.finding import Finding, in_lines
from disco.words import how_many
from pages.shared.widgets.names import WARNS, bullets, code, plain

_MEANING = (
    "Until this is cured or dismissed, the graph's pages warn of it, and no direction is decided. The reason is kept "
    "with the run and stands in every export."
)
_MOST_DOUBTS = 2
WHOLE = {"rare", "many levels"}  # doubts that *Quality of the counts* leaves out: what to do stands beside them
_OPTIONS = r" \([^()]*--[^()]*\)"  # of the command line


def words(text: str) -> str:
    """A sentence of the engine as a page writes it: without options of the command line, as Markdown shows it."""
    return plain(re.sub(_OPTIONS, "", text))


def lines(
    findings: Iterable[Finding], key: str, cure: Callable[[Finding], None] | None, dismiss: Callable[[str, str], None]
) -> None:
    """A line for each, worst first, with its cure and *Dismiss*.

    Args:
        key: begins the keys of the widgets.
        cure: draws the button that cures it; None where that is done elsewhere, and what to do is help.
        dismiss: called with a kind and the reason why it does not apply.
    """
    for finding in findings:
        with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_{finding.kind}"):
            what, to_do = f"{WARNS} **{words(finding.message)}**", words(finding.remedy)
            if cure is None:
                st.markdown(what, width="stretch", help=to_do)
            else:
                st.markdown(f"{what} {to_do}", width="stretch")
                cure(finding)
            with st.popover("Dismiss", key=f"{key}_dismiss_{finding.kind}", help=_MEANING):
                _reason(finding.kind, key, dismiss)


def _reason(kind: str, key: str, dismiss: Callable[[str, str], None]) -> None:
    with st.form(f"{key}_form_{kind}", border=False):
        why = st.text_input(
            "Why does this not matter here?", max_chars=LONGEST_REASON, placeholder="For example: all plots are equal."
        )
        if st.form_submit_button("Dismiss it", icon=":material/done:"):
            if why.strip():
                dismiss(kind, why)
                st.rerun()
            st.caption("Give a reason: it stands in every export.")


def dismissed(
    findings: Iterable[Finding], reasons: Mapping[str, str], key: str, dismiss: Callable[[str, str], None]
) -> None:
    """A line for each that was dismissed, with its reason and *Undo*."""
    for finding in findings:
        if finding.kind in reasons:
            with st.container(horizontal=True, vertical_alignment="center"):
                reason = f"Dismissed: {code(reasons[finding.kind])}"
                st.caption(f":material/warning: {plain(finding.message)} {reason}", width="content")
                st.button(
                    "Undo", key=f"{key}_undo_{finding.kind}", type="tertiary", on_click=dismiss, args=(finding.kind, "")
                )


def doubts(findings: Sequence[Finding], where: str) -> None:
    """One line on what weakens any result, with a pointer ("below", say) to *Quality of the counts* if that has it."""
    if findings:
        lines = [words(str(one) if one.kind in WHOLE else one.message) for one in findings[:_MOST_DOUBTS]]
        remaining = len(findings) - _MOST_DOUBTS
        lines += [f"And {remaining:,} more."] if remaining > 0 else []
        count = how_many(len(findings), "caveat")
        lines += [f"See *Quality of the counts* {where}."] if any(one.kind not in WHOLE for one in findings) else []
        st.caption(f"{WARNS} **{count}:** {' '.join(lines)}")


_IN_SIGHT, _MOST = 5, 200


def problem_list(problems: Sequence[Finding], hint: str = "") -> None:
    """Blocking problems in a red box, notes in a blue one; one line for all columns with the same problem.

    The hint says what to do on this page about columns that cannot be used.
    """
    blocking = in_lines((finding for finding in problems if finding.blocking), code, words)
    notes = in_lines((finding for finding in problems if not finding.blocking), code, words)
    if blocking:
        is_of_column = any(problem.blocking and problem.columns for problem in problems)
        way_out = f"\n\n{hint}" if is_of_column and hint else ""
        text = f"**Fix this first.**\n\n{bullets(blocking, _IN_SIGHT, 'more below.')}{way_out}"
        st.error(text, icon=":material/error:")
        _all(f"All {len(blocking)} problems", blocking)
    if notes:
        st.info(bullets(notes, _IN_SIGHT, "more below."), icon=":material/info:")
        _all(f"All {len(notes)} notes", notes)


def _all(title: str, lines: Sequence[str]) -> None:
    """All lines, if the box above shows only the first; as text, which wraps."""
    if len(lines) > _IN_SIGHT:
        with st.expander(title):
            st.markdown(bullets(lines, _MOST))
