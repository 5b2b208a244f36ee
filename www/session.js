// Who writes here. The demo's account comes from the server; its name is remembered, so that the page opens without it.

import { realFetch } from "./network.js";

const KEPT = "warifu.demo.owner";

/** The demo's session, or null where the server has no demo. */
export async function openSession() {
  const session = new Session();
  const answer = await session.ask();
  if (answer === "absent") return null;
  if (answer === "silent" && session.owner === null) return null;
  return session;
}

class Session {
  owner = remembered();
  #token = null;
  #signedOut = false;

  /** Asks the server: `known`, `absent` (it has no demo) or `silent`. */
  async ask() {
    let response;
    try {
      response = await realFetch("/demo/session", { signal: AbortSignal.timeout(5000), headers: { Accept: "application/json" } });
    } catch {
      return "silent";
    }
    if (response.status >= 500) return "silent";
    if (!response.ok) return "absent";
    try {
      const { owner, token } = await response.json();
      if (typeof owner !== "string" || typeof token !== "string") return "absent";
      this.owner = owner;
      this.#token = token;
      remember(owner);
      return "known";
    } catch {
      return "absent";
    }
  }

  /** For `Outbox.open`. A refusal drops the token and asks for a new one, once. */
  headers = async (why) => {
    if (this.#signedOut) return null;
    if (why === "unauthorized") this.#token = null;
    if (this.#token === null && (await this.ask()) === "silent") throw new Error("the session could not be asked for");
    return this.#token === null ? null : { Authorization: `Bearer ${this.#token}` };
  };

  signOut() {
    this.#signedOut = true;
    this.#token = null;
  }

  /** Whether it worked. */
  async signIn() {
    if ((await this.ask()) !== "known") return false;
    this.#signedOut = false;
    return true;
  }

  get signedOut() {
    return this.#signedOut;
  }

  /** The demo's own calls carry the token, too. */
  get authorization() {
    return this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` };
  }
}

function remembered() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function remember(owner) {
  try {
    localStorage.setItem(KEPT, owner);
  } catch {
    // Then the page needs the server to open.
  }
}
