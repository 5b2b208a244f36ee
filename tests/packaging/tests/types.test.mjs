import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, tool, unpack } from "./workspace.mjs";

const { app } = unpack("types");

// Without the esnext library: generated types alone would ask for `Symbol.dispose`.
const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--lib", "es2022,dom", "--types", ""];
const resolutions = [["esnext", "bundler"], ["nodenext", "nodenext"]];

for (const [module, resolution] of resolutions) {
  test(`the sample type-checks strictly (${resolution})`, () => {
    const { code, out } = run(app, tool("tsc"), ...options, "--module", module, "--moduleResolution", resolution, "src/usage.ts");
    assert.equal(code, 0, out);
  });
}

test("what is wrong does not type-check", () => {
  writeFileSync(join(app, "src/wrong.ts"), `
    import { Outbox } from "warifu";
    const outbox = await Outbox.open({ owner: "aki", baseUrl: "/" });
    await outbox.begin("memory").commit({ title: 1, body: "" });
  `);
  const { code, out } = run(app, tool("tsc"), ...options, "--module", "esnext", "--moduleResolution", "bundler", "src/wrong.ts");
  assert.notEqual(code, 0);
  assert.match(out, /wrong\.ts.*TS2322/s);
});
