// What the rows of a hypothesis attend to: the mask of each view, and the weights of a layer and head.

import { decimal, node, percent, shape, showTip, hideTip, textWidth } from "./dom.js";
import { decodeWeights } from "./source.js";

const NAMES = { STACK: "everything on the stack", COMPOSE: "a head and what it absorbs", POPSTACK: "what a POP leaves", LINEAR: "all earlier rows" };

// The controls and the picture; `choice` is {view, layer, head}, which `change` replaces.
export function showAttention(found, choice, change) {
  const view = Math.min(choice.view, found.views.length - 1);
  const layers = found.heads.length;
  const layer = choice.layer === "mask" || choice.layer < layers ? choice.layer : 0;
  const heads = layer === "mask" ? [] : found.heads[layer].map((seen, head) => ({ seen, head })).filter(({ seen }) => seen === view);
  const isKnown = choice.head === "mean" || heads.some(({ head }) => head === choice.head);
  const head = isKnown ? choice.head : "mean";
  const weights = layer === "mask" || !heads.length ? null : weightsOf(found, layer, head, heads);
  const select = (label, key, value, options) =>
    node("label", {}, `${label} `, node("select", { "data-key": `attention-${key}`, onchange: (event) => change({ ...choice, [key]: /^\d+$/.test(event.target.value) ? Number(event.target.value) : event.target.value }) }, options.map(([one, text]) => node("option", { value: one, selected: one === value }, text))));
  const controls = node(
    "div",
    { class: "row" },
    found.views.length > 1 ? select("View", "view", view, found.views.map((one, place) => [place, one.name])) : null,
    select("Show", "layer", layer, [["mask", "mask and positions"], ...Array.from({ length: layers }, (_, i) => [i, `weights, layer ${i + 1}`])]),
    layer === "mask" ? null : select("Head", "head", head, [["mean", heads.length > 1 ? "mean of all" : heads.length ? "mean" : "none in this layer"], ...heads.map(({ head: one }) => [one, `head ${one + 1}`])]),
  );
  const said = node("p", { class: "note", id: "attention-row" }, "Each line is a row of the decoder: what it reads, the rows it may attend to, and what it predicts. Point at a cell.");
  const picture = matrix(found, found.views[view], weights, said);
  return { element: node("div", {}, controls, legend(found), node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Attention, row by row" }, picture), said), picture };
}

function weightsOf(found, layer, head, heads) {
  const wanted = head === "mean" ? heads.map((one) => one.head) : [head];
  const all = wanted.map((one) => decodeWeights(found.weights[layer][one]));
  return all[0].map((_, place) => all.reduce((sum, one) => sum + one[place], 0) / all.length);
}

function legend(found) {
  const kinds = [...new Set(found.rows.map((row) => row.kind))];
  return node("p", { class: "kinds" }, kinds.map((kind) => node("span", { class: `kind-${kind}` }, node("i", {}), `${kind}: attends to ${NAMES[kind] ?? "some rows"}`)));
}

function matrix(found, view, weights, said) {
  const count = found.rows.length;
  const cell = count > 60 ? 11 : count > 36 ? 14 : 18;
  const names = found.rows.map((row) => row.reads.map(plain).join(" + "));
  const size = Math.min(12, cell - 2);
  const left = Math.max(...names.map((name) => textWidth(name, size))) + 28;
  const right = Math.max(...found.rows.map((row) => textWidth(`→ ${plain(row.predicts ?? "")}`, size))) + 12;
  const top = left - 12;
  const content = [];
  let place = 0;
  found.rows.forEach((row, index) => {
    const y = top + index * cell;
    const cells = view.attends[index].map((key, number) => {
      const weight = weights ? weights[place++] : null;
      const relative = view.relative[index][number];
      const what = `row ${index}, ${names[index]}, attends to row ${key}, ${names[key]}, at position ${decimal(relative, 0)}`;
      const text = weight === null ? what : `${what}: ${percent(weight)}`;
      const x = left + key * cell;
      return shape(
        "g",
        { class: "cell", onpointerenter: (event) => { showTip(event, text); said.textContent = text; }, onpointerleave: hideTip },
        shape("rect", { class: "back", x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1 }),
        shape("rect", { class: "front", x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, "fill-opacity": weight === null ? 1 : 0.04 + 0.96 * Math.sqrt(weight) }),
        weight === null && cell >= 14 ? shape("text", { x: x + cell / 2, y: y + cell / 2 + 3.5, "text-anchor": "middle", "font-size": 9 }, decimal(relative, 0)) : null,
      );
    });
    content.push(
      shape("g", { class: `row kind-${row.kind}` },
        shape("rect", { class: "line", x: left, y: y, width: count * cell, height: cell }),
        shape("text", { class: "name", x: left - 22, y: y + cell / 2 + 4, "text-anchor": "end", "font-size": size }, names[index]),
        shape("text", { class: "number", x: left - 5, y: y + cell / 2 + 3.5, "text-anchor": "end", "font-size": 9 }, String(index)),
        shape("text", { class: "number", transform: `translate(${left + index * cell + cell / 2 + 3.5} ${top - 6}) rotate(-90)`, "font-size": Math.min(11, size) }, names[index]),
        row.predicts ? shape("text", { class: "name", x: left + count * cell + 6, y: y + cell / 2 + 4, "font-size": size }, `→ ${plain(row.predicts)}`) : null,
        cells),
    );
  });
  const width = left + count * cell + right;
  const height = top + count * cell + 6;
  return shape("svg", { class: "matrix", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Attention of ${count} rows` }, content);
}

// Subwords that begin a word are written without the mark, others with a hyphen; operations as they are.
function plain(text) {
  if (text.startsWith("GEN(")) return `GEN(${plain(text.slice(4, -1))})`;
  if (text.startsWith("▁")) return text.slice(1) || "▁";
  return /^(<|$|[A-Z]{2,}2?([[(]|$))/.test(text) ? text : `‑${text}`;
}
