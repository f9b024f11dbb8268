"""The state that pages share, one owner per part: the address, the open run, the draft, what is shown of a run."""

from pages.shared.session import address, draft, run, shown

__all__ = ["address", "draft", "run", "shown", "start"]


def start() -> None:
    """Synchronise session and address; called by app.py before a page is drawn."""
    run.current()
    shown.follow_address()
    draft.follow_address()
