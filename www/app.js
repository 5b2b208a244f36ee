import { Composer } from "./composer.js";
import { DemoApi } from "./demo-api.js";
import { askDiscard } from "./dialogs.js";
import { byId } from "./dom.js";
import { showFailure } from "./failure.js";
import { applyLanguage, setLanguage } from "./i18n.js";
import { showList } from "./list.js";
import { Memories } from "./memories.js";
import { installNetwork } from "./network.js";
import { openSession } from "./session.js";
import { showStory } from "./story.js";
import { StoryLog } from "./story-log.js";
import { showStrip } from "./strip.js";
import { showSummary } from "./summary.js";
import { showSwitches } from "./switches.js";

applyLanguage();
for (const button of document.querySelectorAll("button[data-lang]")) {
  button.addEventListener("click", () => setLanguage(button.dataset.lang));
}
start().catch((error) => {
  console.error(error);
  showFailure(error?.code ?? "other");
});

async function start() {
  const session = await openSession();
  if (session === null) return showFailure("no_demo");
  installNetwork();
  const { Outbox } = await loadPackage();
  const outbox = await Outbox.open({ owner: session.owner, baseUrl: "/", headers: session.headers });

  const demo = new DemoApi(session);
  const log = new StoryLog(outbox, demo);
  const memories = new Memories(outbox);
  const composer = new Composer(outbox);
  const openStory = (entry) => showStory(entry, log);
  const list = showList(memories, {
    story: openStory,
    edit: async (entry) => composer.edit(entry),
    retry: (entry) => outbox.retry(entry.id),
    save_as_new: (entry) => outbox.resolve(entry.id, "save_as_new"),
    discard: async (entry) => {
      if (await askDiscard(entry)) await outbox.discard(entry.id);
    },
  });
  byId("app").hidden = false;
  showSummary(outbox, { onlyParked: () => list.show("parked") });
  showStrip(outbox, session);
  showSwitches({ outbox, demo, session, log, openStory });
  await Promise.all([list.show(), composer.resume()]);
}

// Loaded by itself: a page whose program is missing still says so.
async function loadPackage() {
  try {
    return await import("../pkg/index.js");
  } catch (cause) {
    throw Object.assign(new Error("the package could not be loaded", { cause }), { code: "load_failed" });
  }
}
