/** Milliseconds of processor time that this thread has used: what else the machine does meanwhile is not in it. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Processor time of some work, as the machine that `slowdown` compares with would need it. */
export function idleMs(work: () => unknown): number {
  const ms = spentMs(work);
  return ms / slowdown();
}

/** Milliseconds that an idle machine takes for each part of `slowdown`. */
const IDLE_MS = { reading: 14, splitting: 36 };
const TEXT = "ab ".repeat(350_000);

/** How many times slower than an idle machine this one is just now, at reading text or at making many small ones: its cores and caches are shared. */
export function slowdown(): number {
  let sum = 0;
  const reading = spentMs(() => {
    for (let times = 0; times < 4; times++) for (let at = 0; at < TEXT.length; at++) sum = (sum * 31 + TEXT.charCodeAt(at)) % 65_521;
  });
  const splitting = spentMs(() => (sum += TEXT.replaceAll(" ", "\n").split("\n").length));
  return Math.max(1, sum < 0 ? 0 : reading / IDLE_MS.reading, splitting / IDLE_MS.splitting);
}

function spentMs(work: () => unknown): number {
  const before = cpuMs();
  work();
  return cpuMs() - before;
}
