// The two halves of one tally: the device's name for a memory, and the server's. They meet when it is synced.

import { el, setAttribute, setText, svg } from "./dom.js";
import { shortId } from "./format.js";
import { t } from "./i18n.js";

const MOST_NOTCHES = 9;
const COPIED_MS = 1600;

export class Tally {
  #device = new Half("device");
  #server = new Half("server");
  #notches = svg("svg", { class: "notches", height: 6, width: 0, "aria-hidden": "true", focusable: "false" });
  element = el("div", { class: "tally" }, this.#device.element, this.#server.element);
  #cut = 0;

  constructor() {
    this.#device.element.append(this.#notches);
  }

  update({ id, serverId, syncState }, attempts) {
    this.element.dataset.joined = String(syncState === "synced" && serverId !== null);
    this.#device.show(id, shortId(id));
    this.#server.show(serverId, serverId);
    this.#carve(Math.min(attempts, MOST_NOTCHES));
  }

  // One notch an attempt, as a tally is kept.
  #carve(count) {
    if (count === this.#cut) return;
    this.#cut = count;
    setAttribute(this.#notches, "width", count * 9);
    const d = Array.from({ length: count }, (_, index) => `M${index * 9} 0l3.5 6 3.5-6z`).join("");
    this.#notches.replaceChildren(svg("path", { d }));
  }
}

class Half {
  #side;
  #label = el("span", { class: "half-label" });
  #short = el("span", { class: "half-id", translate: "no" });
  #whole = el("span", { class: "half-whole", "aria-hidden": "true", translate: "no" });
  #spoken = el("span", { class: "visually-hidden" });
  #id = null;
  #timer;

  constructor(side) {
    this.#side = side;
    this.element = el("button", { type: "button", class: `half ${side}` }, this.#label, this.#short, this.#spoken, this.#whole);
    this.element.addEventListener("click", () => this.#copy());
  }

  show(id, short) {
    this.#id = id;
    clearTimeout(this.#timer);
    this.#write(short ?? t("row.notYet"));
    setText(this.#label, t(`row.${this.#side}`));
    setText(this.#whole, id ?? "");
    // A half that is not there has nothing to copy; it stays an element of the same kind, so that the focus is not lost.
    setAttribute(this.element, "aria-disabled", id === null ? "true" : null);
    setAttribute(this.element, "tabindex", id === null ? "-1" : null);
    setText(this.#spoken, id === null ? "" : t("row.copy", { id }));
    this.element.dataset.known = String(id !== null);
  }

  async #copy() {
    if (this.#id === null) return;
    let said = "row.copied";
    try {
      await navigator.clipboard.writeText(this.#id);
    } catch {
      said = "row.copyRefused";
    }
    const before = this.#short.textContent;
    this.#write(t(said));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(before), COPIED_MS);
  }

  #write(text) {
    setText(this.#short, text);
  }
}
