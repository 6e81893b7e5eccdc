// The beam after a word: the most probable partial trees as cards, which move to their new rank.

import { decimal, node, percent, replaceContent, bits } from "./dom.js";
import { pictureButtons } from "./pictures.js";
import { drawStack, drawTree, speakTree } from "./trees.js";

const MOVE = { duration: 420, easing: "cubic-bezier(.3,.8,.3,1)" };

// A section for each pane; cards that were there before slide from where they were.
export function showHypotheses(container, panes, app) {
  const before = places(container);
  replaceContent(container, panes.map((pane, number) => section(pane, number, panes.length > 1, app)));
  container.classList.toggle("pair", panes.length > 1);
  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) animate(container, before);
}

function section(pane, number, isPair, app) {
  const record = pane.records[pane.current];
  const which = isPair ? `${["A", "B"][number]}: ` : "";
  const heading = record
    ? [`${which}After “`, node("em", {}, pane.words[pane.current]), "” "]
    : [`${which}${pane.words.length ? "computing …" : "type a sentence"}`];
  const id = `h-beam-${number}`;
  const about = record ? summary(record, pane) : null;
  const cards = record
    ? record.hypotheses.map((hypothesis, rank) => card(pane, number, record, hypothesis, rank, app))
    : [];
  return node(
    "section",
    { class: `beam pane-${number}`, "aria-labelledby": id },
    node("div", { class: "heading" }, node("h2", { id }, heading), about),
    pane.model.kind === null && record
      ? node("p", { class: "note" }, `${pane.model.name} generates words without a tree: there is one hypothesis, and no structure to be surprised at.`)
      : node("ol", { class: "cards" }, cards),
    rest(record),
  );
}

function summary(record, pane) {
  const isLow = record.kept < 0.9;
  const said = [`${decimal(bits(record.surprisal))} bits`];
  if (pane.model.kind !== null) said.push(`${record.count} ${record.count === 1 ? "hypothesis" : "hypotheses"}`, `entropy ${decimal(bits(record.entropy), 2)} bits`);
  return node("p", { class: "about" }, said.join(" · "), pane.model.kind === null ? null : [" · ", node("span", { class: isLow ? "warn" : null }, `${isLow ? "⚠ " : ""}kept ${percent(record.kept)}`)]);
}

function rest(record) {
  if (!record || record.count <= record.hypotheses.length) return null;
  const shown = record.hypotheses.reduce((sum, one) => sum + one.probability, 0);
  const others = record.count - record.hypotheses.length;
  return node("p", { class: "note" }, `and ${others} more ${others === 1 ? "hypothesis" : "hypotheses"}, together ${percent(Math.max(0, 1 - shown))}`);
}

function card(pane, number, record, hypothesis, rank, app) {
  const words = pane.words.slice(0, pane.current + 1);
  const { name, colour } = pane.lineages[pane.current][rank];
  const isPicked = app.picked === number && app.picks[number] === rank;
  const moved = pane.current > 0 ? hypothesis.parent - rank : 0;
  const before = moved > 0 ? `▲ from ${hypothesis.parent + 1}` : moved < 0 ? `▼ from ${hypothesis.parent + 1}` : "";
  const latest = hypothesis.actions[hypothesis.actions.length - 1];
  const tree = drawTree(words, hypothesis.tree);
  return node(
    "li",
    { class: `card colour-${colour}${isPicked ? " picked" : ""}`, "data-lineage": name, "data-probability": hypothesis.probability },
    node(
      "button",
      {
        type: "button",
        class: "choose",
        "data-key": `card-${number}-${rank}`,
        "aria-pressed": isPicked ? "true" : "false",
        "aria-label": `Hypothesis ${name}, rank ${rank + 1}, ${percent(hypothesis.probability)}: ${speakTree(words, hypothesis.tree)}`,
        onclick: () => app.pick(number, rank),
      },
      node("span", { class: "badge" }, name),
      node("span", { class: "probability" }, percent(hypothesis.probability)),
      node("span", { class: "meter" }, node("span", { style: { width: `${100 * hypothesis.probability}%` } })),
      node("span", { class: "moved" }, before),
    ),
    node("div", { class: "drawing", tabindex: "-1" }, tree),
    drawStack(words, hypothesis.tree),
    node(
      "div",
      { class: "below" },
      node("span", { class: "latest" }, latest ? `${latest.split(" ").join(" · ")}, then GEN(${words[words.length - 1]})` : `GEN(${words[words.length - 1]})`),
      tree ? pictureButtons(() => tree, `tree-${name}`, `tree of hypothesis ${name}`) : null,
    ),
  );
}

function places(container) {
  const found = new Map();
  for (const pane of container.querySelectorAll(".beam")) {
    for (const one of pane.querySelectorAll(".card")) found.set(`${pane.className} ${one.dataset.lineage}`, one.getBoundingClientRect());
  }
  return found;
}

function animate(container, before) {
  for (const pane of container.querySelectorAll(".beam")) {
    for (const one of pane.querySelectorAll(".card")) {
      const old = before.get(`${pane.className} ${one.dataset.lineage}`);
      const now = one.getBoundingClientRect();
      if (!old) {
        if (before.size) one.animate([{ opacity: 0 }, { opacity: 1 }], MOVE);
      } else if (Math.abs(old.top - now.top) > 1) {
        one.animate([{ transform: `translateY(${old.top - now.top}px)` }, { transform: "none" }], MOVE);
      }
    }
  }
}
