import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import webpack from "webpack";
import { run, unpack } from "./workspace.mjs";

const { app } = unpack("bundlers");
const entry = join(app, "src/app.js");

/** The bundle has to load the core without the package beside it. */
function works(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.m?js$/.test(name));
  assert.equal(files.length, 1, `one file is enough for the default entry: ${files.join(", ")}`);
  const { code, out, err } = run(folder, process.execPath, join(folder, files[0]));
  assert.equal(code, 0, err);
  assert.equal(out, "true unsupported\n");
}

test("esbuild, unconfigured", async () => {
  const outdir = join(app, "esbuild");
  const { warnings } = await esbuild({ entryPoints: [entry], bundle: true, format: "esm", outdir, outExtension: { ".js": ".mjs" }, logLevel: "silent" });
  assert.deepEqual(warnings, []);
  works(outdir);
});

test("vite, unconfigured", async () => {
  const outDir = join(app, "vite");
  const lib = { entry, formats: ["es"], fileName: () => "app.mjs" };
  await vite({ root: app, configFile: false, logLevel: "silent", build: { outDir, emptyOutDir: true, target: "es2022", lib } });
  works(outDir);
});

test("webpack, unconfigured", async () => {
  const path = join(app, "webpack");
  const config = {
    mode: "production", context: app, entry, target: ["web", "es2022"],
    output: { path, filename: "app.mjs", module: true, library: { type: "module" } }, experiments: { outputModule: true },
  };
  const stats = await new Promise((done, failed) => webpack(config, (error, made) => (error ? failed(error) : done(made))));
  assert.ok(!stats.hasErrors(), stats.toString({ all: false, errors: true }));
  works(path);
});
