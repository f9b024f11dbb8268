// A causal graph drawn by hand. The page's graph is taken whenever its stamp is new; every edit here is sent back whole.
// Names are only ever set as text.

const kept = new WeakMap(); // the editor of each place of the page, so that a rerun does not interrupt a drawing
const NS = "http://www.w3.org/2000/svg";
const HIGH = 30; // of a node's box, pixels
const NEAR = 5; // a pointer that moves less than this, in pixels, has clicked
const TWICE = 400; // milliseconds between the clicks of a double click

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const editor = kept.get(parentElement) ?? makeEditor(parentElement);
  kept.set(parentElement, editor);
  editor.send = (graph) => setTriggerValue("edit", { stamp: editor.stamp, ...graph });
  editor.arrange = () => setTriggerValue("arrange", true);
  editor.take(data);
}

// Graphs are never changed in place: { nodes: [{ name, x, y }], edges: [[parent, child]] }.

const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);
const wide = (name) => Math.max(44, 22 + 7.8 * short(name).length);
const find = (graph, name) => graph.nodes.find((node) => node.name === name);
const same = (one, other) => one[0] === other[0] && one[1] === other[1];

function freshName(graph) {
  const used = new Set(graph.nodes.map((node) => node.name));
  let number = 1;
  while (used.has(`x${number}`)) number += 1;
  return `x${number}`;
}

// The way along the edges from one node to another, as names; null where there is none.
function path(graph, from, to) {
  const before = new Map([[from, null]]);
  const queue = [from];
  while (queue.length) {
    const node = queue.shift();
    if (node === to) {
      const way = [];
      for (let at = to; at !== null; at = before.get(at)) way.unshift(at);
      return way;
    }
    for (const [parent, child] of graph.edges) {
      if (parent === node && !before.has(child)) {
        before.set(child, node);
        queue.push(child);
      }
    }
  }
  return null;
}

function refusal(graph, parent, child) {
  if (parent === child) return "An edge needs two different nodes.";
  if (graph.edges.some((edge) => same(edge, [parent, child]))) return `${parent} → ${child} is there already.`;
  const way = path(graph, child, parent);
  return way ? `${parent} → ${child} would close the cycle ${[parent, ...way].join(" → ")}, so it was not drawn.` : null;
}

function without(graph, picked) {
  if (picked.edge) return { ...graph, edges: graph.edges.filter((edge) => !same(edge, picked.edge)) };
  return {
    nodes: graph.nodes.filter((node) => node.name !== picked.node),
    edges: graph.edges.filter((edge) => !edge.includes(picked.node)),
  };
}

function renamed(graph, old, name) {
  const change = (one) => (one === old ? name : one);
  return {
    nodes: graph.nodes.map((node) => ({ ...node, name: change(node.name) })),
    edges: graph.edges.map((edge) => edge.map(change)),
  };
}

function moved(graph, name, x, y) {
  return { ...graph, nodes: graph.nodes.map((node) => (node.name === name ? { ...node, x, y } : node)) };
}

function makeEditor(place) {
  const at = (selector) => place.querySelector(selector);
  const svg = at(".canvas");
  const editor = {
    stamp: null, graph: { nodes: [], edges: [] }, past: [], future: [], picked: {}, tool: "connect", start: null, most: 0,
    send: () => {}, arrange: () => {},
  };
  const say = (text) => (at(".said").textContent = text ?? "");
  const draw = () => render(editor, place);

  editor.take = (data) => {
    if (data.stamp === editor.stamp) return;
    if (editor.stamp !== null) editor.past.push(editor.graph);
    Object.assign(editor, { stamp: data.stamp, graph: data.graph, future: [], picked: {}, start: null, most: data.most });
    svg.style.height = `${data.height}px`;
    say("");
    fit(editor, svg);
    draw();
  };

  const change = (graph, picked = {}) => {
    editor.past.push(editor.graph);
    Object.assign(editor, { graph, picked, future: [], start: null });
    say("");
    draw();
    editor.send(graph);
  };
  const step = (from, to) => {
    if (!from.length) return;
    to.push(editor.graph);
    Object.assign(editor, { graph: from.pop(), picked: {}, start: null });
    say("");
    fit(editor, svg);
    draw();
    editor.send(editor.graph);
  };
  const add = (x, y) => {
    if (editor.graph.nodes.length >= editor.most) {
      say(`At most ${editor.most} nodes can be drawn. Paste or upload the edges of a larger graph.`);
      return;
    }
    const name = freshName(editor.graph);
    change({ ...editor.graph, nodes: [...editor.graph.nodes, { name, x: Math.round(x), y: Math.round(y) }] }, { node: name });
  };
  const connect = (parent, child) => {
    const why = refusal(editor.graph, parent, child);
    editor.start = null;
    if (why) {
      say(why);
      draw();
    } else change({ ...editor.graph, edges: [...editor.graph.edges, [parent, child]] }, { edge: [parent, child] });
  };
  const remove = () => {
    if (editor.picked.node || editor.picked.edge) change(without(editor.graph, editor.picked));
  };
  const pick = (picked) => {
    editor.picked = picked;
    draw();
  };
  const rename = () => editor.picked.node && ask(editor, place, (old, name) => {
    if (!name || name === old) return;
    if (find(editor.graph, name)) say(`There is a node ${name} already; names must differ.`);
    else change(renamed(editor.graph, old, name), { node: name });
  });

  const doing = {
    connect: () => setTool("connect"), move: () => setTool("move"), rename, remove, arrange: () => editor.arrange(),
    undo: () => step(editor.past, editor.future), redo: () => step(editor.future, editor.past),
    clear: () => editor.graph.nodes.length && change({ nodes: [], edges: [] }),
  };
  const setTool = (tool) => {
    editor.tool = tool;
    editor.start = null;
    draw();
  };
  for (const button of place.querySelectorAll("[data-do]")) button.addEventListener("click", () => doing[button.dataset.do]());
  pointer(editor, place, { add, connect, change, pick, rename, draw });
  keyboard(editor, place, { add, connect, change, pick, remove, rename, draw, say, undo: doing.undo, redo: doing.redo });
  new ResizeObserver(() => {
    fit(editor, svg);
    draw();
  }).observe(svg);
  return editor;
}

// The whole drawing is visible, never enlarged.
function fit(editor, svg) {
  const wideness = svg.clientWidth || 600;
  const height = svg.clientHeight || 400;
  const { nodes } = editor.graph;
  const half = (node) => wide(node.name) / 2 + 16;
  const left = Math.min(...nodes.map((node) => node.x - half(node)));
  const right = Math.max(...nodes.map((node) => node.x + half(node)));
  const top = Math.min(...nodes.map((node) => node.y - HIGH));
  const bottom = Math.max(...nodes.map((node) => node.y + HIGH));
  const scale = nodes.length ? Math.max(1, (right - left) / wideness, (bottom - top) / height) : 1;
  const [x, y] = nodes.length ? [(left + right) / 2, (top + bottom) / 2] : [0, 0];
  const box = { x: x - (wideness * scale) / 2, y: y - (height * scale) / 2, width: wideness * scale, height: height * scale };
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  editor.view = box;
}

function pointOf(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return { x: point.x, y: point.y };
}

function nodeAt(graph, { x, y }) {
  return graph.nodes.findLast((node) => Math.abs(node.x - x) <= wide(node.name) / 2 + 3 && Math.abs(node.y - y) <= HIGH / 2 + 3);
}

function inside(view, { x, y }) {
  const between = (value, low, high) => Math.round(Math.min(Math.max(value, low), high));
  return {
    x: between(x, view.x + 30, view.x + view.width - 30), y: between(y, view.y + 20, view.y + view.height - 20),
  };
}

function pointer(editor, place, { add, connect, change, pick, rename, draw }) {
  const svg = place.querySelector(".canvas");
  const rubber = place.querySelector(".rubber");
  let clicked = null; // the node clicked or put down last: a redraw between two clicks prevents dblclick
  let held = null; // what the pointer went down on, until it goes up
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const from = pointOf(svg, event);
    const node = nodeAt(editor.graph, from);
    const edge = node ? null : event.target.closest("[data-edge]");
    held = { x: event.clientX, y: event.clientY, from, node, edge: edge && editor.graph.edges[edge.dataset.edge], before: editor.graph };
    held.moves = node && (editor.tool === "move" || event.shiftKey);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    if (node) pick({ node: node.name });
    svg.focus({ preventScroll: true });
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held?.node) return;
    held.far ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > NEAR;
    if (!held.far) return;
    const point = pointOf(svg, event);
    if (held.moves) {
      const to = inside(editor.view, point);
      editor.graph = moved(editor.graph, held.node.name, to.x, to.y);
      draw();
      return;
    }
    editor.target = nodeAt(editor.graph, point)?.name;
    draw();
    rubber.toggleAttribute("hidden", false);
    for (const [name, value] of Object.entries({ x1: held.node.x, y1: held.node.y, x2: point.x, y2: point.y })) {
      rubber.setAttribute(name, value);
    }
  });
  const end = (event, gaveUp) => {
    const was = held;
    held = null;
    editor.target = null;
    rubber.toggleAttribute("hidden", true);
    if (!was) return;
    if (gaveUp) {
      editor.graph = was.before;
      draw();
    } else if (was.moves && was.far) {
      const graph = editor.graph;
      editor.graph = was.before;
      change(graph, { node: was.node.name });
    } else if (was.node && was.far) {
      const target = nodeAt(editor.graph, pointOf(svg, event));
      if (target && target.name !== was.node.name) connect(was.node.name, target.name);
      else draw();
    } else if (was.edge) pick({ edge: was.edge });
    else if (!was.node && editor.tool === "move") pick({});
    else if (!was.node) add(was.from.x, was.from.y);
    else if (clicked?.node === was.node.name && event.timeStamp - clicked.time < TWICE) rename();
    else draw();
    clicked = was.far ? null : { node: editor.picked.node, time: event.timeStamp };
  };
  svg.addEventListener("pointerup", (event) => end(event, false));
  svg.addEventListener("pointercancel", (event) => end(event, true));
}

const ARROWS = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] };

function keyboard(editor, place, { add, connect, change, pick, remove, rename, draw, say, undo, redo }) {
  const svg = place.querySelector(".canvas");
  svg.addEventListener("focusin", (event) => {
    const name = event.target.dataset?.node;
    if (name !== undefined && name !== editor.picked.node) pick({ node: name });
  });
  svg.addEventListener("keydown", (event) => {
    const node = editor.picked.node && find(editor.graph, editor.picked.node);
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const does = {
      Delete: remove, Backspace: remove, F2: rename, Enter: rename,
      Escape: () => {
        editor.start = null;
        say("");
        pick({});
      },
      n: () => {
        const spread = editor.graph.nodes.length;
        const { x, y, width, height } = editor.view;
        add(...Object.values(inside(editor.view, { x: x + 60 + ((spread * 97) % (width - 120)), y: y + 40 + ((spread * 61) % (height - 80)) })));
      },
      e: () => {
        if (!node) return;
        if (editor.start && editor.start !== node.name) connect(editor.start, node.name);
        else {
          editor.start = editor.start ? null : node.name;
          say(editor.start ? `An edge from ${node.name}: go to another node and press E, or Escape.` : "");
          draw();
        }
      },
    };
    if (command && key === "z") (event.shiftKey ? redo : undo)();
    else if (command && key === "y") redo();
    else if (command || event.altKey) return;
    else if (key in ARROWS && node) {
      const to = inside(editor.view, { x: node.x + ARROWS[key][0], y: node.y + ARROWS[key][1] });
      change(moved(editor.graph, node.name, to.x, to.y), { node: node.name });
    } else if (Object.hasOwn(does, key)) does[key]();
    else return;
    event.preventDefault();
    event.stopPropagation(); // Streamlit has shortcuts of its own
  });
}

// A box over the node takes its new name.
function ask(editor, place, then) {
  const box = place.querySelector(".name");
  const svg = place.querySelector(".canvas");
  const old = editor.picked.node;
  const node = find(editor.graph, old);
  const scale = svg.clientWidth / editor.view.width;
  box.style.left = `${(node.x - editor.view.x) * scale}px`;
  box.style.top = `${(node.y - editor.view.y) * scale}px`;
  box.value = old;
  box.hidden = false;
  box.focus();
  box.select();
  const close = (keep) => {
    if (box.hidden) return;
    box.hidden = true;
    if (keep) then(old, box.value.trim().replace(/\s+/g, " "));
    svg.focus({ preventScroll: true });
  };
  box.onblur = () => close(true);
  box.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Enter" || event.key === "Escape") close(event.key === "Enter");
  };
}
