"""A figure on a page: its title as a sentence that wraps, then the figure without a title."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco.figures import theme
from pages.shared.widgets.names import plain

_ICONS = 34  # pixels of Plotly's icons across


class Ready(NamedTuple):
    """A figure ready to be shown, which can be cached: its title as text, and the figure without it."""

    title: str
    figure: go.Figure


def ready(figure: go.Figure) -> Ready:
    """Separate the title from a figure, which is changed in place."""
    figure.layout.font.color = None  # the page's own colour, which contrasts more than one grey for both themes
    title = theme.title_of(figure)
    if title:
        above = 34 if figure.layout.showlegend else 14
        figure.layout.title, figure.layout.margin.t = None, max(above, _room(figure))
    _make_room_for_icons(figure)
    return Ready(title, figure)


def _make_room_for_icons(figure: go.Figure) -> None:
    """Keep the icons beside marks and intervals: right of them, or where a colour scale stands there, above."""
    if any(trace.type == "heatmap" and trace.showscale is not False for trace in figure.data):
        figure.layout.modebar.orientation = "h"
        figure.layout.margin.t = max(figure.layout.margin.t or 0, _ICONS)
    else:
        figure.layout.margin.r = max(figure.layout.margin.r or 0, _ICONS)


def show(figure: go.Figure | Ready, key: str, *, on_select: Callable[[], None] | None = None) -> Any:
    """Draw a figure under its own title.

    Args:
        figure: made for this call, or cached after `ready`.
        key: of the element; also the name of the file that its camera button saves.
        on_select: called when a point is clicked; the session then holds the points under `key`.
    """
    title, figure = figure if isinstance(figure, Ready) else ready(figure)
    if title:
        st.markdown(f"**{plain(title)}**")
    extra = {"on_select": on_select, "selection_mode": "points"} if on_select else {}
    return st.plotly_chart(figure, key=key, config=theme.plotly_config(f"disco_{key}"), **extra)


def _room(figure: go.Figure) -> int:
    top_axis = any(axis.side == "top" for axis in figure.select_xaxes())
    panel_titles = any(note.xref == note.yref == "paper" and note.y == 1.0 for note in figure.layout.annotations)
    return 56 if top_axis else 64 if panel_titles and figure.layout.showlegend else 0


NUMBER = 150  # pixels per number in a row: two fit side by side on a phone


def numbers() -> DeltaGenerator:
    """A container for numbers that wraps on a narrow screen."""
    return st.container(horizontal=True, gap="medium")


def metrics(*items: tuple[str, object, str | None], width: int | Literal["content"] = NUMBER) -> None:
    """A row of numbers, each with a label and its meaning."""
    row = numbers()
    for label, value, help in items:
        row.metric(label, value, width=width, help=help)


def clicked(key: str) -> str | None:
    """The name in the custom data of the point clicked in a figure; None unless the browser sends a name."""
    points = st.session_state[key].selection.points
    data = points[0].get("customdata") if points else None
    name = data[0] if isinstance(data, list) and data else data
    return name if isinstance(name, str) else None
