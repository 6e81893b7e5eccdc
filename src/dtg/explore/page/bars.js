// Surprisal over the words: lexical and structural parts stacked, one bar for each pane.

import { bits, decimal, node, percent, shape, signed, textWidth } from "./dom.js";

export const BAR_HEIGHT = 132;
const LOW = 0.9; // `kept` below this is said
const MARKED = 0.5; // bits: a smaller difference between two panes is not marked

export function parts(record) {
  return { lexical: bits(record.lexical), structural: bits(record.structural), total: bits(record.surprisal) };
}

// One column: a button with the bars of each pane, the words, and what is to be said of them.
export function wordButton(column, panes, place, app) {
  const scale = BAR_HEIGHT / app.highest;
  const records = column.map((word, pane) => (word === null ? null : (panes[pane].records[word] ?? null)));
  const names = column.map((word, pane) => (word === null ? null : panes[pane].words[word]));
  const isPair = panes.length > 1;
  const differ = isPair && records[0] && records[1] ? parts(records[1]).total - parts(records[0]).total : null;
  const isMarked = differ !== null && Math.abs(differ) >= MARKED;
  const isCurrent = place === app.at;
  const bars = column.map((_, pane) => bar(records[pane], scale, app.columnWidth, isPair, pane));
  const same = names.length < 2 || names[0] === names[1];
  const labels = same
    ? [node("span", { class: "name" }, names[0] ?? names[1])]
    : names.map((name, pane) => node("span", { class: `name pane-${pane}` }, name ?? "–"));
  const low = records.filter((record) => record && record.kept < LOW);
  return node(
    "button",
    {
      type: "button",
      class: `column${isCurrent ? " current" : ""}${same ? "" : " differs"}`,
      "data-key": `word-${place}`,
      tabindex: isCurrent ? 0 : -1,
      "aria-current": isCurrent ? "step" : null,
      style: { width: `${app.columnWidth}px` },
      onclick: () => app.stepTo(place),
    },
    node("span", { class: "bars", style: { height: `${BAR_HEIGHT + 20}px` } }, bars),
    node("span", { class: "names" }, labels),
    isPair ? node("span", { "aria-hidden": "true", class: isMarked ? "difference marked" : "difference" }, differ === null ? "" : `${differ >= MARKED ? "▲" : differ <= -MARKED ? "▼" : ""}${signed(differ)}`) : null,
    node("span", { class: "hidden" }, spoken(names, records, differ)),
    low.length ? node("span", { class: "low", "aria-hidden": "true" }, `kept ${percent(Math.min(...low.map((record) => record.kept)))}`) : null,
  );
}

function bar(record, scale, columnWidth, isPair, pane) {
  const width = Math.min(isPair ? 26 : 40, columnWidth / (isPair ? 2 : 1) - 8);
  const height = BAR_HEIGHT + 20;
  const name = isPair ? String(pane + 1) : null;
  if (!record) return shape("svg", { class: "bar empty", width, height, "aria-hidden": "true" }, shape("rect", { class: "waiting", x: 0, y: height - 3, width, height: 3 }));
  const { lexical, structural, total } = parts(record);
  const low = Math.max(0, lexical) * scale;
  const high = Math.max(0, structural) * scale;
  const top = height - low - high;
  return shape(
    "svg",
    { class: "bar", width, height, "aria-hidden": "true" },
    shape("rect", { class: "lexical", x: 0, y: height - low, width, height: low }),
    shape("rect", { class: "structural", x: 0, y: top, width, height: high }),
    hatch(top, high, width),
    shape("text", { class: "value", x: width / 2, y: top - 4, "text-anchor": "middle", "font-size": isPair ? 10 : 12 }, decimal(total)),
    name && low > 16 ? shape("text", { class: "which", x: width / 2, y: height - 4, "text-anchor": "middle", "font-size": 11 }, name) : null,
  );
}

// Lines across the structural part, for print and for those who do not see its colour.
function hatch(top, height, width) {
  const lines = [];
  for (let y = top + 4; y < top + height - 1; y += 5) lines.push(`M0 ${y}H${width}`);
  return shape("path", { class: "hatch", d: lines.join("") });
}

function spoken(names, records, differ) {
  const said = names.map((name, pane) => {
    if (name === null) return null;
    const record = records[pane];
    const which = names.length > 1 ? `${pane + 1}: ` : "";
    if (!record) return `${which}not computed yet`;
    const { lexical, structural, total } = parts(record);
    const low = record.kept < LOW ? `, search kept ${percent(record.kept)}` : "";
    return `${which}${decimal(total)} bits, lexical ${decimal(lexical)}, structural ${decimal(structural)}${low}`;
  });
  const found = said.filter((one) => one !== null);
  return found.join("; ") + (differ === null ? "" : `; difference ${signed(differ)} bits`);
}

// All bars as one picture, to be saved.
export function barsPicture(columns, panes, highest) {
  const isPair = panes.length > 1;
  const slots = columns.map((column) => {
    const names = column.map((word, pane) => (word === null ? "–" : panes[pane].words[word]));
    return { column, names, width: Math.max(46, ...names.map((name) => textWidth(name, 14) + 14)) };
  });
  const base = 170;
  const scale = 130 / highest;
  const rows = isPair ? 2 : 1;
  let x = 34;
  const content = [];
  for (let tick = 0; tick <= highest; tick += highest > 12 ? 5 : 2) {
    content.push(shape("line", { class: "grid", x1: 30, x2: 10_000, y1: base - tick * scale, y2: base - tick * scale }));
    content.push(shape("text", { class: "value", x: 26, y: base - tick * scale + 4, "text-anchor": "end", "font-size": 11 }, String(tick)));
  }
  for (const { column, names, width } of slots) {
    const each = isPair ? 16 : 26;
    column.forEach((word, pane) => {
      const record = word === null ? null : panes[pane].records[word];
      if (!record) return;
      const { lexical, structural, total } = parts(record);
      const left = x + width / 2 - (each * rows) / 2 + pane * (each + 1);
      const low = Math.max(0, lexical) * scale;
      const high = Math.max(0, structural) * scale;
      content.push(shape("rect", { class: "lexical", x: left, y: base - low, width: each, height: low }));
      content.push(shape("rect", { class: "structural", x: left, y: base - low - high, width: each, height: high }));
      content.push(shape("text", { class: "value", x: left + each / 2, y: base - low - high - 4, "text-anchor": "middle", "font-size": 10 }, decimal(total)));
    });
    const shown = names[0] === names[1] ? [names[0]] : names;
    shown.forEach((name, row) => content.push(shape("text", { class: "word", x: x + width / 2, y: base + 18 + 17 * row, "text-anchor": "middle", "font-size": 14 }, name)));
    x += width;
  }
  const legend = [
    shape("rect", { class: "lexical", x: 34, y: 4, width: 11, height: 11 }),
    shape("text", { class: "value", x: 50, y: 14, "font-size": 11 }, "lexical"),
    shape("rect", { class: "structural", x: 100, y: 4, width: 11, height: 11 }),
    shape("text", { class: "value", x: 116, y: 14, "font-size": 11 }, "structural, bits"),
  ];
  return shape("svg", { class: "bar", viewBox: `0 0 ${x + 8} ${base + 14 + 18 * rows}`, width: x + 8, height: base + 14 + 18 * rows }, content, legend);
}
