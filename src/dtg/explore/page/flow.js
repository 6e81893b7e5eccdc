// How probability flows between hypotheses from word to word: at each word the hypotheses stacked by rank, as high as they are probable.

import { percent, shape, withTip } from "./dom.js";

export const FLOW_HEIGHT = 116;

// `columns` are the places at which this pane has a word; `current` is the number of the word that is looked at.
export function drawFlow(pane, places, app, paneNumber) {
  const width = app.columnWidth * app.columns.length;
  const block = Math.min(40, app.columnWidth * 0.5);
  const slots = pane.records.map((record, word) => slotsOf(record, places[word] * app.columnWidth + app.columnWidth / 2 - block / 2, block));
  const bands = [];
  const blocks = [];
  pane.records.forEach((record, word) => {
    const names = pane.lineages[word];
    if (word > 0) bands.push(...bandsBetween(pane.records[word - 1], slots[word - 1], record, slots[word], names, block));
    record.hypotheses.forEach((hypothesis, rank) => {
      const slot = slots[word].shown[rank];
      const { name, colour } = names[rank];
      const isPicked = word === pane.current && rank === app.picks[paneNumber];
      const group = shape(
        "g",
        { class: `block colour-${colour}${isPicked ? " picked" : ""}`, onclick: () => app.pick(paneNumber, rank, word) },
        shape("rect", { x: slot.x, y: slot.y, width: block, height: Math.max(0.75, slot.height), rx: 1.5 }),
        slot.height > 13 ? shape("text", { x: slot.x + block / 2, y: slot.y + slot.height / 2 + 4, "text-anchor": "middle", "font-size": 12 }, name) : null,
      );
      blocks.push(withTip(group, `${name} after “${pane.words[word]}”: ${percent(hypothesis.probability)}, rank ${rank + 1}`));
    });
    const { rest } = slots[word];
    if (rest.height > 0.4) {
      const group = shape("g", { class: "block others" }, shape("rect", { x: rest.x, y: rest.y, width: block, height: rest.height, rx: 1.5 }));
      blocks.push(withTip(group, `all others after “${pane.words[word]}”: ${percent(rest.height / FLOW_HEIGHT)}`));
    }
  });
  const top = pane.records.map((record, word) => `${pane.words[word]}: ${pane.lineages[word][0].name} ${percent(record.hypotheses[0].probability)}`);
  return shape(
    "svg",
    { class: "flow", width, height: FLOW_HEIGHT + 4, viewBox: `0 -2 ${width} ${FLOW_HEIGHT + 4}`, role: "img", "aria-label": `The most probable hypothesis after each word: ${top.join(", ")}` },
    bands,
    blocks,
  );
}

function slotsOf(record, x) {
  let y = 0;
  const shown = record.hypotheses.map(({ probability }) => {
    const slot = { x, y, height: probability * FLOW_HEIGHT };
    y += slot.height;
    return slot;
  });
  return { shown, rest: { x, y, height: Math.max(0, FLOW_HEIGHT - y) } };
}

// What a hypothesis has is divided among its children by how probable they are.
function bandsBetween(before, from, record, to, names, block) {
  const totals = new Map();
  for (const { parent, probability } of record.hypotheses) totals.set(parent, (totals.get(parent) ?? 0) + probability);
  const used = new Map();
  return record.hypotheses.map(({ parent, probability }, rank) => {
    const target = to.shown[rank];
    const origin = from.shown[parent] ?? from.rest;
    const share = from.shown[parent] && probability ? probability / totals.get(parent) : 0;
    const offset = used.get(parent) ?? 0;
    used.set(parent, offset + share);
    const start = origin.y + offset * origin.height;
    const end = start + share * origin.height;
    const left = origin.x + block;
    const middle = (left + target.x) / 2;
    const path =
      `M${left} ${start}C${middle} ${start} ${middle} ${target.y} ${target.x} ${target.y}` +
      `V${target.y + Math.max(0.5, target.height)}C${middle} ${target.y + target.height} ${middle} ${end} ${left} ${end}Z`;
    return shape("path", { class: `band colour-${names[rank].colour}`, d: path });
  });
}
