// What an app writes, type-checked against the packed package.
import { init, isWarifuError, Outbox, WarifuError } from "warifu";
import type { Entry, ErrorCode, Json, Operation, OutboxEvent, Parked, Status, Store } from "warifu";

interface Kinds {
  memory: { title: string; body: string };
  invoice: { terminal_id: string; number: string; total: number; currency: string };
}

await init();
const stop = new AbortController();
const outbox = await Outbox.open<Kinds>({
  owner: "aki",
  baseUrl: new URL("https://api.example/"),
  credentials: "include",
  headers: async (why) => (why === "send" ? { Authorization: "Bearer t" } : null),
  signal: stop.signal,
});

const operation: Operation<"memory", Kinds["memory"]> = outbox.begin("memory");
const entry: Entry<"memory", Kinds["memory"]> = await operation.commit({ title: "海", body: "" });
const serverId: string | null = entry.serverId;
const parked: Parked | null = entry.parked;
const adopted = outbox.begin("invoice", { id: "0b4c7f2e-5f3a-4b52-8a39-9f3b3b6f6a11" });
await adopted.commit({ terminal_id: "7", number: "A-1", total: 1200, currency: "JPY" });

const { items, next } = await outbox.list("memory", { limit: 20, only: "parked" });
for (const { id, values } of items) if (values.title === "") await outbox.discard(id);
if (next !== null) await outbox.list("memory", { after: next });

const watched: Store<Entry<"memory", Kinds["memory"]>[]> = outbox.watch("memory");
const undo: () => void = watched.subscribe((entries) => entries.map(({ syncState }) => syncState));
const { getSnapshot, subscribe } = outbox.status;
const status: Status = getSnapshot();
subscribe(({ pending, paused }) => `${pending} ${paused ?? "running"}`)();
outbox.subscribe((event: OutboxEvent) => event.key, { signal: stop.signal })();

try {
  await outbox.edit("memory", entry.id).commit({ title: "海", body: "直した" });
  await outbox.sync({ signal: stop.signal });
  await outbox.retry();
  await outbox.resolve(entry.id, "save_as_new");
} catch (error) {
  if (!isWarifuError(error)) throw error;
  const code: ErrorCode = error.code;
  const place: string | null = error.path;
  const again: boolean = error instanceof WarifuError && error.retryable;
  console.log(code, place, again);
}

// @ts-expect-error there is no such kind
outbox.begin("photo");
// @ts-expect-error a value is JSON
const wrong: Json = new Date();
// @ts-expect-error an outbox is opened, not constructed
new Outbox();

undo();
outbox.pause();
outbox.resume();
await outbox.close();
export { parked, serverId, status, wrong };
