"""Data: what each label of an intervention sets, chosen in a table."""

import numpy as np
import pandas as pd
from app_world import booted, button, csv, draft_of, poisson, press, upload
from streamlit.testing.v1 import AppTest

from disco.table.roles import Roles


def screen(labels: list[str], rows: int = 60) -> pd.DataFrame:
    return poisson(rows * len(labels)).assign(guide=np.repeat(labels, rows))


def arms(at) -> pd.DataFrame:
    """The table of labels."""
    return next(one.value for one in at.data_editor if "sets" in one.value).set_index("label")


def page_of_one_edit() -> None:
    """A script that does what the table of arms does when a reader changes cells."""
    import streamlit as st

    from pages.data import arms
    from pages.shared import session

    if "table" in st.session_state:
        session.draft.load(st.session_state.pop("table"), "t", "", roles=st.session_state.pop("roles"))
    if "edit" in st.session_state:
        st.session_state["widget"] = {"edited_rows": st.session_state.pop("edit")}
        arms._edited("widget", st.session_state["labels"])


def test_labels_that_are_not_columns_are_asked_about_and_taken_at_their_word():
    at = upload(booted(), "screen.csv", csv(screen(["NT", "sga", "b-KO_2", "a+C", "odd"])))
    assert len(at.data_editor) == 1  # no arms without an intervention
    press(at, "Accept this guess")
    assert at.error and button(at, "Find the graph").disabled
    assert arms(at)["rows"].tolist() == [60] * 5 and not arms(at)["sets"].map(len).any()
    press(at, "Take what 4 labels say")
    assert draft_of(at).roles.targets == {"NT": (), "sga": ("a",), "b-KO_2": ("b",), "a+C": ("a", "c")}
    sets = arms(at)["sets"].map(list).to_dict()
    assert sets == {"NT": ["(control)"], "sga": ["a"], "b-KO_2": ["b"], "a+C": ["a", "c"], "odd": []}
    assert "several at once" in arms(at).loc["a+C", "note"] and "odd" in at.error[0].value
    assert not any("Take what" in one.label for one in at.button)


def test_targets_are_chosen_and_taken_back_in_the_table():
    at = AppTest.from_function(page_of_one_edit)
    at.session_state["table"] = screen(["", "a", "odd"])
    at.session_state["roles"] = Roles({"guide": "intervention"}, targets={"odd": ("a",)})
    at.session_state["labels"] = ["", "a", "odd"]
    at.session_state["edit"] = {"1": {"sets": ["(control)"]}, "2": {"sets": ["b", "c"]}}
    assert not at.run().exception and draft_of(at).roles.targets == {"a": (), "odd": ("b", "c")}
    at.session_state["edit"] = {"1": {"sets": []}, "2": {"sets": None}}
    assert not at.run().exception and draft_of(at).roles.targets == {}
    assert draft_of(at).roles.named("intervention") == ["guide"]
