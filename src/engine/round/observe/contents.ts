/**
 * What Argo CD says of the objects of targets: whether they show a batch's change. Asked few at a time while no round waits for it.
 * Called by `judge-targets.ts` for what is else live.
 */
import type { ContentQuestion, ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Change, ContentSeen, LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { iso } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { said } from "../../../core/reasons/run.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { openLanes } from "../few-at-once.ts";

/** Of one control plane. Each is answered with all objects of an Application. */
const MOST_AT_ONCE = 4;
/** After one that showed nothing. */
const AGAIN_MS = 5000;
const MOST_KEPT = 20_000;

interface ContentAsked extends Pick<ContentQuestion, "values" | "seen" | "thorough"> {
  plane: ControlPlane;
  /** The target's. */
  key: string;
  uid: string;
  /** The merge of its batch. */
  commit: string;
  /** Positions of the sources that read the config repo. */
  sources: readonly number[];
}

export interface Contents {
  /** undefined: it is being asked. What was shown once of a change is shown. */
  of(asked: ContentAsked): ContentSeen | undefined;
}

interface Known {
  at: number;
  revisions: string;
  seen: ContentSeen;
}

export function openContents({ mirror, clock, log }: Pick<RepoContext, "mirror" | "clock" | "log">): Contents {
  const kept = new BoundedMap<string, Known>(MOST_KEPT);
  const wanted = new Map<string, ContentAsked>();
  const lanes = openLanes(MOST_AT_ONCE, async (key) => {
    const asked = wanted.get(key);
    wanted.delete(key);
    if (asked === undefined) return;
    const now = clock.now();
    const before = kept.get(idOf(asked));
    kept.set(idOf(asked), { at: now, revisions: asked.seen.join(), seen: await askOne(asked, before?.seen, now) });
  });

  async function askOne(asked: ContentAsked, before: ContentSeen | undefined, now: number): Promise<ContentSeen> {
    const { key, plane, values, seen, thorough } = asked;
    const failed = (why: AnyReason, refused?: true): ContentSeen => {
      log.warn({ target: key, reason: sentenceOf(why) }, "what an Application's objects hold could not be read");
      const since = before !== undefined && "failed" in before ? before.since : iso(now);
      return defined({ failed: why, since, refused });
    };
    const [, namespace = "", name = ""] = key.split("/");
    try {
      const question = { values, seen, thorough, before: await revisionsBefore(asked) };
      const outcome = await plane.content?.(namespace, name, question);
      if (outcome === undefined) return failed(engineReason("CONTENT_UNSEEN", { plane: plane.name }), true);
      return outcome.kind === "done" ? { proof: outcome.proof } : failed(outcome.why, outcome.refused);
    } catch (error) {
      return failed(said(errorText(error).slice(0, 300)));
    }
  }

  /** undefined: the change is not in what a revision of the config repo renders to. */
  async function revisionsBefore({ commit, sources, seen }: ContentAsked): Promise<readonly string[] | undefined> {
    const parent = sources.length === 0 ? undefined : (await mirror.commitInfo(commit))?.parents[0];
    return parent === undefined ? undefined : seen.map((revision, index) => (sources.includes(index) ? parent : revision));
  }

  return {
    of(asked) {
      const known = kept.get(idOf(asked));
      if (known !== undefined && isShown(known.seen)) return known.seen;
      const isSame = known?.revisions === asked.seen.join();
      if (isSame && clock.now() - known.at < againMs(known.seen)) return known.seen;
      if (!lanes.isBusy(asked.key)) {
        wanted.set(asked.key, asked);
        lanes.add(asked.key);
      }
      return isSame ? known.seen : undefined;
    },
  };
}

function idOf({ key, commit, uid, thorough }: ContentAsked): string {
  return `${key} ${commit} ${uid} ${thorough}`;
}

/** What tells nothing tells nothing a moment later. */
function againMs(seen: ContentSeen): number {
  return "proof" in seen && seen.proof === "unknown" ? 12 * AGAIN_MS : AGAIN_MS;
}

function isShown(seen: ContentSeen): boolean {
  return "proof" in seen && (seen.proof === "shown" || seen.proof === "differs");
}

/** A target of a batch that has merged. */
interface Moved {
  run: Run;
  merged: NonNullable<Batch["merged"]>;
  target: BatchTarget;
  plane: ControlPlane;
  application: ApplicationView | undefined;
}

/** With `proof: content`, or where nothing is said and Argo CD's objects can be asked for. What wrote nothing has nothing to show. */
export function contentOf(
  { run, merged, target, plane, application }: Moved,
  changes: readonly Change[],
  contents: Contents,
): LivenessInput["content"] {
  const { proof = plane.content === undefined ? "revision" : undefined } = run.spec;
  const written = target.edits.filter(({ from, to }) => from !== to);
  if (proof === "revision" || application === undefined || written.length === 0) return undefined;
  const values = written.filter(({ kind }) => kind === "value");
  const repos = changes.flatMap((one) => (one.kind === "commit" ? [normalRepo(one.repoURL)] : []));
  const sources = application.spec.sources.flatMap((source, index) =>
    source.chart === undefined && repos.includes(normalRepo(source.repoURL)) ? [index] : [],
  );
  const required = proof === "content";
  const asked = { plane, key: target.key, uid: application.uid, commit: merged.commit, values, sources, thorough: required };
  return { required, see: (seen) => contents.of({ ...asked, seen }) };
}
