/** `work` as often as needed and never twice at once: who asks while it runs shares the one run that follows. */
export function coalesced(work: () => Promise<void>): { (): Promise<void> /** When nothing runs or waits. */; settled(): Promise<void> } {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    const mine = work().finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  }

  function ask(): Promise<void> {
    if (running === undefined) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  }

  async function settled(): Promise<void> {
    while (running !== undefined || next !== undefined) await (next ?? running)?.catch(() => undefined);
  }
  return Object.assign(ask, { settled });
}
