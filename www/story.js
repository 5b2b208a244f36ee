// The story of one operation, drawn and told: what left the device, what came back, and that there is one row.

import { byId, el } from "./dom.js";
import { draw } from "./drawing.js";
import { moment, second, tinyId } from "./format.js";
import { onLanguage, t } from "./i18n.js";
import { attemptsOf } from "./story-log.js";

let redraw = null;
onLanguage(() => redraw?.());

/** Opens the story of a memory and keeps it up to date until it is closed. */
export function showStory(opened, log) {
  const dialog = byId("story");
  if (dialog.open) return;
  let entry = opened;
  const heading = el("h2", { id: "story-heading", dir: "auto" });
  const key = el("p", { class: "story-key", translate: "no" });
  const picture = el("div", { class: "picture" });
  const telling = el("ol", { class: "telling" });
  const total = el("p", { class: "total" });
  const requests = el("p", { class: "requests" });
  const close = el("button", { type: "button", class: "primary", on: { click: () => dialog.close() } });
  dialog.replaceChildren(heading, key, picture, total, requests, telling, el("div", { class: "actions" }, close));
  let scheduled = false;

  function write() {
    scheduled = false;
    if (!dialog.open) return;
    const story = log.of(entry.id);
    entry = story.entry ?? entry;
    const steps = stepsOf(entry, story);
    heading.textContent = t("story.heading", { title: (entry.values.title || t("row.untitled")).slice(0, 60) });
    key.textContent = t("story.key", { key: entry.id });
    picture.replaceChildren(draw(steps, { width: picture.clientWidth || 320, serverId: entry.serverId }));
    telling.replaceChildren(...steps.map((step) => el("li", {}, tell(step, entry))));
    const count = totalOf(entry, story);
    total.textContent = totalText(count, story);
    requests.textContent = counted(story, count);
    close.textContent = t("story.close");
  }

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(write);
  };
  const stop = new AbortController();
  const stopLog = log.subscribe(schedule);
  const size = new ResizeObserver(schedule);
  redraw = schedule;
  dialog.addEventListener(
    "close",
    () => {
      stop.abort();
      stopLog();
      size.disconnect();
      redraw = null;
    },
    { once: true },
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(), { signal: stop.signal });
  dialog.showModal();
  write();
  size.observe(picture);
  log.refresh();
}

// An entry may no longer count its attempts once it is synced; each attempt that was seen carries its number.
function totalOf(entry, story) {
  return Math.max(entry.attempts, ...attemptsOf(story).map(({ n }) => n));
}

function totalText(count, { rows }) {
  if (count === 0) return rows === null ? "" : t("story.rows", { count: rows });
  const attempts = t("story.total", { count });
  return rows === null ? attempts : t("story.totalRows", { attempts, count: rows });
}

function counted({ requests }, attempts) {
  // None counted where there were attempts: the server counts since its start.
  if (!requests) return "";
  const told = t("story.requests", { count: requests });
  return attempts > 0 && requests > attempts ? `${told} ${t("story.more")}` : told;
}

function stepsOf(entry, story) {
  const steps = story.steps.filter(({ kind }) => kind === "attempt" || kind === "stored");
  if (steps[0]?.kind !== "stored") steps.unshift({ kind: "stored", at: Date.parse(entry.createdAt) });
  const unknown = totalOf(entry, story) - attemptsOf(story).length;
  if (unknown > 0) steps.splice(1, 0, { kind: "unknown", count: unknown });
  const last = steps.at(-1);
  const waits = entry.syncState === "pending" && entry.parked === null && entry.nextAttemptAt !== null;
  if (waits && entry.nextAttemptAt > Date.now() && last.end !== null) steps.push({ kind: "wait", at: entry.nextAttemptAt });
  return steps;
}

function tell(step, entry) {
  if (step.kind === "stored") return t("story.stored", { time: second(step.at) });
  if (step.kind === "unknown") return t("story.unknown", { count: step.count });
  if (step.kind === "wait") return t("story.wait", { time: moment(step.at) });
  const values = { n: step.n, key: tinyId(step.key), time: second(step.at), id: entry.serverId ?? "" };
  if (step.end === null) return t("story.inFlight", values);
  if (step.end === "parked") return t("story.parked", values);
  if (step.end === "synced") return t(step.row === "found" ? "story.syncedFound" : "story.synced", values);
  if (step.reached === false) return t("story.lostThere", values);
  if (step.reached === null) return t("story.lost", values);
  if (step.row === "made") return t("story.lostBackRow", values);
  return t(step.row === "found" ? "story.lostBackFound" : "story.lostBack", values);
}
