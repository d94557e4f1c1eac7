import { afterEach, describe, expect, test } from "vitest";
import { builtinEngine } from "../../src/adapters/analysis/builtin/index.ts";
import { type Answering, json, startAnswering } from "../../src/adapters/analysis/testing.ts";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { renderTree } from "../../src/core/report/tree/tree.ts";
import { isEnded, type Run } from "../../src/core/run/state/run.ts";
import type { EmbeddedWorld, WorldOptions } from "../../src/sim/world.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
let service: Answering | undefined;

afterEach(async () => {
  await journey?.close();
  await service?.close();
  journey = undefined;
  service = undefined;
});

const SET = "appsets/my-app-set.yaml";

const WEBCHECK = `apiVersion: argoproj.io/v1alpha1
kind: ClusterAnalysisTemplate
metadata:
  name: webcheck
spec:
  args:
    - name: host
  metrics:
    - name: webcheck
      successCondition: result == "ok"
      interval: 5
      count: 3
      failureLimit: 1
      provider:
        web:
          url: "http://{{ args.host }}/"
          jsonPath: "{$.status}"
`;

/** The fleet with a weight in each element of its list, which the template hands to its Application. */
function files(host: string, spec = ""): NonNullable<WorldOptions["files"]> {
  return (all) => {
    const set = (all.get(SET) ?? "")
      .replaceAll("targetRevision: v1.4.1\n", 'targetRevision: v1.4.1\n            weight: "100"\n')
      .replace(
        'targetRevision: "{{targetRevision}}"\n',
        'targetRevision: "{{targetRevision}}"\n        kustomize: { commonAnnotations: { weight: "w{{weight}}" } }\n',
      );
    all.set(SET, set);
    all.set("analysis/webcheck.yaml", WEBCHECK);
    const [head = ""] = (all.get("rollouts/my-app.yaml") ?? "").split("  mode: Run");
    all.set(
      "rollouts/my-app.yaml",
      `${head}  mode: Run
${spec}  weightPins:
    - file: ${SET}
      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].weight
  stages:
    - name: canary
      clusters: { selector: { matchLabels: { area: emea } } }
      maxClusters: 2
      maxUnavailable: 2
      topologyKey: region
      steps:
        - setWeight: 20
        - pause: {}
        - analysis: { templates: [ { templateName: webcheck, clusterScope: true, file: analysis/webcheck.yaml } ], args: [ { name: host, value: "${host}" } ] }
        - setWeight: 60
        - pause: { duration: 3m }
    - name: us-east-1
      clusters: { selector: { matchLabels: { region: us-east-1 } } }
      maxUnavailable: 4
`,
    );
  };
}

async function begin(spec = "", answer = json({ status: "ok" })): Promise<Journey> {
  const web = await startAnswering(answer);
  service = web;
  const gates = ({ clock }: EmbeddedWorld) => ({
    analysis: { engine: builtinEngine({ clock, policy: { allow: [web.host] } }), secret: () => undefined },
  });
  const made = await startJourney({ files: files(web.host, spec), gates });
  journey = made;
  return made;
}

/** `cluster → version weight` as the base branch has it. */
function written({ world }: Journey, commit = "main"): Map<string, string> {
  const text = git(world.github.repoDirectory(world.repository), "show", `${commit}:${SET}`);
  const rows = text.matchAll(/- cluster: (\S+)\n(?:\s+(?:server|area|region): .*\n)*\s+targetRevision: (\S+)\n\s+weight: "(\d+)"/g);
  return new Map([...rows].map(([, cluster = "", version = "", weight = ""]) => [cluster, `${version} ${weight}`]));
}

const CANARY = ["eu-central-1-a", "eu-west-1-a"];
const canary = (rows: ReadonlyMap<string, string>) => CANARY.map((cluster) => rows.get(cluster));
const weight = (run: Run, number: number) => run.batches[number - 1]?.step?.weight;

describe("20 → pause → analysis → 60 → pause → 100, over the clusters of a batch", () => {
  test("one PR a weight, each live before what follows it; /promote ends the pause, the measured answer opens the next", async () => {
    const now = await begin();
    const { world } = now;
    const alice = world.github.actAs("alice");
    const release = await now.release();
    const paused = await now.until("it is paused at 20", (run) => run.batches[0]?.step?.wait?.from !== undefined);
    expect(canary(written(now))).toEqual(["v1.4.2 20", "v1.4.2 20"]);
    const [first] = paused.batches;
    expect(first).toMatchObject({
      branch: "stagecoach-run/my-app/1/1-1-1-step1",
      phase: "Baking",
      step: { index: 1, of: 3, weight: 20 },
    });
    expect(await world.untilComment(release, "Paused at weight 20")).toContain("`/promote`");
    expect(service?.requests).toHaveLength(0);
    alice.comment(world.repository, first?.pull?.number ?? 0, "/promote");
    const second = await now.until("60 is open", (run) => run.batches[1]?.pull !== undefined);
    expect(second.batches[0]?.analyses).toMatchObject([{ phase: "Successful", step: 1, metrics: [{ count: 3, value: "ok" }] }]);
    expect(service?.requests).toHaveLength(3);
    const pull = await githubPage(world).pull(second.batches[1]?.pull?.number ?? 0);
    expect(pull.title).toBe("my-app v1.4.2: step 2 of 3, weight 60, of batch 1 of 1 of canary");
    expect(pull.body).toContain("step 2 of 3");
    expect(pull.body).toContain("webcheck");
    const third = await now.until("it is paused at 60", (run) => run.batches[1]?.step?.wait?.from !== undefined);
    expect(third.batches[1]?.why).toHaveCode("STEP_PAUSED", { weight: 60, forMs: 180_000 });
    expect(canary(written(now))).toEqual(["v1.4.2 60", "v1.4.2 60"]);
    const tree = renderTree(third, world.clock.now(), { color: false, width: 160 });
    expect(tree).toContain("step 2 of 3");
    // Somebody with maintain ends this wait and all later ones; health is waited for all the same.
    world.github.actAs("bob").comment(world.repository, release, "/promote --full");
    const run = await now.until("it ends", isEnded);
    expect(run.promotedFully?.by).toBe("bob");
    expect([run.phase, now.errors]).toEqual(["Succeeded", []]);
    expect(run.batches.map((one) => [one.step?.weight, one.merged?.by])).toEqual([
      [20, "stagecoach[bot]"],
      [60, "stagecoach[bot]"],
      [100, "stagecoach[bot]"],
      [undefined, "stagecoach[bot]"],
    ]);
    expect(canary(written(now))).toEqual(["v1.4.2 100", "v1.4.2 100"]);
    // Each commit changes the weights of its step and nothing else; the first the version, too.
    const repo = world.github.repoDirectory(world.repository);
    const changed = run.batches.map(({ merged }) => {
      const lines = git(repo, "show", "--format=", "--unified=0", merged?.commit ?? "").split("\n");
      return lines.filter((line) => /^\+ /.test(line)).map((line) => line.slice(1).trim());
    });
    expect(changed[0]).toEqual(["targetRevision: v1.4.2", 'weight: "20"', "targetRevision: v1.4.2", 'weight: "20"']);
    expect(changed.slice(1, 3)).toEqual([Array(2).fill('weight: "60"'), Array(2).fill('weight: "100"')]);
    expect(await world.untilComment(release, "**Succeeded**")).toContain("2/2");
  });

  test("unhealthy at 20: onFailure Rollback puts version and weight back, and nobody gets to 60", async () => {
    const now = await begin("  onFailure: { action: Rollback }\n");
    now.world.argocd.setFault("eu-central-1-a", { kind: "degraded", revision: "w20" });
    await now.release();
    const failed = await now.until("it failed", (run) => run.rollback !== undefined);
    expect([failed.batches.length, weight(failed, 1), failed.why]).toEqual([
      1,
      20,
      expect.toHaveCode("TOO_MANY_FAILED", { clusters: [expect.stringMatching(/\/eu-central-1-a$/)] }),
    ]);
    const back = await now.until("it is rolled back", (run) => run.number === 2 && isEnded(run));
    expect([back.phase, back.batches.length, now.errors]).toEqual(["RolledBack", 1, []]);
    expect(new Set(written(now).values())).toEqual(new Set(["v1.4.1 100"]));
    for (const cluster of CANARY) expect(now.world.argocd.liveHealth(`my-app-${cluster}`)).toBe("Healthy");
  });
});
