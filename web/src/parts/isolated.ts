// Names come from people and files: a right-to-left override in one of them must not turn the text around it.
// In markup a name stands in <bdi>; this is for the places that take text alone: options, titles, labels for screen readers.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;
const CONTROLS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text between isolating marks, without control characters of its own; unchanged where it has none of either. */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text.replace(CONTROLS, "")}\u2069` : text;
}

const ISOLATES = "\u2066\u2067\u2068";
const EMBEDDINGS = "\u202a\u202b\u202d\u202e";
const [POP_ISOLATE, POP_EMBEDDING] = ["\u2069", "\u202c"];

/** The text with an end for each isolate and embedding that it opens, and without ends of what it did not open.
 *
 * An isolate that is open at the end of a <bdi> takes the end that the browser sets there for itself: what follows would be
 * read as a part of the name.
 */
export function balanced(text: string): string {
  const open: string[] = [];
  let made = "";
  for (const one of text) {
    if (ISOLATES.includes(one)) open.push(POP_ISOLATE);
    else if (EMBEDDINGS.includes(one)) open.push(POP_EMBEDDING);
    else if (one === POP_ISOLATE || one === POP_EMBEDDING) {
      if (open.at(-1) !== one) continue;
      open.pop();
    }
    made += one;
  }
  return made + open.reverse().join("");
}
