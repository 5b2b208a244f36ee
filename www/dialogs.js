import { byId, el } from "./dom.js";
import { t } from "./i18n.js";

/** Asks before a memory is given up. Resolves with whether to. */
export function askDiscard(entry) {
  const attempted = entry.attempts > 0;
  const dialog = byId("dialog");
  const button = (value, text, options) => el("button", { type: "submit", value, ...options }, text);
  dialog.replaceChildren(
    el(
      "form",
      { method: "dialog" },
      el("h2", { id: "dialog-heading" }, t("discard.heading")),
      el("p", { class: "quoted", dir: "auto" }, entry.values.title || t("row.untitled")),
      el("p", { id: "dialog-text" }, attempted ? t("discard.attempted", { count: entry.attempts }) : t("discard.unsent")),
      el(
        "div",
        { class: "actions" },
        button("keep", t("discard.keep"), { autofocus: true }),
        button("discard", t(attempted ? "choice.discardAttempted" : "choice.discard"), { class: "danger" }),
      ),
    ),
  );
  dialog.setAttribute("aria-labelledby", "dialog-heading");
  dialog.setAttribute("aria-describedby", "dialog-text");
  dialog.returnValue = "keep";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "discard"), { once: true });
  });
}
