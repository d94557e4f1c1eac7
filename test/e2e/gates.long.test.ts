import { afterEach, expect, test } from "vitest";
import { sameReason } from "../../src/core/base/reason.ts";
import { epoch } from "../../src/core/base/time.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";
import { mergeChange, mostInFlight, untilRunOf, withLedger } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** As in app.yml, so that teams can be seen. */
const NOON = Date.UTC(2026, 0, 5, 12, 0, 0);
const SETTINGS = ".github/stagecoach.yaml";

const FIRST = "selector: { matchLabels: { area: emea } }, rollouts: [my-app], stages: [canary]";

const LIMITS = "limits: { clusters: 2, selected: [{ stages: [two], rollouts: [ledger], clusters: 1 }] }\n";

/** A freeze for the first stage's clusters that is on now, and over by itself in `minutes` at the latest. */
function freezeFrom(now: number, minutes: number): string {
  const at = new Date(now - 60_000);
  return `freezes:\n  - { schedule: "${at.getUTCMinutes()} ${at.getUTCHours()} * * *", duration: ${minutes}m, kind: deny, ${FIRST} }\n`;
}

/** What ledger's batch waits for: my-app at its release on the same cluster. */
const AWAITED = {
  code: "DEPENDENCY_MISSING",
  cluster: "hub/eu-central-1-a",
  rollout: "my-app",
  because: { code: "VERSION_OTHER", there: "v1.4.1", wanted: "v1.4.2" },
};

const FULL = { code: "LIMITS_FULL", over: { setting: "limits.clusters", have: 3, most: 2 }, now: ["ledger"] };

/** Why each batch waits, also where that stands behind what is said of its pull request. */
const reasonsIn = (run: Run) => run.batches.flatMap(({ why }) => [why, why["because"] as typeof why | undefined]);

const whys = (run: Run) => run.batches.map((batch) => sentenceOf(batch.why, run)).join(" | ");

test("windows, a freeze added mid-run, approvals by review and by command, /halt over two rollouts, limits and dependsOn", async () => {
  const here = await startJourney({
    start: NOON,
    github: { app: { permissions: WITH_MEMBERS } },
    files: (files) => {
      const window = 'windows: [ { schedule: "0 12 * * *", duration: 23h, timeZone: UTC } ]';
      // What is for others holds nothing here: shut until eleven at night, and for no cluster of the first stage.
      const others = 'schedule: "0 0 * * *", duration: 23h, kind: deny, selector: { matchLabels: { area: amer } }, stages: [canary]';
      const limits =
        "label: { key: region, percent: 100 }, selected: [ { selector: { matchLabels: { area: amer } }, stages: [canary], targets: 1, clusters: 1 } ]";
      const spec = `${window.replace(" ]", `, { ${others} } ]`)}\n  limits: { clusters: 9, targets: 9, ${limits} }`;
      short({ spec })(files);
      const path = "rollouts/my-app.yaml";
      files.set(
        path,
        (files.get(path) ?? "").replace(
          "      topologyKey: region",
          `      topologyKey: region\n      ${window}\n      approval: { teams: [sre], count: 2 }`,
        ),
      );
      const stages = `  stages:
    - name: one
      clusters: { selector: { matchLabels: { area: emea } } }
      maxClusters: 1
      progressDeadline: 24h
`;
      withLedger(files, `  dependsOn: [ { rollout: my-app } ]\n${stages}`);
      files.set(SETTINGS, `mode: Run\n${LIMITS}`);
    },
  });
  journey = here;
  const { world } = here;
  const { repository } = world;
  world.github.team("acme", "sre", ["alice", "bob", "carol"]);
  world.github.collaborator(repository, "dan", "write");
  const flying = mostInFlight(here);
  // ledger stays in flight on its cluster for as long as the test wants.
  world.argocd.setFault("eu-central-1-a", { kind: "stuck", application: "ledger-eu-central-1-a" });

  await here.release();
  const waiting = await here.until("it waits for approvals", (run) => /2 members of @sre have to approve/.test(whys(run)));
  const pull = waiting.batches[0]?.pull?.number ?? 0;
  // Of its windows one goes by labels: they are known, so the pull request says how all of them stand.
  expect((await githubPage(world).pull(pull)).body).toMatch(/\| windows \| .* \| the next opening \| open now, until .* \|/);

  // The author is not approver, nor is somebody who is in no such team; a review and a command of two others are.
  const [alice, bob, carol, dan] = ["alice", "bob", "carol", "dan"].map((login) => world.github.actAs(login));
  if (alice === undefined || bob === undefined || carol === undefined || dan === undefined) throw new Error("nobody is there");
  await alice.review(repository, pull, "APPROVE");
  alice.comment(repository, pull, "/promote");
  dan.comment(repository, pull, "/promote");
  await here.until("both are refused", (run) => run.commands.filter((command) => command.outcome === "refused").length === 2);
  expect(here.run()?.commands.map((command) => command.message)).toEqual([
    expect.toHaveCode("APPROVER_RELEASED", { by: "alice" }),
    expect.toHaveCode("APPROVER_IN_NO_TEAM", { by: "dan" }),
  ]);
  await bob.review(repository, pull, "APPROVE");
  await here.until("bob's review counts", (run) => whys(run).includes("1 of 2, so far @bob"));

  // A freeze of the repo, added while the run waits; then the second approval, and the window is what is left.
  const thaws = Math.floor(world.clock.now() / 60_000) * 60_000 + 39 * 60_000;
  const frozen = `mode: Run\n${LIMITS}${freezeFrom(world.clock.now(), 40)}`;
  await carol.push(repository, { branch: "main", files: { [SETTINGS]: frozen }, message: "Freeze" });
  carol.comment(repository, pull, "/promote");
  const owner = { kind: "File", file: SETTINGS, only: { selector: "area=emea", rollouts: ["my-app"], stages: ["canary"] } };
  await here.until("it is frozen by the repo", (run) =>
    JSON.stringify(run.batches.map(({ why }) => why)).includes(`"where":${JSON.stringify(owner)}`),
  );
  expect(here.run()?.approvals).toMatchObject([{ by: "carol", stage: 0 }]);
  expect(here.run()?.batches[0]?.merged).toBeUndefined();

  // ledger waits for my-app on its cluster, whatever is frozen.
  const ledger = await mergeChange(here, "alice", { "releases/ledger.yaml": "version: v1.4.2\n" }, "Release ledger v1.4.2");
  await untilRunOf(here, "ledger", "it depends on my-app", (run) => reasonsIn(run).some((one) => sameReason(one, AWAITED)));

  // A halt from ledger's PR binds my-app, too.
  bob.comment(repository, ledger, "/halt cluster=us-east-1-a work on its database");
  await untilRunOf(here, "ledger", "it is halted", (run) => (run.halts ?? []).length === 1);
  const halted = await here.until("its second batch is halted", (run) =>
    whys(run).includes("@bob halted us-east-1-a: work on its database"),
  );
  // Nobody lifted the freeze: its end was waited for, and woke the run.
  expect(epoch(halted.batches[0]?.intention?.at ?? halted.batches[0]?.merged?.at ?? "")).toBeGreaterThanOrEqual(thaws);
  expect(epoch(halted.batches[0]?.intention?.at ?? halted.batches[0]?.merged?.at ?? "")).toBeLessThan(NOON + 11 * 3_600_000);
  await untilRunOf(here, "ledger", "it moves", (run) => run.batches[0]?.merged !== undefined);
  bob.comment(repository, ledger, "/halt --off");
  await here.until("limits hold it", (run) => reasonsIn(run).some((one) => sameReason(one, FULL)));

  world.argocd.setFault("eu-central-1-a", null);
  const [mine, other] = [await here.until("my-app ends", ended), await untilRunOf(here, "ledger", "it ends", ended)];
  expect([mine.phase, other.phase, here.errors]).toEqual(["Succeeded", "Succeeded", []]);
  expect(flying()).toBe(2);
});
