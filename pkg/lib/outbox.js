import { Client } from "../generated/warifu_bindgen.js";
import { init } from "./load.js";
import { snapshot, watchList } from "./store.js";
import { WarifuError } from "./error.js";

const key = Symbol("only Outbox.open makes one");

/** A durable queue of creates, of one owner on one backend. */
export class Outbox {
  #client;
  #status = snapshot(null);
  #listeners = new Set();
  #changed = new Set();
  #stopHints = () => {};

  constructor(permit) {
    if (permit !== key) throw new TypeError("use Outbox.open()");
  }

  static async open(options = {}) {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const opened = Outbox.#open(rest);
    return until(signal, opened, () => opened.then((outbox) => outbox.close(), () => {}));
  }

  static async #open(options) {
    await init();
    const outbox = new Outbox(key);
    outbox.#client = await Client.open(
      options,
      (event) => outbox.#tell(event),
      (status) => outbox.#restate(status),
    );
    outbox.#followHints();
    return outbox;
  }

  begin(kind, { id = this.#client.newId() } = {}) {
    return this.#operation(kind, id, (own, values) => this.#client.commit(kind, own, values));
  }

  edit(kind, id) {
    return this.#operation(kind, id, (own, values) => this.#client.correct(kind, own, values));
  }

  get(kind, id) {
    return this.#client.get(kind, id);
  }

  list(kind, query) {
    return this.#client.list(kind, query);
  }

  watch(kind, query) {
    return watchList(
      () => this.list(kind, query).then((page) => page.items),
      (run) => added(this.#changed, run),
    );
  }

  get status() {
    return this.#status.store;
  }

  subscribe(listener, { signal } = {}) {
    if (signal?.aborted) return () => {};
    const remove = added(this.#listeners, (event) => listener(event));
    const undo = () => {
      remove();
      this.#client.setListening(this.#listeners.size > 0);
    };
    this.#client.setListening(true);
    signal?.addEventListener("abort", undo, { once: true });
    return undo;
  }

  async sync({ signal } = {}) {
    signal?.throwIfAborted();
    return until(signal, this.#client.sync());
  }

  pause() {
    this.#client.pause();
  }

  resume() {
    this.#client.resume();
  }

  retry(id) {
    return this.#client.retry(id);
  }

  discard(id) {
    return this.#client.discard(id);
  }

  async resolve(id, choice) {
    if (choice === "retry") return this.retry(id);
    if (choice === "discard") return this.discard(id);
    if (choice === "save_as_new") return this.#client.saveAsNew(id);
    throw new WarifuError("invalid_value", `choice: "${choice}" is none of retry, save_as_new, discard.`, { path: "choice" });
  }

  async close() {
    this.#stopHints();
    await this.#client.close();
    this.#listeners.clear();
    this.#changed.clear();
  }

  #operation(kind, id, commit) {
    const own = this.#client.checkId(kind, id);
    return Object.freeze({ key: own, id: own, commit: (values) => commit(own, values) });
  }

  #restate(status) {
    const before = this.status.getSnapshot();
    this.#status.set(Object.freeze(status));
    // When an entry is sent next follows from the queue's own plan.
    if (before?.nextAttemptAt !== status.nextAttemptAt || before?.paused !== status.paused) this.#refresh();
  }

  #refresh() {
    for (const run of [...this.#changed]) run();
  }

  #tell(event) {
    this.#refresh();
    if (event === undefined) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        report(error);
      }
    }
  }

  #followHints() {
    const tell = () => this.#client.online(globalThis.navigator?.onLine ?? true);
    tell();
    if (typeof globalThis.addEventListener !== "function") return;
    const stop = new AbortController();
    for (const type of ["online", "offline"]) globalThis.addEventListener(type, tell, { signal: stop.signal });
    this.#stopHints = () => stop.abort();
  }
}

function added(set, item) {
  set.add(item);
  return () => set.delete(item);
}

/** Waits until the signal is aborted: what was waited for goes on. */
function until(signal, promise, abandon = () => {}) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => {
      abandon();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function report(error) {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else console.error(error);
}
