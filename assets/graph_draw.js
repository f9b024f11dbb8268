// The causal graph as SVG, for a page of the app and for the file that stands alone. Lines, boxes and legend come ready
// from disco.graph.draw.picture. Names are only ever set as text.

const FONT = 14, WANTED = 11, SMALLEST = 8.5; // pixels of a name in its box; on the screen, better and at least
const MANY = 30; // nodes; on a phone more of them get a higher canvas
const SHORTER = [15, 12, 9, 6]; // letters of a name that has no room
const FEWEST = 6; // letters of a name that say something
const NEAREST = 1.4, CLOSEST = 4, FARTHEST = 0.05; // zoom that fits a small graph, and the limits of zoom
const SLACK = 4; // pixels that a pressed pointer may move and still click
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

function part(name, attributes = {}, ...inside) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

function makeView(place) {
  const find = (name) => place.querySelector(name);
  const view = {
    find, frame: find(".frame"), canvas: find(".canvas"), data: { nodes: [], edges: [], legend: [] },
    picked: null, pickedEdge: null, cursor: null, camera: { x: 0, y: 0, scale: 1 }, byId: new Map(), scope: null,
    selected: new Set(), pick() {}, pickEdge() {}, pickPair() {}, move() {}, reset() {}, showAlone() {}, change() {},
  };
  view.layers = Object.fromEntries(["edges", "nodes", "labels"].map((name) => [name, part("g", { class: name })]));
  view.stage = part("g", {}, ...Object.values(view.layers));
  view.canvas.append(part("svg", { width: "100%", height: "100%", "aria-hidden": "true" }, view.stage));
  view.measure = document.createElement("canvas").getContext("2d");
  view.show = (data) => show(view, data);
  view.rest = () => (find(".hover").hidden = true);
  listen(view);
  listenToKeys(view);
  listenToTools(view);
  listenToArranging(view);
  // The first draw may happen in a page part that is not yet laid out. A scroll bar that comes or goes moves nothing.
  let size = [0, 0];
  new ResizeObserver(() => {
    const now = [view.canvas.clientWidth, view.canvas.clientHeight];
    if (now.some((side, index) => Math.abs(side - size[index]) >= 24)) (size = now), fit(view);
  }).observe(view.canvas);
  return view;
}

// What is drawn ------------------------------------------------------------------------------------------------------

function show(view, data) {
  if (view.dragged) return void (view.waiting = data); // the node under the pointer is not taken away
  view.data = data;
  view.picked = data.picked;
  view.pickedEdge = data.pickedEdge;
  view.byId = new Map(data.nodes.map((node) => [node.id, node]));
  if (!view.byId.has(view.cursor)) view.cursor = null;
  for (const id of view.selected) if (!view.byId.has(id)) view.selected.delete(id);
  view.canvas.style.height = `${data.height}px`;
  view.canvas.setAttribute("aria-label", data.label);
  view.frame.classList.toggle("many", data.nodes.length > MANY);
  for (const role of ["parent", "child"]) view.frame.style.setProperty(`--${role}`, data.roles[role] ?? "");
  view.frame.classList.toggle("coloured", !data.roles.parent);
  view.frame.classList.toggle("directed", data.edges.some((edge) => edge.end === "full"));
  view.layers.edges.replaceChildren(...data.edges.map((edge) => (edge.drawn = drawEdge(edge))));
  view.layers.nodes.replaceChildren(...data.nodes.map((node) => (node.drawn = drawNode(node))));
  view.find(".legend").replaceChildren(...data.legend.map(drawKey));
  const alone = view.find(".alone");
  alone.hidden = !data.alone.count;
  const nodes = `${data.alone.count} ${data.alone.count === 1 ? "node" : "nodes"} without a line`;
  alone.textContent = `${data.alone.shown ? "Hide" : "Show"} ${nodes}`;
  view.find(".reset").hidden = !data.moved;
  mark(view);
  // The camera moves only when other nodes are asked for, never for a threshold or a click.
  if (data.scope !== view.scope) {
    view.scope = data.scope;
    requestAnimationFrame(() => fit(view));
  } else if (data.focus && data.focus !== view.focused) {
    centre(view, data.focus);
  } else if (view.byId.has(view.sought)) {
    centre(view, view.sought);
  }
  if (view.byId.has(view.sought)) view.sought = null;
  view.focused = data.focus;
}

function drawNode(node) {
  const box = part("rect", { x: -node.width / 2, y: -node.height / 2, width: node.width, height: node.height, rx: node.context ? node.height / 2 : 7 });
  const group = part("g", { class: "node", "data-node": node.id, transform: `translate(${node.x} ${node.y})` }, box);
  group.classList.toggle("missed", node.missed);
  group.classList.toggle("box", node.folded);
  group.classList.toggle("context", node.context);
  return group;
}

// A colour nearer to the page's text, so that thin lines can be seen on light and dark pages.
function inkOf(colour) {
  return colour ? `color-mix(in srgb, ${colour} 80%, var(--st-text-color, currentColor))` : "currentColor";
}

function drawEdge(edge) {
  const ink = inkOf(edge.colour);
  const group = part("g", { class: "edge", "data-edge": edge.id });
  group.classList.toggle("coloured", edge.colour !== null);
  group.classList.toggle("unsure", !edge.firm);
  const line = part("path", { class: "line", d: edge.path, stroke: ink, "stroke-dasharray": edge.dash.join(" ") });
  line.style.setProperty("--width", `${edge.width}px`);
  group.append(part("path", { class: "near", d: edge.path }), line);
  if (edge.dot) group.append(drawDot(edge.dot, ink));
  if (edge.square) group.append(drawSquare(edge.square, ink));
  if (edge.diamond) group.append(drawSquare(edge.diamond, ink, 45));
  for (const points of [edge.head, edge.tail]) if (points) group.append(part("polygon", { class: `head ${edge.end}`, points, fill: ink, stroke: ink }));
  return group;
}

function drawDot([x, y, radius], ink) {
  return part("circle", { cx: x, cy: y, r: radius, fill: ink });
}

function drawSquare([x, y, half], ink, tilt = 0) {
  const turned = `rotate(${tilt} ${x} ${y})`;
  return part("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, fill: ink, transform: turned });
}

function drawKey(key) {
  const entry = document.createElement("span");
  const ink = inkOf(key.colour);
  const line = { stroke: ink, "stroke-width": key.width, "stroke-dasharray": key.dash.join(" "), fill: "none" };
  if (key.width) {
    const sample = part("svg", { width: 36, height: 14, "aria-hidden": "true" });
    sample.append(key.outline ? part("rect", { ...line, x: 2, y: 2, width: 30, height: 10, rx: key.is_round ? 5 : 3 }) : part("path", { ...line, d: "M0 7H36" }));
    if (key.has_dot) sample.append(drawDot([6, 7, 4.5], ink));
    if (key.has_square) sample.append(drawSquare([6, 7, 4.5], ink));
    if (key.has_diamond) sample.append(drawSquare([6, 7, 4.5], ink, 45));
    entry.append(sample);
  }
  entry.append(key.words);
  return entry;
}

// Classes that say what is picked, its parents and children, what is joined to it in unknown direction, and the rest.
function mark(view) {
  const { data, picked } = view;
  const known = view.byId.has(picked);
  const touches = data.edges.filter((edge) => known && (edge.from === picked || edge.to === picked));
  const sure = touches.filter((edge) => edge.end === "full");
  const parents = new Set(sure.map((edge) => edge.from)), children = new Set(sure.map((edge) => edge.to));
  const joined = new Set(touches.flatMap((edge) => [edge.from, edge.to]));
  const chosen = data.edges.find((edge) => edge.id === view.pickedEdge);
  view.told = new Set([picked, view.cursor, ...joined, ...(chosen ? [chosen.from, chosen.to] : [])]);
  for (const node of data.nodes) {
    const is = { picked: node.id === picked || node.id === chosen?.from || node.id === chosen?.to, cursor: node.id === view.cursor };
    is.parent = !is.picked && parents.has(node.id);
    is.child = !is.picked && !is.parent && children.has(node.id);
    is.joined = !is.picked && !is.parent && !is.child && joined.has(node.id);
    is.faint = known && !is.picked && !joined.has(node.id);
    is.selected = view.selected.has(node.id);
    for (const [name, on] of Object.entries(is)) node.drawn.classList.toggle(name, on);
  }
  for (const edge of data.edges) {
    const near = touches.includes(edge);
    edge.drawn.classList.toggle("picked", edge === chosen);
    edge.drawn.classList.toggle("in", sure.includes(edge) && edge.to === picked);
    edge.drawn.classList.toggle("out", sure.includes(edge) && edge.from === picked);
    edge.drawn.classList.toggle("open", near && !sure.includes(edge));
    edge.drawn.classList.toggle("faint", known && !near);
  }
  view.frame.classList.toggle("related", parents.size + children.size > 0);
  arrange(view);
  label(view);
}

// Names: whole in their boxes; if they cannot be read there, whole in boxes that grow where they cover nothing, else
// shortened in the middle. The picked node's and its neighbours' names are always whole, above or below if need be.
function label(view) {
  const { scale } = view.camera, wanted = Math.max(FONT, WANTED / scale);
  view.measure.font = `${FONT}px ${getComputedStyle(view.frame).fontFamily}`;
  const boxes = view.data.nodes.map((node) => around(node.x, node.y, node.width, node.height));
  const degree = new Map();
  for (const edge of view.data.edges) for (const end of [edge.from, edge.to]) degree.set(end, (degree.get(end) ?? 0) + 1);
  const rank = (node) => (view.told.has(node.id) ? 1e6 : 0) + (node.id === view.picked ? 1e7 : 0) + (degree.get(node.id) ?? 0);
  const said = [], texts = [];
  const order = view.data.nodes.map((node, place) => [node, place]).sort(([a], [b]) => rank(b) - rank(a));
  for (const [node, place] of order) {
    node.textWidth ??= view.measure.measureText(node.label).width;
    const [name, fitting] = inside(node, scale, wanted), fits = fitting * scale >= SMALLEST, isTold = view.told.has(node.id);
    const names = isTold ? [node.label] : [...new Set([node.label, ...SHORTER.map((kept) => shortened(node.label, kept))])];
    let size = isTold ? wanted : SMALLEST / scale, words = node.label, grows = false, spot = boxes[place];
    if (fits && name === node.label) size = fitting;
    else {
      const free = (one) => said.every((other) => !meet(one, other));
      const clear = (one) => boxes.every((box, other) => other === place || !meet(one, box));
      const at = (wide, row) => around(node.x, node.y + row * size * 1.2, (wide * size) / FONT + 0.6 * size, size * 1.15);
      const rows = isTold ? [0, -1, 1, -2, 2, -3, 3] : [0, -1, 1];
      const tries = rows.flatMap((row) => names.map((text) => [text, row, at(view.measure.measureText(text).width, row)]));
      const [text, row, one] = tries.find(([, , box]) => free(box) && (isTold || clear(box))) ?? [];
      [words, spot, grows] = [text, one, row === 0];
      if (fits && (!spot || text !== node.label)) [words, size, spot, grows] = [name, fitting, boxes[place], false];
    }
    resize(node, grows ? spot[2] - spot[0] : 0, grows ? size * 1.35 : 0);
    if (!spot) continue;
    said.push(spot);
    const text = part("text", { x: node.x, y: (spot[1] + spot[3]) / 2 + size * 0.36, "font-size": size }, words);
    text.classList.toggle("outside", !grows && spot !== boxes[place]);
    text.classList.toggle("faint", node.drawn.classList.contains("faint"));
    node.text = text;
    texts.push(text);
  }
  view.layers.labels.replaceChildren(...texts);
}

// A box grows around a name that would cover its outline, and is as laid out without one.
function resize(node, least, high) {
  const width = Math.max(node.width, least), height = Math.max(node.height, high);
  for (const [name, value] of Object.entries({ x: -width / 2, y: -height / 2, width, height })) node.drawn.firstChild.setAttribute(name, value);
}

// As much of a name as can be read in its box, and its size there; the whole name is under the pointer.
function inside(node, scale, wanted) {
  const room = (FONT * (node.width - 6)) / node.textWidth, high = Math.min(wanted, node.height - 6);
  const letters = [...node.label], kept = Math.floor((letters.length * room * scale) / SMALLEST) - 1; // letters differ in width
  if (kept >= letters.length || kept < FEWEST || (node.height - 4) * scale < SMALLEST) return [node.label, Math.min(high, room)];
  return [shortened(node.label, kept), SMALLEST / scale];
}

// A name with so many letters: its beginning and its end.
function shortened(name, kept) {
  const letters = [...name], end = Math.floor(((kept - 1) * 7) / 17);
  return kept < letters.length ? `${letters.slice(0, kept - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}` : name;
}

function around(x, y, width, height) {
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
}

function meet(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

// The camera ---------------------------------------------------------------------------------------------------------

function fit(view) {
  const { clientWidth: wide, clientHeight: high } = view.canvas;
  if (!view.data.nodes.length || !wide || !high) return;
  const parts = [view.layers.nodes, view.layers.edges].map((layer) => layer.getBBox()).filter((box) => box.width || box.height);
  const left = Math.min(...parts.map((box) => box.x)), right = Math.max(...parts.map((box) => box.x + box.width));
  const top = Math.min(...parts.map((box) => box.y)), bottom = Math.max(...parts.map((box) => box.y + box.height));
  const tools = view.find(".tools").offsetHeight + 12; // they lie over the drawing, in one line or two
  const scale = Math.min(NEAREST, (wide - 24) / (right - left), (high - 40 - tools) / (bottom - top));
  look(view, wide / 2 - (scale * (left + right)) / 2, (high + tools) / 2 - (scale * (top + bottom)) / 2, scale);
}

function look(view, x, y, scale) {
  const other = scale !== view.camera.scale;
  view.frame.style.setProperty("--pixel", `${1 / scale}px`); // seen from afar, lines stay visible
  view.camera = { x, y, scale };
  view.stage.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  if (other && view.told) label(view);
}

function zoom(view, factor, at = [view.canvas.clientWidth / 2, view.canvas.clientHeight / 2]) {
  const { x, y, scale } = view.camera, next = Math.min(CLOSEST, Math.max(FARTHEST, scale * factor));
  look(view, at[0] - ((at[0] - x) * next) / scale, at[1] - ((at[1] - y) * next) / scale, next);
}

// Bring a node into the middle, near enough to read it.
function centre(view, id) {
  const node = view.byId.get(id), scale = Math.max(view.camera.scale, 0.8);
  if (node) look(view, view.canvas.clientWidth / 2 - scale * node.x, view.canvas.clientHeight / 2 - scale * node.y, scale);
}

// Bring a node into sight without moving more than needed.
function reveal(view, node) {
  const { x, y, scale } = view.camera, [left, top] = [x + scale * node.x, y + scale * node.y];
  const into = (at, least, most) => Math.max(least, Math.min(most, at));
  const dx = into(left, 60, view.canvas.clientWidth - 60) - left, dy = into(top, 70, view.canvas.clientHeight - 30) - top;
  if (dx || dy) look(view, x + dx, y + dy, scale);
}

// The pointer --------------------------------------------------------------------------------------------------------

function listen(view) {
  const { canvas } = view;
  let press = null;
  const target = (event) => {
    const node = event.target.closest?.("[data-node]"), edge = event.target.closest?.("[data-edge]");
    return { node: view.byId.get(node?.dataset.node), edge: view.data.edges.find((one) => one.id === edge?.dataset.edge) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    press = { ...target(event), x: event.clientX, y: event.clientY, camera: view.camera, moved: false };
    press.from = press.node && [press.node.x, press.node.y];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!press) return say(view, event, target(event));
    const dx = event.clientX - press.x, dy = event.clientY - press.y;
    if (!press.moved && Math.hypot(dx, dy) < SLACK) return;
    if (!press.moved) canvas.setPointerCapture(event.pointerId);
    press.moved = true;
    view.rest();
    if (!press.node) return look(view, press.camera.x + dx, press.camera.y + dy, press.camera.scale);
    view.dragged = press.node;
    drag(view, press.node, press.from[0] + dx / view.camera.scale, press.from[1] + dy / view.camera.scale);
  });
  const end = (event) => {
    const done = press;
    press = view.dragged = null;
    if (!done) return;
    if (!done.moved && event.type === "pointerup") event.shiftKey && done.node ? select(view, done.node) : choose(view, done.node, done.edge);
    if (done.moved && done.node) view.move(done.node.id, Math.round(done.node.x), Math.round(done.node.y));
    if (view.waiting) view.show(view.waiting);
    view.waiting = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => view.rest());
  canvas.addEventListener("wheel", (event) => wheel(view, event), { passive: false });
}

// A bare wheel scrolls the page.
function wheel(view, event) {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    const box = view.canvas.getBoundingClientRect();
    return zoom(view, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), [event.clientX - box.x, event.clientY - box.y]);
  }
  const hint = view.find(".hint");
  hint.textContent = `${APPLE ? "⌘" : "Ctrl"} + wheel zooms`;
  hint.hidden = false;
  clearTimeout(view.hinted);
  view.hinted = setTimeout(() => (hint.hidden = true), 1200);
}

// A dragged node takes its edges along, straight until they are led around the other boxes.
function drag(view, node, x, y) {
  [node.x, node.y] = [x, y];
  node.drawn.setAttribute("transform", `translate(${x} ${y})`);
  for (const edge of view.data.edges) {
    if (edge.from !== node.id && edge.to !== node.id) continue;
    const start = border(view.byId.get(edge.from), view.byId.get(edge.to)), end = border(view.byId.get(edge.to), view.byId.get(edge.from));
    const path = `M${start.join(" ")}L${end.join(" ")}`;
    for (const line of edge.drawn.querySelectorAll("path")) line.setAttribute("d", path);
    for (const head of edge.drawn.querySelectorAll(".head")) head.setAttribute("points", "");
    for (const mark of edge.drawn.querySelectorAll("circle, rect")) mark.remove();
  }
  label(view);
}

// Where the line from a box's middle to another's leaves the box.
function border(box, other) {
  const dx = other.x - box.x, dy = other.y - box.y;
  const reach = Math.min(dx ? (box.width / 2 + 1) / Math.abs(dx) : Infinity, dy ? (box.height / 2 + 1) / Math.abs(dy) : Infinity);
  return reach === Infinity ? [box.x, box.y] : [box.x + dx * reach, box.y + dy * reach];
}

function choose(view, node, edge) {
  if (node?.folded && view.data.folds) return view.change(`unfold:${node.id}`);
  const id = node?.id ?? null, line = !node && view.data.picksEdges && edge?.picks ? edge.id : null;
  if (node) view.cursor = id;
  const is = (found) => found.picked === id && found.pickedEdge === line;
  if (is(view) && is(view.data)) return mark(view); // a pick that the app has not confirmed may be lost: it is sent again
  view.picked = id;
  view.pickedEdge = line;
  mark(view);
  line === null ? view.pick(id) : view.pickEdge(line);
}

function say(view, event, { node, edge }) {
  const hover = view.find(".hover"), words = node?.title ?? edge?.title;
  hover.hidden = !words;
  if (!words) return;
  hover.textContent = words;
  const box = view.canvas.getBoundingClientRect(), room = box.width - hover.offsetWidth - 8;
  hover.style.left = `${Math.max(4, Math.min(event.clientX - box.x + 14, room))}px`;
  hover.style.top = `${Math.max(4, event.clientY - box.y - hover.offsetHeight - 12)}px`;
}

// The keyboard -------------------------------------------------------------------------------------------------------

function listenToKeys(view) {
  view.canvas.addEventListener("keydown", (event) => {
    if (takesBack(view, event) || event.ctrlKey || event.metaKey || event.altKey) return;
    view.rest();
    const { key } = event, node = view.byId.get(view.cursor);
    if (ARROWS[key]) step(view, ...ARROWS[key]);
    else if (key === "Enter" || key === " ") node && choose(view, node);
    else if (key === "Escape") view.selected.clear(), choose(view, null, null);
    else if (key === "s") node && select(view, node);
    else if (key === "h") hide(view);
    else if (key === "f") fold(view);
    else if (key === "/") view.find(".search").focus();
    else if (key === "+" || key === "=") zoom(view, 1.35);
    else if (key === "-") zoom(view, 1 / 1.35);
    else if (key === "0") fit(view);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
  });
}

// To the nearest node in a direction; what lies aside of it counts as farther.
function step(view, dx, dy) {
  const from = view.byId.get(view.cursor) ?? view.byId.get(view.picked);
  let best = from ? null : view.data.nodes[0], least = Infinity;
  for (const node of from ? view.data.nodes : []) {
    const [x, y] = [node.x - from.x, node.y - from.y], ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = ahead + 2.5 * aside;
    if (node !== from && ahead > 0 && ahead > 0.3 * aside && cost < least) [best, least] = [node, cost];
  }
  if (best) point(view, best);
}

function point(view, node) {
  view.cursor = node.id;
  view.find(".spoken").textContent = node.title;
  mark(view);
  reveal(view, node);
}
