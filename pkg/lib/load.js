import start, { setErrorFactory } from "../generated/warifu_bindgen.js";
import { WarifuError, isWarifuError } from "./error.js";

let defaultSource;
let loading = null;

export const setDefaultSource = (source) => {
  defaultSource ??= source;
};

/** Loads the wasm once; everybody who asks waits for the same. A failed load is forgotten, so that it can be repeated. */
export function init(source) {
  loading ??= load(source).catch((cause) => {
    loading = null;
    throw isWarifuError(cause) ? cause : new WarifuError("load_failed", `The WebAssembly module could not be loaded: ${cause?.message ?? cause}`, { retryable: true, cause });
  });
  return loading;
}

async function load(source) {
  await start({ module_or_path: await moduleOrBytes(source ?? (await defaultSource())) });
  setErrorFactory((code, message, retryable, path) => new WarifuError(code, message, { retryable, path }));
}

async function moduleOrBytes(source) {
  if (typeof source === "string" || source instanceof URL) source = await fetch(source, { credentials: "same-origin" });
  if (typeof Response === "undefined" || !(source instanceof Response)) return source;
  const bytes = await source.arrayBuffer();
  const [a, s, m] = new Uint8Array(bytes, 1, Math.min(3, Math.max(0, bytes.byteLength - 1)));
  if (source.ok && a === 0x61 && s === 0x73 && m === 0x6d) return bytes;
  const { url, status } = source;
  const contentType = source.headers.get("content-type");
  throw new WarifuError("load_failed", `${url} is not a WebAssembly module: status ${status}, ${contentType}. Serve the file itself, or import "warifu", which carries it.`, {
    retryable: true,
    cause: { url, status, contentType },
  });
}
