// Elements of HTML and SVG in one line each, and numbers as people read them.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function node(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// The page as it is stays where it is: whoever had the focus keeps it.
export function replaceContent(element, ...children) {
  const held = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (held !== undefined) element.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

let pen = null;

export function textWidth(text, size, weight = 400) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

export function bits(nats) {
  return nats === null ? NaN : nats / Math.LN2;
}

export function decimal(value, digits = 1) {
  if (!Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export function signed(value, digits = 1) {
  const text = decimal(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export function percent(share) {
  if (share === null) return "–";
  const value = 100 * share;
  if (value >= 99.95 && value < 100) return "> 99.9 %";
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value >= 99.95 ? "100" : value.toFixed(1)} %`;
}

// A tooltip for the mouse; what it says is in the element's label or title for everybody else.
export function withTip(element, text) {
  element.addEventListener("pointerenter", (event) => showTip(event, text));
  element.addEventListener("pointermove", (event) => showTip(event, text));
  element.addEventListener("pointerleave", hideTip);
  return element;
}

export function showTip(event, text) {
  const tip = byId("tip");
  tip.textContent = text;
  tip.hidden = false;
  const width = tip.offsetWidth;
  const left = Math.min(Math.max(8, event.clientX + 12), document.documentElement.clientWidth - width - 8);
  const above = event.clientY + 20 + tip.offsetHeight > window.innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${above ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}
