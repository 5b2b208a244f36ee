import { WarifuError } from "./error.js";

/** The bytes inside base64 of gzip: no request, no MIME type, no configuration. */
export async function unpack(packed) {
  if (typeof DecompressionStream !== "function") {
    throw new WarifuError("load_failed", "This engine has no DecompressionStream; import \"warifu/slim\" instead.");
  }
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}
