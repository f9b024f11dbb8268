"""The drawn graph as one HTML file: interactive, without a server or network access."""

import html
import json
from collections.abc import Mapping
from pathlib import Path

_ASSETS = Path(__file__).resolve().parents[3] / "assets"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(data: Mapping[str, object], title: str, about: Mapping[str, object]) -> str:
    """The file's content.

    Args:
        data: what `assets/graph_draw.js` draws.
        title: shown above the graph.
        about: what the graph is and how it was found, shown below it.
    """
    facts = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in about.items())
    # In a script only "<" could end the data, so every "<" in a name is escaped.
    held = json.dumps({"data": data, "about": about}, ensure_ascii=False).replace("<", "\\u003c")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{_safe(title)}</title>",
            f"<style>\n{_text('standalone.css')}{_text('graph_view.css')}</style>\n</head>\n<body>",
            f"<h1>{_safe(title)}</h1>",
            _text("graph_view.html"),
            f"<details><summary>How this graph was found</summary><dl>{facts}</dl></details>",
            f'<script type="application/json" id="graph">{held}</script>',
            f"<script>\n{_text('graph_draw.js')}{_text('graph_tools.js')}{_text('standalone.js')}</script>\n</body>\n</html>\n",
        ]
    )


def _safe(value: object) -> str:
    return html.escape(str(value))


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
