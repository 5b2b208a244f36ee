// The strip at the foot of the page: calm when offline, with a button when only a person can go on. It covers nothing that
// was laid out, so nothing jumps when it comes.

import { alertNow } from "./announce.js";
import { byId, el, setText } from "./dom.js";
import { onLanguage, t } from "./i18n.js";

export function showStrip(outbox, session) {
  const strip = byId("strip");
  const text = el("p");
  const button = el("button", { type: "button", class: "primary" });
  strip.append(text, button);
  let shown = null;
  let failed = false;
  let busy = false;

  button.addEventListener("click", async () => {
    if (busy) return;
    busy = true;
    failed = shown === "signed_out" && !(await session.signIn());
    busy = false;
    if (!failed) {
      outbox.resume();
      outbox.sync().catch(console.error);
    }
    write();
    if (failed) alertNow(text.textContent);
  });

  function write() {
    const { paused, online, pending } = outbox.status.getSnapshot();
    const next = paused === "signed_out" || paused === "endpoint" ? paused : online ? null : "offline";
    const came = next !== shown;
    if (came) failed = false;
    shown = next;
    if (next === null && strip.contains(document.activeElement)) byId("list-heading").focus({ preventScroll: true });
    strip.hidden = next === null;
    if (next === null) return;
    strip.dataset.kind = next;
    button.hidden = next === "offline";
    if (next === "offline") setText(text, t("strip.offline"));
    if (next === "endpoint") {
      setText(text, t("strip.endpoint"));
      setText(button, t("strip.again"));
    }
    if (next === "signed_out") {
      const wanted = pending > 0 ? t("strip.signIn", { count: pending }) : t("strip.signInNone");
      setText(text, failed ? t("strip.signInFailed") : wanted);
      setText(button, t("strip.signInButton"));
    }
    if (came && next !== "offline") alertNow(text.textContent);
  }

  outbox.status.subscribe(write);
  onLanguage(write);
}
