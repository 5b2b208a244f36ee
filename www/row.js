import { el, setAttribute, setText } from "./dom.js";
import { clip, full, moment } from "./format.js";
import { icon } from "./icons.js";
import { language, t } from "./i18n.js";
import { Reason } from "./parked.js";
import { Tally } from "./tally.js";

const TITLE_LENGTH = 120;
const BODY_LENGTH = 220;
const BODY_LINES = 5;
let made = 0;

/** One memory in the list. `update` changes what differs and leaves the rest, and with it focus and selection, alone. */
export class Row {
  #acts;
  #entry;
  #view;
  #drawn = {};
  #open = false;
  #title = el("h3", { id: `memory-${++made}`, tabindex: -1, dir: "auto" });
  #icon = el("span", { class: "state-icon" });
  #word = el("span");
  #state = el("p", { class: "state" }, this.#icon, this.#word);
  #body = el("p", { class: "text", dir: "auto" });
  #more = el("button", { type: "button", class: "quiet more" });
  #reason = null;
  #tally = new Tally();
  #created = el("time");
  #attempts = el("span");
  #note = el("span", { class: "next" });
  #story = el("button", { type: "button", class: "quiet open-story" });
  #head = el("div", { class: "row-head" }, this.#title, this.#state);
  #facts = el("div", { class: "facts" }, this.#created, this.#attempts, this.#note, this.#story);
  #article = el(
    "article",
    { "aria-labelledby": this.#title.id },
    el("div", { class: "row-text" }, this.#head, this.#body, this.#more),
    el("div", { class: "row-tally" }, this.#tally.element, this.#facts),
  );
  element = el("li", { class: "row" }, this.#article);

  constructor(entry, view, acts) {
    this.#acts = acts;
    this.#more.addEventListener("click", () => {
      this.#open = !this.#open;
      this.#drawn = {};
      this.#write();
    });
    this.#story.addEventListener("click", () => acts.story(this.#entry));
    this.update(entry, view);
  }

  update(entry, view) {
    const joins = this.#entry !== undefined && this.#entry.syncState !== "synced" && entry.syncState === "synced";
    this.#entry = entry;
    this.#view = view;
    this.#write();
    if (joins) this.element.classList.add("just-joined");
  }

  /** Time has passed: a moment that is over is no longer announced as one to come. */
  tick() {
    if (this.#entry.nextAttemptAt !== null) this.#next();
  }

  #write() {
    const entry = this.#entry;
    const state = stateOf(entry, this.#view.sending);
    const drawn = this.#drawn;
    if (drawn.state !== state || drawn.deleted !== entry.deleted || drawn.lang !== language()) {
      this.element.dataset.state = state;
      if (drawn.state !== state) this.#icon.replaceChildren(icon(entry.deleted ? "deleted" : state));
      setText(this.#word, t(entry.deleted ? "row.deleted" : `state.${state}`));
    }
    if (drawn.title !== entry.values.title || drawn.body !== entry.values.body || drawn.lang !== language()) this.#text();
    const { attempts } = this.#view;
    this.#tally.update(entry, attempts);
    this.#parked();
    setText(this.#created, moment(entry.createdAt));
    if (drawn.createdAt !== entry.createdAt || drawn.lang !== language()) {
      setAttribute(this.#created, "datetime", entry.createdAt);
      setAttribute(this.#created, "title", full(entry.createdAt));
    }
    // What was synced before this page was opened had attempts that nobody counted here.
    setText(this.#attempts, attempts === 0 && entry.syncState === "synced" ? "" : t("row.attempts", { count: attempts }));
    this.#next();
    setText(this.#story, t("row.story"));
    this.#drawn = { state, deleted: entry.deleted, lang: language(), ...entry.values, createdAt: entry.createdAt };
  }

  #text() {
    const { title, body } = this.#entry.values;
    const shortTitle = clip(title ?? "", TITLE_LENGTH, 1);
    const shortBody = clip(body ?? "", BODY_LENGTH, BODY_LINES);
    const clipped = shortTitle !== null || shortBody !== null;
    const shown = (whole, short) => (short === null || this.#open ? whole : `${short}…`);
    setText(this.#title, shown(title ?? "", shortTitle) || t("row.untitled"));
    setText(this.#body, shown(body ?? "", shortBody));
    this.#body.hidden = !body;
    this.#more.hidden = !clipped;
    setText(this.#more, t(this.#open ? "row.showLess" : "row.showAll"));
    setAttribute(this.#more, "aria-expanded", String(this.#open));
  }

  #parked() {
    if (this.#entry.parked === null) {
      if (this.#reason === null) return;
      const focused = this.#reason.element.contains(document.activeElement);
      this.#reason.element.remove();
      this.#reason = null;
      // The button that was pressed is gone; its row is not.
      if (focused) this.#title.focus({ preventScroll: true });
      return;
    }
    if (this.#reason === null) {
      this.#reason = new Reason(this.#acts);
      this.#more.after(this.#reason.element);
    }
    this.#reason.update(this.#entry);
  }

  #next() {
    const { parked, syncState, nextAttemptAt } = this.#entry;
    const { attempts } = this.#view;
    let text = "";
    if (parked === null && syncState === "pending") {
      if (this.#view.lost && attempts > 1 && this.#view.sending) text = t("row.again");
      else if (nextAttemptAt !== null && nextAttemptAt > Date.now() && attempts > 0) {
        text = t("row.next", { time: moment(nextAttemptAt) });
      }
    } else if (this.#view.lost && attempts > 1 && parked === null) {
      text = t("row.again");
    }
    setText(this.#note, text);
  }
}

function stateOf({ parked, syncState }, sending) {
  if (parked !== null) return "attention";
  if (syncState === "synced") return "synced";
  return sending ? "sending" : "waiting";
}
