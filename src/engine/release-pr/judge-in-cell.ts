/**
 * Has pull requests judged in a cell, and answers what is asked there. Everything that can be asked only reads: what a cell could be made
 * to ask is what the bot would have looked at itself.
 */
import type { Answers, Cell } from "../../adapters/cell/port.ts";
import { filesForCell } from "../config-repo/read-in-cell.ts";
import type { TagsOf } from "../config-repo/releases-tags.ts";
import type { Named, RevisionsNow } from "../config-repo/revisions.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { RepoContext } from "../round/context.ts";
import type { JudgeInput } from "./inside-cell.ts";
import type { JudgePull } from "./judge-pull.ts";
import type { JudgedPull, PlanBase, Verdict } from "./types.ts";

/** The name of the judgement inside of a cell. */
export const JUDGE_PULL = "judgePull";

/** A pull request whose judgement passed a limit of the cell. */
export class JudgementKilled extends Error {
  override name = "JudgementKilled";
  readonly by: "time" | "memory";
  constructor(by: JudgementKilled["by"]) {
    super(`judging it took too much ${by}`);
    this.by = by;
  }
}

interface Parts {
  rules: Pick<Rules, "of" | "bare">;
  tagsOf: TagsOf;
  revisionsNow: RevisionsNow;
}

type Context = Pick<
  RepoContext,
  | "forge"
  | "mirror"
  | "planes"
  | "grants"
  | "freezes"
  | "analysis"
  | "writer"
  | "clock"
  | "log"
  | "repoURL"
  | "repository"
  | "journalBranch"
>;

export function openJudgeInCell(context: Context, cell: Cell, parts: Parts): JudgePull {
  return async (base, pull) => {
    const outcome = await cell.run({
      name: JUDGE_PULL,
      input: inputOf(context, base, pull),
      answers: answersOf(context, parts, base, pull),
    });
    if (outcome.kind === "killed") throw new JudgementKilled(outcome.by);
    if (outcome.kind === "failed") throw new Error(outcome.said);
    return outcome.value as Verdict;
  };
}

function inputOf(context: Context, { commit, branch, journal }: PlanBase, pull: JudgedPull): JudgeInput {
  const { repository, repoURL, journalBranch, freezes, grants, analysis, writer, clock } = context;
  const planes = [...context.planes.values()].map(({ name, labels, uiUrl, generate, content, manifests, sync }) => {
    const renders = manifests !== undefined;
    const can = { generates: generate !== undefined, reads: content !== undefined, renders, syncs: sync !== undefined };
    return { name, labels, uiUrl, ...can };
  });
  const told = { repository, repoURL, journalBranch, freezes, planes, now: clock.now(), isGranted: grants !== undefined };
  return { ...told, analysis: analysis?.engine.kind, signs: writer !== undefined, base: { commit, branch, journal }, pull };
}

function answersOf(
  { forge, mirror, planes, grants, log }: Context,
  { rules, tagsOf, revisionsNow }: Parts,
  base: PlanBase,
  pull: JudgedPull,
): Answers {
  const plane = (name: string) => {
    const known = planes.get(name);
    if (known === undefined) throw new Error(`no control plane is called ${name}`);
    return known;
  };
  return {
    log: (level: "debug" | "info" | "warn" | "error", fields: object, message: string) => log[level](fields, message),
    rules: (branch: string) => rules.of(branch),
    bare: (rollout: string) => rules.bare(rollout),
    tags: () => tagsOf(),
    revisions: (named: readonly Named[], mostMs: number) => revisionsNow(named, mostMs),
    run: (rollout: string) => base.runs.get(rollout),
    index: (rollout: string) => base.index.get(rollout),
    "forge.inTeam": (team: string, login: string) => forge.inTeam(team, login),
    "grants.refusal": (name: string) => grants?.refusal(name),
    "grants.limits": (name: string) => grants?.limits(name),
    "plane.state": (name: string) => plane(name).state(),
    "plane.application": (name: string, namespace: string, application: string) => plane(name).application(namespace, application),
    "plane.applications": (name: string, owner?: { namespace: string; name: string }) => plane(name).applications(owner),
    "plane.applicationSet": (name: string, namespace: string, set: string) => plane(name).applicationSet(namespace, set),
    "plane.clusters": (name: string) => plane(name).clusters(),
    "plane.manifests": (name: string, namespace: string, application: string, revisions: string[]) => {
      // Rendering runs what a commit brings: never that of a fork, whatever a cell asks for.
      const allowed = ["", base.commit, ...(pull.isFork ? [] : [pull.head])];
      if (!revisions.every((revision) => allowed.includes(revision)))
        throw new Error("Argo CD is asked about this base and this head only");
      return plane(name).manifests?.(namespace, application, revisions);
    },
    "mirror.head": (branch: string) => mirror.head(branch),
    "mirror.resolve": (ref: string) => mirror.resolve(ref),
    "mirror.remoteHeads": (branches: string[]) => mirror.remoteHeads(branches),
    "mirror.readFiles": (commit: string, paths: string[], options?: { maxBytes?: number }) => filesForCell(mirror, commit, paths, options),
    "mirror.listFiles": (commit: string, prefix?: string, kind?: "file" | "link") => mirror.listFiles(commit, prefix, kind),
    "mirror.isAncestor": (ancestor: string, descendant: string) => mirror.isAncestor(ancestor, descendant),
    "mirror.firstParentLog": (from: string | undefined, to: string, limit?: number) => mirror.firstParentLog(from, to, limit),
    "mirror.commitInfo": (sha: string) => mirror.commitInfo(sha),
    "mirror.changedPaths": (from: string, to: string) => mirror.changedPaths(from, to),
  };
}
