// The page's own dead network. While it is on, every request fails as it does without one: a TypeError, and nothing says why.

const KEPT = "warifu.demo.offline";
const alive = globalThis.fetch.bind(globalThis);
const listeners = new Set();
const cuts = new Set();
let offline = false;

/** The real network, for the demo's own switches. */
export const realFetch = alive;

export const isCut = () => offline;

/** Puts the switch between the page and the network. Tabs share it, as they share a network. */
export function installNetwork() {
  globalThis.fetch = throughSwitch;
  const inherited = Object.getOwnPropertyDescriptor(Navigator.prototype, "onLine");
  Object.defineProperty(navigator, "onLine", {
    configurable: true,
    get: () => !offline && (inherited?.get?.call(navigator) ?? true),
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEPT) turn(newValue !== null);
  });
  turn(kept());
}

/** Cuts the network or joins it again. */
export function cutNetwork(on) {
  try {
    if (on) localStorage.setItem(KEPT, "1");
    else localStorage.removeItem(KEPT);
  } catch {
    // Then the other tabs are not told.
  }
  turn(on);
}

export function onNetwork(run) {
  listeners.add(run);
}

function turn(on) {
  if (on === offline) return;
  offline = on;
  if (on) for (const cut of [...cuts]) cut();
  dispatchEvent(new Event(on ? "offline" : "online"));
  for (const run of listeners) run(on);
}

// Also what was under way is lost: the server may have got it, its answer no longer arrives.
function throughSwitch(input, init) {
  if (offline) return Promise.reject(lost());
  return new Promise((resolve, reject) => {
    const cut = () => reject(lost());
    cuts.add(cut);
    alive(input, init)
      .then(resolve, reject)
      .finally(() => cuts.delete(cut));
  });
}

function lost() {
  return new TypeError("Failed to fetch");
}

function kept() {
  try {
    return localStorage.getItem(KEPT) !== null;
  } catch {
    return false;
  }
}
