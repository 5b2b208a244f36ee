import { setDefaultSource } from "./lib/load.js";

setDefaultSource(() => new URL("./generated/warifu_bg.wasm", import.meta.url));

export { init } from "./lib/load.js";
export { Outbox } from "./lib/outbox.js";
export { WarifuError, isWarifuError } from "./lib/error.js";
