// The drawn graph in a file of its own: nothing is asked of anyone; what is dragged or hidden stays so until the file is
// opened again.

const CLEAR = 7, MARGIN = 13; // pixels between a line and the boxes that it passes, and where it turns
const held = JSON.parse(document.getElementById("graph").textContent).data;
const view = makeView(document.body);
const height = () => Math.max(320, innerHeight - 190);

let full = asWritten(), gone = []; // all nodes and lines as arranged, and the nodes that are hidden
const states = [written()], undone = []; // after every step, the present one last; those taken back

// After a drag every line is drawn anew that ends at the node or runs behind it: straight, or with one or two turns.
view.move = (id) => {
  const { data } = view, node = view.byId.get(id);
  for (const edge of data.edges) {
    const [from, to] = [view.byId.get(edge.from), view.byId.get(edge.to)];
    const line = edge.drawn.querySelector(".line"), length = line.getTotalLength();
    const along = Array.from({ length: 60 }, (_, part) => line.getPointAtLength((part / 59) * length));
    const box = around(node.x, node.y, node.width + 4, node.height + 4);
    const behind = from !== node && to !== node && along.some((at) => meet([at.x, at.y, at.x, at.y], box));
    if (from === node || to === node || behind) lead(edge, from, to, data.nodes);
  }
  full.moved = true;
  step();
};
view.reset = () => {
  full = asWritten();
  step();
};
view.change = (words) => {
  const [what, ids] = words.split(":");
  if (what === "hide") gone = [...gone, ...ids.split(",")];
  if (what === "all") gone = [];
  if (what !== "undo" && what !== "redo") return step();
  if (what === "undo") undone.push(states.pop());
  else states.push(undone.pop());
  ({ full, gone } = JSON.parse(states.at(-1)));
  redraw();
};

function step() {
  undone.length = 0;
  states.push(written());
  redraw();
}

function written() {
  return JSON.stringify({ full, gone }, (key, value) => (key === "drawn" || key === "text" ? undefined : value));
}

function redraw() {
  const nodes = full.nodes.filter((node) => !gone.includes(node.id));
  const edges = full.edges.filter((edge) => !gone.includes(edge.from) && !gone.includes(edge.to));
  const { picked, pickedEdge } = view, more = { undo: states.length > 1, redo: undone.length > 0, away: gone.length };
  view.show({ ...full, height: height(), nodes, edges, picked: gone.includes(picked) ? null : picked, pickedEdge, ...more });
}

function asWritten() {
  return { ...structuredClone(held), height: height() };
}

function lead(edge, from, to, nodes) {
  const boxes = nodes.map((node) => [node, around(node.x, node.y, node.width + 2 * CLEAR, node.height + 2 * CLEAR)]);
  const clear = (a, b, ...own) => boxes.every(([node, box]) => own.includes(node) || !crosses(a, b, box));
  const [start, end] = [[from.x, from.y], [to.x, to.y]];
  const turns = clear(start, end, from, to) ? [] : detour(start, end, from, to, nodes, clear);
  const ends = [from, ...turns.map(([x, y]) => ({ x, y })), to];
  const points = [border(from, ends[1]), ...turns, border(to, ends.at(-2))];
  const [head, neck] = arrow(edge, points.at(-1), points.at(-2)), [tail, nape] = arrow(edge, ...points);
  edge.path = `M${[edge.tail ? nape : points[0], ...points.slice(1, -1), neck].map((point) => point.join(" ")).join("L")}`;
  edge.head = head;
  if (edge.tail) edge.tail = tail;
  if (edge.dot) edge.dot = [...points[0], edge.dot[2]];
}

// The corners of an arrow head, and where its line ends.
function arrow(edge, tip, before) {
  const far = Math.hypot(tip[0] - before[0], tip[1] - before[1]) || 1, along = [(tip[0] - before[0]) / far, (tip[1] - before[1]) / far];
  const head = edge.end === "none" ? 0 : Math.min(6 + 1.6 * edge.width, far), neck = [tip[0] - along[0] * head, tip[1] - along[1] * head];
  const side = (way) => [neck[0] - way * along[1] * head * 0.42, neck[1] + way * along[0] * head * 0.42];
  return [[tip, side(1), side(-1)].map((point) => point.join(",")).join(" "), neck];
}

// The shortest way over one corner of a box, or over two; none if there is no such way.
function detour(start, end, from, to, nodes, clear) {
  const corners = nodes.flatMap(({ x, y, width, height }) => {
    const [dx, dy] = [width / 2 + MARGIN, height / 2 + MARGIN];
    return [[x - dx, y - dy], [x + dx, y - dy], [x + dx, y + dy], [x - dx, y + dy]];
  });
  const first = corners.filter((corner) => clear(start, corner, from)), last = corners.filter((corner) => clear(corner, end, to));
  const ways = [...first.filter((corner) => last.includes(corner)).map((corner) => [corner])];
  if (!ways.length) for (const one of first) for (const two of last) if (one !== two && clear(one, two)) ways.push([one, two]);
  const length = (way) => [start, ...way, end].reduce((sum, at, k, all) => sum + (k ? Math.hypot(at[0] - all[k - 1][0], at[1] - all[k - 1][1]) : 0), 0);
  return ways.sort((one, other) => length(one) - length(other))[0] ?? [];
}

// Whether a straight line enters a box: it is within the slabs of both axes at once.
function crosses([x, y], [toX, toY], [left, top, right, bottom]) {
  const [dx, dy] = [toX - x || 1e-9, toY - y || 1e-9];
  const [one, two] = [(left - x) / dx, (right - x) / dx], [three, four] = [(top - y) / dy, (bottom - y) / dy];
  return Math.max(0, Math.min(one, two), Math.min(three, four)) < Math.min(1, Math.max(one, two), Math.max(three, four));
}

redraw();
addEventListener("resize", () => (view.canvas.style.height = `${height()}px`));
