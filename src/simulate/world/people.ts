import { epoch, iso } from "../../core/base/time.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import type { Command } from "../../core/spec/commands.ts";
import { type Happening, MEMBERS, TEAM } from "../generate/scenario.ts";
import { modelTarget } from "./argocd.ts";
import { clusterOf, targetOf, windowOf } from "./fleet.ts";
import { conflicts, type ModelPull, mergeNow } from "./forge.ts";
import { commit, forget, pinOf, pinValue, releaseEdit } from "./git.ts";
import { REPO, type Truth } from "./world.ts";

type Words = Pick<Command, "name" | "args" | "actor" | "permission"> & Partial<Pick<Command, "flags">>;

/** Writes a command on a PR. */
export function say(truth: Truth, now: number, pull: number, words: Words): void {
  const { name, args, flags = {}, actor, permission } = words;
  const id = `${truth.commands.length + 1}#0`;
  const said = Object.entries(flags).map(([flag, value]) => (value === true ? `--${flag}` : `--${flag} ${value}`));
  const text = [`/${name}`, ...args, ...said].join(" ");
  // GitHub's times are whole seconds.
  const createdAt = iso(Math.floor(now / 1000) * 1000);
  const teams = MEMBERS.includes(actor) ? [TEAM] : [];
  const command: Command = { id, name, args, flags, text, actor, permission, createdAt, teams };
  truth.commands.push({ command, pull, answered: false });
}

function openPullOf(truth: Truth, rollout: string): ModelPull | undefined {
  return truth.forge.pulls.find((pull) => pull.state === "open" && pull.rollout === rollout);
}

/** Lets one thing happen. `runs`: the last run of each rollout, as journalled. */
export function happen(truth: Truth, happening: Happening, runs: readonly (Run | undefined)[], now: number): void {
  switch (happening.kind) {
    case "argoDown":
      truth.argoDownUntil = now + happening.forMs;
      return;
    case "forgeDown":
      truth.forgeDownUntil = now + happening.forMs;
      return;
    case "refuse":
      truth.forge.refusing = { until: now + happening.forMs, answer: happening.answer };
      return;
    case "guard":
      truth.guard = { until: now + happening.forMs, retry: happening.retry };
      return;
    case "freeze":
      truth.freezes = [
        ...truth.freezes,
        { ...windowOf(happening.window), model: happening.window, where: REPO, until: now + happening.forMs },
      ];
      return;
    case "limits":
      truth.limits = happening.limits ?? undefined;
      return;
    case "settingsBroken":
      truth.settingsBrokenUntil = now + happening.forMs;
      return;
    case "unprotected":
      truth.unprotectedUntil = now + happening.forMs;
      return;
    case "label":
    case "leave":
    case "join":
    case "relabel":
    case "unreach":
      toClusters(truth, happening, now);
      return;
    default:
      toRollout(truth, happening, runs, now);
  }
}

type ToClusters = Extract<Happening, { kind: "label" | "leave" | "join" | "relabel" | "unreach" }>;

function toClusters(truth: Truth, happening: ToClusters, now: number): void {
  switch (happening.kind) {
    case "join":
      join(truth, happening, now);
      return;
    case "relabel": {
      const key = clusterKey(happening.cluster);
      const cluster = truth.clusters.get(key);
      const labels = { ...cluster?.labels, region: happening.region };
      if (cluster !== undefined) truth.clusters = new Map(truth.clusters).set(key, { ...cluster, labels });
      return;
    }
    case "unreach":
      unreach(truth, clusterKey(happening.cluster), now, now + happening.forMs);
      return;
    default:
      toCluster(truth, happening, now);
  }
}

/** A cluster with an Application of each rollout, its pins in the same commit. */
function join(truth: Truth, { joins, version }: Extract<Happening, { kind: "join" }>, now: number): void {
  const cluster = clusterOf(joins, truth.rollouts[0]?.model?.counted);
  if (truth.clusters.has(cluster.key)) return;
  const changes: [string, string][] = [];
  for (const rollout of truth.rollouts) {
    if (rollout.model === undefined) continue;
    const target = targetOf({ ...rollout.model, sharedPins: false }, rollout.index, joins, 0);
    for (const edit of target.edits) changes.push([pinOf(edit), edit.weigh === undefined ? version : "100"]);
    rollout.targets.push(target);
    truth.targets.set(target.key, modelTarget(target.key, target.cluster, target.edits, truth.behaviourOf(target), rollout.model?.byHand));
  }
  commit(truth.git, now, "bob", changes);
  truth.clusters = new Map(truth.clusters).set(cluster.key, cluster);
}

function unreach(truth: Truth, cluster: string, from: number, to: number): void {
  const outages = truth.outages.get(cluster) ?? [];
  // One after the other: they are drawn without looking.
  if (outages.some((one) => one.to > from)) return;
  const all = [...outages, { from, to }];
  truth.outages.set(cluster, all);
  for (const target of truth.targets.values()) if (target.cluster === cluster) target.outages = all;
}

type ToRollout = Extract<Happening, { rollout: number }>;

function toRollout(truth: Truth, happening: ToRollout, runs: readonly (Run | undefined)[], now: number): void {
  const rollout = truth.rollouts[happening.rollout];
  const run = runs[happening.rollout];
  if (rollout === undefined) return;
  const pull = openPullOf(truth, rollout.name);
  switch (happening.kind) {
    case "release":
      commit(truth.git, now, "alice", [[pinOf(releaseEdit(rollout.name)), happening.version]]);
      return;
    case "moveTag":
      if (run !== undefined && !isEnded(run) && run.resolved !== undefined) truth.movedTags.set(`${run.rollout} #${run.number}`, now);
      return;
    case "command": {
      const on = happening.on === "batch" ? pull?.number : run?.trigger.pull;
      if (on !== undefined) say(truth, now, on, happening);
      return;
    }
    case "forcePush": {
      // The newest: what came after it would have another id, too. A merge of ours need not be recorded yet.
      const recorded = run?.batches.findLast((batch) => batch.merged !== undefined)?.merged;
      const pulls = truth.forge.pulls.filter((one) => one.rollout === run?.rollout && one.run === run.number);
      const merged = pulls.flatMap((one) => one.merged ?? []).reduce((a, b) => (a.at < b.at ? b : a), { commit: "", at: 0 });
      const commit = recorded !== undefined && epoch(recorded.at) >= merged.at ? recorded.commit : merged.commit;
      if (commit !== "") forget(truth.git, commit, now, happening.keeps);
      return;
    }
    case "commit":
    case "toRelease": {
      const version = happening.kind === "commit" ? "v1.1" : (run?.release.values["version"] ?? "v2");
      setPins(truth, happening.rollout, happening.cluster, version, now);
      return;
    }
    case "loseApplication":
      for (const target of rollout.targets) if (target.cluster === clusterKey(happening.cluster)) lose(truth, target.key, now);
      return;
    default:
      if (pull !== undefined) toPull(truth, happening, pull, now);
  }
}

function toPull(
  truth: Truth,
  happening: Extract<Happening, { kind: "mergeByPerson" | "closeByPerson" | "pushToHead" | "draft" | "review" }>,
  pull: ModelPull,
  now: number,
): void {
  switch (happening.kind) {
    case "mergeByPerson":
      if (!pull.draft && !conflicts(truth.git, pull)) mergeNow(truth.git, pull, "alice", false, now);
      return;
    case "closeByPerson":
      pull.state = "closed";
      pull.closedBy = "alice";
      pull.queue = undefined;
      return;
    case "pushToHead":
      truth.forge.heads += 1;
      pull.head = `head${truth.forge.heads}`;
      pull.ours = false;
      pull.askedAt = now;
      pull.queue = undefined;
      return;
    case "draft":
      pull.draft = true;
      return;
    case "review":
      if (happening.approves) pull.reviews.set(happening.actor, { head: pull.head, at: now });
      else pull.reviews.delete(happening.actor);
  }
}

function clusterKey(name: string): string {
  return `hub/${name}`;
}

function lose(truth: Truth, key: string, at: number): void {
  const target = truth.targets.get(key);
  if (target !== undefined) target.goneAt = Math.min(target.goneAt, at);
}

/** Somebody writes a version by hand; for no cluster, a commit that touches no pin. */
function setPins(truth: Truth, rollout: number, cluster: string | null, version: string, now: number): void {
  const targets = truth.rollouts[rollout]?.targets.filter((one) => one.cluster === clusterKey(cluster ?? "")) ?? [];
  const pins = targets
    .flatMap((one) => one.edits.filter((edit) => edit.weigh === undefined).map(pinOf))
    // What stands there already is no change.
    .filter((pin) => ![null, version].includes(pinValue(truth.git, pin)));
  commit(
    truth.git,
    now,
    "bob",
    pins.map((pin) => [pin, version]),
  );
}

function toCluster(truth: Truth, happening: Extract<Happening, { kind: "label" | "leave" }>, now: number): void {
  const key = clusterKey(happening.cluster);
  if (happening.kind === "label") {
    const cluster = truth.clusters.get(key);
    if (cluster === undefined) return;
    const { drained: _, ...labels } = cluster.labels;
    truth.clusters = new Map(truth.clusters).set(key, {
      ...cluster,
      labels: happening.drained ? { ...labels, drained: "true" } : labels,
    });
    return;
  }
  const targets = truth.rollouts.flatMap((rollout) => rollout.targets.filter((one) => one.cluster === key));
  commit(
    truth.git,
    now,
    "bob",
    targets.flatMap((one) => one.edits.map((edit): [string, null] => [pinOf(edit), null])),
  );
  for (const { key: target } of targets) lose(truth, target, now + 30_000);
  truth.clusters = new Map([...truth.clusters].filter(([other]) => other !== key));
}
