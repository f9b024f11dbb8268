"""Data: load a table of counts, inspect its columns, choose those to fit."""

from pages.data import sources
from pages.shared import session
from pages.shared.frame import intro

draft = session.draft.current()
if draft is None:
    sources.greet()
else:
    intro.page_intro("Data", "One row per observation, one column per variable. You can undo any change you make here.")
intro.missing_run()
sources.cards()
if draft is None:
    intro.end()

from pages.data import loaded  # noqa: E402 - slow to import; the first page of a cold app must not wait

loaded.draw(draft)
