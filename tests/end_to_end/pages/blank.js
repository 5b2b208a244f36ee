// Gives the tests' scripts the package, and remembers what the page complained about.
const complaints = (window.complaints = []);
window.addEventListener("error", (event) => complaints.push(`error: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => complaints.push(`unhandled: ${event.reason}`));

// The module's memory, to be measured from outside.
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...given) => {
  const made = await instantiate(...given);
  window.wasmMemory = (made.instance ?? made).exports.memory;
  return made;
};

// `?from=PORT` loads the package from another origin, as an app on another site does with its backend.
const { protocol, hostname, port, search } = location;
const from = new URLSearchParams(search).get("from") ?? port;
window.ready = import(`${protocol}//${hostname}:${from}/pkg/index.js`).then(
  (all) => Object.assign(window, { warifu: all }),
  (error) => complaints.push(`import: ${error}`),
);
