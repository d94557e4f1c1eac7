import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { releaseNotes } from "../../deploy/package/release-notes.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps: Step[];
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const workflows = globSync(".github/workflows/*.yaml", { cwd: ROOT })
  .sort()
  .map((file): [string, Workflow, string] => {
    const text = readFileSync(`${ROOT}${file}`, "utf8");
    return [file, parse(text) as Workflow, text];
  });

describe("notes of a release", () => {
  const changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0]\n\nMore.\n\n### Fixed\n\n- it\n\n## [0.1.0]\n\nThe first.\n";

  test("are what the changelog has under its version", () => {
    expect(releaseNotes("v0.2.0", "0.2.0", changelog)).toBe("More.\n\n### Fixed\n\n- it\n");
    expect(releaseNotes("v0.1.0", "0.1.0", changelog)).toBe("The first.\n");
  });

  test("are refused where the tag, the package and the changelog are not of one mind", () => {
    expect(() => releaseNotes("v0.2.1", "0.2.0", changelog)).toThrow("the tag is v0.2.1, and package.json says 0.2.0");
    expect(() => releaseNotes("v0.3.0", "0.3.0", changelog)).toThrow("nothing under [0.3.0]");
    expect(() => releaseNotes("v0.2.0", "0.2.0", changelog.replace("[Unreleased]\n", "[Unreleased]\n\n- new\n"))).toThrow("Unreleased");
  });

  test("are there for the version that is next", () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { version: string };
    // What is under Unreleased is folded into it by then.
    const folded = readFileSync(`${ROOT}CHANGELOG.md`, "utf8").replace(/(?<=^## \[Unreleased\]\n)[\s\S]*?(?=^## \[)/m, "");
    expect(releaseNotes(`v${version}`, version, folded)).toContain("The first release");
  });
});

describe("GitHub's workflows", () => {
  test.each(workflows)("%s takes actions by their commit, with their version beside it", (_, { jobs }, text) => {
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(0);
    for (const one of used) expect(one).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    for (const line of text.split("\n").filter((one) => /\buses:/.test(one))) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test.each(workflows)(
    "%s may by default write nothing, has a time for every job, and puts nothing of an event into a script",
    (_, flow) => {
      for (const right of Object.values(flow.permissions)) expect(right).toBe("read");
      for (const { steps, ...job } of Object.values(flow.jobs)) {
        expect(job["timeout-minutes"]).toBeLessThanOrEqual(60);
        for (const { run = "" } of steps) expect(run).not.toContain("${{");
        for (const { uses = "", with: given } of steps)
          if (uses.startsWith("actions/checkout@")) expect(given?.["persist-credentials"]).toBe(false);
      }
    },
  );

  test("what they run of this project is there", () => {
    const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { scripts: Record<string, string> };
    const runs = workflows.flatMap(([, { jobs }]) => Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = "" }) => run)));
    const named = runs.flatMap((run) => [...run.matchAll(/npm run (\w+)/g)].map(([, name = ""]) => name));
    expect(named).toEqual(["dist"]);
    for (const name of named) expect(scripts).toHaveProperty(name);
    expect(runs).toContain(".ci/run");
  });

  test("what is published was scanned, is signed, and says where it is from and what is in it", () => {
    const release = workflows.find(([file]) => file.endsWith("release.yaml"))?.[1].jobs ?? {};
    const steps = (job: string) => release[job]?.steps ?? [];
    const used = (job: string, action: string) =>
      steps(job).flatMap(({ uses = "", with: given = {} }) => (uses.startsWith(`${action}@`) ? [given] : []));
    const runs = (job: string) =>
      steps(job)
        .map(({ run = "" }) => run)
        .join("\n");
    const scans = ["build", "image"].flatMap((job) => used(job, "anchore/scan-action"));
    expect(scans.map(({ sbom, image }) => String(sbom ?? image).replace(/.*\//, ""))).toEqual([
      "stagecoach-executables.cdx.json",
      expect.stringContaining("digest"),
    ]);
    expect(scans.map((scan) => scan["severity-cutoff"])).toEqual(["high", "high"]);
    expect(used("image", "docker/build-push-action")).toMatchObject([
      { platforms: "linux/amd64,linux/arm64", provenance: "mode=max", sbom: true },
    ]);
    const attested = used("publish", "actions/attest");
    expect(attested.map((one) => one["sbom-path"])).toEqual([
      undefined,
      "release/stagecoach-executables.cdx.json",
      "release/stagecoach.cdx.json",
      undefined,
    ]);
    expect(attested[0]).toEqual({ "subject-checksums": "release/SHA256SUMS" });
    expect(runs("publish").match(/cosign sign --yes \S*/g)).toHaveLength(2);
    expect(runs("publish")).toContain("npm publish --provenance");
  });

  test("only the job that people have to allow may publish", () => {
    const release = workflows.find(([file]) => file.endsWith("release.yaml"))?.[1].jobs ?? {};
    const gives = ({ permissions = {}, steps }: Job) =>
      permissions["contents"] === "write" ||
      permissions["id-token"] === "write" ||
      steps.some(({ run = "" }) => /--tag\b|npm publish/.test(run));
    const may = Object.entries(release).filter(([, job]) => gives(job));
    expect(may.map(([name, job]) => [name, (job as { environment?: string }).environment])).toEqual([["publish", "release"]]);
  });
});
