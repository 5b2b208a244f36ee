// Why a memory waits for a person: what happened, what is safe, what to do. And the buttons to do it.

import { el, setText } from "./dom.js";
import { has, language, t } from "./i18n.js";

export class Reason {
  #acts;
  #entry;
  #text = el("div", { class: "reason-text" });
  #buttons = el("div", { class: "actions" });
  #message = el("p", { class: "reason-failed", role: "alert" });
  #drawn = "";
  element = el("div", { class: "reason" }, this.#text, this.#buttons, this.#message);

  constructor(acts) {
    this.#acts = acts;
  }

  update(entry) {
    this.#entry = entry;
    const { parked } = entry;
    const remedies = [];
    if (parked.editable) remedies.push(t("parked.canEdit"));
    if (parked.choices.includes("retry")) remedies.push(t("parked.canRetry"));
    if (parked.choices.includes("save_as_new")) remedies.push(t("parked.canSave"));
    const lines = [
      ["event", has(`parked.${parked.code}`) ? t(`parked.${parked.code}`) : t("parked.other", { code: parked.code })],
      ["cause", cause(parked)],
      ["remedy", [t("parked.safe"), ...remedies].join(language() === "ja" ? "" : " ")],
    ];
    const choices = choicesOf(parked);
    const drawn = JSON.stringify([lines, choices, entry.attempts]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#text.replaceChildren(...lines.filter(([, text]) => text).map(([name, text]) => el("p", { class: name, dir: "auto" }, text)));
    this.#showButtons(choices);
  }

  #showButtons(choices) {
    const present = new Map([...this.#buttons.children].map((button) => [button.dataset.choice, button]));
    for (const [choice, button] of present) if (!choices.includes(choice)) button.remove();
    for (const choice of choices) {
      const button = present.get(choice) ?? this.#button(choice);
      const attempted = choice === "discard" && this.#entry.attempts > 0;
      setText(button, t(attempted ? "choice.discardAttempted" : `choice.${choice}`));
      if (!present.has(choice)) this.#buttons.append(button);
    }
  }

  #button(choice) {
    const button = el("button", { type: "button", class: choice === "discard" ? "danger" : null });
    button.dataset.choice = choice;
    let busy = false;
    button.addEventListener("click", async () => {
      if (busy) return;
      busy = true;
      setText(this.#message, "");
      try {
        await this.#acts[choice](this.#entry);
      } catch (error) {
        console.error(error);
        setText(this.#message, t("choice.failed"));
      }
      busy = false;
    });
    return button;
  }
}

function cause({ detail, field, status }) {
  const parts = [];
  if (detail) parts.push(t("parked.detail", { detail }));
  if (field) parts.push(t("parked.field", { field: has(`field.name.${field}`) ? t(`field.name.${field}`) : field }));
  if (status) parts.push(t("parked.status", { status: String(status) }));
  return parts.join(" · ");
}

function choicesOf({ choices, editable }) {
  const known = ["retry", "save_as_new", "discard"].filter((choice) => choices.includes(choice));
  return editable ? ["edit", ...known] : known;
}
