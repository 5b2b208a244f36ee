import { language } from "./i18n.js";

const made = new Map();
let segmenter;

/** A time of day; with its date when that is another day. */
export function moment(at) {
  const date = new Date(at);
  const style = sameDay(date, new Date()) ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return formatter(style).format(date);
}

/** A time of day to the second, for what happens fast. */
export const second = (at) => formatter({ timeStyle: "medium" }).format(new Date(at));

/** A date and time in full. */
export const full = (at) => formatter({ dateStyle: "full", timeStyle: "medium" }).format(new Date(at));

export const shortId = (id) => id.slice(0, 8);

/** A key as it is written on an arrow. */
export const tinyId = (id) => id.slice(0, 4);

/** The first `limit` characters as people count them, or null where that is all of it. */
export function clip(text, limit, lines) {
  const end = endOfLines(text, lines);
  const head = text.slice(0, end);
  // Looked at in a bounded window: a text may be 100 kB.
  const window = head.slice(0, limit * 8);
  let cut = window.length;
  let count = 0;
  for (const { index } of graphemes(window)) {
    if (count === limit) {
      cut = index;
      break;
    }
    count += 1;
  }
  return cut < text.length ? text.slice(0, cut).trimEnd() : null;
}

function endOfLines(text, lines) {
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.length;
  }
  return end;
}

function* graphemes(text) {
  if (Intl.Segmenter) {
    segmenter ??= new Intl.Segmenter();
    yield* segmenter.segment(text);
    return;
  }
  let index = 0;
  for (const point of text) {
    yield { index };
    index += point.length;
  }
}

function formatter(style) {
  const key = language() + JSON.stringify(style);
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(language(), style));
  return made.get(key);
}

function sameDay(a, b) {
  return a.toDateString() === b.toDateString();
}
