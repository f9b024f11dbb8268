"""True edges from a file, attached to the loaded table on Data."""

from dataclasses import replace

from app_world import booted, csv, poisson, texts, upload
from made_up import finished_run


def with_table():
    return upload(booted(), "t.csv", csv(poisson()))


def give(at, content: bytes, name: str = "truth.csv"):
    return at.file_uploader(key="truth_upload").set_value((name, content, "text/csv")).run()


def pairs(at) -> list[tuple[str, str]] | None:
    truth = at.session_state["shared_draft"].truth
    return None if truth is None else list(truth[["parent", "child"]].itertuples(index=False, name=None))


def test_a_truth_is_attached_for_the_chosen_columns_and_forgotten():
    at = give(with_table(), b"parent,child\na,b\nb,c\n")
    assert not at.exception and not at.error
    assert pairs(at) == [("a", "b"), ("b", "c")] and "2 true edges known" in texts(at)
    at.session_state["shared_draft"] = replace(at.session_state["shared_draft"], columns=(0, 1))
    assert "(1 among the chosen columns)" in texts(at.run())
    at.button(key="truth_forget").click().run()
    assert pairs(at) is None and "true edges known" not in texts(at)
    give(at, b"direction;parent;child\nunknown;a;b\n;c;\nknown;b;c\n")
    assert not at.error and at.session_state["shared_draft"].truth["direction"].tolist() == ["unknown", "known"]
    upload(at, "other.csv", csv(poisson()))  # another table has no truth of the first
    assert pairs(at) is None


def test_a_truth_that_does_not_fit_is_one_sentence_and_changes_nothing():
    at = give(with_table(), b"parent,child\na,c\n")
    for content, words in (
        (b"parent,child\na,b\nb,<i>z</i>\n", 'names "<i>z</i>", which is not in the table'),
        (b"parent,child,direction\na,b,known\n\nb,c,up\n", 'line 4: the direction is "up"'),
    ):
        give(at, content)
        (said,) = [error.value.replace("\\", "") for error in at.error]
        assert not at.exception and pairs(at) == [("a", "c")] and words in said and said.startswith("truth.csv: ")
    give(at, b"parent,child\na,b\n")
    assert not at.error and pairs(at) == [("a", "b")]


def test_the_table_of_a_run_can_be_given_a_truth_unless_it_has_a_hidden_one():
    at = give(booted(run=finished_run(4, truth=None).id), b"parent,child\nx1,x3\n")
    assert pairs(at) == [("x1", "x3")] and not at.session_state["shared_draft"].is_of_run
    at = booted(run=finished_run(4, teaching=True).id)
    assert not any(found.key == "truth_upload" for found in at.file_uploader)
