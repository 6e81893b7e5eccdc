// Names for hypotheses that last from word to word, so that one can be followed as it moves up and down.
//
// The most probable child of a hypothesis keeps its name; other children, and those whose parent is not shown, get new ones.

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"; // without I and O, which look like numbers

export const COLOURS = 7; // in the style sheet: Okabe and Ito's

// For each record, the name and colour of each of its hypotheses.
export function nameLineages(records) {
  let used = 0;
  let before = [];
  return records.map((record) => {
    const taken = new Set();
    const names = record.hypotheses.map((hypothesis) => {
      const parent = before[hypothesis.parent];
      if (parent && !taken.has(parent.name)) {
        taken.add(parent.name);
        return parent;
      }
      const number = used++;
      const round = Math.floor(number / LETTERS.length);
      return { name: LETTERS[number % LETTERS.length] + (round ? round + 1 : ""), colour: number % COLOURS };
    });
    before = names;
    return names;
  });
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
