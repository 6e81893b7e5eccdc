// What is known about one hypothesis: the words expected next, its actions, what its rows attend to, and how the sentence ends.

import { bits, byId, decimal, node, percent, replaceContent } from "./dom.js";
import { showAttention } from "./attention.js";
import { pictureButtons } from "./pictures.js";
import { drawTree } from "./trees.js";

export const TABS = [["next", "Next word"], ["actions", "Actions"], ["attention", "Attention"], ["ending", "End of sentence"]];

const PAUSE = 180; // milliseconds

let latest = 0;

// Words come first: what is known about a hypothesis is asked for only when the page has come to rest.
export async function showDetail(app, isAtOnce = false) {
  const pane = app.panes[app.picked];
  const record = pane?.records[pane.current];
  byId("detail").hidden = !record;
  if (!record) return;
  const rank = Math.min(app.picks[app.picked], record.hypotheses.length - 1);
  const { name, colour } = pane.lineages[pane.current][rank];
  const which = app.panes.length > 1 ? ` of ${String(app.picked + 1)}` : "";
  const badge = node("span", { class: `badge colour-${colour}` }, name);
  replaceContent(byId("h-detail"), ...(pane.model.kind === null ? [`After “${pane.words[pane.current]}”${which}`] : ["Hypothesis ", badge, `${which}, ${percent(record.hypotheses[rank].probability)}`]));
  replaceContent(byId("tabs"), TABS.map(([key, text]) => tabButton(key, text, app)));
  const panel = byId("tabpanel");
  panel.setAttribute("aria-labelledby", `tab-${app.tab}`);
  const ticket = ++latest;
  panel.inert = true; // what it shows is of the state before: nothing in it can be clicked any more
  if (!app.source.isSaved && !isAtOnce) {
    await new Promise((done) => setTimeout(done, PAUSE));
    if (ticket !== latest) return;
  }
  const slow = setTimeout(() => ticket === latest && panel.setAttribute("aria-busy", "true"), 150);
  let content;
  try {
    content = await CONTENTS[app.tab](app, pane, rank, name);
  } catch (problem) {
    content = [node("p", { class: "note" }, problem.message)];
  }
  clearTimeout(slow);
  if (ticket !== latest) return;
  panel.removeAttribute("aria-busy");
  panel.inert = false;
  replaceContent(byId("tools-detail"));
  replaceContent(panel, content);
}

function tabButton(key, text, app) {
  const isChosen = app.tab === key;
  return node("button", { type: "button", role: "tab", id: `tab-${key}`, "data-key": `tab-${key}`, "aria-selected": isChosen ? "true" : "false", "aria-controls": "tabpanel", tabindex: isChosen ? 0 : -1, onclick: () => app.chooseTab(key) }, text);
}

function asked(app, pane, rank) {
  return { ...app.search(pane), words: pane.words.slice(0, pane.current + 1), hypothesis: rank };
}

const CONTENTS = {
  async next(app, pane, rank, name) {
    const request = asked(app, pane, rank);
    const all = await app.source.next({ ...request, hypothesis: undefined });
    const one = pane.model.kind === null ? null : await app.source.next(request);
    const lists = [predictions("Given everything", all, app, pane)];
    if (pane.model.kind !== null) lists.push(one === null ? missing("The next words given this hypothesis are") : predictions(`Given hypothesis ${name}`, one, app, pane));
    return [node("div", { class: "columns" }, lists), node("p", { class: "note" }, "The most probable first subwords, each completed greedily while the word is more likely to go on than to end. Probabilities are those of the subwords; that a word ends there is decided when the next one begins.")];
  },

  async actions(app, pane, rank) {
    const hypothesis = pane.records[pane.current].hypotheses[rank];
    const found = await app.source.attention(asked(app, pane, rank));
    const words = pane.words.slice(0, pane.current + 1);
    const groups = found ? byWord(found.actions, words) : hypothesis.actions.map((text, place) => [...(text ? text.split(" ") : []), `GEN(${words[place]})`].map((name) => ({ name, log_probability: null })));
    const rows = groups.map((actions, place) =>
      node("tr", {}, node("th", { scope: "row" }, words[place]), node("td", {}, actions.map(({ name, log_probability }) => node("span", { class: `action ${name.startsWith("GEN") ? "gen" : "arc"}` }, name.replace("▁", ""), log_probability === null ? null : node("small", {}, ` ${decimal(-bits(log_probability))}`))))),
    );
    return [
      node("table", { class: "actions" }, node("caption", {}, "What the hypothesis did, word by word: arcs first, then GEN. Small numbers are −log₂ p of each action given those before it."), node("tbody", {}, rows)),
      node("p", { class: "note" }, `In all −${decimal(-bits(hypothesis.log_probability), 2)} bits: log₂ p of these words with this partial tree.`),
    ];
  },

  async attention(app, pane, rank, name) {
    const found = await app.source.attention(asked(app, pane, rank));
    if (found === null) return [missing("Attention of this hypothesis is")];
    const { element, picture } = showAttention(found, app.attention, (choice) => app.chooseAttention(choice));
    return [element, pictureButtons(() => picture, `attention-${name}`, "attention picture")];
  },

  async ending(app, pane) {
    const words = pane.words.slice(0, pane.current + 1);
    const found = await app.source.ending({ ...app.search(pane), words });
    if (found === null) return [missing("How the sentence ends here is")];
    const sign = found.kind === "exact" ? "=" : "≥";
    const said = node("p", {}, "If the sentence ends here: ", node("strong", {}, `log₂ p(x) ${sign} ${decimal(bits(found.log_probability), 2)}`), ` bits (${found.kind}: ${found.how}). The end itself costs ${decimal(bits(found.surprisal))} bits.`);
    const trees = found.trees.map((one, place) =>
      node("li", {}, node("p", {}, `${place + 1}. ${percent(one.probability)} of p(x), log₂ p = ${decimal(bits(one.log_probability), 2)}`), node("div", { class: "drawing" }, drawTree(words, one.tree))),
    );
    return [said, found.trees.length ? node("ol", { class: "endings" }, trees) : null];
  },
};

function byWord(actions, words) {
  const groups = words.map(() => []);
  // An arc belongs to the word that follows it: it is made before that word's GEN.
  for (const action of actions) {
    const isGen = action.name.startsWith("GEN");
    groups[Math.min(words.length - 1, isGen ? action.word - 1 : action.word)].push(action);
  }
  return groups;
}

function missing(what) {
  return node("p", { class: "note" }, `${what} not in this saved page; dtg explore computes it.`);
}

function predictions(title, found, app, pane) {
  const highest = Math.max(...found.words.map((one) => one.probability), 1e-9);
  const rows = found.words.map(({ word, probability }) => {
    const label = [node("span", { class: "name" }, word), node("span", { class: "meter" }, node("span", { style: { width: `${(100 * probability) / highest}%` } })), node("span", { class: "number" }, percent(probability))];
    return node("li", {}, app.source.isSaved ? node("span", { class: "predicted" }, label) : node("button", { type: "button", class: "predicted", title: "Continue with this word", onclick: () => app.continueWith(pane, word) }, label));
  });
  return node("div", {}, node("h3", {}, title), node("ol", { class: "predictions" }, rows), node("p", { class: "note" }, `A new word begins: ${percent(found.new_word)}. The last word goes on: ${percent(found.same_word)}.`));
}
