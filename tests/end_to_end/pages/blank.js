// Gives the tests' scripts the package, and remembers what the page complained about.
const complaints = (window.complaints = []);
window.addEventListener("error", (event) => complaints.push(`error: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => complaints.push(`unhandled: ${event.reason}`));
const { protocol, hostname, port, search } = location;
// `?from=PORT` loads the package from another origin, as an app on another site does with its backend.
const from = new URLSearchParams(search).get("from");
window.ready = import(`${protocol}//${hostname}:${from ?? port}/pkg/index.js`).then(
  (all) => Object.assign(window, { warifu: all }),
  (error) => complaints.push(`import: ${error}`),
);
