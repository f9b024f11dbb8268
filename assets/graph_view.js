// The drawn graph as a component of a page: what the reader does there goes to the app, which draws it anew.

const kept = new WeakMap(); // what is drawn in each place of the page, so that a rerun changes it and redraws nothing

export default function ({ data, parentElement, setTriggerValue }) {
  const view = kept.get(parentElement) ?? makeView(parentElement);
  kept.set(parentElement, view);
  view.pick = (id) => setTriggerValue("picked", id ?? "none");
  view.pickEdge = (id) => setTriggerValue("picked_edge", id);
  view.pickPair = (id, other) => setTriggerValue("picked_pair", `${id}-${other}`);
  view.move = (id, x, y) => setTriggerValue("moved", `${id}:${x}:${y}`);
  view.reset = () => setTriggerValue("moved", "none");
  view.change = (words) => setTriggerValue("changed", words);
  view.showAlone = (shown) => setTriggerValue("alone", shown ? "shown" : "hidden");
  view.show(data);
  return () => view.rest();
}
