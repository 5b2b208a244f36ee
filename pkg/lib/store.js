/** A value that tells when it changes; the same object until then. */
export function snapshot(value) {
  const runs = new Set();
  const store = Object.freeze({
    getSnapshot: () => value,
    subscribe: (run) => {
      // Each subscription is its own, even of one function.
      const own = (current) => run(current);
      runs.add(own);
      own(value);
      return () => runs.delete(own);
    },
  });
  const set = (next) => {
    value = next;
    for (const run of [...runs]) {
      try {
        run(value);
      } catch (error) {
        if (typeof globalThis.reportError === "function") globalThis.reportError(error);
        else console.error(error);
      }
    }
  };
  return { store, set };
}

/** A list that is read again after changes, once for many that come together, while anybody looks. */
export function watchList(read, onChange) {
  const { store, set } = snapshot([]);
  let watching = 0;
  let stop = () => {};
  let reading = false;
  let again = false;
  const refresh = async () => {
    again = true;
    if (reading) return;
    reading = true;
    while (again && watching > 0) {
      again = false;
      try {
        set(await read());
      } catch {
        // A closed or failing store has no newer list; calls that are awaited tell why.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    reading = false;
  };
  return Object.freeze({
    getSnapshot: store.getSnapshot,
    subscribe: (run) => {
      const undo = store.subscribe(run);
      if (watching++ === 0) stop = onChange(refresh);
      refresh();
      let left = false;
      return () => {
        undo();
        if (!left && --watching === 0) stop();
        left = true;
      };
    },
  });
}
