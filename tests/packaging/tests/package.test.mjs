import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { home, pkg, readJson, unpack } from "./workspace.mjs";

const { app, files } = unpack("package");

test("the tarball carries what its entries need, and nothing of ours", () => {
  const needed = [
    "package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "index.js", "index.d.ts", "slim.js",
    "generated/warifu_bindgen.js", "generated/warifu_bg.wasm", "generated/wasm.js",
  ];
  for (const file of needed) assert.ok(files.includes(file), `${file} is missing; there are: ${files.join(", ")}`);
  const allowed = /^(package\.json|README\.md|LICENSE-\w+|\w+\.js|\w+\.d\.ts|(lib|generated)\/[\w./-]+\.(js|wasm|d\.ts))$/;
  assert.deepEqual(files.filter((file) => !allowed.test(file)), []);
});

test("every path in exports is there", () => {
  const { exports } = readJson(join(pkg, "package.json"));
  const paths = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)));
  for (const path of paths) assert.ok(files.includes(path.replace(/^\.\//, "")), `${path} is not packed`);
});

test("no condition that breaks a bundler, and no side effects but the entries telling where the module is", () => {
  const manifest = readJson(join(pkg, "package.json"));
  assert.deepEqual(manifest.sideEffects, ["./index.js", "./slim.js"]);
  const text = JSON.stringify(manifest.exports);
  assert.doesNotMatch(text, /"(browser|development)"/);
});

test("the version is Cargo's", () => {
  const cargo = readFileSync(join(home, "../../Cargo.toml"), "utf8");
  const version = /\[workspace\.package\]\s*version = "([^"]+)"/.exec(cargo)?.[1];
  assert.equal(readJson(join(pkg, "package.json")).version, version);
});

test("the module inside the JavaScript is the module beside it", async () => {
  const generated = join(app, "node_modules/warifu/generated");
  const { default: text } = await import(join(generated, "wasm.js"));
  const packed = new Response(Buffer.from(text, "base64")).body.pipeThrough(new DecompressionStream("gzip"));
  const bytes = Buffer.from(await new Response(packed).arrayBuffer());
  assert.ok(bytes.equals(readFileSync(join(generated, "warifu_bg.wasm"))));
  assert.ok(WebAssembly.validate(bytes));
});
