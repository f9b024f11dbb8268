// A button that turns an SVG picture into a PNG of twice its size, or prints it on a page of its own size, from which
// the browser makes a PDF: in the browser and without a network. The PNG keeps what the SVG says of itself.
// The picture is requested when the button is pressed and comes with the number of that press.

const kept = new WeakMap(); // which press waits for its picture, if one does, in each place of the page
const FACTS = 60; // px below a printed picture
const LONGEST = 20000; // ms to wait for a picture, after which it may be requested again

export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  const slot = kept.get(parentElement) ?? { awaited: null, busy: false };
  kept.set(parentElement, slot);
  button.textContent = data.label;
  button.title = data.help;
  button.disabled = slot.busy;
  button.onclick = () => {
    const press = Date.now();
    slot.awaited = press;
    slot.busy = button.disabled = true;
    setTriggerValue("press", press);
    setTimeout(() => slot.awaited === press && rest(slot, button), LONGEST);
  };
  if (data.svg && data.press === slot.awaited) {
    slot.awaited = null; // drawn again with the same picture, it is not saved again
    draw(data, slot, button);
  }
}

function rest(slot, button) {
  slot.awaited = null;
  slot.busy = button.disabled = false;
}

function draw(data, slot, button) {
  const picture = new Image(); // an SVG shown as an image runs no script
  const source = URL.createObjectURL(new Blob([data.svg], { type: "image/svg+xml" }));
  picture.onload = async () => {
    picture.onload = picture.onerror = null; // a picture that moves into another document is loaded again
    if (data.kind === "PDF") print(picture, data);
    else await save(picture, data);
    setTimeout(() => URL.revokeObjectURL(source), 10000);
    rest(slot, button);
  };
  picture.onerror = () => {
    rest(slot, button);
    button.textContent = `${data.kind} could not be drawn`;
  };
  picture.src = source;
}

async function save(picture, data) {
  const scale = Math.min(2, 12000 / Math.max(picture.width, picture.height)); // canvases have a largest size
  const canvas = document.createElement("canvas");
  canvas.width = picture.width * scale;
  canvas.height = picture.height * scale;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const plain = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await withText(plain, aboutOf(data.svg)));
  link.download = data.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Print the picture alone, and below it what it says of itself, from a frame that goes when the dialog is closed. The
// frame's title is the name that the dialog proposes.
function print(picture, data) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0;";
  document.body.append(frame);
  const inside = frame.contentDocument;
  const [style, said] = [inside.createElement("style"), inside.createElement("p")];
  const facts = Object.entries(JSON.parse(aboutOf(data.svg) || "{}"));
  said.textContent = facts.map(([name, value]) => `${name}: ${value}`).join(" · ");
  style.textContent = `@page { size: ${picture.width}px ${picture.height + FACTS}px; margin: 0; }
    body { margin: 0; } img { display: block; }
    p { box-sizing: border-box; height: ${FACTS}px; margin: 0; padding: 0 12px; overflow: hidden; overflow-wrap: anywhere;
      font: 9px/11px sans-serif; color: #566066; }`;
  inside.title = data.file.replace(/\.pdf$/, "");
  inside.head.append(style);
  inside.body.append(inside.adoptNode(picture), said);
  frame.contentWindow.onafterprint = () => setTimeout(() => frame.remove());
  frame.contentWindow.print();
}

// What the picture says of itself, as the SVG holds it.
function aboutOf(svg) {
  return new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("metadata")?.textContent ?? "";
}

// The PNG with a text chunk "Description" (iTXt, UTF-8) behind its header, which is always 33 bytes long.
async function withText(png, text) {
  if (!text) return png;
  const content = new TextEncoder().encode(`iTXtDescription\0\0\0\0\0${text}`);
  const frame = new DataView(new ArrayBuffer(8));
  frame.setUint32(0, content.length - 4);
  frame.setUint32(4, crc(content));
  return new Blob([png.slice(0, 33), frame.buffer.slice(0, 4), content, frame.buffer.slice(4), png.slice(33)], { type: "image/png" });
}

function crc(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
