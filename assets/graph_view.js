// The causal graph on a vis-network canvas: nodes keep their places, a click or a search picks one.
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
  slot.view.show(data);
}

function makeView(place) {
  const frame = place.querySelector(".frame");
  const canvas = place.querySelector(".canvas");
  const hover = place.querySelector(".hover");
  const nodes = new globalThis.vis.DataSet();
  const edges = new globalThis.vis.DataSet();
  const network = new globalThis.vis.Network(canvas, { nodes, edges }, options());
  const view = { data: null, picked: null, pick: () => {}, shown: "", ink: "", spoken: 15 };

  view.show = (data) => {
    view.data = data;
    view.picked = data.picked;
    canvas.style.height = `${data.height}px`;
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
    if (id === view.picked) return;
    view.picked = id;
    draw(view, nodes, edges, frame);
    view.pick(id);
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
  const role = (id) => (id === picked ? "picked" : parents.has(id) ? "parent" : children.has(id) ? "child" : "other");
  replace(nodes, data.nodes.map((node) => asNode(node, role(node.id), known, data.roles, colour, view.spoken, data.nodes.length <= 40)));
  replace(edges, data.edges.map((edge) => asEdge(edge, picked, known, data.roles, colour, data.edges.length > 150)));
}

function asNode(node, role, known, roles, colour, spoken, few) {
  const faint = known && role === "other";
  const border = { picked: colour.ink, parent: roles.parent, child: roles.child, other: colour.line }[role];
  return {
    id: node.id, label: node.label, x: node.x, y: node.y, shape: "box", opacity: faint ? 0.45 : 1,
    borderWidth: role === "other" ? 1 : 3, borderWidthSelected: 3,
    color: { background: colour.box, border, highlight: { background: colour.box, border }, hover: { background: colour.box, border: colour.ink } },
    font: { color: colour.ink, size: role === "other" && !few ? 15 : spoken, face: colour.font },
  };
}

function asEdge(edge, picked, known, roles, colour, many) {
  const touches = edge.to === picked || edge.from === picked;
  const tint = !known || !touches ? colour.ink : edge.to === picked ? roles.parent : roles.child;
  return {
    id: edge.id, from: edge.from, to: edge.to, width: edge.width, dashes: edge.whole ? false : [7, 5],
    color: { color: tint, highlight: tint, hover: tint, opacity: known ? (touches ? 1 : many ? 0.07 : 0.2) : (edge.whole ? 0.5 : 0.35) * (many ? 0.7 : 1) },
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
      arrows: { to: { enabled: true, scaleFactor: 0.55 } }, smooth: { type: "curvedCW", roundness: 0.06 },
      selectionWidth: 0, hoverWidth: 0.5, arrowStrikethrough: false,
    },
    interaction: {
      hover: true, hoverConnectedEdges: false, selectConnectedEdges: false, dragNodes: true,
      tooltipDelay: 1e9, zoomSpeed: 0.5, keyboard: false, hideEdgesOnDrag: false,
    },
  };
}
