// The package as people get it: packed by npm, unpacked into an app of its own. A link to pkg/ would hide a missing file.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const home = fileURLToPath(new URL("..", import.meta.url));
export const pkg = fileURLToPath(new URL("../../../pkg", import.meta.url));

/** Makes an app with the packed package in it; gives its folder and the names of the packed files. */
export function unpack(name) {
  const app = join(home, ".work", name);
  rmSync(app, { recursive: true, force: true });
  const target = join(app, "node_modules", "warifu");
  mkdirSync(target, { recursive: true });
  const told = execFileSync("npm", ["pack", "--json", "--pack-destination", app], { cwd: pkg, encoding: "utf8" });
  const [packed] = [JSON.parse(told)].flatMap((all) => (Array.isArray(all) ? all : Object.values(all)));
  execFileSync("tar", ["-xzf", join(app, packed.filename), "-C", target, "--strip-components=1"]);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  cpSync(join(home, "samples"), join(app, "src"), { recursive: true });
  return { app, files: packed.files.map((file) => file.path), size: packed.size };
}

/** Runs a program in an app; gives what it printed and how it ended, without throwing. */
export function run(app, program, ...args) {
  try {
    const out = execFileSync(program, args, { cwd: app, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return { code: 0, out, err: "" };
  } catch (error) {
    return { code: error.status ?? -1, out: String(error.stdout ?? ""), err: String(error.stderr ?? error) };
  }
}

/** A tool of the tests' own node_modules. */
export const tool = (name) => join(home, "node_modules", ".bin", name);

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
