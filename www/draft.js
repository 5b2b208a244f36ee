// The unfinished text of this tab. With it goes the operation's id: a reload of a half-submitted form is the same operation.

const KEPT = "warifu.draft";

/** `{ id, title, body, edits }`: `edits` is the memory that is being corrected, or null. */
export function keepDraft(draft) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(draft));
  } catch {
    // No storage, or a text too long for it: it lasts as long as the page.
  }
}

export function keptDraft() {
  try {
    const draft = JSON.parse(sessionStorage.getItem(KEPT));
    return typeof draft?.id === "string" && typeof draft.title === "string" && typeof draft.body === "string" ? draft : null;
  } catch {
    return null;
  }
}

export function dropDraft() {
  try {
    sessionStorage.removeItem(KEPT);
  } catch {
    // There was none.
  }
}
