"""The meaning of each colour in figures of results, on light and dark pages and for the colour-blind.

Blue and vermillion are distinguishable with every common form of colour blindness; a second cue (dash, hollow mark,
word) always repeats the information.
"""

from typing import NamedTuple

MUTED = "#8C919A"  # not highlighted
FAINT = "rgba(140,145,154,0.55)"  # removed
ACCENT = "#D55E00"  # the sink; an edge against the reference
PICKED = "#2B83BA"  # the picked node or edge; an edge that is kept or agrees
PARENT = "#2B83BA"
CHILD = "#D55E00"
WRONG = "#DF3B4A"  # against a known truth


class EdgeLook(NamedTuple):
    """The look of an edge compared with a truth or another graph; `dash` in pixels on and off, `has_dot` at its tail,
    and `is_absent` if only the truth or the other graph has it."""

    colour: str
    dash: tuple[int, ...]
    meaning: str
    has_dot: bool = False
    is_absent: bool = False


VERDICTS = {
    "true": EdgeLook(PICKED, (), "found and true"),
    "either way": EdgeLook("#009E73", (16, 8), "found; direction cannot be known", has_dot=True),
    "extra": EdgeLook(WRONG, (10, 5), "found, not true"),
    "reversed": EdgeLook("#AA4499", (12, 4, 3, 4), "in the opposite direction", has_dot=True),
    "missing": EdgeLook(MUTED, (2, 5), "true, not found", is_absent=True),
}
# The union of both methods' graphs. Nothing at an end: a dot or a ring there reads as the end mark of a PAG.
FOUND_BY = {
    "both": EdgeLook("#0072B2", (), "found by both methods"),
    "likelihood": EdgeLook("#D98200", (12, 5), "by the likelihood alone"),
    "DISCO": EdgeLook("#B5489A", (14, 4, 2, 4, 2, 4), "by DISCO alone"),
}
# Two graphs side by side.
SIDES = {
    "same": EdgeLook(MUTED, (), "in both graphs"),
    "only here": EdgeLook(PICKED, (10, 5), "only in this graph"),
    "other way": EdgeLook("#AA4499", (12, 4, 3, 4), "reversed in the other graph", has_dot=True),
    "open": EdgeLook("#009E73", (16, 8), "undirected in one of the graphs"),
}
LOOKS = {**VERDICTS, **SIDES}

# One blue from faint to full, so that low values fade on light and dark pages.
SEQUENTIAL = [[0.0, "rgba(43,131,186,0.10)"], [1.0, "rgba(43,131,186,1)"]]
# Full at the smallest score, the sink's.
SINK_SCALE = [[0.0, "#D55E00"], [0.15, "#E89A5B"], [0.5, "#F0CFB0"], [1.0, "#E6E6E4"]]
