// What happened to each operation while this page was open, in the order in which it happened. Where the demo counts
// requests and rows, its counts say what a device alone cannot know: whether a lost request had arrived.

const SOON_MS = 120;
const PAUSE_MS = 700;

export class StoryLog {
  #demo;
  #stories = new Map();
  #listeners = new Set();
  #timer = null;
  #askedAt = -Infinity;
  #board = null;
  #doubted = false;

  constructor(outbox, demo) {
    this.#demo = demo;
    outbox.subscribe((event) => this.#hear(event));
  }

  /** `{ entry, steps, requests, rows }`; counts are null until the server told. */
  of(id) {
    return this.#stories.get(id) ?? emptyStory();
  }

  /** What the server counted last, or null. */
  get board() {
    return this.#board;
  }

  subscribe(run) {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  /** Asks the server for its counts, soon, and not for each event of many. */
  refresh() {
    if (this.#timer !== null) return;
    const wait = Math.max(SOON_MS, this.#askedAt + PAUSE_MS - performance.now());
    this.#timer = setTimeout(async () => {
      this.#askedAt = performance.now();
      const unsettled = new Map([...this.#stories].map(([id, story]) => [id, attemptsOf(story).length]));
      const counts = await this.#demo.rows();
      this.#timer = null;
      if (counts === null) this.#doubted = true;
      else this.#take(counts, unsettled);
    }, wait);
  }

  #hear({ type, entry, key, attempt, at }) {
    const id = entry?.id ?? key;
    if (!id) return;
    const story = this.#stories.get(id) ?? emptyStory();
    this.#stories.set(id, story);
    if (entry !== null) story.entry = entry;
    if (type === "stored") story.steps.push({ kind: "stored", at });
    else if (type === "attempted") story.steps.push({ kind: "attempt", n: attempt, key: key ?? id, at, end: null, reached: null });
    else if (["answer_lost", "synced", "parked"].includes(type)) end(story, { type, key: key ?? id, attempt, at });
    if (type !== "attempted") this.refresh();
    this.#tell();
  }

  #take(counts, unsettled) {
    // A server that was away may have counted from nothing again: what it counts now tells nothing about before.
    const doubtful = this.#doubted || (this.#board !== null && counts.requests < this.#board.requests);
    this.#doubted = false;
    this.#board = { rows: counts.rows, requests: counts.requests, memories: counts.perMemory.length };
    const seen = new Map();
    for (const { clientMemoryId, memory_id: memoryId, requests } of counts.perMemory) {
      const sum = seen.get(clientMemoryId) ?? { requests: 0, rows: 0 };
      sum.requests += requests;
      if (memoryId !== null) sum.rows += 1;
      seen.set(clientMemoryId, sum);
    }
    for (const [id, story] of this.#stories) {
      const now = seen.get(id) ?? { requests: 0, rows: 0 };
      // Counts asked for before a later attempt began say nothing sure about either.
      if (doubtful) for (const step of attemptsOf(story)) step.counted ||= step.end !== null;
      else if (unsettled.get(id) === attemptsOf(story).length) judge(story, now);
      story.requests = now.requests;
      story.rows = now.rows;
    }
    this.#tell();
  }

  #tell() {
    for (const run of this.#listeners) run();
  }
}

export const attemptsOf = ({ steps }) => steps.filter(({ kind }) => kind === "attempt");

function emptyStory() {
  return { entry: null, steps: [], requests: null, rows: null };
}

function end(story, { type, key, attempt, at }) {
  const attempts = attemptsOf(story);
  let step = attempts.find(({ n }) => n === attempt) ?? attempts.findLast((open) => open.end === null);
  if (step === undefined && attempt > 0) {
    step = { kind: "attempt", n: attempt, key, at, end: null, reached: null };
    story.steps.push(step);
  }
  if (step === undefined) return;
  step.end = type === "answer_lost" ? "lost" : type;
  step.endedAt = at;
  if (type !== "answer_lost") step.reached = true;
}

// Only what follows from the counts is said: all arrived, or the one open question has one answer.
function judge(story, now) {
  const attempts = attemptsOf(story);
  const begun = Math.max(story.entry?.attempts ?? 0, ...attempts.map(({ n }) => n));
  const open = attempts.filter(({ end, reached }) => end === "lost" && reached === null);
  const fresh = attempts.filter((step) => step.end !== null && !step.counted);
  const more = now.requests - (story.requests ?? 0);
  if (attempts.every(({ end }) => end !== null)) {
    if (now.requests === begun) for (const step of open) step.reached = true;
    else if (open.length === 1 && fresh.length === 1 && fresh[0] === open[0] && begun === attempts.length) open[0].reached = more > 0;
    const newRow = now.rows > 0 && !(story.rows > 0);
    if (newRow && fresh.length === 1 && fresh[0].reached === true && begun === attempts.length) fresh[0].row = "made";
  }
  for (const step of fresh) {
    step.counted = true;
    const earlier = attempts.slice(0, attempts.indexOf(step)).some(({ row }) => row !== undefined);
    if (earlier && step.reached === true && step.end !== "parked") step.row = "found";
  }
}
