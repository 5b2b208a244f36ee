// The form. One form is one operation: a second click or key is the same, and a new one begins when the first is safe.

import { byId, el, setAttribute, setText } from "./dom.js";
import { dropDraft, keepDraft, keptDraft } from "./draft.js";
import { has, onLanguage, t } from "./i18n.js";

const KEEP_MS = 250;
const ECHO_MS = 1000;

export class Composer {
  #outbox;
  #form = byId("composer");
  #title = byId("title");
  #body = byId("body");
  #message = byId("composer-message");
  #operation;
  #edits = null;
  #aside = null;
  #committing = false;
  #savedAt = -Infinity;
  #note = "composer.hint";
  #problem = null;
  #timer;

  constructor(outbox) {
    this.#outbox = outbox;
    this.#operation = outbox.begin("memory");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    this.#form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#save();
    });
    this.#form.addEventListener("input", () => this.#typed());
    byId("cancel-edit").addEventListener("click", () => this.#leaveEdit());
    addEventListener("pagehide", () => this.#keep());
    document.addEventListener("visibilitychange", () => this.#keep());
    onLanguage(() => this.#write());
    this.#write();
  }

  /** Brings back what this tab had not finished. */
  async resume() {
    const draft = keptDraft();
    if (draft === null) return;
    const edits = draft.edits === null ? null : await this.#outbox.get("memory", draft.edits);
    if (edits?.parked?.editable) {
      this.#edits = edits.id;
      this.#operation = this.#outbox.edit("memory", edits.id);
    } else if (draft.edits === null) {
      const saved = await this.#outbox.get("memory", draft.id);
      if (saved !== undefined && saved.values.title === draft.title && saved.values.body === draft.body) {
        // It had become safe just before the page went.
        dropDraft();
        this.#say("composer.saved");
        return;
      }
      if (saved === undefined) this.#operation = this.#outbox.begin("memory", { id: draft.id });
    }
    this.#fill(draft);
    this.#say("composer.resumed");
    this.#keep();
  }

  /** Opens a refused memory for correction; what was being written is put aside until then. */
  edit(entry) {
    if (this.#committing) return;
    if (this.#edits === null) this.#aside = { operation: this.#operation, title: this.#title.value, body: this.#body.value };
    this.#edits = entry.id;
    this.#operation = this.#outbox.edit("memory", entry.id);
    this.#fill(entry.values);
    this.#trouble(null);
    this.#say("composer.hint");
    this.#keep();
    this.#form.scrollIntoView({ block: "nearest" });
    this.#title.focus();
  }

  async #save() {
    if (this.#committing) return;
    const values = { title: this.#title.value, body: this.#body.value };
    if (values.title.trim() === "" && values.body.trim() === "") {
      // The second half of a double click comes when the form is already clear.
      if (performance.now() - this.#savedAt >= ECHO_MS) this.#trouble({ code: "empty", path: "title" });
      return;
    }
    this.#committing = true;
    this.#keep();
    this.#lock(true);
    try {
      await this.#operation.commit(values);
    } catch (error) {
      console.error(error);
      this.#trouble({ code: error?.code ?? "other", path: error?.path ?? null });
      return;
    } finally {
      this.#lock(false);
      this.#committing = false;
    }
    this.#savedAt = performance.now();
    this.#trouble(null);
    this.#next();
    this.#say("composer.saved");
  }

  // The form is clear for the next memory, or for the one that was put aside.
  #next() {
    const aside = this.#aside;
    this.#aside = null;
    this.#edits = null;
    this.#operation = aside?.operation ?? this.#outbox.begin("memory");
    this.#fill(aside ?? { title: "", body: "" });
    this.#keep();
  }

  #leaveEdit() {
    this.#trouble(null);
    this.#next();
    this.#say("composer.hint");
    this.#title.focus();
  }

  #asNew() {
    this.#edits = null;
    this.#operation = this.#outbox.begin("memory");
    this.#trouble(null);
    this.#write();
    this.#save();
  }

  #typed() {
    if (this.#note !== "composer.hint") this.#say("composer.hint");
    if (this.#problem !== null) this.#trouble(null);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), KEEP_MS);
  }

  #keep() {
    clearTimeout(this.#timer);
    const [title, body] = [this.#title.value, this.#body.value];
    if (title === "" && body === "" && this.#edits === null) dropDraft();
    else keepDraft({ id: this.#operation.id, title, body, edits: this.#edits });
  }

  #fill({ title, body }) {
    this.#title.value = title ?? "";
    this.#body.value = body ?? "";
    this.#write();
  }

  #lock(on) {
    this.#title.readOnly = on;
    this.#body.readOnly = on;
    setAttribute(byId("save"), "aria-disabled", on ? "true" : null);
  }

  #say(note) {
    this.#note = note;
    this.#write();
  }

  #trouble(problem) {
    this.#problem = problem;
    for (const field of [this.#title, this.#body]) {
      const marked = problem?.path?.split(/[.[]/)[0] === field.name;
      setAttribute(field, "aria-invalid", marked ? "true" : null);
    }
    this.#explain();
  }

  #explain() {
    const problem = this.#problem;
    if (problem === null) return this.#message.replaceChildren();
    const code = has(`error.what.${problem.code}`) ? problem.code : "other";
    const safe = code === "empty" ? null : t("error.safe");
    const lines = [el("strong", {}, t(`error.what.${code}`)), safe, t(`error.do.${code}`)].filter((line) => line !== null);
    this.#message.replaceChildren(...lines.map((line) => el("p", {}, line)));
    const remedy = this.#remedy(code);
    if (remedy !== null) this.#message.append(remedy);
  }

  #remedy(code) {
    if (["already_committed", "not_found", "not_possible"].includes(code)) {
      return el("button", { type: "button", on: { click: () => this.#asNew() } }, t("composer.asNew"));
    }
    if (["closed", "crashed", "storage_too_new"].includes(code)) {
      return el("button", { type: "button", on: { click: () => location.reload() } }, t("composer.reload"));
    }
    return null;
  }

  #write() {
    const editing = this.#edits !== null;
    this.#form.classList.toggle("editing", editing);
    setText(byId("composer-heading"), t(editing ? "composer.edit" : "composer.new"));
    setText(byId("save"), t(editing ? "composer.saveEdit" : "composer.save"));
    byId("cancel-edit").hidden = !editing;
    setText(byId("composer-note"), t(this.#note));
    byId("composer-note").dataset.saved = String(this.#note === "composer.saved");
    this.#explain();
  }
}
