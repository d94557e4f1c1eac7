import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { hasCode } from "../../src/core/base/reason.ts";
import { bakes, ended, type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";

function setText({ world }: Journey): string {
  return `${git(world.github.repoDirectory(world.repository), "show", `main:${SET}`)}\n`;
}

async function toBake(): Promise<{ journey: Journey; release: number }> {
  journey = await startJourney({ files: short({ bake: "24h" }) });
  const release = await journey.release();
  await journey.until("the canary bakes", bakes(1));
  return { journey, release };
}

/** The parent Application no longer applies the ApplicationSet from Git. */
function stopParent({ world }: Journey): void {
  world.kubernetes.store.change("applications", "argocd", "config", (object) => {
    const spec = { ...(object["spec"] as Record<string, unknown>) };
    delete spec["syncPolicy"];
    return { ...object, spec };
  });
}

describe("a batch never deletes", () => {
  const cases: [string, (text: string) => string, string[]][] = [
    // Under their new names they are nobody's in this run: it pauses until a person says that it was meant.
    [
      "renames the Applications",
      (text) => text.replace("name: my-app-{{cluster}}", "name: app-{{cluster}}"),
      ["GUARD_REFUSES", "MUST_NOT_PROPOSE"],
    ],
    ["removes an element", (text) => text.replace(/ +- cluster: eu-west-1-d\n(?: {12}.*\n)+/, ""), ["GUARD_SET_DIFFERS"]],
  ];
  test.each(cases)("a commit on main that %s and is not applied yet: no batch is merged on top of it", async (_name, edit, why) => {
    const { journey, release } = await toBake();
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const before = setText(journey);
    stopParent(journey);
    expect(edit(before)).not.toBe(before);
    await alice.push(world.repository, { branch: "main", files: { [SET]: edit(before) }, message: "a change of the set" });
    alice.comment(world.repository, release, "/promote");
    const held = await journey.until("the next batch is held", (run) =>
      why.some((code) => hasCode(run.why, code) || hasCode(run.batches[1]?.why, code)),
    );
    expect(held.batches[1]?.merged).toBeUndefined();
    expect(journey.versions().get("us-east-1-a")).toBe("v1.4.1");
    await alice.push(world.repository, { branch: "main", files: { [SET]: before }, message: "put it back" });
    if (held.phase === "Paused") alice.comment(world.repository, release, "/resume");
    const merged = await journey.until("it goes on", (run) => run.batches[1]?.merged !== undefined);
    expect([merged.phase, journey.errors]).toEqual(["Progressing", []]);
  });

  test("an ApplicationSet edited in the cluster holds the next batch, with that reason, until it is Git's again", async () => {
    const { journey, release } = await toBake();
    const { world } = journey;
    stopParent(journey);
    const original = world.kubernetes.store.get("applicationsets", "argocd", "my-app-set");
    world.kubernetes.store.change("applicationsets", "argocd", "my-app-set", (object) => ({
      ...object,
      spec: JSON.parse(JSON.stringify(object["spec"]).replace('"app.kubernetes.io/name":"my-app"', '"app.kubernetes.io/name":"edited"')),
    }));
    world.github.actAs("alice").comment(world.repository, release, "/promote");
    const held = await journey.until("the next batch is held", (run) => hasCode(run.batches[1]?.why, "GUARD_SET_DIFFERS"));
    expect(held.batches[1]?.merged).toBeUndefined();
    world.kubernetes.store.change("applicationsets", "argocd", "my-app-set", (object) => ({ ...object, spec: original?.["spec"] }));
    await journey.until("it goes on", (run) => run.batches[1]?.merged !== undefined);
    expect(ended(journey.run() ?? held)).toBe(false);
    expect(journey.errors).toEqual([]);
  });
});
