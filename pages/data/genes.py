"""Which genes of a file of cells and genes become columns, and which columns of obs; the file is read again."""

from typing import Any

import streamlit as st

from disco.table.formats.limits import MOST_CELLS, MOST_COLUMNS
from disco.table.formats.reading import SPREADS, USUAL_GENES
from disco.table.read import MATRIX
from disco.words import how_many
from pages.data import rereading
from pages.shared.table.drafts import Draft
from pages.shared.widgets.answers import segments
from pages.shared.widgets.names import distinct, plain, shown

_WAYS = {"residuals": "By Pearson residuals", "variance": "By variance", "names": "By name"}
_HELP = (
    "Pearson residuals: the genes that vary most between cells, given each cell's and gene's total count. Variance: "
    "favours frequent genes. Name: the genes you list."
)

_LIST = "Separated by commas or line breaks."
_OBS = (
    "Information on the cells, such as batch, donor or sex. Each one chosen becomes a column beside the genes. DISCO "
    "guesses its role, which you set in the table of columns."
)


def panel(draft: Draft) -> None:
    """How many cells and genes there are, which are chosen, and the choice of others; nothing for other files."""
    facts = draft.table.attrs[MATRIX]
    row, column = facts["nouns"]
    there = f"{how_many(facts['cells'], row)} × {how_many(facts['there'], column)}"
    with st.expander(plain(f"Read {_chosen(facts)}, of {there}"), icon=":material/genetics:", expanded=not draft.steps):
        choices = _form(facts, f"genes_{draft.key}")
    if choices is not None and draft.file is not None:
        with st.spinner(f"Reading the chosen {column}s …"):
            rereading.take(f"Read {_chosen({**facts, **choices})}.", choices)


def _chosen(facts: dict[str, Any]) -> str:
    genes, noun = facts["genes"].strip(), facts["nouns"][1]
    if genes.isdecimal() and int(genes) >= facts["there"]:
        words = f"all {facts['there']:,} {noun}s"
    elif genes.isdecimal():
        words = f"{min(int(genes), facts['there']):,} {noun}s by {SPREADS[facts['by']]}"
    else:
        words = f"{noun}s named {shown(genes, 60)}"
    if len(facts["layers"]) > 1:
        words += f" from the layer {shown(facts['layer'], 40)}"
    return f"{words} with {shown(', '.join(facts['obs']), 60)}" if facts["obs"] else words


def _form(facts: dict[str, Any], key: str) -> dict[str, Any] | None:
    """The present choices; the new ones once the button is pressed."""
    noun = facts["nouns"][1]
    is_named = not facts["genes"].strip().isdecimal()
    chosen: dict[str, Any] = {}
    if len(facts["layers"]) > 1:
        layers = facts["layers"]
        labels = dict(zip(layers, distinct(shown(name, 60) for name in layers), strict=True))
        present = layers.index(facts["layer"])
        chosen["layer"] = st.selectbox("Layer", layers, present, labels.__getitem__, key=f"{key}_layer")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usual = "names" if is_named else facts["by"]
        choice = segments(f"Choose {noun}s", _WAYS, f"{key}_way", usual, _HELP, width="content")
        if choice != "names":
            limit = max(2, min(facts["there"], MOST_COLUMNS, MOST_CELLS // facts["cells"]))
            present = min(int(USUAL_GENES if is_named else facts["genes"]), limit)
            number = st.number_input(f"How many {noun}s", 2, limit, present, key=f"{key}_many", width=180)
            chosen |= {"genes": str(number), "by": choice}
    if choice == "names":
        present = facts["genes"] if is_named else ""
        text = st.text_area("Names, or patterns such as CD*", present, key=f"{key}_names", help=_LIST)
        chosen["genes"] = ",".join(text.splitlines())
    if facts["columns"]:
        chosen["obs"] = _columns_of_obs(facts, key)
    return chosen if st.button(f"Read these {noun}s", icon=":material/refresh:", key=f"{key}_read") else None


def _columns_of_obs(facts: dict[str, Any], key: str) -> list[str]:
    """The chosen columns of obs; so far only their names are known."""
    there = facts["columns"]
    labels = dict(zip(there, distinct(shown(name, 60) for name in there), strict=True))
    present = [name for name in facts["obs"] if name in labels]
    return st.multiselect("Columns of obs", there, present, labels.__getitem__, key=f"{key}_obs", help=_OBS)
