// Drawings of trees, one function for each kind. A new kind of tree is one more entry in DRAWINGS.

import { node, shape, textWidth, withTip } from "./dom.js";

const SIZE = 15;
const GAP = 16;
const LAYER = 26; // between two levels of phrases
const DRAWINGS = { dependency: drawDependencies, constituency: drawPhrases, binary: drawPhrases };
const SPOKEN = { dependency: speakDependencies, constituency: speakPhrases, binary: speakPhrases };

// An SVG element, or null where there is no tree.
export function drawTree(words, tree) {
  return tree === null ? null : (DRAWINGS[tree.kind] ?? drawWords)(words, tree);
}

// The tree in words.
export function speakTree(words, tree) {
  return tree === null ? words.join(" ") : (SPOKEN[tree.kind]?.(words, tree) ?? words.join(" "));
}

// The stack, the top first.
export function drawStack(words, tree) {
  if (tree === null || !tree.stack) return null;
  const items = tree.stack.map((item) => (item === 0 ? "ROOT" : typeof item === "string" ? item : words[item - 1])).reverse();
  const boxes = items.map((item, place) =>
    node("li", { class: item === "ROOT" && place === items.length - 1 ? "root" : null, title: item }, item),
  );
  return node("div", { class: "stack" }, node("ol", { "aria-label": "Stack, the top first" }, boxes), node("span", { "aria-hidden": "true" }, "stack"));
}

function speakDependencies(words, tree) {
  const said = tree.heads.map((head, place) => {
    if (head === null) return null;
    return head === 0 ? `${words[place]} is the root` : `${words[place]} depends on ${words[head - 1]}`;
  });
  const found = said.filter((one) => one !== null);
  return found.length ? found.join(", ") : "no arcs yet";
}

// A kind that has no drawing yet.
function drawWords(words) {
  const { centres, end } = wordPlaces(words.map((word) => textWidth(word, SIZE)));
  const texts = words.map((word, place) => shape("text", { class: "word", x: centres[place], y: 19, "font-size": SIZE, "text-anchor": "middle" }, word));
  return svgOf(end, 30, words.join(" "), texts);
}

function wordPlaces(widths) {
  const centres = [];
  let x = 4;
  for (const width of widths) {
    centres.push(x + width / 2);
    x += width + GAP;
  }
  return { centres, end: Math.max(40, x - GAP + 4) };
}

// A line is hard to hit: a broader one that cannot be seen lies under all of them.
function pointable(group, text) {
  const target = shape("path", { class: "target", d: group.querySelector(".line").getAttribute("d") });
  target.addEventListener("pointerenter", () => group.classList.add("pointed"));
  target.addEventListener("pointerleave", () => group.classList.remove("pointed"));
  return { target: withTip(target, text), group: withTip(group, text) };
}

function layered(drawn) {
  return [...drawn.map(({ target }) => target), ...drawn.map(({ group }) => group)];
}

function svgOf(width, height, label, ...children) {
  return shape("svg", { class: "tree", style: { "--natural": `${width}px` }, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
}

function speakPhrases(words, tree) {
  const said = tree.nodes.map(([label, first, last]) => {
    const inside = words.slice(first - 1, last ?? words.length).join(" ");
    return `${label}${last === null ? ", open" : ""}: ${inside || "nothing yet"}`;
  });
  return said.length ? said.join("; ") : "no phrases yet";
}

// Phrases above their words, each above all that is inside it; open ones are dashed.
function drawPhrases(words, tree) {
  const nodes = tree.nodes.map(([label, first, last], place) => ({ label, first, last, place, children: [], level: 1, parent: null }));
  const open = [];
  const roots = [];
  for (const one of nodes) {
    while (open.length && open[open.length - 1].last !== null && open[open.length - 1].last < one.first) open.pop();
    one.parent = open[open.length - 1] ?? null;
    (one.parent?.children ?? roots).push(one);
    open.push(one);
  }
  const widths = words.map((word) => textWidth(word, SIZE));
  const fresh = nodes.filter(({ first }) => first > words.length); // opened, without a word yet: they stand to the right
  const { centres, end } = wordPlaces([...widths, ...(fresh.length ? [Math.max(...fresh.map(({ label }) => textWidth(label, SIZE)))] : [])]);
  const holder = words.map((_, place) => nodes.findLast(({ first, last }) => first <= place + 1 && (last ?? Infinity) >= place + 1) ?? null);
  for (const one of [...nodes].reverse()) {
    const own = words.map((_, place) => place).filter((place) => holder[place] === one);
    one.own = own;
    one.level = 1 + Math.max(0, ...one.children.map((child) => child.level));
    const xs = [...own.map((place) => centres[place]), ...one.children.map((child) => child.x)];
    one.x = xs.length ? (Math.min(...xs) + Math.max(...xs)) / 2 : centres[words.length];
  }
  const top = 14 + LAYER * Math.max(1, ...nodes.map(({ level }) => level));
  const y = (one) => top - LAYER * one.level;
  const last = words.length;
  const drawn = nodes.map((one) => {
    const [opened, closed] = tree.built[one.place];
    const isNew = (closed ?? opened) >= last - 1;
    const lines = [...one.own.map((place) => [centres[place], top + 2]), ...one.children.map((child) => [child.x, y(child) - 11])].map(([x, to]) => `M${one.x} ${y(one) + 5}L${x} ${to}`).join("");
    const when = (count) => (count ? `after “${words[count - 1]}”` : "before the first word");
    const said = `${one.label}: ${words.slice(one.first - 1, one.last ?? last).join(" ")} (opened ${when(opened)}, ${closed === null ? "still open" : `closed ${when(closed)}`})`;
    return pointable(
      shape("g", { class: `arc${isNew ? " new" : ""}${one.last === null ? " open" : ""}` },
        shape("path", { class: "line", d: lines }),
        shape("text", { class: "phrase", x: one.x, y: y(one), "text-anchor": "middle", "font-size": 13 }, one.last === null ? `${one.label} …` : one.label)),
      said,
    );
  });
  const texts = words.map((word, place) => shape("text", { class: `word on-stack`, x: centres[place], y: top + 19, "font-size": SIZE, "text-anchor": "middle" }, word));
  return svgOf(end, top + 30, speakPhrases(words, tree), layered(drawn), texts);
}

function drawDependencies(words, tree) {
  const last = words.length;
  const onStack = new Set(tree.stack);
  const widths = words.map((word, place) => textWidth(word, SIZE, onStack.has(place + 1) ? 600 : 400));
  const { centres, end } = wordPlaces(widths);
  const arcs = tree.heads
    .map((head, place) => ({ head, dependent: place + 1 }))
    .filter(({ head }) => head !== null);
  const levels = levelsOf(arcs.filter(({ head }) => head > 0));
  const highest = Math.max(0, ...levels.values());
  const hasRoot = arcs.some(({ head }) => head === 0);
  const top = 16 + 17 * Math.max(1, highest) + (hasRoot ? 10 : 0);
  const height = top + 30;
  const drawn = arcs.map(({ head, dependent }) => {
    const [built, action] = tree.built[dependent - 1];
    const isNew = built >= last - 1; // since the word before
    const said = head === 0 ? `${words[dependent - 1]} is the root word` : `${words[head - 1]} → ${words[dependent - 1]}`;
    const after = `${action}, after “${words[built - 1]}”${built < last ? ` and before “${words[built]}”` : ""}`;
    const parts =
      head === 0
        ? rootArc(centres[dependent - 1], top)
        : arc(centres[head - 1], centres[dependent - 1], top, 17 * levels.get(dependent));
    return pointable(shape("g", { class: isNew ? "arc new" : "arc" }, parts), `${said}: ${after}`);
  });
  const texts = words.map((word, place) =>
    shape("text", {
      x: centres[place],
      y: top + 19,
      "font-size": SIZE,
      "text-anchor": "middle",
      class: `word${onStack.has(place + 1) ? " on-stack" : ""}${place + 1 === last ? " last" : ""}`,
    }, word),
  );
  const marks = words
    .map((_, place) => place)
    .filter((place) => onStack.has(place + 1))
    .map((place) =>
      shape("line", { class: "on-stack", x1: centres[place] - widths[place] / 2, x2: centres[place] + widths[place] / 2, y1: top + 26, y2: top + 26 }),
    );
  return svgOf(end, height, speakDependencies(words, tree), layered(drawn), texts, marks);
}

// How high each arc runs, by dependent: above all that are inside it.
function levelsOf(arcs) {
  const levels = new Map();
  const spans = arcs
    .map(({ head, dependent }) => ({ dependent, low: Math.min(head, dependent), high: Math.max(head, dependent) }))
    .sort((a, b) => a.high - a.low - (b.high - b.low));
  const placed = [];
  for (const span of spans) {
    const inside = placed.filter((other) => other.low >= span.low && other.high <= span.high);
    span.level = 1 + Math.max(0, ...inside.map((other) => other.level));
    placed.push(span);
    levels.set(span.dependent, span.level);
  }
  return levels;
}

function arc(from, to, base, height) {
  const side = to > from ? 1 : -1;
  const start = from + side * 5;
  const rise = (height * 4) / 3 + 2;
  const line = `M${start} ${base}C${start} ${base - rise} ${to} ${base - rise} ${to} ${base - 5}`;
  return [
    shape("path", { class: "line", d: line }),
    shape("path", { class: "head", d: `M${to - 4} ${base - 7}L${to + 4} ${base - 7}L${to} ${base}Z` }),
  ];
}

function rootArc(x, base) {
  return [
    shape("path", { class: "line", d: `M${x} 4V${base - 5}` }),
    shape("path", { class: "head", d: `M${x - 4} ${base - 7}L${x + 4} ${base - 7}L${x} ${base}Z` }),
    shape("text", { class: "label", x: x + 5, y: 12, "font-size": 10 }, "root"),
  ];
}
