// The demo's switches: real harm to the connection, and what the server counted meanwhile.

import { byId, el, setAttribute, setText } from "./dom.js";
import { onLanguage, t } from "./i18n.js";
import { cutNetwork, isCut, onNetwork } from "./network.js";

const FAILURES = [500, 503, 429, 422, 401];
const MOST_DROPS = 99;
const WATCH_MS = 2500;

export function showSwitches({ outbox, demo, session, log, openStory }) {
  const panel = byId("demo-panel");
  let values = null;
  let sample = 0;

  const dropped = stepper({ label: "demo.drop", change: (step) => set({ dropAnswers: clamp(values.dropAnswers + step) }) });
  const stop = toggle("demo.stop", () => set({ stopAnswering: !values.stopAnswering }));
  const offline = toggle("demo.offline", () => cutNetwork(!isCut()));
  const delay = select("demo.delay", [0, 300, 1000, 3000, 10000], (value) => set({ delayMs: value }));
  // The server forgets both when it has counted down; a failure without a count goes on until it is switched off.
  const fail = select("demo.fail", [null, ...FAILURES], (value) =>
    set({ failWith: value, failCount: value === null ? null : (values.failCount ?? 1) }),
  );
  const failCount = select("demo.failCount", [1, 2, 5, 20, null], (value) => set({ failCount: value }), "demo.failEndless");
  const watch = button("demo.try", watchOne, "primary");
  const writeOne = button("demo.write1", () => write(1));
  const writeMany = button("demo.write100", () => write(100));
  const leave = button("demo.signOut", () => {
    session.signOut();
    outbox.sync().catch(console.error);
  });
  const problem = el("p", { class: "note", role: "alert" });
  const intro = words("demo.intro");
  const tryNote = words("demo.tryNote");
  const board = el("dl", { class: "board" });
  const even = el("p", { class: "note even" });
  panel.append(
    intro.element,
    el("div", { class: "try" }, watch.element, tryNote.element),
    el("div", { class: "switches" }, ...[dropped, stop, offline, delay, fail, failCount].map(({ element }) => element)),
    el("div", { class: "actions" }, ...[writeOne, writeMany, leave].map(({ element }) => element)),
    problem,
    board,
    even,
  );

  async function set(change) {
    if (values === null) return read();
    const answer = await demo.setSwitches({ ...values, ...change });
    if (answer !== null) values = { ...values, ...change, ...answer };
    show(answer !== null);
  }

  async function read() {
    const answer = await demo.switches();
    if (answer !== null) values = answer;
    show(answer !== null);
  }

  async function watchOne() {
    await read();
    if (values === null) return;
    await set({ dropAnswers: 2 });
    const [entry] = await write(1);
    if (entry) openStory(entry);
  }

  async function write(count) {
    const titles = t("demo.sampleTitles").split("|");
    const made = Array.from({ length: count }, () => {
      const title = titles[sample++ % titles.length];
      return outbox.begin("memory").commit({ title: count > 1 ? `${title} ${sample}` : title, body: t("demo.sampleBody") });
    });
    const settled = await Promise.allSettled(made);
    const refused = settled.find(({ status }) => status === "rejected");
    if (refused) console.error(refused.reason);
    setText(problem, refused ? t(refused.reason?.code === "storage_full" ? "error.what.storage_full" : "error.what.other") : "");
    return settled.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
  }

  function show(reached = true) {
    for (const part of [intro, tryNote, dropped, stop, offline, delay, fail, failCount, watch, writeOne, writeMany, leave]) part.name();
    offline.set(isCut());
    if (values !== null) {
      dropped.set(values.dropAnswers);
      stop.set(values.stopAnswering);
      delay.set(values.delayMs);
      fail.set(values.failWith);
      failCount.set(values.failWith === null ? 1 : values.failCount);
    }
    for (const part of [dropped, stop, delay, fail]) part.enable(values !== null);
    failCount.enable(values !== null && values.failWith !== null);
    setText(problem, reached ? "" : t("demo.unreachable"));
    showBoard();
  }

  function showBoard() {
    const counts = log.board;
    byId("demo").classList.toggle("counted", counts !== null);
    const figures = counts === null ? [] : [["memories", counts.memories], ["requests", counts.requests], ["rows", counts.rows]];
    setAttribute(board, "aria-label", t("demo.board"));
    const text = figures.map(([name, count]) => el("div", {}, el("dt", {}, t(`demo.${name}`)), el("dd", {}, t("demo.figure", { count }))));
    board.replaceChildren(...text);
    setText(even, counts !== null && counts.rows > 0 && counts.rows <= counts.memories ? t("demo.even") : "");
  }

  byId("demo").hidden = false;
  byId("demo").open = matchMedia("(min-width: 60rem)").matches;
  onNetwork(() => show());
  onLanguage(() => show());
  log.subscribe(showBoard);
  log.refresh();
  read();
  // The server counts its switches down by itself.
  setInterval(() => {
    if (!document.hidden && byId("demo").open && outbox.status.getSnapshot().pending > 0) read();
  }, WATCH_MS);
  outbox.subscribe(({ type }) => {
    if (type === "synced" && values !== null && (values.dropAnswers > 0 || values.failWith !== null)) later();
  });
  let soon = null;
  function later() {
    soon ??= setTimeout(() => {
      soon = null;
      read();
    }, 500);
  }
}

const clamp = (count) => Math.min(MOST_DROPS, Math.max(0, count));

function words(key) {
  const element = el("p", { class: "note" });
  return { element, name: () => setText(element, t(key)) };
}

function button(key, run, name) {
  const element = el("button", { type: "button", class: name, on: { click: run } });
  return { element, name: () => setText(element, t(key)) };
}

function toggle(key, run) {
  const word = el("span");
  const mark = el("span", { class: "switch-mark", "aria-hidden": "true" });
  const state = el("span", { class: "switch-state", "aria-hidden": "true" });
  const element = el("button", { type: "button", role: "switch", class: "toggle", on: { click: run } }, word, state, mark);
  let on = false;
  const name = () => {
    setText(word, t(key));
    setText(state, t(on ? "demo.on" : "demo.off"));
    setAttribute(element, "aria-checked", String(on));
  };
  return {
    element,
    name,
    set(next) {
      on = next;
      name();
    },
    enable: (can) => setAttribute(element, "aria-disabled", can ? null : "true"),
  };
}

function stepper({ label, change }) {
  const id = "demo-drop";
  const word = el("span", { id });
  const count = el("output", { "aria-labelledby": id });
  const less = el("button", { type: "button", on: { click: () => change(-1) } }, "−");
  const more = el("button", { type: "button", on: { click: () => change(1) } }, "+");
  const element = el("div", { class: "stepper", role: "group", "aria-labelledby": id }, word, less, count, more);
  return {
    element,
    name() {
      setText(word, t(label));
      setAttribute(less, "aria-label", t("demo.less"));
      setAttribute(more, "aria-label", t("demo.more"));
    },
    set: (value) => setText(count, String(value)),
    enable: (can) => [less, more].forEach((part) => setAttribute(part, "aria-disabled", can ? null : "true")),
  };
}

function select(key, values, run, none = "demo.failNone") {
  const word = el("span");
  const input = el("select", { on: { change: () => run(JSON.parse(input.value)) } });
  for (const value of values) input.append(el("option", { value: JSON.stringify(value) }));
  return {
    element: el("label", { class: "choose" }, word, input),
    name() {
      setText(word, t(key));
      for (const option of input.options) {
        const value = JSON.parse(option.value);
        setText(option, value === null ? t(none) : String(value));
      }
    },
    set(value) {
      const text = JSON.stringify(value);
      // The server may count down to a figure that is not offered.
      if (![...input.options].some((option) => option.value === text)) input.append(el("option", { value: text }, String(value)));
      input.value = text;
    },
    enable: (can) => (input.disabled = !can),
  };
}
