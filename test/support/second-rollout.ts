import { git } from "../../src/adapters/git/testing/repositories.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { isEnded, type Run } from "../../src/core/run/state/run.ts";
import { PATIENCE_MS } from "./ask-until.ts";
import type { Journey } from "./journey.ts";

type Files = Map<string, string>;

const SET = "appsets/my-app-set.yaml";

/** A second rollout beside the sample's: `ledger`, with an ApplicationSet of its own on the same clusters. `spec`: lines of it, `stages` with them. */
export function withLedger(files: Files, spec: string): void {
  const set = (files.get(SET) ?? "").replaceAll("my-app-set", "ledger-set").replaceAll("my-app-{{", "ledger-{{");
  files.set("appsets/ledger-set.yaml", set.replaceAll("namespace: my-app", "namespace: ledger"));
  files.set("releases/ledger.yaml", "version: v1.4.1\n");
  files.set(
    "rollouts/ledger.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: ledger }
spec:
  sourceRef: { kind: ApplicationSet, name: ledger-set }
  release: { from: { file: releases/ledger.yaml, path: version } }
  pins:
    - file: appsets/ledger-set.yaml
      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision
  mode: Run
${spec}`,
  );
}

/** Opens and merges a PR that writes one value into a file. Gives its number. */
export async function mergeChange(
  { world }: Journey,
  login: string,
  files: Record<string, string>,
  message: string,
  opener = login,
): Promise<number> {
  const person = world.github.actAs(opener);
  const branch = message.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  await person.push(world.repository, { branch, files, message });
  const pull = await person.openPull(world.repository, { head: branch, title: message });
  await world.github.actAs(login).mergePull(world.repository, pull, "squash");
  return pull;
}

/** The last run of a rollout, as soon as this holds of it. */
export function untilRunOf({ bot, world }: Journey, rollout: string, what: string, holds: (run: Run) => boolean): Promise<Run> {
  const look = () => bot.runs().find(({ run }) => run.rollout === rollout)?.run;
  return new Promise((resolve, reject) => {
    const check = () => {
      const run = look();
      if (run === undefined || !holds(run)) return;
      calm();
      off();
      resolve(run);
    };
    const off = bot.onChange(check);
    const calm = world.clock.after(PATIENCE_MS, () => {
      off();
      const run = look();
      reject(new Error(`${rollout}: ${what}: not in time; ${run === undefined ? "no run" : `${run.phase}: ${sentenceOf(run.why, run)}`}`));
    });
    check();
  });
}

/** Asked later: the most clusters that were in flight at once, over all runs. */
export function mostInFlight({ bot }: Journey): () => number {
  let most = 0;
  bot.onChange(() => {
    const clusters = new Set<string>();
    for (const { run } of bot.runs()) {
      for (const batch of isEnded(run) ? [] : run.batches) {
        if (batch.merged === undefined && batch.intention === undefined) continue;
        for (const { cluster, phase } of batch.targets) if (/^(Merged|Syncing|Proposed)$/.test(phase)) clusters.add(cluster);
      }
    }
    most = Math.max(most, clusters.size);
  });
  return () => most;
}

/** A file as the base branch has it. */
export function onMain({ world }: Journey, file: string): string {
  return `${git(world.github.repoDirectory(world.repository), "show", `main:${file}`)}\n`;
}
