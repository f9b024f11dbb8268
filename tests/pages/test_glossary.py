"""The glossary: every term that the app asks for is defined, once, in few sentences, with the engine's own numbers."""

import ast
import re
from pathlib import Path

import pytest
from app_world import booted
from made_up import finished_run, refine_by_hand

from disco.refine.bounds import BOUND, MISFIT
from disco.subjects.studies import lahman
from pages.shared.result.selectors import SAID
from pages.shared.widgets.names import define, glossary

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
