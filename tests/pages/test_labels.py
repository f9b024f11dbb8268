"""What is written small: labels with terms of the glossary explain them, and captions can be read."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from app_world import booted, box
from made_up import finished_run, refine_by_hand

ROOT = Path(__file__).resolve().parents[2]
TERMS = re.compile(r"\b(CCS|OCS|CAM|PCM|R7|R17|SHD|SID|[Nn]ats|n_min|A_top)\b|τ_Z|π_min")
LABELLED = ("metric", "slider", "selectbox", "number_input", "button_group", "toggle", "select_slider")


def unexplained(app) -> list[str]:
    """The labels of widgets, numbers and columns that hold a term and offer no help."""
    found = [(part.proto.label, part.proto.help) for kind in LABELLED for part in app.main.get(kind)]
    for frame in app.main.get("arrow_data_frame"):
        columns = json.loads(frame.proto.columns or "{}").values()
        found += [(column.get("label") or "", column.get("help")) for column in columns]
    assert len(found) > 3
    return [label for label, help in found if TERMS.search(label) and not help]


@pytest.mark.parametrize("page", ["ordering", "parents", "refine"])
def test_a_label_with_a_term_has_help(page):
    app = booted(page, run=refine_by_hand(finished_run(6)).id)
    if page == "refine":
        box(app, "refine_edge").set_value(("x1", "x2")).run()
    assert unexplained(app) == []


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb (WCAG 2)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("theme", "place"), [("light", 0), ("dark", 1)])
@pytest.mark.parametrize("begin", [r'\[data-testid="stCaptionContainer"\],[^{]*\{ color', r"\.legendtext\) \{ fill"])
def test_small_letters_can_be_read_on_every_background(theme, place, begin):
    """Captions, and the numbers and names beside the axes of figures."""
    style = (ROOT / "assets/app.css").read_text()
    rule = re.search(begin + r": light-dark\((#\w+), (#\w+)\)", style)
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"][theme]
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"], theme["sidebar"]["backgroundColor"]):
        darker, lighter = sorted(map(luminance, (rule.group(place + 1), ground)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_line_of_steps_has_the_colour_of_the_page_it_lies_on():
    style = (ROOT / "assets/app.css").read_text()
    rule = re.search(r"st-key-steps\) \{[^}]*background: light-dark\((#\w+), (#\w+)\)", style)
    themes = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]
    assert [rule[1], rule[2]] == [themes[theme]["backgroundColor"].lower() for theme in ("light", "dark")]


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
