import assert from "node:assert/strict";
import { test } from "node:test";
import { run, unpack } from "./workspace.mjs";

const { app } = unpack("node");
const node = (...args) => run(app, process.execPath, ...args);

for (const entry of ["warifu", "warifu/slim"]) {
  test(`importing ${entry} does nothing`, () => {
    const script = `
      const before = Object.getOwnPropertyNames(globalThis).join();
      const all = await import("${entry}");
      console.log(before === Object.getOwnPropertyNames(globalThis).join(), process.getActiveResourcesInfo().length);
      console.log(["init", "Outbox", "WarifuError", "isWarifuError"].every((name) => typeof all[name] === "function"));`;
    const { code, out, err } = node("--input-type=module", "--eval", script);
    assert.equal(code, 0, err);
    assert.match(out, /^true \d+\ntrue\n$/);
    assert.equal(err, "");
  });
}

test("importing from CommonJS works", () => {
  const { code, out, err } = node("--input-type=commonjs", "--eval", `import("warifu").then((all) => console.log(typeof all.Outbox))`);
  assert.equal(code, 0, err);
  assert.equal(out, "function\n");
});

test("opening where there is no storage rejects with the typed error", () => {
  const { code, out, err } = node("src/app.js");
  assert.equal(code, 0, err);
  assert.equal(out, "true unsupported\n");
});
