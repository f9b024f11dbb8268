"""Terms: each is defined once, labels with one explain it, and what is written small can be read."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from app_world import booted, box
from colours import contrast
from made_up import finished_run, refine_by_hand

from disco import subjects
from disco.refine.bounds import BOUND, MISFIT
from disco.subjects.studies import lahman
from pages.shared.result.selectors import SAID
from pages.shared.widgets import names
from pages.shared.widgets.names import define, glossary

ROOT = Path(__file__).resolve().parents[2]
TERMS = re.compile(r"\b(CCS|OCS|CAM|PCM|R7|R17|SHD|SID|[Nn]ats|n_min|A_top)\b|τ_Z|π_min")
THEMES = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]
LABELLED = ("metric", "slider", "selectbox", "number_input", "button_group", "toggle", "select_slider")


def unexplained(app) -> list[str]:
    """The labels of widgets, numbers and columns that hold a term and offer no help."""
    labels = [(part.proto.label, part.proto.help) for kind in LABELLED for part in app.main.get(kind)]
    for frame in app.main.get("arrow_data_frame"):
        columns = json.loads(frame.proto.columns or "{}").values()
        labels += [(column.get("label") or "", column.get("help")) for column in columns]
    assert len(labels) > 3
    return [label for label, help in labels if TERMS.search(label) and not help]


def light_dark(begin: str) -> list[str]:
    """The colours #RRGGBB of a rule of the style in both themes."""
    rule = re.search(begin + r": light-dark\((#\w+), (#\w+)\)", (ROOT / "assets/app.css").read_text())
    return [colour if len(colour) == 7 else re.sub(r"(\w)", r"\1\1", colour) for colour in rule.groups()]


@pytest.mark.parametrize("page", ["ordering", "parents", "graph"])
def test_a_label_with_a_term_has_help(page):
    app = booted(page, run=refine_by_hand(finished_run(6)).id)
    if page == "graph":
        box(app, "graph_edge").set_value(("x1", "x2")).run()
    assert unexplained(app) == []


@pytest.mark.parametrize(("theme", "place"), [("light", 0), ("dark", 1)])
@pytest.mark.parametrize("begin", [r'\[data-testid="stCaptionContainer"\],[^{]*\{ color', r"\.legendtext\) \{ fill"])
def test_small_letters_can_be_read_on_every_background(theme, place, begin):
    """Captions, and the numbers and names beside the axes of figures."""
    letters, colours = light_dark(begin)[place], THEMES[theme]
    for part in (colours, colours["sidebar"]):
        assert contrast(letters, part["backgroundColor"]) >= 4.5
    assert contrast(letters, colours["secondaryBackgroundColor"]) >= 4.5


def test_the_line_of_steps_has_the_colour_of_the_page_it_lies_on():
    grounds = [THEMES[theme]["backgroundColor"].lower() for theme in ("light", "dark")]
    assert light_dark(r"st-key-steps\) \{[^}]*background") == grounds


WIDGETS = {"checkbox", "file_uploader", "multiselect", "number_input", "radio", "select_slider", "selectbox", "slider"}
WIDGETS |= {"text_area", "text_input", "toggle", "segmented_control", "segments", "pills", "data_editor", "chat_input"}


def test_no_label_that_is_read_aloud_has_markdown():
    """Streamlit passes these labels to screen readers as they are written."""
    found = []
    for path in (ROOT / "pages").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in WIDGETS:
                label = ast.unparse(call.args[0]) if call.args else ""
                if re.search(r"\*\*|`|:material|\bcode\(", label):
                    found.append((path.name, label))
    assert found == []


PAGES = Path(__file__).parents[2] / "pages"


def asked() -> dict[str, str]:
    """The terms that stand in calls of `define`, with the file of one of them."""
    found = {}
    for path in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "define":
                if isinstance(node.args[0], ast.Constant):
                    found[node.args[0].value] = path.name
    return found


def test_every_term_that_a_page_asks_for_is_defined():
    assert len(asked()) > 10 and {term: file for term, file in asked().items() if term not in glossary()} == {}
    assert set(lahman.COLUMNS) <= set(glossary()) and len(SAID) == 4


def test_a_definition_is_one_to_three_sentences():
    for term, text in glossary().items():
        assert text[0].isupper() and text.endswith((".", ").")), term
        assert len(re.findall(r"[.!?:](?= [A-Z]|$)", text)) <= 3, term


def test_pages_take_their_help_from_the_glossary_whose_numbers_are_those_of_the_engine():
    assert f"{MISFIT:g} nats" in define("misfit") and f"{BOUND:g} nats" in define("decided")
    with pytest.raises(KeyError, match='"gadget"'):
        define("gadget")
    run = refine_by_hand(finished_run(5))
    helps = {metric.label: metric.help for metric in booted("graph", run=run.id).metric}
    assert helps["SHD"] == define("SHD")
    app = booted("lahman")
    assert any(f"- **GIDP**: {define('GIDP')}" in part.value for part in app.markdown)


def test_every_kind_of_work_has_its_words():
    assert set(names.WORKS) == set(subjects.WORKS)
