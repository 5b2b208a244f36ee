// The memories that the page has loaded, kept up to date. Changes are gathered and told once a frame.

const PAGE = 50;

export class Memories {
  #outbox;
  #entries = new Map();
  #order = [];
  #sending = new Set();
  #lost = new Set();
  #attempts = new Map();
  #dirty = new Set();
  #moved = false;
  #scheduled = false;
  #next = null;
  #only;
  #stopWatching = null;
  #showing = 0;
  #listeners = new Set();

  constructor(outbox) {
    this.#outbox = outbox;
    outbox.subscribe((event) => this.#hear(event));
    outbox.status.subscribe((status) => this.#settleSending(status));
    document.addEventListener("visibilitychange", () => this.#tell());
  }

  get order() {
    return this.#order;
  }

  get hasOlder() {
    return this.#next !== null;
  }

  get only() {
    return this.#only;
  }

  entry(id) {
    return this.#entries.get(id);
  }

  isSending(id) {
    return this.#sending.has(id);
  }

  /** How many attempts are known of it: an entry may no longer count them once it is synced. */
  attempts(id) {
    return Math.max(this.#entries.get(id)?.attempts ?? 0, this.#attempts.get(id) ?? 0);
  }

  /** Whether an attempt of it ended without an answer while this page was open. */
  lostAnswer(id) {
    return this.#lost.has(id);
  }

  /** `run(changed: Set of ids, moved: boolean)` */
  subscribe(run) {
    this.#listeners.add(run);
  }

  /** Shows all, or only some of them, from the newest on. */
  async show(only) {
    const showing = ++this.#showing;
    const page = await this.#outbox.list("memory", { limit: PAGE, ...(only && { only }) });
    if (showing !== this.#showing) return;
    this.#stopWatching?.();
    this.#only = only;
    this.#entries.clear();
    this.#order = [];
    this.#next = page.next;
    this.#append(page.items);
    this.#moved = true;
    this.#stopWatching = this.#outbox
      .watch("memory", { limit: PAGE, ...(only && { only }) })
      .subscribe((items) => this.#merge(items));
    this.#schedule();
  }

  async showOlder() {
    if (this.#next === null) return;
    const showing = this.#showing;
    const after = this.#next;
    const page = await this.#outbox.list("memory", { limit: PAGE, after, ...(this.#only && { only: this.#only }) });
    if (showing !== this.#showing || after !== this.#next) return;
    this.#next = page.next;
    this.#append(page.items);
  }

  #append(items) {
    for (const item of items) {
      if (!this.#entries.has(item.id)) {
        this.#order.push(item.id);
        this.#moved = true;
      }
      this.#put(item);
    }
  }

  // The newest page as it is now. A row that left it (it was sent, and only unsent ones are shown) stays until asked anew.
  #merge(items) {
    for (let index = items.length - 1; index >= 0; index -= 1) {
      const item = items[index];
      if (!this.#entries.has(item.id)) {
        const later = items[index + 1];
        const earlier = items.slice(0, index).findLast(({ id }) => this.#entries.has(id));
        let at = 0;
        if (later) at = this.#order.indexOf(later.id);
        else if (earlier) at = this.#order.indexOf(earlier.id) + 1;
        this.#order.splice(at, 0, item.id);
        this.#moved = true;
      }
      this.#put(item);
    }
  }

  #put(entry) {
    if (this.#entries.get(entry.id) === entry) return;
    this.#entries.set(entry.id, entry);
    this.#touch(entry.id);
  }

  #remove(id) {
    if (!this.#entries.delete(id)) return;
    this.#order.splice(this.#order.indexOf(id), 1);
    this.#moved = true;
    this.#touch(id);
  }

  #hear({ type, entry, key, attempt }) {
    if (entry?.kind !== undefined && entry.kind !== "memory") return;
    const id = entry?.id ?? key;
    if (id === null || id === undefined) return;
    if (attempt > 0) this.#attempts.set(id, Math.max(attempt, this.#attempts.get(id) ?? 0));
    if (type === "attempted") this.#sending.add(id);
    else this.#sending.delete(id);
    if (type === "answer_lost") this.#lost.add(id);
    if (type === "discarded" && entry === null) this.#remove(id);
    else if (entry !== null && (this.#entries.has(id) || this.#belongs(entry))) {
      if (!this.#entries.has(id) && type === "stored") {
        this.#order.unshift(id);
        this.#moved = true;
      }
      if (this.#entries.has(id) || type === "stored") this.#put(entry);
    }
    this.#touch(id);
  }

  #belongs(entry) {
    if (this.#only === "parked") return entry.parked !== null;
    return this.#only === undefined || entry.syncState === this.#only;
  }

  // An attempt that a reload or another tab cut short has no end of its own.
  #settleSending({ sending }) {
    if (sending || this.#sending.size === 0) return;
    for (const id of this.#sending) this.#touch(id);
    this.#sending.clear();
  }

  #touch(id) {
    this.#dirty.add(id);
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A hidden page has no frames.
    if (document.hidden) setTimeout(() => this.#tell(), 250);
    else requestAnimationFrame(() => this.#tell());
  }

  #tell() {
    if (!this.#scheduled) return;
    this.#scheduled = false;
    const changed = this.#dirty;
    const moved = this.#moved;
    this.#dirty = new Set();
    this.#moved = false;
    for (const run of this.#listeners) run(changed, moved);
  }
}
