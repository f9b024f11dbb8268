"""Widgets of several pages, in rooms; each module owns its keys of the session."""
