/**
 * Brings the heads of open pull requests here, as far as they may be looked into: those of the repository itself in as few fetches as there
 * can be, each of a fork by itself, when it is judged, and bounded, and none where nothing of the repository is ours. Called for each pass over the open ones.
 */
import { GitError } from "../../adapters/git/port.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { attentionReason } from "../../core/reasons/attention.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Attention } from "../round/attention.ts";
import type { RepoContext } from "../round/context.ts";
import { mayConcern } from "./judge-pull-touched.ts";
import type { Head, PlanBase, Touched } from "./types.ts";

/** One fetch asks for so many heads. */
const HEADS_AT_ONCE = 100;
/** Where nothing is ours GitHub is asked for the files of so many in one pass: nobody waits for what is said of them. */
const MOST_LISTED = 10;
const MEBIBYTE = 1024 * 1024;

type Context = Pick<RepoContext, "mirror" | "forge">;

export class PullHeads {
  readonly #context: Context;
  readonly #attention: Pick<Attention, "note">;
  /** By PR: which head was asked for, and why it is not here. */
  readonly #asked = new Map<number, { head: string; unread: AnyReason | undefined }>();
  #known: ReadonlySet<number> | undefined;
  #listed = 0;

  constructor(context: Context, attention: Pick<Attention, "note">) {
    this.#context = context;
    this.#attention = attention;
  }

  /** Fetches heads, and forgets those of PRs that are not open any more. */
  async bring(fresh: readonly Head[], open: ReadonlySet<number>): Promise<void> {
    this.#listed = 0;
    const isShallow = await this.#context.mirror.isShallow();
    if (!isShallow) await this.#forgetOthers(open);
    this.#known = open;
    if (isShallow) return;
    // Those of forks as they are judged: there may be many, and each takes its time.
    for (const { number, isFork } of fresh) if (isFork) this.#asked.set(number, { head: "", unread: this.#asked.get(number)?.unread });
    await this.#fetchAll(fresh.filter(({ isFork }) => !isFork));
  }

  /** undefined: later. */
  async touchedBy(base: PlanBase, pull: Head): Promise<Touched | undefined> {
    const { mirror, forge } = this.#context;
    if (await mirror.isShallow()) {
      if (this.#listed++ >= MOST_LISTED) return undefined;
      const files = await forge.changedFiles(pull.number);
      if (!mayConcern(base.project, files)) return { files, tree: undefined };
      await mirror.deepen(base.branch);
    }
    if (this.#asked.get(pull.number)?.head !== pull.head) await this.#fetchAll([pull]);
    const unread = this.#asked.get(pull.number)?.unread;
    if (unread !== undefined) return { files: await forge.changedFiles(pull.number), tree: undefined, unread };
    return await merged(this.#context, base.commit, pull);
  }

  /** Closed ones leave nothing behind; at the start, too, for they may have been closed meanwhile. */
  async #forgetOthers(open: ReadonlySet<number>): Promise<void> {
    if (this.#known !== undefined && [...this.#known].every((number) => open.has(number))) return;
    await this.#context.mirror.keepPulls(open);
    for (const number of this.#asked.keys()) if (!open.has(number)) this.#asked.delete(number);
  }

  async #fetchAll(pulls: readonly Head[]): Promise<void> {
    await this.#fetchOwn(pulls.filter(({ isFork }) => !isFork));
    for (const pull of pulls) if (pull.isFork) await this.#fetchFork(pull);
    const isFull = [...this.#asked.values()].some(({ unread }) => unread?.code === "PULL_NO_ROOM");
    const reason = isFull ? attentionReason("MIRROR_FULL", { mebibytes: (await this.#context.mirror.room()).most / MEBIBYTE }) : undefined;
    this.#attention.note("mirror", reason);
  }

  async #fetchOwn(pulls: readonly Head[]): Promise<void> {
    const { mirror } = this.#context;
    if (pulls.length === 0) return;
    const { left, most } = await mirror.room();
    const unread = left > 0 ? undefined : engineReason("PULL_NO_ROOM", { mebibytes: most / MEBIBYTE });
    for (let from = 0; from < pulls.length && unread === undefined; from += HEADS_AT_ONCE)
      await mirror.fetch(pulls.slice(from, from + HEADS_AT_ONCE).map(({ number }) => `refs/pull/${number}/head`));
    for (const { number, head } of pulls) this.#asked.set(number, { head, unread });
  }

  async #fetchFork({ number, head }: Head): Promise<void> {
    const { kind, most } = await this.#context.mirror.fetchFork(number);
    const mebibytes = most / MEBIBYTE;
    const unread = {
      fetched: undefined,
      full: engineReason("PULL_NO_ROOM", { mebibytes }),
      tooLarge: engineReason("PULL_TOO_LARGE", { mebibytes }),
    }[kind];
    this.#asked.set(number, { head, unread });
  }
}

/**
 * The files a PR changes, from Git alone: what merging it into this base would change. A conflict leaves that open; GitHub is asked
 * then, for the one PR.
 */
async function merged({ mirror, forge }: Context, base: string, { number, head, isFork }: Head): Promise<Touched> {
  try {
    const result = await mirror.mergeTree(base, head);
    if (!("conflicts" in result)) return { files: await mirror.changedPaths(base, result.tree), tree: result.tree };
  } catch (error) {
    // A file that was left out, and that the base has changed as well; or more files than can be compared, wherever the branch is.
    if (!(error instanceof GitError && (isFork || error.kind === "TooLarge"))) throw error;
    return { files: await forge.changedFiles(number), tree: undefined, unread: engineReason("PULL_LARGE_FILE") };
  }
  return { files: await forge.changedFiles(number), tree: undefined };
}
