"""The route of each edge from box to box, around all other boxes.

An edge is a straight line if that line stays `CLEAR` pixels away from all other boxes. Otherwise it takes the shortest
path over the corners of the boxes, `MARGIN` pixels out (a visibility graph), and turns there in smooth curves. A route
depends only on the boxes, except that edges with a turn at the same corner run side by side there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from disco.graph.draw.placing import HEIGHT, Positions, node_width, pooled

CLEAR, MARGIN = 7, 13  # pixels between an edge and the boxes that it passes, and at turns
APART = 10  # pixels between the ends of edges on one side of a box, if there is room
LANE, LANES = 5, 3  # pixels between edges that turn at the same corner, and the number with their own lane
TURN, UP = 30, 2  # cost of a turn, and of each pixel upwards, in the search for the shortest path
OWN = 60  # additional cost of a turn at a corner of its own box
REACH = 420  # pixels of the longest straight piece of a route with turns, unless boxes are farther apart
BOW = 14  # sideways pixels of each of two edges in opposite directions
SMOOTH = 8  # straight pieces of a curve when it is tested against the boxes
_CHUNK = 8192  # lines tested at once, to limit memory

Point = tuple[float, float]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Route:
    """The route of an edge, in pixels: start at the parent's box, turns, end at the child's box. `smooth` is the share
    of a turn's shorter side used by its curve, one per turn, in 0 to 0.5."""

    points: tuple[Point, ...]
    smooth: tuple[float, ...] = ()

    def pieces(self) -> list[tuple[Point, Point, Point]]:
        """Start, control point and end of the curve of each turn."""
        curves = []
        for previous, turn, following, share in zip(
            self.points, self.points[1:], self.points[2:], self.smooth, strict=False
        ):
            side = share * min(_length(previous, turn), _length(turn, following))
            curves.append((_towards(turn, previous, side), turn, _towards(turn, following, side)))
        return curves

    def path(self, back: float = 0.0, ahead: float = 0.0) -> str:
        """The route as the `d` of an SVG path; for arrow heads, it ends `back` and starts `ahead` pixels further in."""
        (first, second), (last, end) = self.points[:2], self.points[-2:]
        commands = [f"M{_xy(_towards(first, second, min(ahead, _length(first, second))))}"]
        for start, control, stop in self.pieces():
            commands.append(f"L{_xy(start)}Q{_xy(control)} {_xy(stop)}")
        return "".join([*commands, f"L{_xy(_towards(end, last, min(back, _length(last, end))))}"])

    def line(self) -> np.ndarray:
        """Points along the route, dense on its curves, (points, 2)."""
        along = np.linspace(0, 1, SMOOTH + 1)[:, None]
        curves = [
            (1 - along) ** 2 * np.array(start) + 2 * along * (1 - along) * np.array(control) + along**2 * np.array(stop)
            for start, control, stop in self.pieces()
        ]
        return np.concatenate([np.array([self.points[0]]), *curves, np.array([self.points[-1]])])


def routes(positions: Positions, pairs: Iterable[Pair]) -> dict[Pair, Route]:
    """The route of every edge, (parent, child), between boxes whose centres are `positions`."""
    return dict(_routes(tuple((node, *positions[node]) for node in positions), tuple(pairs)))


def passes(positions: Positions, routes: Mapping[Pair, Route]) -> list[tuple[Pair, str]]:
    """The edges that run behind another node's box, each with that node."""
    names = list(positions)
    boxes = _boxes(tuple((node, *positions[node]) for node in positions))
    crossed = []
    for pair, route in routes.items():
        line = route.line()
        behind = np.flatnonzero(_hits(line[:-1], line[1:], boxes).any(axis=0))
        crossed += [(pair, names[index]) for index in behind if names[index] not in pair]
    return crossed


@lru_cache(maxsize=64)
def _routes(placed: tuple[tuple[str, float, float], ...], pairs: tuple[Pair, ...]) -> tuple[tuple[Pair, Route], ...]:
    number = {node: index for index, (node, *_) in enumerate(placed)}
    boxes, middles = _boxes(placed), np.array([box[1:] for box in placed], dtype=float).reshape(-1, 2)
    endpoints = np.array([(number[parent], number[child]) for parent, child in pairs], dtype=int).reshape(-1, 2)
    turns: list[list[int]] = [[] for _ in pairs]
    blocked = _blocked(middles[endpoints[:, 0]], middles[endpoints[:, 1]], _grown(boxes, CLEAR), endpoints)
    if blocked.any():
        paths = _turns(placed, [tuple(endpoints[edge]) for edge in np.flatnonzero(blocked)])
        turns = [paths.get(tuple(pair_nodes), []) for pair_nodes in endpoints]
    both, turned = set(pairs), _in_lanes(endpoints, turns, boxes, middles)
    for edge, pair in enumerate(pairs):
        if not turned[edge] and pair[::-1] in both:
            turned[edge] = _detour(endpoints[edge], boxes, middles)
    tips = _tips(endpoints, turned, boxes, middles)
    return tuple((pair, _route(turned[edge], tips[edge], endpoints[edge], boxes)) for edge, pair in enumerate(pairs))


def _turns(placed: tuple[tuple[str, float, float], ...], pairs: list[tuple[int, int]]) -> dict[tuple[int, int], list]:
    """The corners at which each pair's route turns; longer straight pieces are allowed between distant boxes."""
    paths = _web(placed, REACH).shortest(pairs)
    if lost := [pair for pair, corners in paths.items() if not corners]:
        paths |= _web(placed, np.inf).shortest(lost)
    return paths


class _Web:
    """The visibility graph of some boxes: which corners and centres of boxes see each other."""

    def __init__(self, boxes: np.ndarray, middles: np.ndarray, reach: float) -> None:
        self.boxes, self.middles, self.corners = boxes, middles, _corners(boxes, MARGIN)
        grown = _grown(boxes, CLEAR)
        nodes, corners = len(boxes), len(self.corners)
        first, second = self._near(self.corners, reach)
        first, second = first[first < second], second[first < second]
        sees = ~_blocked(self.corners[first], self.corners[second], grown)
        first, second = first[sees], second[sees]
        node, corner = self._near(middles, reach)
        exempt = np.stack([node, node], axis=1)
        sees = ~_blocked(middles[node], self.corners[corner], grown, exempt)
        node, corner = node[sees], corner[sees]
        # A node has one number as a start and another as an end, so that no path leads through it.
        links = [
            (first, second, self.corners[first], self.corners[second]),
            (second, first, self.corners[second], self.corners[first]),
            (corners + node, corner, middles[node], self.corners[corner]),
            (corner, corners + nodes + node, self.corners[corner], middles[node]),
        ]
        start, end = (np.concatenate([link[k] for link in links]) for k in (0, 1))
        step = np.concatenate([link[3] - link[2] for link in links])
        cost = np.hypot(*step.T) + TURN + UP * np.maximum(0, -step[:, 1])
        is_own = np.concatenate([np.zeros(2 * len(first), dtype=bool), *[node == corner // 4] * 2])
        cost = cost + OWN * is_own
        self.links = csr_array((cost, (start, end)), shape=(corners + 2 * nodes,) * 2)

    def _near(self, points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        gap = self.corners[None] - points[:, None]
        point, corner = np.nonzero((gap**2).sum(axis=2) < reach**2)
        return point, corner

    def shortest(self, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
        """The corners at which each pair's path turns; empty without a path. All paths lead downwards."""
        nodes, corners = len(self.boxes), len(self.corners)
        down = {pair: pair if self.middles[pair[0], 1] <= self.middles[pair[1], 1] else pair[::-1] for pair in pairs}
        starts = sorted({upper for upper, _ in down.values()})
        predecessors = dijkstra(self.links, indices=[corners + start for start in starts], return_predecessors=True)[1]
        paths = {}
        for pair, (upper, lower) in down.items():
            tree, at, path = predecessors[starts.index(upper)], corners + nodes + lower, []
            while (at := tree[at]) >= 0 and at < corners:
                path.append(int(at))
            paths[pair] = path[:: 1 if pair[0] == lower else -1]
        return {pair: self._straightened(pair, path) for pair, path in paths.items()}

    def _straightened(self, pair: tuple[int, int], path: list[int]) -> list[int]:
        grown, pairs = _grown(self.boxes, CLEAR), np.array([pair])
        index = 0
        while index < len(path):
            points = [self.middles[pair[0]], *self.corners[path], self.middles[pair[1]]]
            exempt = pairs if index == 0 or index == len(path) - 1 else None
            if _blocked(points[index][None], points[index + 2][None], grown, exempt)[0]:
                index += 1
            else:
                del path[index]
                index = max(0, index - 1)
        return path


@lru_cache(maxsize=16)
def _web(placed: tuple[tuple[str, float, float], ...], reach: float) -> _Web:
    return _Web(_boxes(placed), np.array([box[1:] for box in placed], dtype=float), reach)


def _in_lanes(
    endpoints: np.ndarray, turns: list[list[int]], boxes: np.ndarray, middles: np.ndarray
) -> list[list[Point]]:
    """The turns of each edge as points; edges with a turn at one corner run side by side, the flattest outermost."""
    corners = _corners(boxes, MARGIN)
    offsets = np.tile(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * LANE, (len(boxes), 1))
    points = [[tuple(corners[corner]) for corner in path] for path in turns]
    users: dict[int, list[tuple[float, int, int]]] = {}
    for edge, path in enumerate(turns):
        polyline = [middles[endpoints[edge, 0]], *corners[path], middles[endpoints[edge, 1]]]
        for index, corner in enumerate(path):
            bend = _bend(polyline[index], polyline[index + 1], polyline[index + 2])
            users.setdefault(corner, []).append((bend, edge, index))
    grown = _grown(boxes, CLEAR - 2)
    for corner, edges in users.items():
        for lane, (_, edge, index) in enumerate(sorted(edges, reverse=True)):
            shifted = corners[corner] + min(lane, LANES) * offsets[corner]
            line = np.array([middles[endpoints[edge, 0]], *points[edge], middles[endpoints[edge, 1]]])
            line[index + 1] = shifted
            if not _blocked(line[index : index + 2], line[index + 1 : index + 3], grown, endpoints[[edge, edge]]).any():
                points[edge][index] = tuple(shifted)
    return points


def _tips(
    endpoints: np.ndarray, turns: list[list[Point]], boxes: np.ndarray, middles: np.ndarray
) -> list[tuple[Point, Point]]:
    """The endpoints of each edge at its parent's and its child's box: towards the centre, but with gaps between them.
    Only along the upper and the lower side; an edge blocked by another box keeps its endpoints."""
    tips = []
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for edge, (nodes, path) in enumerate(zip(endpoints, turns, strict=True)):
        goals = (path[0] if path else middles[nodes[1]], path[-1] if path else middles[nodes[0]])
        tips.append([_border(boxes[node], middles[node], goal) for node, goal in zip(nodes, goals, strict=True)])
        for end, node in enumerate(nodes):
            above = tips[edge][end][1] - middles[node][1]
            if abs(above) > HEIGHT / 2:
                sides.setdefault((int(node), above < 0), []).append((edge, end))
    grown = _grown(boxes, 4)
    for (node, _), attached in sides.items():
        attached = sorted(attached, key=lambda entry: tips[entry[0]][entry[1]][0])
        wished = np.array([tips[edge][end][0] for edge, end in attached])
        low, high = boxes[node][[0, 2]] + np.array([6.0, -6.0])
        for (edge, end), x in zip(attached, _spread(wished, low, high), strict=True):
            tip = (float(x), tips[edge][end][1])
            goal = (turns[edge][0] if end == 0 else turns[edge][-1]) if turns[edge] else tips[edge][1 - end]
            if not _blocked(np.array([tip]), np.array([goal]), grown, endpoints[[edge]])[0]:
                tips[edge][end] = tip
    return [(start, end) for start, end in tips]


def _spread(wishes: np.ndarray, low: float, high: float) -> np.ndarray:
    """The positions closest to the wished values, in order, `APART` from each other if the bounds leave room."""
    gap = min(APART, (high - low) / max(1, len(wishes) - 1))
    steps = gap * np.arange(len(wishes))
    return np.clip(pooled(wishes - steps), low, high - steps[-1]) + steps


def _route(turns: list[Point], tips: tuple[Point, Point], exempt: np.ndarray, boxes: np.ndarray) -> Route:
    """The route through its turns, each curve as wide as the boxes allow."""
    points = tuple((round(float(x), 1), round(float(y), 1)) for x, y in (tips[0], *turns, tips[1]))
    obstacles = _grown(np.delete(boxes, exempt, axis=0), 4)
    smooth = [0.5] * len(turns)
    for _ in range(5):
        route = Route(points, tuple(smooth))
        line = route.line()
        hits = _hits(line[:-1], line[1:], obstacles).any(axis=1)
        if not turns or not hits.any():
            return route
        for turn in {min(int(hit) // (SMOOTH + 1), len(turns) - 1) for hit in np.flatnonzero(hits)}:
            for near in {max(0, turn - 1), turn}:
                smooth[near] /= 2
    return Route(points, (0.0,) * len(turns))


def _boxes(placed: tuple[tuple[str, float, float], ...]) -> np.ndarray:
    """Left, top, right and bottom of every box, (nodes, 4)."""
    if not placed:
        return np.zeros((0, 4))
    x, y = np.array([box[1:] for box in placed], dtype=float).T
    half = np.array([node_width(node) for node, *_ in placed]) / 2
    return np.stack([x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2], axis=1)


def _grown(boxes: np.ndarray, by: float) -> np.ndarray:
    return boxes + np.array([-by, -by, by, by])


def _corners(boxes: np.ndarray, by: float) -> np.ndarray:
    """Left top, right top, right bottom and left bottom of every enlarged box, (4 · nodes, 2)."""
    return _grown(boxes, by)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)


def _hits(start: np.ndarray, end: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Whether each straight line enters each box, (lines, boxes), by the slabs of both axes."""
    step = end - start
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)
    first, last = np.zeros((len(start), len(boxes))), np.ones((len(start), len(boxes)))
    for axis in (0, 1):
        entry = (boxes[None, :, axis] - start[:, None, axis]) / step[:, None, axis]
        exit = (boxes[None, :, axis + 2] - start[:, None, axis]) / step[:, None, axis]
        first, last = np.maximum(first, np.minimum(entry, exit)), np.minimum(last, np.maximum(entry, exit))
    return first < last


def _blocked(start: np.ndarray, end: np.ndarray, boxes: np.ndarray, exempt: np.ndarray | None = None) -> np.ndarray:
    """Whether each straight line enters a box, (lines,), except the two boxes in its row of `exempt`, (lines, 2)."""
    blocked = np.zeros(len(start), dtype=bool)
    for first in range(0, len(start), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        hits = _hits(start[chunk], end[chunk], boxes)
        if exempt is not None:
            np.put_along_axis(hits, exempt[chunk], False, axis=1)
        blocked[chunk] = hits.any(axis=1)
    return blocked


def _border(box: np.ndarray, middle: np.ndarray, towards: Point) -> Point:
    """The point where the line from a box's centre leaves the box, one pixel out."""
    dx, dy = float(towards[0] - middle[0]), float(towards[1] - middle[1])
    half = (box[2:] - box[:2]) / 2 + 1
    reach = min(half[0] / abs(dx) if dx else np.inf, half[1] / abs(dy) if dy else np.inf)
    return (middle[0], middle[1]) if reach == np.inf else (middle[0] + dx * reach, middle[1] + dy * reach)


def _detour(endpoints: np.ndarray, boxes: np.ndarray, middles: np.ndarray) -> list[Point]:
    """A point to the left of a line's centre, as far out as the boxes allow; none if they do not."""
    start, end = middles[endpoints]
    step = end - start
    for bow in (BOW, BOW / 2):
        point = (start + end) / 2 + np.array([step[1], -step[0]]) * 2 * bow / (np.hypot(*step) or 1.0)
        polyline = np.stack([start, point, end])
        if not _blocked(polyline[:-1], polyline[1:], _grown(boxes, 1), endpoints[None].repeat(2, axis=0)).any():
            return [tuple(point)]
    return []


def _bend(previous: np.ndarray, turn: np.ndarray, following: np.ndarray) -> float:
    incoming, outgoing = turn - previous, following - turn
    return float(abs(np.arctan2(incoming[0] * outgoing[1] - incoming[1] * outgoing[0], incoming @ outgoing)))


def _length(start: Point, end: Point) -> float:
    return float(np.hypot(end[0] - start[0], end[1] - start[1]))


def _towards(point: Point, goal: Point, far: float) -> Point:
    """The point `far` pixels from `point` towards the goal."""
    length = _length(point, goal)
    share = far / length if length else 0.0
    return point[0] + (goal[0] - point[0]) * share, point[1] + (goal[1] - point[1]) * share


def _xy(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"
