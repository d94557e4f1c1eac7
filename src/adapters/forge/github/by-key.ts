/** Works of one key run one after the other, whatever the one before came to; those of other keys do not wait. */
export function serialByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work);
    const done = turn
      .catch(() => undefined)
      .finally(() => {
        if (turns.get(key) === done) turns.delete(key);
      });
    turns.set(key, done);
    return turn;
  };
}
