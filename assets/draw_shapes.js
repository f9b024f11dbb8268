
// How nodes and edges of a drawing look; joined to draw_graph.js, whose names it uses.

function element(kind, attributes, text) {
  const made = document.createElementNS(NS, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function render(editor, place) {
  const { graph, picked } = editor;
  const nodes = place.querySelector(".nodes");
  const focused = nodes.querySelector(":focus")?.dataset.node;
  place.querySelector(".edges").replaceChildren(...graph.edges.map((edge, number) => edgeShape(editor, edge, number)));
  nodes.replaceChildren(...graph.nodes.map((node) => nodeShape(editor, node)));
  if (focused !== undefined) {
    const next = [...nodes.children].find((one) => one.dataset.node === (picked.node ?? focused));
    (next ?? place.querySelector(".canvas")).focus({ preventScroll: true });
  }
  place.querySelector(".empty").hidden = graph.nodes.length > 0;
  place.querySelector(".canvas").classList.toggle("moving", editor.tool === "move");
  const able = {
    undo: editor.past.length, redo: editor.future.length, rename: picked.node, remove: picked.node || picked.edge,
    clear: graph.nodes.length, arrange: graph.nodes.length,
  };
  for (const button of place.querySelectorAll("[data-do]")) {
    const name = button.dataset.do;
    if (name in able) button.disabled = !able[name];
    else button.setAttribute("aria-pressed", String(editor.tool === name));
  }
}

function nodeShape(editor, { name, x, y }) {
  const width = wide(name);
  const marks = [editor.picked.node === name && "picked", editor.start === name && "start", editor.target === name && "target"];
  const parents = editor.graph.edges.filter((edge) => edge[1] === name).map((edge) => edge[0]);
  const group = element("g", {
    class: ["node", ...marks.filter(Boolean)].join(" "), tabindex: 0, role: "button", transform: `translate(${x} ${y})`,
    "aria-label": parents.length ? `${name}, caused by ${parents.join(", ")}` : `${name}, without causes`,
  });
  group.dataset.node = name;
  group.append(
    element("title", {}, name),
    element("rect", { x: -width / 2, y: -HIGH / 2, width, height: HIGH, rx: 7 }),
    element("text", {}, short(name)),
  );
  return group;
}

// Slightly bent, so that an edge past a node on the straight line can still be seen.
function edgeShape(editor, [parent, child], number) {
  const from = find(editor.graph, parent);
  const to = find(editor.graph, child);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const bend = { x: (from.x + to.x) / 2 - 0.09 * dy, y: (from.y + to.y) / 2 + 0.09 * dx };
  const start = border(from, bend, 0);
  const tip = border(to, bend, 1);
  const length = Math.hypot(bend.x - tip.x, bend.y - tip.y) || 1;
  const along = { x: (tip.x - bend.x) / length, y: (tip.y - bend.y) / length };
  const neck = { x: tip.x - 11 * along.x, y: tip.y - 11 * along.y };
  const corner = (side) => `${neck.x - side * 5 * along.y},${neck.y + side * 5 * along.x}`;
  const d = `M${start.x} ${start.y} Q${bend.x} ${bend.y} ${neck.x} ${neck.y}`;
  const picked = editor.picked.edge && same(editor.picked.edge, [parent, child]);
  const group = element("g", { class: picked ? "edge picked" : "edge" });
  group.dataset.edge = number;
  group.append(
    element("title", {}, `${parent} → ${child}`),
    element("path", { class: "reach", d }),
    element("path", { class: "line", d }),
    element("polygon", { points: `${tip.x},${tip.y} ${corner(1)} ${corner(-1)}` }),
  );
  return group;
}

// Where the line from a node's middle towards a point leaves its box.
function border(node, towards, room) {
  const [dx, dy] = [towards.x - node.x, towards.y - node.y];
  const reach = Math.min(
    dx ? (wide(node.name) / 2 + room) / Math.abs(dx) : Infinity,
    dy ? (HIGH / 2 + room) / Math.abs(dy) : Infinity,
    1,
  );
  return { x: node.x + dx * reach, y: node.y + dy * reach };
}
