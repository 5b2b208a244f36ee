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

window.ready = import("/pkg/index.js").then(
  (all) => Object.assign(window, { warifu: all }),
  (error) => complaints.push(`import: ${error}`),
);
