// Where the numbers come from: a server that computes them, or a saved page that has them.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function randomName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class ServerSource {
  isSaved = false;

  constructor() {
    this.tab = randomName();
    this.known = new Map();
    window.addEventListener("pagehide", () => this.close());
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.tab = randomName(); // what the old name stood for has been freed
    });
  }

  async about() {
    return (await fetch("api/about")).json();
  }

  close() {
    const body = new Blob([JSON.stringify({ tab: this.tab })], { type: "application/json" });
    navigator.sendBeacon("api/close", body);
  }

  // Calls `onLine` for the sentence, each of its words and the end.
  async sentence(asked, signal, onLine) {
    const response = await this.post("api/sentence", asked, signal);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) onLine(JSON.parse(line));
    }
  }

  next(asked) {
    return this.once("api/next", asked);
  }

  attention(asked) {
    return this.once("api/attention", asked);
  }

  ending(asked) {
    return this.once("api/ending", asked);
  }

  async save(asked) {
    return (await this.post("api/save", asked)).blob();
  }

  // What has been asked for before is not asked for again.
  once(path, asked) {
    const key = path + JSON.stringify(asked);
    if (!this.known.has(key)) {
      const answer = this.post(path, asked).then((response) => response.json());
      answer.catch(() => this.known.delete(key));
      this.known.set(key, answer);
      if (this.known.size > 300) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(key);
  }

  async post(path, asked, signal) {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(path, { method: "POST", headers, signal, body: JSON.stringify({ tab: this.tab, ...asked }) });
    if (!response.ok) {
      const found = await response.json().catch(() => ({}));
      throw new Error(found.error ?? `the server answered ${response.status}.`);
    }
    return response;
  }
}

export class SavedSource {
  isSaved = true;

  constructor(data) {
    this.data = data;
  }

  async about() {
    const sentences = this.data.sentences.map((one) => ({ sentence: one.text, model: one.model }));
    return { models: this.data.models, search: this.data.search, examples: [], sentences };
  }

  find(text, model) {
    return this.data.sentences.find((one) => one.text === text && one.model === model);
  }

  async sentence(asked, signal, onLine) {
    const found = this.find(asked.text, asked.model);
    if (!found) throw new Error("this sentence is not in the page.");
    onLine({ type: "sentence", words: found.words });
    found.records.forEach((record, index) => onLine({ type: "word", index, ...record }));
    onLine({ type: "done" });
  }

  async next({ words, model, hypothesis }) {
    return this.record(words, model).next[hypothesis === undefined || hypothesis === null ? 0 : hypothesis + 1] ?? null;
  }

  async attention({ words, model, hypothesis }) {
    return this.record(words, model).attention[hypothesis] ?? null;
  }

  async ending({ words, model }) {
    const found = this.data.sentences.find((one) => one.model === model && one.words.join(" ") === words.join(" "));
    return found?.ending ?? null;
  }

  record(words, model) {
    const starts = (one) => one.model === model && words.every((word, place) => one.words[place] === word);
    return this.data.sentences.find(starts).records[words.length - 1];
  }
}

// Attention weights as the server writes them: two digits each.
export function decodeWeights(text) {
  const found = new Float32Array(text.length / 2);
  for (let i = 0; i < found.length; i++) {
    found[i] = (DIGITS.indexOf(text[2 * i]) * 64 + DIGITS.indexOf(text[2 * i + 1])) / 4095;
  }
  return found;
}
