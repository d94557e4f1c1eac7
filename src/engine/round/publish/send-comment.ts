import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";

/**
 * Sends in the background, one after the other for a PR, and only the newest body of a comment: a round never waits for a
 * comment, and a burst of rounds is one edit. `failed` is told where it could not be sent.
 */
export function send(
  context: RepoContext,
  memory: RepoMemory,
  comment: { key: string; pull: number; marker: string; body: string },
  failed: () => void = () => undefined,
): void {
  const { key, pull, marker, body } = comment;
  if (memory.comments.get(key)?.body === body) return;
  const wanted = { body };
  keep(memory.comments, key, wanted);
  const before = (memory.publishing.get(pull) ?? Promise.resolve()).catch(() => undefined);
  const sending = before.then(async () => {
    if (memory.comments.get(key) !== wanted) return;
    try {
      await context.forge.stickyComment(pull, marker, body);
    } catch (error) {
      context.log.warn({ pull, error: String(error) }, "the comment could not be brought up to date");
      // Forgotten, so that the next round wants it again.
      if (memory.comments.get(key) === wanted) memory.comments.delete(key);
      failed();
    }
  });
  memory.publishing.set(pull, sending);
  const done = () => {
    if (memory.publishing.get(pull) === sending) memory.publishing.delete(pull);
  };
  sending.then(done, done);
}
