// Names for hypotheses that last from word to word, so that one can be followed as it moves up and down.
//
// The most probable child of a hypothesis keeps its name; other children, and those whose parent is not shown, get new ones.

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"; // without I and O, which look like numbers

const COLOURS = 8; // in the style sheet: Okabe and Ito's, and grey
const MATTERS = 0.01; // a hypothesis that was ever as probable as this

// For each record, the name and colour of each of its hypotheses. Those that ever matter get the first letters.
export function nameLineages(records) {
  const lineages = [];
  let before = [];
  const found = records.map((record, word) => {
    const taken = new Set();
    const colours = new Set();
    const inherited = record.hypotheses.map(({ parent }) => {
      const lineage = before[parent];
      if (!lineage || taken.has(lineage)) return null;
      taken.add(lineage);
      colours.add(lineage.colour);
      return lineage;
    });
    before = inherited.map((lineage, rank) => {
      const one = lineage ?? { number: lineages.length, matters: Infinity, colour: null };
      if (lineage === null) lineages.push(one);
      if (record.hypotheses[rank].probability >= MATTERS) one.matters = Math.min(one.matters, word);
      if (one.colour === null) {
        const free = Array.from({ length: COLOURS }, (_, step) => (one.number + step) % COLOURS);
        one.colour = free.find((colour) => !colours.has(colour)) ?? 0;
        colours.add(one.colour);
      }
      return one;
    });
    return before;
  });
  lineages.sort((a, b) => (a.matters === b.matters ? a.number - b.number : a.matters - b.matters));
  lineages.forEach((one, number) => {
    const round = Math.floor(number / LETTERS.length);
    one.name = LETTERS[number % LETTERS.length] + (round ? round + 1 : "");
  });
  return found;
}

// The words of two sentences side by side: columns of word numbers, null where one has no such word.
export function align(first, second) {
  if (!second) return first.map((_, place) => [place]);
  const table = Array.from({ length: first.length + 1 }, () => new Array(second.length + 1).fill(0));
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      table[i][j] = first[i] === second[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const columns = [];
  let i = 0;
  let j = 0;
  let onlyFirst = [];
  let onlySecond = [];
  const flush = () => {
    for (let k = 0; k < Math.max(onlyFirst.length, onlySecond.length); k++) {
      columns.push([onlyFirst[k] ?? null, onlySecond[k] ?? null]);
    }
    onlyFirst = [];
    onlySecond = [];
  };
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i] === second[j]) {
      flush();
      columns.push([i++, j++]);
    } else if (j >= second.length || (i < first.length && table[i + 1][j] >= table[i][j + 1])) onlyFirst.push(i++);
    else onlySecond.push(j++);
  }
  flush();
  return columns;
}
