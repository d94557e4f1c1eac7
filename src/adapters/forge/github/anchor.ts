/**
 * Anchors the journal's newest head in a check run of the App's: nobody but the App can change or take away one of those, whatever else they
 * may do to the repository. It is at the first commit of the base branch, where it is found again by whoever has lost everything else; where
 * histories were joined since, at the one of those that it was at.
 */
import type { Anchor, Anchored } from "../../git/journal/port.ts";
import { asking, askingOrNone } from "./errors.ts";
import { NEVER_RETRY, type OctokitLike } from "./octokit.ts";

const ANCHOR_CHECK = "stagecoach/journal";

interface AnchorOptions {
  octokit: OctokitLike;
  /** `owner/name`. */
  repository: string;
  /** Ours. */
  appId(): Promise<number | undefined>;
  /** The commits that the base branch begins with, first the one that its first parents lead to; undefined: not known yet. */
  commits(): Promise<readonly string[] | undefined>;
}

interface There extends Anchored {
  id: number;
  /** The commit that it is at. */
  ref: string;
}

const FORM = /^stagecoach-journal:([1-9]\d{0,14}):([0-9a-f]{40,64})$/;
/** Without the permission to write checks there is none, and with none to read them it cannot be seen. */
const NOT_OURS_TO_SEE = [403, 404];

export function openGitHubAnchor({ octokit, repository, appId, commits }: AnchorOptions): Anchor {
  const [owner = "", repo = ""] = repository.split("/");
  let roots: readonly string[] | undefined;
  /** As last read or written; null: there was none. */
  let known: There | null | undefined;

  async function look(): Promise<There | null | undefined> {
    const app = await appId();
    if (app === undefined) return undefined;
    roots ??= await commits();
    if (roots === undefined) return undefined;
    const found: There[] = [];
    // Whoever may push to the base can put another history before it: below that the one of before is there still.
    for (const ref of roots) found.push(...(await at(ref, app)));
    const [newest] = found.sort((a, b) => b.sequence - a.sequence);
    if (newest !== undefined) roots = [newest.ref];
    return newest ?? null;
  }

  async function at(ref: string, app: number): Promise<There[]> {
    // Ours alone: any App may report checks of this name, as many as it likes.
    const asked = { owner, repo, ref, check_name: ANCHOR_CHECK, app_id: app, filter: "all" as const, per_page: 100 };
    const found = await askingOrNone(() => octokit.rest.checks.listForRef(asked), NOT_OURS_TO_SEE);
    return (found?.data.check_runs ?? []).flatMap((run) => {
      const [, sequence, head] = FORM.exec(run.external_id ?? "") ?? [];
      if (run.app?.id !== app || sequence === undefined || head === undefined) return [];
      return [{ id: run.id, ref, sequence: Number(sequence), head }];
    });
  }

  return {
    async read({ afresh = false } = {}) {
      if (afresh || known === undefined) known = await look();
      return known === null || known === undefined ? undefined : { sequence: known.sequence, head: known.head };
    },
    async write({ sequence, head }) {
      known ??= await look();
      const [first] = roots ?? [];
      if (first === undefined || (known?.sequence ?? 0) >= sequence) return;
      const before = known;
      known = undefined;
      const fields = {
        external_id: `stagecoach-journal:${sequence}:${head}`,
        status: "completed" as const,
        conclusion: "neutral" as const,
      };
      const summary = `The journal on \`stagecoach/journal\` was at ${head}, its commit number ${sequence}. Stagecoach compares the branch with this before it goes on.`;
      const output = { title: `Journal: ${sequence}`, summary };
      const place = { owner, repo, ...fields, output, ...NEVER_RETRY };
      const made = { ...place, name: ANCHOR_CHECK, head_sha: first };
      const { data } = await asking<{ data: { id: number } }>(() =>
        before == null ? octokit.rest.checks.create(made) : octokit.rest.checks.update({ ...place, check_run_id: before.id }),
      );
      known = { id: data.id, ref: first, sequence, head };
    },
  };
}
