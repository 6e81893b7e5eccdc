// Every drawing can be saved: as SVG with its colours in it, as PNG, or printed to PDF by the browser.

import { node } from "./dom.js";

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "font-style", "display"];
const PNG_SCALE = 3;

// `draw` gives the SVG element; `name` is that of the file, `what` what is said of it.
export function pictureButtons(draw, name, what) {
  const save = (kind, write) =>
    node("button", { type: "button", class: "quiet", "aria-label": `Save the ${what} as ${kind}`, onclick: () => write(standalone(draw()), `dtg-${name}`) }, kind);
  return node("span", { class: "pictures" }, save("SVG", saveSvg), save("PNG", savePng), save("PDF", printPdf));
}

// A copy of a drawing with all that the style sheet says of it.
function standalone(drawing) {
  const holder = node("div", { class: "hidden" });
  if (!drawing.isConnected) {
    holder.append(drawing);
    document.body.append(holder);
  }
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of KEPT) element.style.setProperty(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const background = getComputedStyle(document.body).backgroundColor;
  holder.remove();
  const [x, y, width, height] = (copy.getAttribute("viewBox") ?? "").split(" ").map(Number);
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ x, y, width, height, fill: background })) back.setAttribute(key, value);
  copy.prepend(back);
  return copy;
}

function saveSvg(drawing, name) {
  download(new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" }), `${name}.svg`);
}

function savePng(drawing, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = node("canvas", { width: drawing.getAttribute("width") * PNG_SCALE, height: drawing.getAttribute("height") * PNG_SCALE });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, `${name}.png`));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawing))}`;
}

// Browsers print to PDF: the page is put aside for a moment, and only the drawing is there.
function printPdf(drawing) {
  const sheet = node("div", { class: "sheet" }, drawing);
  document.body.append(sheet);
  document.body.classList.add("printing");
  window.print();
  document.body.classList.remove("printing");
  sheet.remove();
}

export function download(blob, name) {
  const link = node("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
