// The demo's own calls. They use the real network, also while the page's switch cuts it.

import { realFetch } from "./network.js";

const PATIENCE_MS = 4000;

export class DemoApi {
  #session;

  constructor(session) {
    this.#session = session;
  }

  switches() {
    return this.#call("/demo/switches");
  }

  setSwitches(values) {
    return this.#call("/demo/switches", values);
  }

  /** `{ rows, requests, perMemory: [{ clientMemoryId, memory_id, requests }] }`, or null where the server does not say. */
  rows() {
    return this.#call("/demo/rows");
  }

  async #call(path, body) {
    try {
      const response = await realFetch(path, {
        method: body === undefined ? "GET" : "PUT",
        headers: { ...this.#session.authorization, ...(body !== undefined && { "Content-Type": "application/json" }) },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return response.ok ? await response.json() : null;
    } catch {
      return null;
    }
  }
}
