/** So many works at once, the others in their order; where more wait than may, the next is refused with this error. */
export function openTurns({ atOnce, waiting: most, full }: { atOnce: number; waiting: number; full: () => Error }) {
  const waiting: (() => void)[] = [];
  let working = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (working >= atOnce) {
      if (waiting.length >= most) throw full();
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else working += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
}
