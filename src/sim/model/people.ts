import type { Run } from "../../rollout/run.ts";
import { iso } from "../../rollout/time.ts";
import type { CommandName, Permission } from "../../rollout/world.ts";
import { NEW } from "./fleet.ts";
import { conflicts, type ModelPull, mergeNow } from "./forge.ts";
import { commit, forget, pinOf, pinValue } from "./git.ts";
import type { Happening } from "./scenario.ts";
import type { Truth } from "./world.ts";

export function say(truth: Truth, now: number, name: CommandName, args: string[], permission: Permission, actor: string): void {
  const id = `${truth.commands.length + 1}#0`;
  const text = [`/${name}`, ...args].join(" ");
  // GitHub's times are whole seconds.
  const createdAt = iso(Math.floor(now / 1000) * 1000);
  truth.commands = [...truth.commands, { id, name, args, flags: {}, text, actor, permission, createdAt }];
}

function openPull(truth: Truth): ModelPull | undefined {
  return truth.forge.pulls.find((pull) => pull.state === "open");
}

function clusterKey(name: string): string {
  return `hub/${name}`;
}

/** Lets one thing happen. `supersede` is the driver's: it is about the run, not the world. */
export function happen(truth: Truth, happening: Happening, run: Run, now: number): void {
  const pull = openPull(truth);
  switch (happening.kind) {
    case "command":
      say(truth, now, happening.name, happening.args, happening.permission, `${happening.permission}-account`);
      return;
    case "mergeByPerson":
      if (pull !== undefined && !pull.draft && !conflicts(truth.git, pull)) mergeNow(truth.git, pull, "alice", false, now);
      return;
    case "closeByPerson":
      if (pull === undefined) return;
      pull.state = "closed";
      pull.closedBy = "alice";
      return;
    case "pushToHead":
      if (pull !== undefined) pushToHead(truth, pull, now);
      return;
    case "draft":
      if (pull !== undefined) pull.draft = true;
      return;
    case "forcePush":
      forcePush(truth, run, now, happening.keeps);
      return;
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
    default:
      if (happening.kind !== "supersede") toCluster(truth, happening, now);
  }
}

type ToCluster = Extract<Happening, { kind: "commit" | "toRelease" | "label" | "leave" | "loseApplication" }>;

function toCluster(truth: Truth, happening: ToCluster, now: number): void {
  const key = clusterKey(happening.cluster ?? "");
  const target = [...truth.targets.values()].find((one) => one.cluster === key);
  const pins = target?.edits.map(pinOf) ?? [];
  switch (happening.kind) {
    case "commit":
      commit(
        truth.git,
        now,
        "bob",
        pins.filter((pin) => pinValue(truth.git, pin) !== null).map((pin) => [pin, "v1.1"]),
      );
      return;
    case "toRelease":
      commit(
        truth.git,
        now,
        "bob",
        pins.filter((pin) => pinValue(truth.git, pin) !== null).map((pin) => [pin, NEW]),
      );
      return;
    case "label":
      label(truth, key, happening.drained);
      return;
    case "leave":
      commit(
        truth.git,
        now,
        "bob",
        pins.map((pin) => [pin, null]),
      );
      if (target !== undefined) target.goneAt = now + 30_000;
      truth.clusters = new Map([...truth.clusters].filter(([other]) => other !== key));
      return;
    case "loseApplication":
      if (target !== undefined) target.goneAt = now;
  }
}

function label(truth: Truth, key: string, drained: boolean): void {
  const cluster = truth.clusters.get(key);
  if (cluster === undefined) return;
  const { drained: _, ...labels } = cluster.labels;
  truth.clusters = new Map(truth.clusters).set(key, { ...cluster, labels: drained ? { ...labels, drained: "true" } : labels });
}

/** Somebody pushes onto the batch's branch. */
function pushToHead(truth: Truth, pull: ModelPull, now: number): void {
  truth.forge.heads += 1;
  pull.head = `head${truth.forge.heads}`;
  pull.ours = false;
  pull.askedAt = now;
}

function forcePush(truth: Truth, run: Run, now: number, keeps: boolean): void {
  const merged = run.batches.findLast((batch) => batch.merged !== undefined)?.merged;
  if (merged !== undefined) forget(truth.git, merged.commit, now, keeps);
}
