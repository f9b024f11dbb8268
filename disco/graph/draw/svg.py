"""A picture of a graph (`picture`) as an SVG document: no scripts, no links, all names escaped."""

import html
import json
import textwrap
from collections.abc import Mapping

from disco.graph.dag import NOT_XML

FONT = 14  # pixels of a node's name
LETTER, LINE = 9.0, 22  # pixels of a wide letter of the title, and between lines
DASHED = (5, 4)  # pixels on and off of a node's dashed outline
_EDGE, _INK, _BOX, _CONTEXT = "#5B6B78", "#1F2A30", "#F4F5F3", "#DCEBEA"
_NO_LETTERS = str.maketrans("MLQ", "   ")


def document(picture: Mapping[str, list[dict]], title: str, about: Mapping[str, object] | None) -> str:
    """The document on a white background, with the title above the graph and `about` as metadata."""
    half = max((node["width"] for node in picture["nodes"]), default=44.0) / 2
    height = max((node["height"] for node in picture["nodes"]), default=0.0)
    xs, ys = _extent(picture["nodes"], picture["edges"])
    middle, half_width = (min(xs) + max(xs)) / 2, max((max(xs) - min(xs)) / 2 + half, 200.0) + 20
    x_min, x_max = middle - half_width, middle + half_width
    top, bottom = min(ys) - height - 44, max(ys) + height + 44
    keys, end = _svg_legend(picture["legend"], x_min + 16, bottom - 14)
    x_max = max(x_max, end)
    lines = textwrap.wrap(title, int((x_max - x_min - 32) / LETTER), max_lines=3, placeholder=" …")
    top -= LINE * max(0, len(lines) - 1)
    wide, high = x_max - x_min, bottom - top
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x_min:.0f} {top:.0f} {wide:.0f} {high:.0f}" '
            f'width="{wide:.0f}" height="{high:.0f}" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{FONT}">',
            *_svg_about(title, about),
            f'<rect x="{x_min:.0f}" y="{top:.0f}" width="100%" height="100%" fill="white"/>',
            *(_svg_text(line, x_min + 16, top + 26 + LINE * k, "start", 17) for k, line in enumerate(lines)),
            *map(_svg_edge, picture["edges"]),
            *map(_svg_node, picture["nodes"]),
            *keys,
            "</svg>",
        ]
    )


def _extent(nodes: list[dict], lines: list[dict]) -> tuple[list[float], list[float]]:
    """All x and all y of a picture: routes around the outermost boxes leave the area of the nodes."""
    xs, ys = [node["x"] for node in nodes] or [0.0], [node["y"] for node in nodes] or [0.0]
    for line in lines:
        values = [float(value) for value in line["path"].translate(_NO_LETTERS).split()]
        xs += values[::2]
        ys += values[1::2]
    return xs, ys


def _svg_about(title: str, about: Mapping[str, object] | None) -> list[str]:
    if not about:
        return []
    words = "; ".join(f"{name}: {value}" for name, value in about.items())
    metadata = _xml(json.dumps(dict(about), ensure_ascii=False))
    return [f"<title>{_xml(title)}</title>", f"<desc>{_xml(words)}</desc>", f"<metadata>{metadata}</metadata>"]


def _svg_legend(keys: list[dict], x: float, y: float) -> tuple[list[str], float]:
    """A line of samples with their meanings, and the x of its end."""
    elements = []
    for key in keys:
        ink, dash = key["colour"] or _EDGE, _svg_dash(key["dash"])
        if key["outline"]:
            elements.append(
                f'<rect x="{x:.1f}" y="{y - 11:.1f}" width="30" height="13" rx="{6 if key["is_round"] else 3}" '
                f'fill="none" stroke="{ink}" stroke-width="2"{dash}/>'
            )
        elif key["width"]:
            elements.append(
                f'<line x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + 34:.1f}" y2="{y - 4:.1f}" stroke="{ink}" '
                f'stroke-width="{key["width"]}"{dash}/>'
            )
        if key["has_dot"]:
            elements.append(_svg_dot([x + 4, y - 4, 4.5], ink))
        if key["has_square"]:
            elements.append(_svg_square([x + 4, y - 4, 4.5], ink))
        if key["has_diamond"]:
            elements.append(_svg_square([x + 4, y - 4, 4.5], ink, tilt=45))
        x += 40 if key["width"] else 0
        elements.append(_svg_text(key["words"], x, y, "start", 12))
        x += 6.2 * len(key["words"]) + 18
    return elements, x


def _svg_dash(dash: tuple[int, ...] | list[int]) -> str:
    return f' stroke-dasharray="{" ".join(map(str, dash))}"' if dash else ""


def _xml(text: str) -> str:
    return html.escape(NOT_XML.sub("�", text), quote=True)


def _svg_text(text: str, x: float, y: float, anchor: str, size: float) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{_INK}">{_xml(text)}</text>'


def _svg_node(node: dict) -> str:
    x, y, width, height = node["x"], node["y"], node["width"], node["height"]
    outline = f'stroke-width="2.2"{_svg_dash(DASHED)}' if node["missed"] else 'stroke-width="1.2"'
    radius, fill = (height / 2, _CONTEXT) if node["context"] else (7, _BOX)
    return (
        f"<g><title>{_xml(node['words'])}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height}" '
        f'rx="{radius}" fill="{fill}" stroke="{_EDGE}" {outline}/>'
        f"{_svg_text(node['label'], x, y + 5, 'middle', FONT)}</g>"
    )


def _svg_edge(edge: dict) -> str:
    ink = edge["colour"] or _EDGE
    tail = _svg_dot(edge["dot"], ink) if edge["dot"] else ""
    tail += _svg_square(edge["square"], ink) if edge["square"] else ""
    tail += _svg_square(edge["diamond"], ink, tilt=45) if edge["diamond"] else ""
    look = f'fill="white" stroke="{ink}" stroke-width="1.2"' if edge["end"] == "open" else f'fill="{ink}"'
    heads = "".join(f'<polygon points="{points}" {look}/>' for points in (edge["head"], edge["tail"]) if points)
    return (
        f'<g opacity="0.8"><title>{_xml(edge["words"])}</title>'
        f'<path d="{edge["path"]}" fill="none" stroke="{ink}" stroke-width="{edge["width"]:.1f}"'
        f"{_svg_dash(edge['dash'])}/>{tail}{heads}</g>"
    )


def _svg_dot(dot: list[float], ink: str) -> str:
    x, y, radius = dot
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{ink}"/>'


def _svg_square(square: list[float], ink: str, tilt: int = 0) -> str:
    x, y, half = square
    turned = f' transform="rotate({tilt} {x:.1f} {y:.1f})"' if tilt else ""
    size = f'width="{2 * half:.1f}" height="{2 * half:.1f}"'
    return f'<rect x="{x - half:.1f}" y="{y - half:.1f}" {size} fill="{ink}"{turned}/>'
