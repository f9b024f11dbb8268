"""The quality of the counts: what stands out, with a button that leaves it out, and a figure of each kind.

It is computed when the reader opens it; a large table takes seconds, in the background.
"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from disco.subjects.table.figures import quality as figures
from disco.table.artefacts import ARTEFACTS
from disco.table.counts import least_rows
from disco.table.edits import AddColumns
from disco.table.finding import Finding
from disco.table.quality import Quality, quality
from disco.words import how_many
from pages.data import columns, faults
from pages.shared import session
from pages.shared.compute.background import Slow
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import answers, figure
from pages.shared.widgets.findings import WHOLE
from pages.shared.widgets.names import bullets, plain, shown

_ABOVE = {*ARTEFACTS, "constant", *WHOLE}  # findings that have a box and a button above
_STAGES = {"columns": "columns", "depth": "depth", "rows": "rows", "near": "near copies", "relations": "sums"}
_FIGURES = {"dispersion": "Dispersion", "zeros": "Zeros", "depth": "Depth and rows"}


def panel(draft: Draft) -> None:
    """The section, closed at first; nothing while the chosen columns are not counts."""
    table = draft_facts.chosen_counts(draft)
    if table is None:
        return
    box = st.expander("Quality of the counts", icon=":material/fact_check:", key="quality_box", on_change="rerun")
    if box.open:
        with box:
            _look(draft, table)


def _look(draft: Draft, table: pd.DataFrame) -> None:
    check = Slow(
        ("quality", draft.key, *draft.columns),
        partial(quality, table.set_axis(draft.table.index), draft.rows_left_out),
        lambda stage: f"Checking the {_STAGES.get(stage, 'table')} …",
        "The table could not be checked",
        again="Check again",
    )
    check.panel(partial(_show, draft))


def _show(draft: Draft, result: Quality) -> None:
    findings = [finding for finding in result.findings if finding.kind not in _ABOVE]
    if not findings:
        st.caption("Nothing else stands out." if len(result.findings) else "Nothing stands out.")
    for finding in findings:
        if _has_button(finding):
            with st.container(border=True, horizontal=True, vertical_alignment="center"):
                st.markdown(_words(finding), width="stretch")
                _button(draft, result, finding)
    if lines := [_words(finding) for finding in findings if not _has_button(finding)]:
        st.markdown(bullets(lines))
    opened = answers.segments("Show", _FIGURES, "quality_figure")
    figure.show(getattr(figures, opened)(result), f"quality_{opened}")


def _has_button(finding: Finding) -> bool:
    return bool(finding.edits)


def _words(finding: Finding) -> str:
    return f"**{plain(finding.message)}** {plain(finding.remedy)}"


def _button(draft: Draft, result: Quality, finding: Finding) -> None:
    if isinstance(finding.edits[0], AddColumns):
        (rest,), total, is_off = finding.edits[0].columns, finding.without[0], False
        label, key, help = f"Replace {plain(shown(total, 30))} by the rest", f"quality_rest_{finding.kind}", None
        new_roles, words = {rest: "count", total: "ignore"}, f'"{total}" replaced by "{rest}".'
        act = partial(session.draft.edit_with_roles, finding.edits[0], new_roles, words)
    elif finding.without:
        positions = columns.chosen(draft, finding.without)
        is_off = len(draft.columns) - len(positions) < 2
        label, key = columns.leaving_out(draft, positions), f"quality_out_{finding.kind}"
        act = partial(columns.leave_out, positions, finding.message)
        help = "Fewer than 2 columns would remain." if is_off else None
    else:
        indices = np.flatnonzero(result.rows["is_out"])
        is_off = len(draft.table) - len(indices) < least_rows(draft.settings.folds)
        label, key = f"Leave out {how_many(len(indices), 'row')}", "quality_out_rows"
        act, help = partial(_without_rows, draft, indices), "Too few rows would remain." if is_off else None
    st.button(label, key=key, on_click=act, disabled=is_off, help=help)


def _without_rows(draft: Draft, indices: np.ndarray) -> None:
    words = f"{how_many(len(indices), 'row')} left out, far from the others: {faults.lost_rows(draft, indices)}."
    session.draft.leave_out_rows(indices, words)
