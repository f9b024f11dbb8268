"""The look of every figure: colours for the colour-blind, readable on light and dark pages, safe names.

The colours are those of Okabe and Ito that have a contrast of about 3 to 1 on a light and on a dark page; yellow,
orange and sky blue do not. Backgrounds are transparent, so a figure takes the page's or the notebook's.
"""

import html
import textwrap
from typing import Any

import plotly.graph_objects as go

from disco.words import shortened

BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A8A8A"
FOLD_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, GREY)
FOLD_DASHES = ("solid", "dash", "dot")
CHOSEN, OTHER, WARNING = BLUE, GREY, VERMILLION
"""Selected, the rest, and in need of attention."""

_LINE = "rgba(128,128,128,0.28)"
_TEXT = "#808080"

PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "filename": "disco"},
}


def plotly_config(filename: str) -> dict[str, Any]:
    """The configuration of a figure downloaded as `filename`.svg."""
    return {**PLOTLY_CONFIG, "toImageButtonOptions": {"format": "svg", "filename": filename}}


def fold_colour(fold: int) -> str:
    """The colour of a fold, counted from 0; colours repeat after five folds with another dash."""
    return FOLD_COLOURS[fold % len(FOLD_COLOURS)]


def fold_dash(fold: int) -> str:
    """The dash of a fold, which distinguishes folds of the same colour."""
    return FOLD_DASHES[fold // len(FOLD_COLOURS) % len(FOLD_DASHES)]


def label(name: object, longest: int = 40) -> str:
    """A column's name as Plotly text: literal, never markup, a link or mathematics."""
    return html.escape(shortened(name, longest), quote=False).replace("$", "&#36;")


def layout(
    figure: go.Figure, *, height: int = 360, x: str | None = "", y: str | None = "", legend: bool = True
) -> go.Figure:
    """The common layout, set in place: transparent, thin grid, legend above; the width follows the page. `x` and `y`
    are the titles of the axes; None does not change the current ones."""
    settings: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 36 if legend else 16, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": _TEXT, "size": 13},
        "showlegend": legend,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": {"text": ""}},
        "hoverlabel": {"namelength": -1},
        "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": BLUE},
        "colorway": list(FOLD_COLOURS),
    }
    for axes, title in ((figure.select_xaxes(), x), (figure.select_yaxes(), y)):
        for axis in axes:
            axis_settings = axis.to_plotly_json()
            if title is not None:
                axis_settings["title"] = {**axis_settings.get("title", {}), "text": title or None}
            settings[axis.plotly_name] = {**axis_settings, "gridcolor": _LINE, "zeroline": False, "automargin": True}
    for name, value in settings.items():  # replacing each is several times faster than Plotly's merging updates
        figure.layout[name] = value
    return figure


def empty(message: str, height: int = 200) -> go.Figure:
    """A figure with only a message why there is nothing to draw."""
    figure = layout(go.Figure(), height=height, legend=False)
    text = html.escape(message, quote=False)
    figure.add_annotation(text=text, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    return figure


def titled(figure: go.Figure, title: str, *, height: int, legend: bool = True) -> go.Figure:
    """The common layout, set in place, with a title that states the finding; names in it are already safe for Plotly.

    The title is wrapped here because Plotly does not wrap it. Axis titles are unchanged.
    """
    layout(figure, height=height, x=None, y=None, legend=legend)
    lines = textwrap.wrap(title, 60, break_long_words=False, break_on_hyphens=False)
    text = "<br>".join(lines)
    figure.layout.title = {"text": text, "x": 0, "xanchor": "left", "yref": "container", "font": {"size": 15}}
    figure.layout.margin.t = 30 + 20 * len(lines) + (24 if legend else 0)
    return figure


def title_of(figure: go.Figure) -> str:
    """The title as plain text, for a page to write above the figure."""
    return html.unescape((figure.layout.title.text or "").replace("<br>", " "))
