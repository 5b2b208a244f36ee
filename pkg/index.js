import { setDefaultSource } from "./lib/load.js";
import { unpack } from "./lib/unpack.js";
import packed from "./generated/wasm.js";

setDefaultSource(() => unpack(packed));

export { init } from "./lib/load.js";
export { Outbox } from "./lib/outbox.js";
export { WarifuError, isWarifuError } from "./lib/error.js";
