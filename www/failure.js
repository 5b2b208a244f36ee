import { byId, el } from "./dom.js";
import { has, onLanguage, t } from "./i18n.js";

/** The whole page says why it cannot start: what happened, what is safe, what to do. */
export function showFailure(code) {
  const page = byId("failure");
  const known = has(`failure.${code}.what`) ? code : "other";
  const write = () => {
    const parts = [
      el("h1", {}, t(`failure.${known}.what`)),
      known === "no_demo" ? null : el("p", {}, t("failure.safe")),
      el("p", {}, t(`failure.${known}.do`)),
      known === "no_demo" ? el("pre", { tabindex: 0 }, el("code", {}, "cargo xtask demo")) : null,
      el("p", {}, el("button", { type: "button", class: "primary", on: { click: () => location.reload() } }, t("failure.reload"))),
      known === "no_demo" ? null : el("p", { class: "code" }, t("failure.code", { code })),
    ];
    page.replaceChildren(...parts.filter((part) => part !== null));
  };
  write();
  onLanguage(write);
  byId("app").hidden = true;
  page.hidden = false;
}
