import { en } from "./words.en.js";
import { ja } from "./words.ja.js";

const WORDS = { en, ja };
const KEPT = "warifu.lang";
const listeners = new Set();
let lang = firstLanguage();
let plural = new Intl.PluralRules(lang);

export const language = () => lang;

/** The words for a key. `{name}` is replaced; a `count` picks the plural form and is written as the language writes numbers. */
export function t(key, values = {}) {
  const found = WORDS[lang][key];
  if (found === undefined) throw new Error(`no words for ${key}`);
  const text = typeof found === "string" ? found : (found[plural.select(values.count)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(lang) : String(value);
  });
}

/** Whether there are words for a key: codes from elsewhere may be new. */
export const has = (key) => key in WORDS[lang];

export function setLanguage(next) {
  if (!(next in WORDS) || next === lang) return;
  lang = next;
  plural = new Intl.PluralRules(lang);
  try {
    localStorage.setItem(KEPT, lang);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  applyLanguage();
  for (const run of listeners) run();
}

export function onLanguage(run) {
  listeners.add(run);
}

/** Writes the words into the elements that name them. */
export function applyLanguage() {
  document.documentElement.lang = lang;
  document.title = t("title");
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-t-label]")) node.setAttribute("aria-label", t(node.dataset.tLabel));
  for (const node of document.querySelectorAll("[data-lang]")) {
    node.setAttribute("aria-pressed", String(node.dataset.lang === lang));
  }
}

function firstLanguage() {
  const asked = [new URLSearchParams(location.search).get("lang"), keptLanguage(), ...(navigator.languages ?? [])];
  for (const tag of asked) {
    const base = tag?.toLowerCase().split("-")[0];
    if (base && Object.hasOwn(WORDS, base)) return base;
  }
  return "en";
}

function keptLanguage() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
