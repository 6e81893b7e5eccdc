// The page's state, what changes it, and the order in which things are drawn.

import { BAR_HEIGHT, barsPicture, parts, wordButton } from "./bars.js";
import { showDetail, TABS } from "./detail.js";
import { bits, byId, decimal, hideTip, node, percent, replaceContent, shape } from "./dom.js";
import { drawFlow, FLOW_HEIGHT } from "./flow.js";
import { showHypotheses } from "./hypotheses.js";
import { align, nameLineages } from "./lineages.js";
import { download, pictureButtons } from "./pictures.js";
import { SavedSource, ServerSource } from "./source.js";
import { speakTree } from "./trees.js";

const FIXED = "fixed"; // beside the accuracies: a beam of fixed width
const BEAMS = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500];
const KEPT_BEAMS = [null, 1, 2, 5, 10, 20, 35, 50, 100, 200, 500]; // null: a third of the beam
const TYPING_PAUSE = 350; // milliseconds: then the last word is taken to be complete
const SLIDING_PAUSE = 120;
const PANES = ["1", "2"];
const THEMES = [["", "as the system has them", "◐"], ["light", "light", "☀"], ["dark", "dark", "☾"]];

const app = {
  source: null,
  about: null,
  panes: [], // {text, model, words, records, lineages, current, abort, isDone}
  accuracy: "default",
  beam: 50, // where accuracy is FIXED
  wordBeam: null,
  at: 0, // the column that is looked at
  follows: true, // ... is the latest one
  awaitsWords: false, // Enter was pressed before there was a word to step to
  picked: 0, // the pane whose hypothesis is looked at
  picks: [0, 0], // its rank, in each pane
  showsAll: false, // also hypotheses that hardly matter
  tab: "next",
  attention: { view: 0, layer: "mask", head: "mean" },
  columns: [],
  columnWidth: 80,
  highest: 12,
  problem: "",

  search(pane) {
    return { model: pane.model.name, ...app.limits() };
  },
  limits() {
    if (app.accuracy !== FIXED) return { accuracy: app.accuracy };
    return { beam: app.beam, ...(app.wordBeam === null ? {} : { word_beam: app.wordBeam }) };
  },
  stepTo(place) {
    if (!app.columns.length) return;
    app.at = Math.max(0, Math.min(app.columns.length - 1, place));
    app.follows = false;
    app.picks = [0, 0];
    draw();
    announce();
  },
  pick(pane, rank, word) {
    if (word !== undefined && word !== app.panes[pane].current) {
      app.at = app.columns.findIndex((column) => column[pane] === word);
      app.follows = false;
      app.picks = [0, 0];
    }
    app.picked = pane;
    app.picks[pane] = rank;
    draw();
    announce();
  },
  showAll() {
    app.showsAll = true;
    draw();
  },
  chooseTab(key) {
    app.tab = key;
    writeAddress();
    showDetail(app, true);
  },
  chooseAttention(choice) {
    app.attention = choice;
    showDetail(app, true);
  },
  continueWith(pane, word) {
    pane.text = `${pane.words.slice(0, pane.current + 1).join(" ")} ${word}`;
    app.follows = true;
    drawInputs();
    read(pane);
  },
};

// ---------------------------------------------------------------------------------------------------------- reading

async function read(pane) {
  pane.abort?.abort();
  const abort = new AbortController();
  Object.assign(pane, { abort, isDone: false });
  if (!pane.text.trim()) {
    Object.assign(pane, { words: [], records: [], lineages: [], isDone: true });
    draw();
    return;
  }
  let received = [];
  try {
    await app.source.sentence({ ...app.search(pane), text: pane.text }, abort.signal, (line) => {
      if (abort.signal.aborted) return;
      if (line.type === "sentence") pane.words = line.words;
      else if (line.type === "word") {
        received = [...received, line];
        pane.records = received;
      } else if (line.type === "error") say(line.error);
      else if (line.type === "done") {
        pane.isDone = true;
        if (app.source.isSaved && app.follows) lookWhereItTurns(received);
        say("");
      }
      pane.records = received;
      pane.lineages = nameLineages(received);
      schedule();
    });
  } catch (problem) {
    if (!abort.signal.aborted) {
      pane.isDone = true;
      say(problem instanceof TypeError ? "the server does not answer; is dtg explore still running?" : problem.message);
      schedule();
    }
  }
}

// A saved page opens at the word at which belief moves most.
function lookWhereItTurns(records) {
  const most = Math.max(...records.map((record) => record.structural));
  app.at = most > 0.3 ? records.findIndex((record) => record.structural === most) : records.length - 1;
  app.follows = false;
}

function readAll() {
  app.panes.forEach(read);
}

function say(problem) {
  app.problem = problem;
  byId("problem").hidden = !problem;
  byId("problem").textContent = problem;
}

// ---------------------------------------------------------------------------------------------------------- drawing

let isScheduled = false;

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    draw();
    if (app.panes.every((pane) => pane.isDone)) announce();
  });
}

function draw() {
  hideTip();
  const [first, second] = app.panes;
  app.columns = align(first.words, second?.words);
  const computed = app.columns.findLastIndex((column) => column.some((word, pane) => word !== null && app.panes[pane].records[word]));
  if (app.follows) app.at = Math.max(0, computed);
  else if (app.at >= app.columns.length && app.panes.every((pane) => pane.isDone)) app.at = Math.max(0, app.columns.length - 1);
  app.panes.forEach((pane, number) => {
    const seen = app.columns.slice(0, app.at + 1).map((column) => column[number]).filter((word) => word !== null && word !== undefined);
    pane.current = seen.length ? seen[seen.length - 1] : -1;
    const record = pane.records[pane.current];
    if (record) app.picks[number] = Math.min(app.picks[number], record.hypotheses.length - 1);
  });
  if (app.picked >= app.panes.length) app.picked = 0;
  drawStrip();
  showHypotheses(byId("beams"), app.panes, app);
  showDetail(app);
  writeAddress();
  byId("work").classList.toggle("pair", app.panes.length > 1);
  document.body.classList.toggle("busy", app.panes.some((pane) => !pane.isDone));
}

function drawStrip() {
  const strip = byId("strip");
  const totals = app.panes.flatMap((pane) => pane.records.map((record) => parts(record).total));
  app.highest = Math.max(8, ...totals);
  const least = app.panes.length > 1 ? 64 : 56;
  const longest = Math.max(1, ...app.panes.flatMap((pane) => pane.words.map((word) => word.length)));
  app.columnWidth = Math.floor(Math.max(least, Math.min(190, Math.max((strip.clientWidth - 2) / Math.max(1, app.columns.length), longest > 9 ? 76 : 0))));
  replaceContent(byId("words"), app.columns.map((column, place) => wordButton(column, app.panes, place, app)));
  if (app.awaitsWords) app.awaitsWords = !focusWord();
  const flows = app.panes.map((pane, number) => {
    if (pane.model.kind === null || !pane.records.length) return null;
    const places = pane.words.map((_, word) => app.columns.findIndex((column) => column[number] === word));
    const label = app.panes.length > 1 ? `${PANES[number]}: ` : "";
    return node("figure", { class: "flow-figure" }, node("figcaption", {}, `${label}probability of each hypothesis`), drawFlow(pane, places, app, number));
  });
  replaceContent(byId("flows"), flows);
  const hasTrees = app.panes.some((pane) => pane.model.kind !== null);
  replaceContent(byId("legend"), key("lexical", "lexical: the word"), hasTrees ? key("structural", "structural: the reading") : null, node("span", {}, "bits"));
  replaceContent(byId("tools-surprisal"), app.columns.length ? pictureButtons(() => barsPicture(app.columns, app.panes, app.highest), "surprisal", "surprisal picture") : null);
  replaceContent(byId("hint"), app.columns.length > 1 ? "← → step through the words, ↑ ↓ choose a hypothesis." : "");
  const current = strip.querySelector(".column.current");
  if (current && strip.scrollWidth > strip.clientWidth) strip.scrollLeft = current.offsetLeft - strip.clientWidth / 2 + app.columnWidth / 2;
}

function key(name, text) {
  return node("span", { class: "key" }, shape("svg", { class: "bar", width: 12, height: 12, "aria-hidden": "true" }, shape("rect", { class: name, width: 12, height: 12 }), name === "structural" ? shape("path", { class: "hatch", d: "M0 3H12M0 8H12" }) : null), text);
}

// For screen readers: one sentence about the word that is looked at.
function announce() {
  const said = app.panes.map((pane, number) => {
    const record = pane.records[pane.current];
    if (!record) return null;
    const which = app.panes.length > 1 ? `${PANES[number]}: ` : "";
    const start = `${which}After “${pane.words[pane.current]}”, ${decimal(bits(record.surprisal))} bits.`;
    if (pane.model.kind === null) return start;
    const rank = app.picked === number ? app.picks[number] : 0;
    const hypothesis = record.hypotheses[rank];
    const { name } = pane.lineages[pane.current][rank];
    const place = rank ? `Hypothesis ${rank + 1} of ${record.count}` : `Best of ${record.count}`;
    const words = pane.words.slice(0, pane.current + 1);
    return `${start} ${place}, ${name}, ${percent(hypothesis.probability)}: ${speakTree(words, hypothesis.tree)}.`;
  });
  const text = said.filter((one) => one !== null).join(" ");
  if (byId("live").textContent !== text) byId("live").textContent = text;
}

// ---------------------------------------------------------------------------------------------------------- controls

function drawInputs() {
  const isPair = app.panes.length > 1;
  replaceContent(byId("inputs"), app.panes.map((pane, number) => (app.source.isSaved ? savedInput : typedInput)(pane, number, isPair)));
}

function typedInput(pane, number, isPair) {
  let timer = null;
  const name = isPair ? PANES[number] : null;
  const field = node("input", {
    type: "text",
    id: `sentence-${number}`,
    "data-key": `sentence-${number}`,
    value: pane.text,
    maxlength: 600,
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    "aria-label": isPair ? `Sentence ${name}` : "Sentence",
    placeholder: "Type a sentence",
    oninput: () => {
      pane.text = field.value;
      app.follows = true;
      app.awaitsWords = false; // whoever types on is not interrupted
      clearTimeout(timer);
      if (/[\s.,;:!?]$/.test(field.value) || !field.value) read(pane);
      else timer = setTimeout(() => read(pane), TYPING_PAUSE);
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      clearTimeout(timer);
      read(pane);
      app.awaitsWords = !focusWord(); // nothing is shown yet, if the computer is slow
    },
  });
  return node(
    "div",
    { class: "input" },
    name ? node("span", { class: `which pane-${number}` }, name) : null,
    field,
    node("select", { "aria-label": isPair ? `Model ${name}` : "Model", "data-key": `model-${number}`, onchange: (event) => { pane.model = app.about.models.find((model) => model.name === event.target.value); read(pane); } }, app.about.models.map((model) => node("option", { value: model.name, selected: model === pane.model }, model.name))),
    number === 1 ? node("button", { type: "button", class: "quiet", "aria-label": "Remove sentence 2", onclick: removeSecond }, "✕") : null,
  );
}

function savedInput(pane, number, isPair) {
  const { sentences } = app.about;
  const label = (one) => (app.about.models.length > 1 ? `${one.sentence} (${one.model})` : one.sentence);
  const current = sentences.findIndex((one) => one.sentence === pane.text && one.model === pane.model.name);
  if (sentences.length === 1) return node("p", { class: "sentence" }, label(sentences[0]));
  return node(
    "div",
    { class: "input" },
    isPair ? node("span", { class: `which pane-${number}` }, PANES[number]) : null,
    node("select", { "aria-label": isPair ? `Sentence ${PANES[number]}` : "Sentence", "data-key": `sentence-${number}`, onchange: (event) => { const one = sentences[event.target.value]; Object.assign(pane, { text: one.sentence, model: modelNamed(one.model) }); app.follows = true; read(pane); } }, sentences.map((one, place) => node("option", { value: place, selected: place === current }, label(one)))),
    number === 1 ? node("button", { type: "button", class: "quiet", "aria-label": "Remove sentence 2", onclick: removeSecond }, "✕") : null,
  );
}

function drawControls() {
  const isPair = app.panes.length > 1;
  const { models, sentences } = app.about;
  const compare = node("span", { class: "row" },
    isPair || (app.source.isSaved && sentences.length < 2) ? null : node("button", { type: "button", id: "compare-sentence", onclick: () => addSecond(false) }, "Compare a sentence"),
    isPair || app.source.isSaved || models.length < 2 ? null : node("button", { type: "button", id: "compare-model", onclick: () => addSecond(true) }, "Compare a model"),
  );
  if (app.source.isSaved) {
    replaceContent(byId("controls"), compare, node("span", { class: "note" }, `Computed with ${models.map((model) => model.name).join(", ")}, ${app.about.search}.`));
    return;
  }
  const { accuracies } = app.about;
  const isFixed = app.accuracy === FIXED;
  replaceContent(
    byId("controls"),
    slider("accuracy", "Accuracy", [...Object.keys(accuracies), FIXED], app.accuracy, (value) => (value === FIXED ? "fixed beam" : value), accuracies[app.accuracy] ?? "a beam of fixed width", (value) => { app.accuracy = value; }),
    isFixed ? slider("beam", "Beam", BEAMS, app.beam, (value) => String(value), "candidates before each word", (value) => { app.beam = value; }) : null,
    isFixed ? slider("word-beam", "Kept", KEPT_BEAMS, app.wordBeam, (value) => (value === null ? `${Math.max(1, Math.floor(app.beam / 3))} (a third)` : String(value)), "hypotheses after each word", (value) => { app.wordBeam = value; }) : null,
    compare,
    node("button", { type: "button", id: "save", onclick: savePage }, "Save page"),
  );
}

function slider(id, label, values, value, text, title, change) {
  const distance = (one, wanted) => (typeof wanted === "string" ? Number(one !== wanted) : Math.abs((one ?? 0) - (wanted ?? 0)));
  const nearest = (wanted) => values.reduce((best, one, place) => (distance(one, wanted) < distance(values[best], wanted) ? place : best), 0);
  const output = node("output", { for: id }, text(value));
  let timer = null;
  const field = node("input", {
    type: "range", id, "data-key": id, min: 0, max: values.length - 1, step: 1, value: nearest(value), "aria-valuetext": `${text(value)} ${title}`,
    oninput: () => {
      const chosen = values[Number(field.value)];
      change(chosen);
      output.textContent = text(chosen);
      field.setAttribute("aria-valuetext", `${text(chosen)} ${title}`);
      clearTimeout(timer);
      timer = setTimeout(() => {
        drawControls();
        for (const pane of app.panes) pane.records = pane.lineages = [];
        readAll();
      }, SLIDING_PAUSE);
    },
  });
  return node("label", { class: "slider", title }, node("span", {}, label), field, output);
}

function drawExamples() {
  const buttons = app.about.examples.map((example) =>
    node("button", { type: "button", class: "example", title: `${example.group}. ${example.about}`, onclick: () => showExample(example) }, node("span", { class: "group" }, shortGroup(example.group)), example.sentence.replace(/ ([.,])/g, "$1")),
  );
  replaceContent(byId("examples"), buttons);
}

function shortGroup(group) {
  return /\(([^)]*)\)$/.exec(group)?.[1] ?? group;
}

function showExample(example) {
  const [first] = app.panes;
  const second = app.panes[1] ?? null;
  first.text = example.sentence;
  if (second && second.model === first.model && example.second) second.text = example.second;
  else if (second) second.text = example.sentence;
  app.follows = false;
  app.at = (example.at ?? 1) - 1;
  app.picks = [0, 0];
  for (const pane of app.panes) Object.assign(pane, { words: [], records: [], lineages: [] });
  drawInputs();
  readAll();
}

function addSecond(otherModel) {
  const [first] = app.panes;
  let text = first.text;
  let model = first.model;
  if (app.source.isSaved) {
    const others = app.about.sentences.filter((one) => one.sentence !== first.text || one.model !== first.model.name);
    text = others[0].sentence;
    model = modelNamed(others[0].model);
  } else if (otherModel) model = app.about.models.find((one) => one !== first.model);
  else text = app.about.examples.find((one) => one.sentence === first.text)?.second ?? first.text;
  app.panes = [first, newPane(text, model)];
  drawInputs();
  drawControls();
  read(app.panes[1]);
  byId("sentence-1")?.focus();
}

function removeSecond() {
  app.panes[1].abort?.abort();
  app.panes = [app.panes[0]];
  app.picked = 0;
  drawInputs();
  drawControls();
  draw();
  byId("compare-sentence")?.focus();
}

async function savePage() {
  const button = byId("save");
  button.disabled = true;
  button.textContent = "Saving …";
  try {
    const asked = { texts: app.panes.map((pane) => pane.text), models: app.panes.map((pane) => pane.model.name), ...app.limits() };
    download(await app.source.save(asked), "dtg-explore.html");
  } catch (problem) {
    say(problem.message);
  }
  drawControls();
}

function focusWord() {
  const word = byId("words").querySelector('[tabindex="0"]');
  word?.focus();
  return word !== null;
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const target = event.target;
  if (target.closest("[role=tablist]")) return moveTab(event);
  if (target.closest("input, select, textarea, .scroll")) return;
  const record = app.panes[app.picked]?.records[app.panes[app.picked].current];
  const moves = {
    ArrowLeft: () => app.stepTo(app.at - 1),
    ArrowRight: () => app.stepTo(app.at + 1),
    Home: () => app.stepTo(0),
    End: () => app.stepTo(app.columns.length - 1),
    ArrowDown: () => record && app.pick(app.picked, Math.min(app.picks[app.picked] + 1, record.hypotheses.length - 1)),
    ArrowUp: () => record && app.pick(app.picked, Math.max(app.picks[app.picked] - 1, 0)),
  };
  if (!(event.key in moves) || !app.columns.length) return;
  event.preventDefault();
  const wasOnWord = target.closest("#words");
  moves[event.key]();
  if (wasOnWord) focusWord();
  const picked = document.querySelector(".card.picked");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") picked?.scrollIntoView({ block: "nearest" });
}

function moveTab(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const place = TABS.findIndex(([name]) => name === app.tab);
  app.chooseTab(TABS[(place + step + TABS.length) % TABS.length][0]);
  byId(`tab-${app.tab}`).focus();
}

function chooseTheme(place) {
  const [name, said, sign] = THEMES[place];
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  const button = byId("theme");
  button.textContent = sign;
  button.setAttribute("aria-label", `Colours: ${said}`);
  button.onclick = () => chooseTheme((place + 1) % THEMES.length);
}

// ----------------------------------------------------------------------------------------------------------- address

function writeAddress() {
  const settings = new URLSearchParams();
  app.panes.forEach((pane, number) => {
    const suffix = number ? "2" : "";
    settings.set(`s${suffix}`, pane.text);
    settings.set(`model${suffix}`, pane.model.name);
  });
  if (app.accuracy !== FIXED) settings.set("accuracy", app.accuracy);
  else {
    settings.set("beam", app.beam);
    if (app.wordBeam !== null) settings.set("kept", app.wordBeam);
  }
  if (!app.follows) settings.set("at", app.at + 1);
  if (app.picks[app.picked]) settings.set("h", app.picks[app.picked] + 1);
  if (app.tab !== "next") settings.set("tab", app.tab);
  try {
    window.history.replaceState(null, "", `#${settings}`);
  } catch {
    // A frame without an address of its own, as in a notebook.
  }
}

function readAddress() {
  const settings = new URLSearchParams(window.location.hash.slice(1));
  const whole = (name, least, most) => {
    const value = Number(settings.get(name));
    return settings.has(name) && Number.isInteger(value) && value >= least && value <= most ? value : null;
  };
  const saved = app.about.sentences?.[0];
  const first = settings.get("s") ?? saved?.sentence ?? app.about.examples[0].sentence;
  const isKnown = (text, model) => !app.source.isSaved || app.about.sentences.some((one) => one.sentence === text && one.model === model);
  const model = modelNamed(settings.get("model") ?? saved?.model);
  const holds = isKnown(first, model.name);
  app.panes = [holds ? newPane(first, model) : newPane(saved.sentence, modelNamed(saved.model))];
  if (settings.has("s2")) {
    const second = modelNamed(settings.get("model2") ?? model.name);
    if (isKnown(settings.get("s2"), second.name)) app.panes.push(newPane(settings.get("s2"), second));
  }
  if (!app.source.isSaved) {
    const beam = whole("beam", 1, app.about.limits.beam);
    app.wordBeam = whole("kept", 1, app.about.limits.beam);
    app.beam = beam ?? app.about.beam;
    const named = settings.get("accuracy") in app.about.accuracies ? settings.get("accuracy") : null;
    app.accuracy = named ?? (beam === null && app.wordBeam === null ? app.about.accuracy : FIXED);
  }
  const at = whole("at", 1, 1000);
  app.follows = at === null;
  if (at !== null) app.at = at - 1;
  app.picks = [(whole("h", 1, 100) ?? 1) - 1, 0];
  if (TABS.some(([name]) => name === settings.get("tab"))) app.tab = settings.get("tab");
  if (!settings.has("s") && !app.source.isSaved) {
    app.follows = false;
    app.at = (app.about.examples[0].at ?? 1) - 1;
  }
}

function modelNamed(name) {
  return app.about.models.find((model) => model.name === name) ?? app.about.models[0];
}

function newPane(text, model) {
  return { text, model, words: [], records: [], lineages: [], current: -1, abort: null, isDone: false };
}

async function start() {
  const block = byId("saved");
  app.source = block ? new SavedSource(JSON.parse(block.textContent)) : new ServerSource();
  app.about = await app.source.about();
  document.documentElement.classList.toggle("saved", app.source.isSaved);
  document.documentElement.style.setProperty("--bar-height", `${BAR_HEIGHT}px`);
  document.documentElement.style.setProperty("--flow-height", `${FLOW_HEIGHT}px`);
  chooseTheme(0);
  readAddress();
  drawInputs();
  drawExamples();
  drawControls();
  byId("ask").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  let width = 0;
  new ResizeObserver(() => {
    if (byId("strip").clientWidth !== width) schedule();
    width = byId("strip").clientWidth;
  }).observe(byId("strip"));
  window.addEventListener("hashchange", () => {
    app.panes.forEach((pane) => pane.abort?.abort());
    readAddress();
    drawInputs();
    drawControls();
    readAll();
  });
  replaceContent(byId("footer"), node("p", {}, `Surprisal = −log₂ p(word | words before it), summed over all hypotheses in the beam · `, app.source.isSaved ? "a saved page: computed once" : "computed on this machine; nothing leaves it"));
  readAll();
}

start();
