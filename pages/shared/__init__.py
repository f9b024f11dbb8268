"""Widgets shared by several pages, grouped by subject; each module owns its session keys."""
