/** Whether everything about a record is acknowledged by the server. A failure is no third state: it is sent again. */
export type State = "pending" | "synced";

/** What a person can do with a parked operation. */
export type Choice = "retry" | "save_as_new" | "discard";

/** JSON as it is: what `commit` takes and gives back. Nothing else can be a value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** Why an operation waits for a person instead of being sent again by itself. */
export interface Parked {
  /** `rejected`, `conflict`, `identity_mismatch`, `unanswerable`, or the server's own word. */
  code: string;
  detail: string;
  /** The value at fault. */
  field: string | null;
  /** The HTTP status of the refusal, where there was one. */
  status: number | null;
  choices: Choice[];
  /** Whether corrected values can be committed through `outbox.edit`. */
  editable: boolean;
  /** What else the server said. */
  server: unknown;
}

/** A record as this device knows it. */
export interface Entry<K extends string = string, V = Record<string, Json>> {
  kind: K;
  /** The device's name for it; of a memory its `clientMemoryId`. */
  id: string;
  /** The server's name for it, verbatim, once it is known. */
  serverId: string | null;
  syncState: State;
  parked: Parked | null;
  /** The server told that it was deleted there. */
  deleted: boolean;
  /** When it was committed, as the device's clock showed: RFC 3339, UTC. */
  createdAt: string;
  values: V;
  /** How many requests with it were begun. */
  attempts: number;
  /** When it is sent next, in milliseconds since 1970; `null` when nothing is planned. */
  nextAttemptAt: number | null;
  /** The server's revision of it, where the server tells. */
  revision: number | null;
}

/** One intent of a person: one key, from here to the acknowledgement, however often it is committed or sent. */
export interface Operation<K extends string = string, V = Record<string, Json>> {
  readonly key: string;
  readonly id: string;
  /**
   * Writes the operation down. Resolves when it is durable on this device, not when it is sent. Called again with equal
   * values it gives the same entry; with other values it rejects with `already_committed`.
   */
  commit(values: V): Promise<Entry<K, V>>;
}

/** A value that can be read at any time and tells when it changes. Fits React's `useSyncExternalStore`, Svelte and Vue. */
export interface Store<T> {
  /** The current value; the same object until it changes. */
  getSnapshot: () => T;
  /** Calls at once and at every change. Gives its undo. */
  subscribe: (run: (value: T) => void) => () => void;
}

/** How the queue stands. */
export interface Status {
  /** The browser's hint. Sending is tried without it, too. */
  online: boolean;
  sending: boolean;
  /** How many records wait to be sent; parked ones are not among them. */
  pending: number;
  /** How many wait for a person. */
  parked: number;
  paused: null | "signed_out" | "endpoint" | "by_app";
  /** While a queue is being sent: how much of it is done. */
  progress: { done: number; total: number } | null;
  /** Milliseconds since 1970. */
  nextAttemptAt: number | null;
  /** Milliseconds since 1970. */
  lastSyncedAt: number | null;
  /** Why the last attempt had no verdict, in one of a few words, until one has. */
  trouble: null | Trouble;
  sender: "here" | "other_tab" | "nobody";
}

export type Trouble =
  | "no_answer" | "deadline" | "redirected" | "unexpected_answer" | "busy" | "server_error" | "headers_failed" | "storage";

/** Something that happened to an operation, in any tab. */
export interface OutboxEvent<E = Entry> {
  type: "stored" | "attempted" | "answer_lost" | "synced" | "parked" | "discarded" | "signed_out";
  /** As it stands; `null` where it is gone or the event is about none. */
  entry: E | null;
  key: string | null;
  /** Which attempt; 0 where it is about none. */
  attempt: number;
  /** Milliseconds since 1970. */
  at: number;
}

export interface OpenOptions {
  /** The account. It names the queue on this device, and is never sent. */
  owner: string;
  /** Where the backend is; relative to the page, or absolute. */
  baseUrl: string | URL;
  /** As in `fetch`; `same-origin` by default. */
  credentials?: RequestCredentials;
  /**
   * The headers of a request: a bearer token, a CSRF token. Asked before each request (`send`) and once after a refusal
   * (`unauthorized`). `null`: nobody is signed in; the queue waits, and nothing is lost.
   */
  headers?: (why: "send" | "unauthorized") => HeadersInit | null | Promise<HeadersInit | null>;
  /** Statuses by which this backend refuses dead credentials; `[401]` by default. Django REST framework may use 403. */
  signedOutStatuses?: number[];
  /** Cuts the waiting for `open`. */
  signal?: AbortSignal;
}

export type ErrorCode =
  | "load_failed" | "unsupported"
  | "storage_unavailable" | "storage_blocked" | "storage_full" | "storage_too_new" | "storage_lost"
  | "invalid_value" | "already_committed" | "not_found" | "not_possible" | "closed";

/** Every error this package throws. */
export class WarifuError extends Error {
  readonly name: "WarifuError";
  readonly code: ErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The value at fault, such as `tags[2].name`; `null` where it is about none. */
  readonly path: string | null;
}

/** Whether it is an error of this package, of another copy of it too. */
export function isWarifuError(error: unknown): error is WarifuError;

/** Loads the wasm. Optional: `Outbox.open` does it. A failed call can be repeated. */
export function init(source?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** The kinds of record and their values. */
export type Schema<S> = { [K in keyof S]: object };
type Kind<S> = Extract<keyof S, string>;

export interface ListQuery {
  /** 1 to 1000; 50 by default. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
  only?: State | "parked";
}

/** A durable queue of creates, of one owner on one backend. Every tab may write; one sends. */
export class Outbox<S extends Schema<S> = { memory: { title: string; body: string } }> {
  private constructor();
  /** Opens the queue, and begins to send what waits in it. */
  static open<S extends Schema<S> = { memory: { title: string; body: string } }>(options: OpenOptions): Promise<Outbox<S>>;

  /** Begins an operation: its key exists from here on. `id` adopts a UUID that the app already has for the record. */
  begin<K extends Kind<S>>(kind: K, options?: { id?: string }): Operation<K, S[K]>;
  /** Corrects what the server refused. An operation, too: the refused record gets these values and is sent again. */
  edit<K extends Kind<S>>(kind: K, id: string): Operation<K, S[K]>;

  get<K extends Kind<S>>(kind: K, id: string): Promise<Entry<K, S[K]> | undefined>;
  /** Newest first. */
  list<K extends Kind<S>>(kind: K, query?: ListQuery): Promise<{ items: Entry<K, S[K]>[]; next: string | null }>;
  /** The first page as a store. */
  watch<K extends Kind<S>>(kind: K, query?: Omit<ListQuery, "after">): Store<Entry<K, S[K]>[]>;
  readonly status: Store<Status>;
  /** Calls for each event. Gives its undo. A listener that throws is reported and harms nothing. */
  subscribe(listener: (event: OutboxEvent<Entry<Kind<S>, S[Kind<S>]>>) => void, options?: { signal?: AbortSignal }): () => void;

  /** Sends what is due now; resolves when nothing is left that can be sent now. Calls that come together share a pass. */
  sync(options?: { signal?: AbortSignal }): Promise<Status>;
  pause(): void;
  resume(): void;
  /** Sends parked operations again: one, or all. */
  retry(id?: string): Promise<void>;
  /** Gives an unsent or parked record up. One that was attempted may have arrived. */
  discard(id: string): Promise<void>;
  resolve(id: string, choice: Choice): Promise<void>;

  /** Stops. What is unsent stays. Every later call rejects with `closed`. */
  close(): Promise<void>;
}
