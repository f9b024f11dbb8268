// The tools above the drawn graph: search and zoom, and what the reader hides, folds and takes back. The page, or the file
// that shows the graph, does what view.change says.

// Search and buttons -------------------------------------------------------------------------------------------------

function listenToTools(view) {
  const search = view.find(".search"), count = view.find(".count");
  const found = () => {
    const word = search.value.trim().toLowerCase();
    const all = [...view.data.nodes, ...view.data.hidden].filter((node) => word && node.name.toLowerCase().includes(word));
    const rank = (node) => {
      const name = node.name.toLowerCase();
      return (name === word ? 0 : name.startsWith(word) ? 1 : 2) + (view.byId.has(node.id) ? 0 : 3);
    };
    return all.sort((one, other) => rank(one) - rank(other));
  };
  search.addEventListener("input", () => {
    view.rest();
    const all = found();
    search.next = 0;
    count.textContent = search.value.trim() ? `${all.length} found` : "";
    if (all.length && view.byId.has(all[0].id)) point(view, all[0]);
  });
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      search.value = count.textContent = "";
      view.canvas.focus();
    }
    const all = event.key === "Enter" ? found() : [];
    if (!all.length) return;
    const node = all[(search.next ?? 0) % all.length];
    search.next = (search.next ?? 0) + 1;
    count.textContent = `${((search.next - 1) % all.length) + 1} of ${all.length}`;
    choose(view, node);
    if (view.byId.has(node.id)) centre(view, node.id);
    else view.sought = node.id; // it is hidden until the page draws it as the picked one
  });
  view.find(".fit").addEventListener("click", () => fit(view));
  view.find(".zoom-in").addEventListener("click", () => zoom(view, 1.35));
  view.find(".zoom-out").addEventListener("click", () => zoom(view, 1 / 1.35));
  press(view, ".reset", () => view.reset());
  press(view, ".alone", () => view.showAlone(!view.data.alone.shown));
  view.find(".tools").addEventListener("keydown", (event) => takesBack(view, event));
}

// Hide, fold, undo ----------------------------------------------------------------------------------------------------

function listenToArranging(view) {
  for (const what of ["undo", "redo"]) press(view, `.${what}`, () => view.change(what));
  press(view, ".all", () => view.change("all"));
  press(view, ".hide", () => hide(view));
  press(view, ".fold", () => fold(view));
  view.find(".groups").addEventListener("change", (event) => {
    if (!event.target.value) return;
    view.change(`group:${event.target.value}`);
    view.canvas.focus({ preventScroll: true });
  });
}

// A button that may disappear when it is pressed gives the focus to the canvas, so that the keys still work.
function press(view, name, act) {
  view.find(name).addEventListener("click", () => {
    act();
    view.canvas.focus({ preventScroll: true });
  });
}

function chosen(view) {
  if (view.selected.size) return [...view.selected];
  return view.byId.has(view.picked) ? [view.picked] : [];
}

function select(view, node) {
  if (!view.selected.delete(node.id)) view.selected.add(node.id);
  view.find(".spoken").textContent = `${node.name} ${view.selected.has(node.id) ? "selected" : "not selected"}`;
  mark(view);
  const first = view.byId.has(view.picked) ? view.picked : view.selected.size === 2 ? [...view.selected][0] : null;
  const isPair = view.data.picksPairs && view.selected.has(node.id) && first !== null && first !== node.id;
  if (isPair && ![first, node.id].some((id) => view.byId.get(id).folded)) view.pickPair(first, node.id);
}

function hide(view) {
  const ids = chosen(view);
  if (ids.length) view.change(`hide:${ids}`);
}

function fold(view) {
  if (view.data.folds && view.selected.size > 1) view.change(`fold:${[...view.selected]}`);
}

function takesBack(view, event) {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || !"zy".includes(key)) return false;
  const what = key === "y" || event.shiftKey ? "redo" : "undo";
  if (view.data[what]) view.change(what);
  event.preventDefault();
  event.stopPropagation();
  return true;
}

const PAIRS = "Click a node, then Shift + click another to ask for the effect of the first on the second. ";
const FOLDS = "Shift + click selects several nodes, to hide them or to fold them into one box. A click on a box unfolds it. Ctrl + Z takes back, Ctrl + Y makes it again.";
const HIDES = "Shift + click selects several nodes, to hide them. Ctrl + Z takes back, Ctrl + Y makes it again.";

// The buttons that have something to do, and a line of help.
function arrange(view) {
  const { data, selected } = view, groups = view.find(".groups"), ids = chosen(view);
  for (const what of ["undo", "redo"]) view.find(`.${what}`).hidden = !data[what];
  view.find(".all").hidden = !data.away;
  view.find(".all").textContent = `Show all (${data.away} more)`;
  view.find(".hide").hidden = !ids.length;
  view.find(".hide").textContent = ids.length > 1 ? `Hide ${ids.length}` : "Hide";
  view.find(".fold").hidden = !data.folds || selected.size < 2;
  view.find(".fold").textContent = `Fold ${selected.size}`;
  view.find(".help").textContent = (data.picksPairs ? PAIRS : "") + (data.folds ? FOLDS : HIDES);
  groups.hidden = !data.groups.length;
  groups.replaceChildren(new Option("Fold by name …", ""), ...data.groups.map((name, place) => new Option(name, place)));
}
