// A button that turns an SVG picture into a PNG of twice its size, in the browser and without a network.

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.disabled = false;
  button.onclick = () => save(data, button);
}

function save(data, button) {
  const picture = new Image(); // an SVG shown as an image runs no script
  const source = URL.createObjectURL(new Blob([data.svg], { type: "image/svg+xml" }));
  button.disabled = true;
  picture.onload = () => {
    const scale = Math.min(2, 12000 / Math.max(picture.width, picture.height)); // canvases have a largest size
    const canvas = document.createElement("canvas");
    canvas.width = picture.width * scale;
    canvas.height = picture.height * scale;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(source);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = data.file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      button.disabled = false;
    }, "image/png");
  };
  picture.onerror = () => {
    button.textContent = "PNG could not be drawn";
  };
  picture.src = source;
}
