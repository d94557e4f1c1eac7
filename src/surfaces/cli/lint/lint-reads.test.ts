import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { proposeFor } from "../init/init.ts";
import { run as plan } from "../plan/plan.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { type Checkout, openCheckout } from "./lint-checkout.ts";
import { lint, rolloutFilesIn } from "./lint-run.ts";

const here = sampleRepo();

/** How often lint asks for each file of the repo. */
function reads(): Map<string, number> {
  const checkout = openCheckout(here.dir);
  const asked = new Map<string, number>();
  const counting: Checkout = {
    ...checkout,
    read(path) {
      asked.set(path, (asked.get(path) ?? 0) + 1);
      return checkout.read(path);
    },
  };
  lint(counting, rolloutFilesIn(checkout), undefined);
  return asked;
}

test("files that are of no rollout are looked through once, however many rollouts there are", () => {
  // Such as each pass over a repo looks into: for the set, its kustomizations, what applies it and what updates its images.
  writeFileSync(join(here.dir, "other.yaml"), "kind: ApplicationSet\nmetadata: { name: my-app-of-others }\n");
  writeFileSync(join(here.dir, "kustomization.yaml"), "resources: [other.yaml]\n");
  const one = reads();
  const text = readFileSync(join(here.dir, "rollouts", "my-app.yaml"), "utf8");
  for (let at = 0; at < 9; at++) writeFileSync(join(here.dir, "rollouts", `n${at}.yaml`), text.replace("name: my-app", `name: n${at}`));
  const ten = reads();
  for (const file of ["other.yaml", "kustomization.yaml"]) expect([file, ten.get(file)]).toEqual([file, one.get(file)]);
});

test("a values file that is a directory is told at its pin", () => {
  mkdirSync(join(here.dir, "values.yaml"));
  writeFileSync(join(here.dir, "values.yaml", "tag.yaml"), "tag: v1.4.1\n");
  const file = join(here.dir, "rollouts", "my-app.yaml");
  const [head = ""] = readFileSync(file, "utf8").split("  pins:");
  const stages = "  stages: [ { name: all, clusters: { selector: {} } } ]\n";
  writeFileSync(file, `${head}  pins: [ { file: values.yaml, path: tag } ]\n${stages}`);
  const { problems } = lint(openCheckout(here.dir), ["rollouts/my-app.yaml"], undefined);
  const told = problems.filter(({ severity }) => severity === "error");
  expect(told).toEqual([expect.objectContaining({ code: "PIN_FILE_UNREADABLE", path: ["spec", "pins", 0, "file"] })]);
});

test("a set in a file that is too large to be read is told by lint, plan and init, with its size", async () => {
  const set = "appsets/my-app-set.yaml";
  appendFileSync(join(here.dir, set), `# ${"x".repeat(11 * 1024 * 1024)}\n`);
  const { problems } = lint(openCheckout(here.dir), ["rollouts/my-app.yaml"], undefined);
  expect(problems.map(({ code }) => code).sort()).toEqual(["PIN_FILE_UNREADABLE", "SOURCE_NOT_FOUND"]);
  expect(problems).toContainEqual(expect.objectContaining({ unread: { file: set, bytes: expect.any(Number) } }));
  expect(await plan(["my-app", "--repo", here.dir, "--to", "v2"])).toBe(1);
  expect(here.out + here.err).toMatch(/appsets\/my-app-set.yaml cannot be read: it has 11\.\d MiB; at most 10 are read/);
  rmSync(join(here.dir, "rollouts"), { recursive: true });
  const { undecided, repoKind } = proposeFor(openCheckout(here.dir), undefined);
  expect([undecided, repoKind]).toEqual([[{ what: "a file", file: set, why: { kind: "TooLarge", bytes: expect.any(Number) } }], undefined]);
});
