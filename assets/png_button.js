// A button that turns an SVG picture into a PNG of twice its size, in the browser and without a network. The PNG keeps
// what the SVG says of itself.
// The picture is requested when the button is pressed and comes with the number of that press.

const kept = new WeakMap(); // which press waits for its picture, if one does, in each place of the page
const LONGEST = 20000; // ms to wait for a picture, after which it may be requested again

export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  const slot = kept.get(parentElement) ?? { awaited: null, busy: false };
  kept.set(parentElement, slot);
  button.textContent = data.label;
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
    save(data, slot, button);
  }
}

function rest(slot, button) {
  slot.awaited = null;
  slot.busy = button.disabled = false;
}

function save(data, slot, button) {
  const picture = new Image(); // an SVG shown as an image runs no script
  const source = URL.createObjectURL(new Blob([data.svg], { type: "image/svg+xml" }));
  picture.onload = () => {
    const scale = Math.min(2, 12000 / Math.max(picture.width, picture.height)); // canvases have a largest size
    const canvas = document.createElement("canvas");
    canvas.width = picture.width * scale;
    canvas.height = picture.height * scale;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(source);
    canvas.toBlob(async (plain) => {
      const blob = await withText(plain, aboutOf(data.svg));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = data.file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      rest(slot, button);
    }, "image/png");
  };
  picture.onerror = () => {
    rest(slot, button);
    button.textContent = "PNG could not be drawn";
  };
  picture.src = source;
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
