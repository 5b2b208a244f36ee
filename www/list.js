import { byId, setAttribute, setText } from "./dom.js";
import { t, onLanguage } from "./i18n.js";
import { Row } from "./row.js";

const FILTERS = [undefined, "pending", "parked"];
const TICK_MS = 10_000;

/** The list of memories. `acts` are what a row's buttons do. */
export function showList(memories, acts) {
  const list = byId("list");
  const older = byId("older");
  const rows = new Map();
  let failed = false;

  function render(changed, moved) {
    const kept = anchor(list);
    for (const id of changed) {
      const entry = memories.entry(id);
      if (entry === undefined) drop(id);
      else if (rows.has(id)) rows.get(id).update(entry, view(id));
    }
    if (moved) arrange();
    hold(kept);
    foot();
  }

  function arrange() {
    const wanted = new Set(memories.order);
    for (const id of rows.keys()) if (!wanted.has(id)) drop(id);
    let at = list.firstElementChild;
    for (const id of memories.order) {
      let row = rows.get(id);
      if (row === undefined) {
        row = new Row(memories.entry(id), view(id), acts);
        rows.set(id, row);
      }
      // What is in its place is not touched: moving an element would take its focus.
      if (row.element === at) at = at.nextElementSibling;
      else list.insertBefore(row.element, at);
    }
  }

  function drop(id) {
    const row = rows.get(id);
    if (row === undefined) return;
    rows.delete(id);
    if (row.element.contains(document.activeElement)) {
      (row.element.nextElementSibling?.querySelector("h3") ?? byId("list-heading")).focus({ preventScroll: true });
    }
    row.element.remove();
  }

  const view = (id) => ({
    sending: memories.isSending(id),
    lost: memories.lostAnswer(id),
    attempts: memories.attempts(id),
  });

  function foot() {
    const empty = byId("empty");
    empty.hidden = memories.order.length > 0 || failed;
    if (!empty.hidden) setText(empty, t({ pending: "list.emptyPending", parked: "list.emptyParked" }[memories.only] ?? "list.empty"));
    older.hidden = memories.order.length === 0 && !failed;
    // It stays where it is when there is no more: a button that vanishes takes the focus with it.
    setAttribute(older, "aria-disabled", !memories.hasOlder && !failed ? "true" : null);
    setText(older, failed ? t("list.failed") : t(memories.hasOlder ? "list.older" : "list.all"));
  }

  async function attempt(run) {
    try {
      await run();
      failed = false;
    } catch (error) {
      console.error(error);
      failed = true;
    }
    foot();
  }

  async function show(only) {
    await attempt(() => memories.show(only));
    filters();
  }

  function filters() {
    for (const button of byId("filters").children) {
      const only = FILTERS[button.dataset.index];
      setText(button, t(`filter.${only ?? "all"}`));
      setAttribute(button, "aria-pressed", String(only === memories.only));
    }
  }

  FILTERS.forEach((only, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.index = index;
    button.addEventListener("click", () => show(only));
    byId("filters").append(button);
  });
  older.addEventListener("click", () => {
    if (failed && memories.order.length === 0) show(memories.only);
    else attempt(() => memories.showOlder());
  });
  memories.subscribe(render);
  onLanguage(() => {
    filters();
    render(rows.keys(), false);
  });
  setInterval(() => {
    for (const row of rows.values()) row.tick();
  }, TICK_MS);
  return { show };
}

// Engines without scroll anchoring jump when a row comes in above; the first row in view is held where it is.
function anchor(list) {
  if (CSS.supports("overflow-anchor", "auto") || window.scrollY === 0) return null;
  for (const row of list.children) {
    const { top, bottom } = row.getBoundingClientRect();
    if (bottom > 0) return { row, top };
  }
  return null;
}

function hold(kept) {
  if (kept === null || !kept.row.isConnected) return;
  const moved = kept.row.getBoundingClientRect().top - kept.top;
  if (moved !== 0) window.scrollBy(0, moved);
}
