// The drawing of a story: four lifelines from left to right, and time from top to bottom. The list below it says the same.

import { svg } from "./dom.js";
import { tinyId } from "./format.js";
import { t } from "./i18n.js";

const HEAD = 40;
const HEIGHTS = { stored: 34, unknown: 42, attempt: 82, wait: 34 };
const FOOT = 10;
const LANES = ["device", "network", "server", "database"];

/** `steps` as `stepsOf` gives them. */
export function draw(steps, { width, serverId }) {
  const lanes = Object.fromEntries(LANES.map((lane, index) => [lane, 22 + (index * (width - 44)) / 3]));
  const height = HEAD + steps.reduce((sum, { kind }) => sum + HEIGHTS[kind], 0) + FOOT;
  const parts = [...LANES.map((lane) => lifeline(lane, lanes[lane], height, width))];
  let y = HEAD;
  for (const step of steps) {
    parts.push(...DRAWN[step.kind](step, lanes, y, serverId));
    y += HEIGHTS[step.kind];
  }
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" }, ...parts);
}

const DRAWN = {
  stored: (step, { device }, y) => [
    svg("rect", { class: "knot", x: device - 5, y: y + 8, width: 10, height: 10 }),
    label(device + 14, y + 17, t("story.storedShort"), "start"),
  ],
  unknown: ({ count }, { device, network }, y) => [
    svg("path", { class: "arrow unsure", d: `M${device} ${y + 24}H${network}` }),
    label(device + 8, y + 16, t("story.unknownShort", { count }), "start"),
  ],
  wait: (step, { device }, y) => [
    svg("circle", { class: "clock", cx: device, cy: y + 14, r: 7 }),
    svg("path", { class: "clock", d: `M${device} ${y + 10}v4l3 2` }),
    label(device + 14, y + 18, t("state.waiting"), "start"),
  ],
  attempt,
};

function attempt(step, { device, network, server, database }, y, serverId) {
  const ask = y + 24;
  const back = y + 62;
  const parts = [label(device + 8, ask - 7, `${step.n} · ${tinyId(step.key)}`, "start", "key")];
  if (step.end === "lost" && step.reached === false) {
    return [...parts, line(device, network - 8, ask, "arrow"), cross(network, ask)];
  }
  if (step.end === null) return [...parts, line(device, server, ask, "arrow flying"), head(server, ask, 1)];
  if (step.end === "lost" && step.reached === null) {
    return [
      ...parts,
      line(device, network, ask, "arrow"),
      line(network, server, ask, "arrow unsure"),
      label((network + server) / 2, ask - 7, "?", "middle"),
      line(server, network + 8, back, "arrow lost"),
      cross(network, back),
    ];
  }
  parts.push(line(device, server, ask, "arrow"), head(server, ask, 1));
  const toRow = rowOf(step);
  if (toRow !== null) {
    const at = y + 34;
    parts.push(line(server, database, at, "arrow"));
    // A square is a row that came to be; an arrow only points at the one there is.
    if (toRow === "found") parts.push(head(database, at, 1));
    else parts.push(svg("rect", { class: "made", x: database - 6, y: at - 6, width: 12, height: 12 }));
    parts.push(label((server + database) / 2, at + 16, t(toRow === "found" ? "story.found" : "story.row"), "middle"));
  }
  if (step.end === "lost") return [...parts, line(server, network + 8, back, "arrow lost"), cross(network, back)];
  const refused = step.end === "parked";
  parts.push(line(server, device, back, refused ? "arrow refused" : "arrow answer"), head(device, back, -1, refused ? "refused" : "answer"));
  const word = refused ? t("state.attention") : (serverId ?? "");
  parts.push(label((device + network) / 2 + 6, back - 7, short(word), "middle", refused ? "refused" : "answer"));
  return parts;
}

function rowOf({ end, row }) {
  if (row !== undefined) return row;
  return end === "synced" ? "made" : null;
}

function lifeline(lane, x, height, width) {
  const first = lane === "device";
  const last = lane === "database";
  const at = first ? 0 : last ? width : x;
  const name = label(at, 16, t(`story.${lane}`), first ? "start" : last ? "end" : "middle", "lane");
  return svg("g", {}, name, svg("path", { class: "life", d: `M${x} 26V${height}` }));
}

function line(from, to, y, name) {
  return svg("path", { class: name, d: `M${from} ${y}H${to}` });
}

function head(x, y, direction, name = "") {
  const d = `M${x - direction * 8} ${y - 5}L${x} ${y}l${-direction * 8} 5`;
  return svg("path", { class: `head ${name}`, d });
}

function cross(x, y) {
  return svg("path", { class: "cross", d: `M${x - 6} ${y - 6}l12 12M${x + 6} ${y - 6}l-12 12` });
}

function label(x, y, text, anchor, name = "") {
  const node = svg("text", { x, y, "text-anchor": anchor, class: name });
  node.textContent = text;
  return node;
}

function short(text) {
  return text.length > 10 ? `…${text.slice(-8)}` : text;
}
