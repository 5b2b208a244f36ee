// One line on how things stand, and below it one more: how far a long drain is, or why it waits.

import { announceCounts } from "./announce.js";
import { byId, el, setAttribute, setText } from "./dom.js";
import { moment } from "./format.js";
import { has, onLanguage, t } from "./i18n.js";

const TICK_MS = 10_000;

export function showSummary(outbox, { onlyParked }) {
  const waiting = el("span", { class: "waiting" });
  const attention = el("button", { type: "button", class: "quiet attention", on: { click: onlyParked } });
  const last = el("span", { class: "last" });
  const send = el("button", { type: "button", class: "quiet send" });
  byId("summary-line").append(waiting, attention, last, send);
  const progress = el("progress");
  const amount = el("span", { class: "amount" });
  const why = el("p", { class: "why" });
  const bar = el("div", { class: "progress" }, progress, amount);
  const all = el("button", { type: "button", class: "quiet retry-all", on: { click: () => outbox.retry().catch(console.error) } });
  byId("summary-slot").append(bar, why, all);
  send.addEventListener("click", () => {
    // What comes of it is told by the status.
    if (send.getAttribute("aria-disabled") !== "true") outbox.sync().catch(console.error);
  });

  function write() {
    const status = outbox.status.getSnapshot();
    const { pending, parked, sending, paused, lastSyncedAt } = status;
    setText(waiting, pending > 0 ? t("count.waiting", { count: pending }) : t("count.none"));
    attention.hidden = parked === 0;
    setText(attention, parked === 0 ? "" : t("count.attention", { count: parked }));
    setText(last, lastSyncedAt === null ? t("summary.never") : t("summary.last", { time: moment(lastSyncedAt) }));
    setText(send, t(sending ? "summary.sending" : "summary.send"));
    const idle = pending === 0 && !sending;
    if (idle && document.activeElement === send) setAttribute(send, "aria-disabled", "true");
    else {
      send.hidden = idle;
      setAttribute(send, "aria-disabled", idle || sending || paused !== null ? "true" : null);
    }
    writeSlot(status);
    byId("mark").classList.toggle("apart", pending + parked > 0);
    announceCounts(status);
  }

  function writeSlot(status) {
    const { progress: done, parked } = status;
    // A handful goes in a blink: a bar that flashes up says nothing.
    const draining = done !== null && done.total > 1;
    bar.hidden = !draining;
    if (draining) {
      progress.max = done.total;
      progress.value = done.done;
      setAttribute(progress, "aria-label", t("progress.label"));
      setText(amount, t("progress.of", done));
    }
    why.hidden = draining;
    // The place is never empty, so that a reason moves nothing when it comes.
    setText(why, reasonOf(status) || t("summary.idle"));
    all.hidden = parked < 2;
    setText(all, t("retry.all"));
  }

  outbox.status.subscribe(write);
  onLanguage(write);
  // "Last synced" gets a date at midnight, and a moment that has passed is no longer to come.
  setInterval(write, TICK_MS);
}

function reasonOf({ pending, paused, trouble, sender, online, nextAttemptAt }) {
  if (pending === 0) return "";
  if (paused === "by_app") return t("why.by_app");
  // The strip at the foot of the page says these.
  if (paused !== null || !online) return "";
  const next = nextAttemptAt !== null && nextAttemptAt > Date.now() ? t("why.next", { time: moment(nextAttemptAt) }) : "";
  if (trouble !== null) return [has(`trouble.${trouble}`) ? t(`trouble.${trouble}`) : t("trouble.other"), next].join(" ").trim();
  if (sender === "other_tab") return t("why.other_tab");
  if (sender === "nobody") return t("why.nobody");
  return next;
}
