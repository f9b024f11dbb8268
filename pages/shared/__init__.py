"""Widgets shared by several pages, grouped by subject; each module owns its session keys.

A folder uses only those above it:

- widgets: The parts of every page: names, words, help, errors, tables, figures, and widgets for declared options.
- compute: Something slow: in the background with its progress, cached for all sessions, and what this machine can do.
- table: The table being prepared, and its properties.
- session: The state that pages share, one owner per part: the address, the open run, the draft, what is shown of a run.
- result: The results of the open run, loaded once, and their comparison with a known truth.
- graph: The graph: drawn, picked in, compared and downloaded.
- work: Long-running work: its estimate, start, progress and end.
- evidence: The evidence of a refinement: in numbers and words, fits of single nodes, and what to do next.
- frame: The frame of a page: its opening, empty states, the steps, the sidebar, who uses the app.
"""
