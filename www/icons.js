import { svg } from "./dom.js";

const PATHS = {
  waiting: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M12 7.5V12l3 2.5"],
  sending: ["M12 20V5", "M5.5 11.5 12 5l6.5 6.5"],
  synced: ["M4.5 12.5l5 5L19.5 7"],
  attention: ["M12 4 2.8 20h18.4z", "M12 10v4.5", "M12 17.2v.3"],
  deleted: ["M5 7h14", "M9.5 7V4.5h5V7", "M7 7l1 13h8l1-13"],
};

/** A drawn sign. It always stands beside its word, so it is hidden from screen readers. */
export function icon(name) {
  const paths = PATHS[name].map((d) => svg("path", { d }));
  const attributes = { class: "icon", viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true", focusable: "false" };
  return svg("svg", attributes, ...paths);
}
