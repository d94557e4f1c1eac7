import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../adapters/git/testing/repositories.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import { EMPTY_TREE, MOST_FILES } from "../../core/base/folder.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { openCheckout } from "../../surfaces/cli/lint/lint-checkout.ts";
import { planOver } from "./plan-over.ts";

let root: string | undefined;

afterEach(() => {
  if (root !== undefined) rmSync(root, { recursive: true });
  root = undefined;
});

const CLUSTERS = ["eu", "us"].map((name): Cluster => {
  const server = `https://${name}.example.com`;
  return {
    key: `hub/${name}`,
    name,
    controlPlane: "hub",
    server,
    labels: { ring: name, next: name === "eu" ? "staging" : "eu", rules: "rollouts", docs: "docs" },
    registered: true,
  };
});
const APPLICATIONS = CLUSTERS.flatMap(({ name, server }) => {
  const metadata = { name: `web-${name}`, namespace: "argocd", ownerReferences: [{ kind: "ApplicationSet", name: "web", uid: "1" }] };
  const view = decodeApplication({ metadata, spec: { source: { repoURL: "x", path: `env/${name}` }, destination: { server } } }, 0);
  return view === undefined ? [] : [{ controlPlane: "hub", view }];
});

/** Plans a rollout with this pin over a checkout with these files. */
function planned(pin: string, files: Record<string, string>, release = "{ version: v1 }", prepare?: (dir: string) => void) {
  root = mkdtempSync(join(tmpdir(), "stagecoach-copies-"));
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: web }
spec:
  sourceRef: { kind: ApplicationSet, name: web }
  release: ${release}
  pins:
    - ${pin}
  stages: [ { name: all, clusters: { selector: {} }, maxUnavailable: 2 } ]
`;
  for (const [path, content] of Object.entries({ "rollouts/web.yaml": text, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  prepare?.(root);
  const { rollouts, problems } = parseRollouts(text, "rollouts/web.yaml");
  const [rollout] = rollouts;
  if (rollout === undefined) return { problems: problems.map(shown), plan: undefined };
  const input = { rollout, release: { values: { version: "v1" }, attempt: 1 }, applications: APPLICATIONS, clusters: CLUSTERS };
  const made = planOver({ ...input, files: openCheckout(root) });
  return { ...made, problems: made.problems.map(shown) };
}

function shown({ code, line, column, ...data }: { code: string; line: number; column: number }): unknown {
  const { severity: _s, file: _f, path: _p, targets: _t, atKey: _k, ...rest } = data as Record<string, unknown>;
  return { at: `${line}:${column} ${code}`, ...rest };
}

const FILES = { "env/staging/a.yaml": "a: 2\n", "env/eu/a.yaml": "a: 1\n", "env/eu/sub/old.yaml": "x\n" };
const PIN = 'copy: { from: env/staging, to: "env/{{ cluster.name }}" }';

describe("a directory that is copied", () => {
  test("is planned by trees as Git has them, with what it adds, changes and removes; one that is not there is made", () => {
    const { plan, problems } = planned(PIN, { ...FILES, "env/staging/run.sh": "x\n" }, undefined, (dir) => {
      chmodSync(join(dir, "env/staging/run.sh"), 0o755);
      symlinkSync("a.yaml", join(dir, "env/staging/link.yaml"));
    });
    expect(problems).toEqual([]);
    git(root ?? "", "init", "--quiet");
    git(root ?? "", "add", "--all");
    const tree = git(root ?? "", "write-tree");
    const to = git(root ?? "", "rev-parse", `${tree}:env/staging`);
    const edits = plan?.stages[0]?.batches.flatMap(({ targets }) => targets.flatMap((target) => target.edits));
    expect(edits).toEqual([
      {
        ...{ kind: "copy", file: "env/eu", path: "env/staging", from: git(root ?? "", "rev-parse", `${tree}:env/eu`), to },
        copied: {
          ...{ added: 2, changed: 1, removed: 1 },
          files: expect.arrayContaining(["env/eu/a.yaml", "env/eu/link.yaml", "env/eu/run.sh", "env/eu/sub/old.yaml"]),
        },
      },
      expect.objectContaining({ file: "env/us", from: EMPTY_TREE, to }),
    ]);
  });

  test("with a slash at its end is the same", () => {
    expect(planned('copy: { from: env/staging/, to: "env/{{ cluster.name }}/" }', FILES).problems).toEqual([]);
  });

  test.each([
    [
      "is missing, with the nearest",
      PIN.replace("staging", "stagin"),
      FILES,
      { at: "8:21 COPY_FOLDER", kind: "Missing", near: "env/staging" },
    ],
    ["is a file", PIN.replace("env/staging", "env/staging/a.yaml"), FILES, { at: "8:21 COPY_FOLDER", kind: "File" }],
    ["goes to a file", PIN, { ...FILES, "env/us": "x\n" }, { at: "8:38 COPY_FOLDER", kind: "File", folder: "env/us" }],
    ["goes below a file", PIN.replace("}} ", "}}/x "), { ...FILES, "env/us": "x\n" }, { at: "8:38 COPY_FOLDER", kind: "File" }],
  ])("that %s is refused with its place", (_name, pin, files, problem) => {
    expect(
      planned(pin.replace("env/{{ cluster.name }}/x", "env/{{ cluster.name }}/x"), files as Record<string, string>).problems,
    ).toMatchObject([problem]);
  });

  test.each<[string, (dir: string) => void, object]>([
    ["a link that leads out", (dir) => symlinkSync("../../secret", join(dir, "env/staging/b.yaml")), { kind: "Link", at: "b.yaml" }],
    [
      "a repository of its own",
      (dir) => mkdirSync(join(dir, "env/staging/sub/.git"), { recursive: true }),
      { kind: "Submodule", at: "sub" },
    ],
    [
      "more files than are copied at once",
      (dir) => {
        for (let i = 0; i <= MOST_FILES; i++) writeFileSync(join(dir, `env/staging/${i}.yaml`), "");
      },
      { kind: "Many", most: MOST_FILES },
    ],
    ["more bytes", (dir) => writeFileSync(join(dir, "env/staging/large.bin"), Buffer.alloc(33 * 1024 * 1024)), { kind: "Large" }],
  ])("that holds %s is refused", (_name, prepare, problem) => {
    expect(planned(PIN, FILES, undefined, prepare).problems).toMatchObject([{ at: "8:21 COPY_FOLDER", ...problem }]);
  });

  test("behind a symbolic link is not followed", () => {
    const made = planned(PIN.replace("env/staging", "linked/staging"), FILES, undefined, (dir) => symlinkSync("env", join(dir, "linked")));
    expect(made.problems).toMatchObject([{ at: "8:21 COPY_FOLDER", kind: "Unread" }]);
  });
});

describe("copies that would move more than their own are refused", () => {
  test.each<[string, string, object]>([
    ["over itself", "copy: { from: env/eu, to: env/eu }", { at: "8:33 COPY_OVERLAP", kind: "Same" }],
    ["into itself", "copy: { from: env, to: env/eu }", { at: "8:30 COPY_OVERLAP", kind: "ToInside" }],
    ["over what holds it", "copy: { from: env/eu/sub, to: env/eu }", { at: "8:37 COPY_OVERLAP", kind: "FromInside" }],
    ["with a value", `{ value: v1, ${PIN} }`, { at: "8:16 PIN_KIND", kind: "CopyValue" }],
    ["over settings", "copy: { from: env/staging, to: .github }", { fault: "Rules", ofPin: false }],
    ["where owners of code are named, though none is now", "copy: { from: env/staging, to: Docs/ }", { fault: "Rules", ofPin: false }],
    ["there, by a label", 'copy: { from: env/staging, to: "{{ cluster.labels.docs }}" }', { fault: "Rules", ofPin: true }],
    ["over rollouts, by a label", 'copy: { from: env/staging, to: "{{ cluster.labels.rules }}/x" }', { fault: "Rules", ofPin: true }],
    ["out of the repo", "copy: { from: ../x, to: env/eu }", { at: "8:21 FILE_OUTSIDE_REPO", fault: "Dots" }],
    [
      "a directory below another's",
      'copy: { from: env/staging, to: "env/{{ cluster.name }}/sub" }\n    - copy: { from: env/staging, to: env/eu }',
      { at: expect.stringContaining("COPY_SHARED"), kind: "Inside", folder: "env/eu", other: "env/eu/sub" },
    ],
    [
      "a file in it that another pin writes",
      `${PIN}\n    - { file: "env/{{ cluster.name }}/a.yaml", path: a }`,
      { at: expect.stringContaining("COPY_SHARED"), kind: "Inside", folder: "env/eu", other: "env/eu/a.yaml" },
    ],
    [
      "one directory from two",
      'copy: { from: "env/{{ cluster.labels.ring }}", to: env/all }',
      { at: expect.stringContaining("COPY_SHARED"), kind: "Sources", folder: "env/all", other: "env/us" },
    ],
    [
      "from one with a file that another pin writes",
      `${PIN}\n    - { file: env/staging/a.yaml, path: a }`,
      { at: expect.stringContaining("COPY_SHARED"), kind: "Chain", folder: "env/eu", other: "env/staging" },
    ],
    [
      "from one that another batch writes",
      'copy: { from: "env/{{ cluster.labels.next }}", to: "env/{{ cluster.name }}" }',
      { at: expect.stringContaining("COPY_SHARED"), kind: "Chain", folder: "env/us", other: "env/eu" },
    ],
    [
      "from one that holds what another batch writes",
      `${PIN}\n    - copy: { from: env, to: "all/{{ cluster.name }}" }`,
      { at: expect.stringContaining("COPY_SHARED"), kind: "Chain", folder: "all/eu", other: "env" },
    ],
  ])("%s", (_name, pin, problem) => {
    expect(planned(pin, { ...FILES, "env/us/a.yaml": "a: 1\n" }).problems).toContainEqual(expect.objectContaining(problem));
  });

  test("what is copied is told as taken, once, and the others stay", () => {
    const pin = 'copy: { from: env/us, to: "env/{{ cluster.name }}" }';
    const { problems } = planned(pin, { ...FILES, "env/us/a.yaml": "a: 1\n" });
    expect(problems).toMatchObject([{ at: expect.stringContaining("COPY_SHARED"), kind: "Itself", folder: "env/us" }]);
  });

  test("what a merge makes a release does not hold what batches write", () => {
    const release = '{ commit: { paths: ["env/**"] } }';
    expect(planned("copy: { from: env/staging, to: env/eu }", FILES, release).problems).toMatchObject([{ at: "8:13 COMMIT_PATHS" }]);
    expect(planned("copy: { from: env/staging, to: env/eu }", FILES, '{ commit: { paths: ["env/staging/**"] } }').problems).toEqual([]);
  });
});
