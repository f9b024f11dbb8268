// The causal graph on a vis-network canvas: nodes keep their places, a click or a search picks one. If requested, a click
// picks an edge.
// Names are only ever set as text: vis draws them on the canvas, the hover box takes textContent.

const kept = new WeakMap(); // what is drawn in each place of the page, so that a rerun changes it and redraws nothing

export default function (component) {
  const { parentElement } = component;
  const slot = kept.get(parentElement) ?? { view: null };
  kept.set(parentElement, slot);
  slot.latest = component;
  whenReady(slot, parentElement);
  return () => slot.view?.rest();
}

// The library is loaded beside this component, perhaps a moment later.
function whenReady(slot, place) {
  if (!globalThis.vis?.Network) {
    clearTimeout(slot.wait);
    slot.wait = setTimeout(() => whenReady(slot, place), 25);
    return;
  }
  slot.view ??= makeView(place);
  const { data, setTriggerValue } = slot.latest;
  slot.view.pick = (id) => setTriggerValue("picked", id ?? "none");
  slot.view.pickEdge = (id) => setTriggerValue("picked_edge", id);
  slot.view.show(data);
}

function makeView(place) {
  const frame = place.querySelector(".frame");
  const canvas = place.querySelector(".canvas");
  const hover = place.querySelector(".hover");
  const nodes = new globalThis.vis.DataSet();
  const edges = new globalThis.vis.DataSet();
  const network = new globalThis.vis.Network(canvas, { nodes, edges }, options());
  canvas.network = network; // for who asks the page where a node or an edge lies, as a browser test does
  const view = { data: null, picked: null, pickedEdge: null, pick: () => {}, pickEdge: () => {}, shown: "", ink: "", spoken: 15 };

  view.show = (data) => {
    view.data = data;
    view.picked = data.picked;
    view.pickedEdge = data.pickedEdge;
    canvas.style.height = `${data.height}px`;
    frame.classList.toggle("refined", data.picksEdges);
    frame.classList.toggle("missed", data.nodes.some((node) => node.missed));
    explain(frame, data.verdicts);
    draw(view, nodes, edges, frame);
    // The camera moves only when other nodes are shown, never for a threshold or a click.
    const shown = data.nodes.map((node) => node.id).join("\u0000");
    if (shown !== view.shown) {
      const first = view.shown === "";
      view.shown = shown;
      requestAnimationFrame(() => {
        fit(network, data, first);
        view.speakUp();
      });
    } else if (data.focus && data.focus !== view.focused) {
      network.focus(data.focus, { scale: Math.max(network.getScale(), 0.8), animation: { duration: 400 } });
    }
    view.focused = data.focus;
  };
  view.rest = () => {
    hover.hidden = true;
  };

  network.on("click", (event) => {
    const id = event.nodes.length ? event.nodes[0] : null;
    const found = id === null && view.data.picksEdges ? network.getEdgeAt(event.pointer.DOM) : undefined;
    const edge = view.data.edges.find((one) => one.id === found && !one.absent)?.id ?? null;
    if (id === view.picked && edge === view.pickedEdge) return;
    view.picked = id;
    view.pickedEdge = edge;
    draw(view, nodes, edges, frame);
    edge === null ? view.pick(id) : view.pickEdge(edge);
  });
  network.on("hoverNode", (event) => say(view.data.nodes.find((node) => node.id === event.node)?.title, event.pointer));
  network.on("hoverEdge", (event) => say(view.data.edges.find((edge) => edge.id === event.edge)?.title, event.pointer));
  frame.addEventListener("mouseleave", () => (hover.hidden = true));
  for (const end of ["blurNode", "blurEdge", "dragStart", "zoom"]) network.on(end, () => (hover.hidden = true));
  // Seen from afar, the picked node and its neighbours keep a size that can be read.
  const speakUp = () => {
    const spoken = Math.round(Math.min(60, Math.max(15, 12 / network.getScale())));
    if (spoken === view.spoken || !view.data) return;
    view.spoken = spoken;
    draw(view, nodes, edges, frame);
  };
  network.on("zoom", speakUp);
  network.on("animationFinished", speakUp);
  view.speakUp = speakUp;
  network.on("beforeDrawing", () => {
    // The page's theme may change without a rerun.
    if (view.data && colours(frame).ink !== view.ink) draw(view, nodes, edges, frame);
  });
  place.querySelector(".fit").addEventListener("click", () => fit(network, view.data, false));
  for (const [name, factor] of [["in", 1.35], ["out", 1 / 1.35]]) {
    place.querySelector(`.zoom-${name}`).addEventListener("click", () =>
      network.moveTo({ scale: network.getScale() * factor, animation: { duration: 150 } })
    );
  }
  // The first draw may happen in a page part that is not yet laid out.
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(canvas.clientWidth - width) < 40) return;
    width = canvas.clientWidth;
    network.setSize("100%", `${view.data?.height ?? 400}px`);
    if (view.data) fit(network, view.data, true);
    view.speakUp();
  }).observe(canvas);

  function say(text, pointer) {
    if (!text) return;
    hover.textContent = text;
    hover.hidden = false;
    const room = canvas.clientWidth - hover.offsetWidth - 8;
    hover.style.left = `${Math.max(4, Math.min(pointer.DOM.x + 14, room))}px`;
    hover.style.top = `${Math.max(4, pointer.DOM.y - hover.offsetHeight - 12)}px`;
  }
  return view;
}

// The key of a graph compared with a known truth: one line per verdict in it.
function explain(frame, verdicts) {
  frame.classList.toggle("truth", Boolean(verdicts));
  const entries = Object.values(verdicts ?? {}).map((verdict) => {
    const sample = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    sample.setAttribute("width", "36");
    sample.setAttribute("height", "10");
    const line = part("line", { x1: 0, y1: 5, x2: 36, y2: 5, stroke: verdict.colour, "stroke-width": 3, "stroke-dasharray": verdict.dash.join(" ") });
    const tail = verdict.has_dot ? [part("circle", { cx: 5, cy: 5, r: 4.5, fill: verdict.colour })] : [];
    sample.append(line, ...tail);
    const entry = document.createElement("span");
    entry.append(sample, verdict.meaning);
    return entry;
  });
  frame.querySelector(".verdicts").replaceChildren(...entries);
}

function part(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function fit(network, data, atOnce) {
  if (data.nodes.length) {
    network.fit({ maxZoomLevel: 1.4, animation: atOnce ? false : { duration: 300 } });
  }
}

function colours(frame) {
  const style = getComputedStyle(frame);
  const read = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  return {
    ink: read("--st-text-color", "#1F2A30"),
    paper: read("--st-background-color", "#FFFFFF"),
    box: read("--st-secondary-background-color", "#F0F1EE"),
    line: read("--st-border-color", "#B9C0C4"),
    font: read("--st-font", "sans-serif"),
  };
}

function draw(view, nodes, edges, frame) {
  const { data, picked } = view;
  const colour = colours(frame);
  view.ink = colour.ink;
  const known = picked !== null && data.nodes.some((node) => node.id === picked);
  const parents = new Set(data.edges.filter((edge) => known && edge.to === picked).map((edge) => edge.from));
  const children = new Set(data.edges.filter((edge) => known && edge.from === picked).map((edge) => edge.to));
  const ends = data.edges.filter((edge) => edge.id === view.pickedEdge).flatMap((edge) => [edge.from, edge.to]);
  const role = (id) => (id === picked || ends.includes(id) ? "picked" : parents.has(id) ? "parent" : children.has(id) ? "child" : "other");
  replace(nodes, data.nodes.map((node) => asNode(node, role(node.id), known, data.roles, colour, view.spoken, data.nodes.length <= 40)));
  const many = data.edges.length > 150;
  replace(edges, data.edges.map((edge) => asEdge(edge, view, known, colour, many)));
}

function asNode(node, role, known, roles, colour, spoken, few) {
  const faint = known && role === "other";
  const border = { picked: colour.ink, parent: roles.parent ?? colour.ink, child: roles.child ?? colour.ink, other: colour.line }[role];
  const bare = { picked: roles.parent ? 3 : 4, parent: roles.parent ? 3 : 2, child: roles.child ? 3 : 2, other: 1 }[role];
  const width = node.missed ? Math.max(bare, 2) : bare;
  const edge = node.missed && role === "other" ? colour.ink : border;
  return {
    id: node.id, label: node.label, x: node.x, y: node.y, shape: "box", opacity: faint ? 0.45 : 1,
    borderWidth: width, borderWidthSelected: width,
    shapeProperties: { borderRadius: 7, borderDashes: node.missed ? [5, 4] : false },
    color: { background: colour.box, border: edge, highlight: { background: colour.box, border: edge }, hover: { background: colour.box, border: colour.ink } },
    font: { color: colour.ink, size: role === "other" && !few ? 15 : spoken, face: colour.font },
  };
}

function asEdge(edge, view, known, colour, many) {
  const { data, picked } = view;
  const chosen = edge.id === view.pickedEdge;
  const touches = edge.to === picked || edge.from === picked;
  const verdict = data.verdicts?.[edge.verdict];
  const tint = verdict?.colour ?? (!known || !touches ? colour.ink : edge.to === picked ? data.roles.parent : data.roles.child);
  const strength = verdict ? 0.9 : edge.whole ? 0.5 : 0.35;
  const dash = verdict ? verdict.dash : edge.whole ? [] : [7, 5];
  return {
    id: edge.id, from: edge.from, to: edge.to, width: edge.width + (chosen ? 3 : 0), dashes: dash.length ? dash : false,
    arrows: {
      to: { enabled: true, scaleFactor: 0.55, type: edge.absent ? "vee" : "arrow" },
      from: { enabled: Boolean(verdict?.has_dot), scaleFactor: 0.45, type: "circle" },
    },
    color: { color: tint, highlight: tint, hover: tint, opacity: chosen ? 1 : known ? (touches ? 1 : many ? 0.07 : 0.2) : strength * (many ? 0.7 : 1) },
  };
}

function replace(set, items) {
  const wanted = new Set(items.map((item) => item.id));
  set.remove(set.getIds().filter((id) => !wanted.has(id)));
  set.update(items);
}

function options() {
  return {
    physics: false,
    layout: { improvedLayout: false },
    nodes: { margin: 7, shapeProperties: { borderRadius: 7 }, labelHighlightBold: false },
    edges: {
      smooth: { type: "curvedCW", roundness: 0.06 },
      selectionWidth: 0, hoverWidth: 0.5, arrowStrikethrough: false,
    },
    interaction: {
      hover: true, hoverConnectedEdges: false, selectConnectedEdges: false, dragNodes: true,
      tooltipDelay: 1e9, zoomSpeed: 0.5, keyboard: false, hideEdgesOnDrag: false,
    },
  };
}
