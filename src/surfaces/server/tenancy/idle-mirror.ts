import { rm } from "node:fs/promises";
import { join } from "node:path";
import { GitError, type Mirror } from "../../../adapters/git/port.ts";
import type { Clock } from "../../../core/base/time.ts";

/** Not used for so long, a mirror lets go of its git process. */
const REST_MS = 60_000;

/**
 * A mirror that is opened when it is needed and rests when it is not: with hundreds of repositories nearly all are idle,
 * and each open mirror keeps a git process. What is on disk stays, so waking up costs milliseconds.
 */
export function idleMirror(open: () => Promise<Mirror>, clock: Clock): Mirror {
  let opening: Promise<Mirror> | undefined;
  let users = 0;
  let closed = false;
  let callOff = (): void => undefined;

  async function rest(): Promise<void> {
    if (users > 0) return;
    const idle = opening;
    opening = undefined;
    await (await idle?.catch(() => undefined))?.close();
  }

  async function use(work: (mirror: Mirror) => Promise<unknown>): Promise<unknown> {
    if (closed) throw new GitError("Unavailable", "the mirror is closed");
    callOff();
    users += 1;
    try {
      opening ??= open();
      const mirror = await opening.catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return await work(mirror);
    } finally {
      users -= 1;
      if (users === 0 && !closed) callOff = clock.after(REST_MS, () => void rest());
    }
  }

  async function close(): Promise<void> {
    closed = true;
    callOff();
    const idle = opening;
    opening = undefined;
    await (await idle?.catch(() => undefined))?.close();
  }

  // Every method of a mirror answers with a promise, so all are passed on alike, those to come, too.
  return new Proxy({} as Mirror, {
    get(_target, name) {
      if (name === "close") return close;
      if (name === "then" || typeof name === "symbol") return undefined;
      return (...given: unknown[]) =>
        use((mirror) => {
          const method = (mirror as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
          if (method === undefined) throw new TypeError(`a mirror has no ${name}`);
          return method.apply(mirror, given);
        });
    },
  });
}

/** Where the mirror of a repository is kept. */
export function mirrorDirectory(directory: string, fullName: string): string {
  return join(directory, `${fullName.replace("/", "__")}.git`);
}

/** What was fetched of a repository the App has no access to any more is not kept. */
export async function removeMirror(directory: string, fullName: string): Promise<void> {
  await rm(mirrorDirectory(directory, fullName), { recursive: true, force: true, maxRetries: 5 });
}
