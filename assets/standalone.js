// The drawn graph in a file of its own: nothing is asked of anyone; dragged nodes stay until the file is opened again.

const held = JSON.parse(document.getElementById("graph").textContent).data;
const view = makeView(document.body);
const asWritten = () => structuredClone({ ...held, height: Math.max(320, innerHeight - 190), moved: false });
view.move = () => (view.find(".reset").hidden = false);
view.reset = () => view.show({ ...asWritten(), picked: view.picked, pickedEdge: view.pickedEdge });
view.show(asWritten());
addEventListener("resize", () => (view.canvas.style.height = `${Math.max(320, innerHeight - 190)}px`));
