"""Knowledge as a user types it, and written so that it could be typed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disco import InputError
from disco.knowledge import Knowledge
from disco.knowledge.typed import tiers_of, typed, written

HARD = st.text(st.sampled_from('ab ,"\n→->*[x'), min_size=1, max_size=6).filter(str.strip)
PAIRS = st.lists(st.tuples(HARD, HARD), max_size=3)


def test_lines_become_tiers_and_edges():
    found = typed(" age, sex ,\n\n\ttf_*", "tf_1 -> g\r\ntf_2→g", 'g → tf_*\n"a, b" → "c -> d"\n', [1])
    assert found == Knowledge(
        [["age", "sex"], ["tf_*"]], ["tf_1 → g", "tf_2 → g"], [("g", "tf_*"), ("a, b", "c -> d")], [1],
    )  # fmt: skip # a table
    assert typed("", " \n", "") == Knowledge()


def test_a_quoted_name_may_hold_commas_and_quotes():
    assert tiers_of('"a, b", c"d, "say ""x"" twice"') == [["a, b", 'c"d', 'say "x" twice']]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.lists(HARD, min_size=1, max_size=3), max_size=3), PAIRS, PAIRS)
def test_what_is_written_is_read_back(tiers, required, forbidden):
    knowledge = Knowledge(tiers, required, forbidden)
    assert typed(*written(knowledge)) == knowledge


def test_plain_names_are_written_without_quotes():
    knowledge = Knowledge([["age", "x y"], ["gene_*"]], ["age → x[1]"])
    assert written(knowledge) == ("age, x y\ngene_*", "age → x[1]", "")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (('age\n\nsex, "tf_1', "", ""), "Line 3 of the tiers has a double quote that does not enclose"),
        (('"age"x', "", ""), "Line 1 of the tiers has a double quote"),
        (("", "\na, b", ""), "Line 2 of the required edges must be one parent → child"),
        (("", "", "a → b\na → b → c"), "Line 2 of the forbidden edges must be one parent → child"),
        (("", "a →", ""), "Line 1 of the required edges must be one parent → child"),
        (("x" * 1001, "", ""), "must be a text of 1 to 1,000 characters"),
    ],
)
def test_a_line_of_another_form_is_refused(texts, words):
    with pytest.raises(InputError, match=words):
        typed(*texts)
