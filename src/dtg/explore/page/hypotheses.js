// The beam after a word: the most probable partial trees as cards, which move to their new rank.

import { bits, decimal, node, percent, replaceContent, withTip } from "./dom.js";
import { pictureButtons } from "./pictures.js";
import { drawStack, drawTree, speakTree } from "./trees.js";

const MOVE = { duration: 420, easing: "cubic-bezier(.3,.8,.3,1)" };

// A section for each pane; cards that were there before slide from where they were.
export function showHypotheses(container, panes, app) {
  const before = places(container);
  replaceContent(container, panes.map((pane, number) => section(pane, number, panes.length > 1, app)));
  container.classList.toggle("pair", panes.length > 1);
  for (const drawing of container.querySelectorAll(".drawing")) drawing.scrollLeft = drawing.scrollWidth; // the latest words
  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) animate(container, before);
}

function section(pane, number, isPair, app) {
  const record = pane.records[pane.current];
  const which = isPair ? `${String(number + 1)}: ` : "";
  const heading = record
    ? [`${which}After “`, node("em", {}, pane.words[pane.current]), "” "]
    : [`${which}${pane.words.length ? "computing …" : "type a sentence"}`];
  const id = `h-beam-${number}`;
  const about = record ? summary(record, pane) : null;
  const shown = record ? shownOf(record, app.showsAll, app.picks[number]) : 0;
  const cards = record
    ? record.hypotheses.slice(0, shown).map((hypothesis, rank) => card(pane, number, hypothesis, rank, app))
    : [];
  return node(
    "section",
    { class: `beam pane-${number}`, "aria-labelledby": id },
    node("div", { class: "heading" }, node("h2", { id }, heading), about),
    pane.model.kind === null && record
      ? node("p", { class: "note" }, `${pane.model.name} generates words without a tree: there is one hypothesis, and no structure to be surprised at. `, app.picked === number ? null : node("button", { type: "button", onclick: () => app.pick(number, 0) }, "Next words and attention"))
      : node("ol", { class: "cards" }, cards),
    rest(record, shown, app),
  );
}

function summary(record, pane) {
  const isLow = record.kept < 0.9;
  const said = [`${decimal(bits(record.surprisal))} bits`];
  if (pane.model.kind !== null) said.push(`${record.count} ${record.count === 1 ? "hypothesis" : "hypotheses"}`, `entropy ${decimal(bits(record.entropy), 2)} bits`);
  return node("p", { class: "about" }, said.join(" · "), pane.model.kind === null ? null : [" · ", node("span", { class: isLow ? "warn" : null }, `${isLow ? "⚠ " : ""}kept ${percent(record.kept)}`)]);
}

// How many hypotheses are drawn: those that matter, at least a few, and the one that is looked at.
function shownOf(record, showsAll, pick) {
  const count = record.hypotheses.length;
  if (showsAll) return count;
  const matter = record.hypotheses.filter(({ probability }) => probability >= 0.01).length;
  return Math.min(count, Math.max(matter, 3, pick + 1));
}

function rest(record, shown, app) {
  if (!record || record.count <= shown) return null;
  const mass = record.hypotheses.slice(0, shown).reduce((sum, one) => sum + one.probability, 0);
  const others = record.count - shown;
  const text = `${others} more ${others === 1 ? "hypothesis" : "hypotheses"}, together ${percent(Math.max(0, 1 - mass))}`;
  const hidden = record.hypotheses.length - shown;
  return node("p", { class: "note" }, `and ${text} `, hidden ? node("button", { type: "button", class: "quiet more", onclick: () => app.showAll() }, `Show ${hidden} of them`) : null);
}

function card(pane, number, hypothesis, rank, app) {
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
    withTip(node(
      "button",
      {
        type: "button",
        class: "choose",
        "data-key": `card-${number}-${rank}`,
        "aria-pressed": isPicked ? "true" : "false",
        onclick: () => app.pick(number, rank),
      },
      node("span", { class: "hidden" }, `Hypothesis ${rank + 1}: `),
      node("span", { class: "badge" }, name),
      node("span", { class: "probability" }, percent(hypothesis.probability)),
      node("span", { class: "meter" }, node("span", { style: { width: `${100 * hypothesis.probability}%` } })),
      node("span", { class: "moved" }, before),
      node("span", { class: "hidden" }, `: ${speakTree(words, hypothesis.tree)}`),
    ), history(words, hypothesis)),
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

// All of its actions, with the word before which they were taken.
function history(words, hypothesis) {
  const said = hypothesis.actions.map((actions, place) => `${actions ? `${actions} ` : ""}GEN(${words[place]})`);
  return said.join(" ");
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
