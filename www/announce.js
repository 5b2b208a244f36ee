// What a screen reader is told without being asked: counts, politely and not too often; attention and sign-in, at once.

import { byId, setText } from "./dom.js";
import { t } from "./i18n.js";

const QUIET_MS = 1500;
let timer;
let counted;
let parkedBefore = null;

/** Tells the counts once they rest. The first ones are what the page opens with, and are on it to be read. */
export function announceCounts({ pending, parked }) {
  const first = counted === undefined;
  const next = `${pending}/${parked}`;
  if (next === counted) return;
  counted = next;
  if (parkedBefore !== null && parked > parkedBefore) alertNow(t("count.attention", { count: parked }));
  parkedBefore = parked;
  if (first) return;
  clearTimeout(timer);
  timer = setTimeout(() => setText(byId("status"), countsText(pending)), QUIET_MS);
}

/** Something that a person has to know now. */
export function alertNow(text) {
  setText(byId("alert"), text);
}

function countsText(pending) {
  return pending > 0 ? t("count.waitingSpoken", { count: pending }) : t("count.allSpoken");
}
