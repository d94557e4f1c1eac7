import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { idleMs } from "../../../../test/support/cpu-time.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { parseRepoConfig } from "./config.ts";
import { parseRollouts } from "./parse.ts";

const SAMPLE = readFileSync(new URL("../../../../fixtures/skyscanner/progressiverollout-sample.yaml", import.meta.url), "utf8");

/** A valid rollout with more lines in its spec or in its only stage. */
function rollout(spec = "", stage = "", stages = ""): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata:
  name: payments
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
${spec}  stages:
    - name: canary
      clusters: { selector: { matchLabels: { area: emea } } }
${stage}${stages}`;
}

const RELEASE = '  release: { version: v2 }\n  pins:\n    - { file: a.yaml, path: "x[cluster={{ cluster.name }}].v" }\n';

/** `line:column CODE`, the errors only. */
function errors(text: string): string[] {
  return parseRollouts(text, "rollouts/r.yaml")
    .problems.filter(isError)
    .map((problem) => `${problem.line}:${problem.column} ${problem.code}`);
}

function isError(problem: Problem): boolean {
  return problem.severity === "error";
}

describe("the resource", () => {
  test("fills every default in", () => {
    const { rollouts, problems } = parseRollouts(rollout(RELEASE), "rollouts/r.yaml");
    expect(problems).toEqual([]);
    expect(rollouts).toEqual([
      {
        name: "payments",
        file: "rollouts/r.yaml",
        mode: "Propose",
        source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
        release: { kind: "version", version: "v2", attempt: 1 },
        pins: [{ kind: "value", file: "a.yaml", path: "x[cluster={{ cluster.name }}].v", create: false, value: "{{ release.version }}" }],
        delivery: { strategy: "PullRequest", merge: "Auto", method: "squash", labels: [], reviewers: { teams: [], users: [] } },
        onNewRelease: "Supersede",
        onFailure: { action: "Pause", maxFailures: { count: 0 } },
        baseline: "Strict",
        allowUnstaged: false,
        settleMs: 10_000,
        graceMs: 60_000,
        seenDeadlineMs: 900_000,
        waitingDeadlineMs: 86_400_000,
        stages: [
          {
            name: "canary",
            selector: { matchLabels: { area: "emea" }, matchExpressions: [] },
            maxClusters: { percent: 100 },
            maxUnavailable: { count: 1 },
            batching: "Fixed",
            order: { by: "name" },
            bakeMs: 0,
            progressDeadlineMs: 900_000,
          },
        ],
      },
    ]);
  });

  test("reads every field that is built", () => {
    const text = rollout(
      `  mode: Run
  release: { values: { image: v2, chart: { file: c.yaml, path: version } }, attempt: 3 }
  pins:
    - { file: a.yaml, path: image, part: tag, value: "{{ release.values.image }}" }
    - { clusterGenerator: { file: s.yaml, path: values.revision }, value: "{{ release.values.chart }}" }
  delivery: { method: rebase, labels: [x], base: live }
  onFailure: { action: Pause, maxFailures: 10% }
  settle: 1s
  grace: 2s
  seenDeadline: 3m
  waitingDeadline: 4h
`,
      `      maxClusters: 50%
      maxUnavailable: 3
      batching: Rolling
      order: { by: label, key: priority }
      topologyKey: region
      bake: 10m
      progressDeadline: 1h30m
      requeue: { selector: { matchExpressions: [{ key: drained, operator: Exists }] } }
`,
    );
    const { rollouts, problems } = parseRollouts(text, "r.yaml");
    expect(problems).toEqual([]);
    expect(rollouts[0]).toMatchObject({
      mode: "Run",
      release: { kind: "values", values: { image: "v2", chart: { file: "c.yaml", path: "version" } }, attempt: 3 },
      pins: [
        { kind: "value", part: "tag" },
        {
          kind: "clusterGenerator",
          file: "s.yaml",
          old: "spec.generators[0]",
          new: "spec.generators[1]",
          path: "values.revision",
          value: "{{ release.values.chart }}",
        },
      ],
      delivery: { method: "rebase", labels: ["x"], base: "live" },
      onFailure: { maxFailures: { percent: 10 } },
      settleMs: 1000,
      graceMs: 2000,
      seenDeadlineMs: 180_000,
      waitingDeadlineMs: 14_400_000,
      stages: [
        {
          maxClusters: { percent: 50 },
          maxUnavailable: { count: 3 },
          batching: "Rolling",
          order: { by: "label", key: "priority" },
          topologyKey: "region",
          bakeMs: 600_000,
          progressDeadlineMs: 5_400_000,
          requeue: { attempts: 5, intervalMs: 1_800_000 },
        },
      ],
    });
  });

  test("targets is another word for clusters, and its faults stand where it stands", () => {
    const text = rollout(RELEASE).replace("clusters: {", "targets: {");
    const { rollouts, problems } = parseRollouts(`${text}  targetBy: application\n`, "r.yaml");
    expect(problems).toEqual([]);
    expect(rollouts[0]).toMatchObject({
      targetBy: "application",
      stages: [{ selector: { matchLabels: { area: "emea" } } }],
    });
    const bad = parseRollouts(text.replace("area: emea", "area: -emea"), "r.yaml");
    expect(bad.problems.map(({ code, line }) => `${line} ${code}`)).toEqual(["12 BAD_LABEL"]);
  });

  test("clusters.topologyKey means the stage's", () => {
    const text = rollout(RELEASE).replace("area: emea } }", "area: emea } }, topologyKey: zone");
    expect(parseRollouts(text, "r.yaml").rollouts[0]?.stages[0]?.topologyKey).toBe("zone");
  });

  test("without a release and pins it is read, and says what is missing to run it", () => {
    const { rollouts, problems } = parseRollouts(rollout(), "r.yaml");
    expect(rollouts).toHaveLength(1);
    expect(problems).toMatchObject([{ code: "CANNOT_RUN", severity: "warning", line: 4, column: 9, name: "payments" }]);
  });

  test("one file may hold several", () => {
    const second = rollout(RELEASE).replace("name: payments\nspec", "name: ledger\nspec");
    expect(parseRollouts(`${rollout(RELEASE)}---\n${second}---\n`, "r.yaml").rollouts.map((r) => r.name)).toEqual(["payments", "ledger"]);
  });
});

test("a mistake in what an earlier stage takes is one, and says nothing of a later stage", () => {
  const rest = "    - name: rest\n      clusters: { selector: { matchLabels: { area: emea } } }\n";
  const told = (stage: string) => parseRollouts(rollout(RELEASE, stage, rest), "r.yaml").problems.map(({ code }) => code);
  expect(told("      maxClusters: one\n")).toEqual(["BAD_QUANTITY"]);
  expect(told("      maxCluster: 1\n")).toEqual(["UNKNOWN_KEY"]);
  expect(told("      bake: one\n")).toEqual(["BAD_DURATION", "STAGE_SHADOWED"]);
});

describe("each mistake is an error with its line and column", () => {
  const cases: [string, string, string[]][] = [
    ["unknown key of the spec", rollout(`${RELEASE}  relase: 1\n`), ["10:3 UNKNOWN_KEY"]],
    ["unknown key of a stage", rollout(RELEASE, "      maxUnavailible: 1\n"), ["13:7 UNKNOWN_KEY"]],
    ["clusters and targets", rollout(RELEASE, "      targets: { selector: {} }\n"), ["13:7 SAME_KEY_TWICE"]],
    ["neither clusters nor targets", rollout(RELEASE).replace(/ {6}clusters: .*\n/, ""), ["11:7 MISSING_KEY"]],
    ["what is counted", rollout(`${RELEASE}  targetBy: applications\n`), ["10:13 BAD_VALUE"]],
    ["wrong type", rollout(RELEASE, "      topologyKey: [region]\n"), ["13:20 WRONG_TYPE"]],
    ["a number where text is wanted", rollout(RELEASE.replace("v2", "1.10")), ["7:23 WRONG_TYPE"]],
    ["a percentage over 100", rollout(RELEASE, "      maxUnavailable: 120%\n"), ["13:23 BAD_QUANTITY"]],
    ["0", rollout(RELEASE, "      maxClusters: 0\n"), ["13:20 BAD_QUANTITY"]],
    ["0%", rollout(RELEASE, '      maxClusters: "0%"\n'), ["13:20 BAD_QUANTITY"]],
    ["a negative count", rollout(RELEASE, "      maxUnavailable: -1\n"), ["13:23 BAD_QUANTITY"]],
    ["a negative percentage", rollout(RELEASE, "      maxUnavailable: -5%\n"), ["13:23 BAD_QUANTITY"]],
    ["half a cluster", rollout(RELEASE, "      maxUnavailable: 1.5\n"), ["13:23 BAD_QUANTITY"]],
    ["a duration without a unit", rollout(RELEASE, "      bake: 10\n"), ["13:13 BAD_DURATION"]],
    ["a duration in words", rollout(RELEASE, "      bake: 10 minutes\n"), ["13:13 BAD_DURATION"]],
    ["a duplicate stage", rollout(RELEASE, "", "    - { name: canary, clusters: { selector: {} } }\n"), ["13:15 DUPLICATE_STAGE"]],
    [
      "In without values",
      rollout(RELEASE, "", "    - { name: b, clusters: { selector: { matchExpressions: [ { key: a, operator: In, values: [] } ] } } }\n"),
      ["13:62 SELECTOR_VALUES"],
    ],
    [
      "Exists with values",
      rollout(
        RELEASE,
        "",
        "    - { name: b, clusters: { selector: { matchExpressions: [ { key: a, operator: Exists, values: [x] } ] } } }\n",
      ),
      ["13:98 SELECTOR_VALUES"],
    ],
    [
      "contradiction",
      rollout(
        RELEASE,
        "",
        "    - { name: b, clusters: { selector: { matchLabels: { a: x }, matchExpressions: [ { key: a, operator: NotIn, values: [x] } ] } } }\n",
      ),
      ["13:85 SELECTOR_NEVER_MATCHES"],
    ],
    [
      "an operator that is none",
      rollout(RELEASE, "", "    - { name: b, clusters: { selector: { matchExpressions: [ { key: a, operator: Gt, values: [x] } ] } } }\n"),
      ["13:82 BAD_OPERATOR"],
    ],
    [
      "a label that cannot be",
      rollout(RELEASE, "", '    - { name: b, clusters: { selector: { matchLabels: { a: "x y" } } } }\n'),
      ["13:60 BAD_LABEL"],
    ],
    ["duplicate key", rollout(`${RELEASE}  settle: 1s\n  settle: 2s\n`), ["11:3 DUPLICATE_KEY"]],
    ["no release kind", rollout("  release: { attempt: 2 }\n"), ["7:12 RELEASE_KIND"]],
    ["two release kinds", rollout("  release: { version: v1, from: { file: a, path: b } }\n"), ["7:27 RELEASE_KIND"]],
    ["a pin file out of the repo", rollout(RELEASE.replace("a.yaml", "../a.yaml")), ["9:15 FILE_OUTSIDE_REPO"]],
    ["an absolute pin file", rollout(RELEASE.replace("a.yaml", "/etc/passwd")), ["9:15 FILE_OUTSIDE_REPO"]],
    ["an unknown variable", rollout(RELEASE.replace("cluster.name", "cluster.nmae")), ["9:29 BAD_TEMPLATE"]],
    [
      "a branch pin in pull requests",
      rollout('  release: { version: v1 }\n  pins: [ { branch: "env/{{ cluster.name }}" } ]\n'),
      ["8:21 BRANCH_NEEDS_COMMIT"],
    ],
    ["a stage without clusters", rollout(RELEASE, "", "    - { name: b }\n"), ["13:7 MISSING_KEY"]],
    ["no stage", rollout(RELEASE).replace(/ {2}stages:[\s\S]*/, "  stages: []\n"), ["10:11 BAD_VALUE"]],
  ];
  test.each(cases)("%s", (_name, text, expected) => {
    expect(errors(text)).toEqual(expected);
    expect(parseRollouts(text, "r.yaml").rollouts).toEqual([]);
  });

  test("every problem is found at once, in the order of the file", () => {
    const text = rollout(
      "  relase: 1\n  release: { version: 1 }\n",
      "      bake: 10\n      maxClusters: 0\n",
      "    - { name: canary, clusters: { selector: {} } }\n    - { name: c }\n",
    );
    expect(errors(text)).toEqual([
      "7:3 UNKNOWN_KEY",
      "8:23 WRONG_TYPE",
      "12:13 BAD_DURATION",
      "13:20 BAD_QUANTITY",
      "14:15 DUPLICATE_STAGE",
      "15:7 MISSING_KEY",
    ]);
  });

  test("a mistyped key names the nearest known one", () => {
    const [problem] = parseRollouts(rollout(RELEASE, "      maxUnavailible: 1\n"), "r.yaml").problems;
    expect(problem).toMatchObject({ code: "UNKNOWN_KEY", near: "maxUnavailable" });
  });

  test("a key that stands in another map names that map", () => {
    const homeOf = (text: string) => parseRollouts(text, "r.yaml").problems.map((one) => "home" in one && one.home);
    expect(homeOf(rollout(RELEASE, "      onFailure: { action: Continue }\n"))).toEqual(["spec"]);
    expect(homeOf(rollout(`${RELEASE}  maxUnavailable: 2\n`))).toEqual(["spec.stages[]"]);
    expect(homeOf(rollout(RELEASE, "      tier: web\n"))).toEqual([false]);
  });
});

describe("hostile files are refused, not read", () => {
  const bomb = [
    "a: &a [x, x, x, x, x, x, x, x, x, x]",
    ...["b", "c", "d", "e"].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${"abcd"[i]}`).join(", ")}]`),
  ].join("\n");
  test.each([
    ["more than 256 KiB", `a: ${"x".repeat(256 * 1024)}`, "TOO_LARGE"],
    ["more marks than anybody writes", `[${",".repeat(60_000)}]`, "TOO_LARGE"],
    ["aliases that multiply", bomb, "ALIAS_BOMB"],
    ["brackets without end", "[".repeat(50_000), "TOO_DEEP"],
    ["dashes without end", "- ".repeat(20_000), "TOO_DEEP"],
    ["not YAML", "a: [1, 2\n", "SYNTAX"],
    ["an alias to nothing", "a: *b\n", "SYNTAX"],
    ["nothing", "", "NOT_A_ROLLOUT"],
    ["a list", "- a\n", "NOT_A_ROLLOUT"],
    ["another kind", "apiVersion: apps/v1\nkind: Deployment\n", "NOT_A_ROLLOUT"],
  ])("%s", (_name, text, code) => {
    expect(parseRollouts(text, "r.yaml")).toMatchObject({ rollouts: [], problems: [{ code, severity: "error" }] });
  });

  test.each([
    ['path: "a[cluster={{ cluster.name }}]"\nb: [1\n', false],
    ["path: a[cluster={{ cluster.name }}].version\nb: [1\n", false],
    ["{{- if .x }}\na: 1\n", true],
    ["a: {{ .x }} b\n", true],
  ])("%j is taken for a template only where YAML trips over one", (text, template) => {
    const [problem] = parseRollouts(text, "r.yaml").problems;
    expect(problem).toMatchObject({ code: "SYNTAX", kind: template ? "Parser" : "BracketOpen", ...(template && { template }) });
  });

  test("what follows from one slip is not told as a hundred more", () => {
    const text =
      "kind: ProgressiveRollout\nspec:\n  pins:\n    - { file: a.yaml, path: spec.sources[0].tag }\n  stages:\n    - name: first\n";
    expect(parseRollouts(text, "r.yaml").problems).toMatchObject([{ code: "SYNTAX", line: 4 }]);
  });

  test("too many brackets are told at their line, not at the first one of the file", () => {
    const text = `kind: ProgressiveRollout\nspec:\n  pins: ${"[".repeat(300)}\n`;
    expect(parseRollouts(text, "r.yaml").problems).toMatchObject([{ code: "TOO_DEEP", line: 3, column: 9 + 200 }]);
  });

  test("a 50 MB file is refused in no time", () => {
    const text = "a: 1\n".repeat(10_000_000);
    expect(idleMs(() => expect(parseRollouts(text, "r.yaml").problems[0]?.code).toBe("TOO_LARGE"))).toBeLessThan(1000);
  });
});

describe("what is not built yet is an error that names it", () => {
  test.each([["Commit into files", "  delivery: { strategy: Commit }\n", "", "CommitOfFile"]])("%s", (_name, spec, stage, kind) => {
    const { problems, rollouts } = parseRollouts(rollout(RELEASE + spec, stage), "r.yaml");
    expect(rollouts).toEqual([]);
    expect(problems).toMatchObject([{ code: "NOT_BUILT_YET", kind, severity: "error" }]);
    expect(problems[0]?.line).toBeGreaterThan(6);
  });
});

test("spec.inventory names a file of the repo, and nothing outside of it", () => {
  const read = (file: string) => parseRollouts(rollout(`${RELEASE}  inventory: { file: ${file} }\n`, ""), "r.yaml");
  expect(read("fleet/clusters.yaml").rollouts).toMatchObject([{ inventory: { file: "fleet/clusters.yaml" } }]);
  expect(read("../clusters.yaml").problems).toMatchObject([{ code: "FILE_OUTSIDE_REPO", path: ["spec", "inventory", "file"] }]);
  expect(read('""').problems).toMatchObject([{ code: "BAD_VALUE" }]);
});

describe("the ancestor's resource", () => {
  test("its sample is read unchanged", () => {
    const { rollouts, problems } = parseRollouts(SAMPLE, "sample.yaml");
    expect(problems.map((p) => p.code)).toEqual(["CANNOT_RUN"]);
    expect(rollouts[0]?.source).toMatchObject({ kind: "ApplicationSet", name: "my-app-set", namespace: "argocd" });
    expect(
      rollouts[0]?.stages.map(({ name, maxClusters, maxUnavailable, topologyKey, requeue }) => ({
        name,
        maxClusters,
        maxUnavailable,
        topologyKey,
        requeue: requeue?.attempts,
      })),
    ).toEqual([
      { name: "canary in EMEA", maxClusters: { count: 2 }, maxUnavailable: { count: 2 }, topologyKey: "region", requeue: 5 },
      { name: "eu-west-1", maxClusters: { percent: 100 }, maxUnavailable: { percent: 25 }, topologyKey: undefined, requeue: 5 },
      { name: "eu-central-1", maxClusters: { percent: 100 }, maxUnavailable: { percent: 25 }, topologyKey: undefined, requeue: 5 },
    ]);
  });

  const LATER = `apiVersion: argoproj.skyscanner.net/v1alpha1
kind: ProgressiveSync
metadata: { name: infrabin, namespace: argocd }
spec:
  appSetRef: { name: infrabin }
  stages:
    - name: one
      maxParallel: 25%
      maxTargets: 3
      targets: { clusters: { selector: { matchLabels: { region: eu } } } }
`;
  test("its later form with maxTargets and maxParallel too", () => {
    const { rollouts } = parseRollouts(LATER, "r.yaml");
    expect(rollouts[0]).toMatchObject({
      source: { name: "infrabin" },
      stages: [{ maxClusters: { count: 3 }, maxUnavailable: { percent: 25 }, selector: { matchLabels: { region: "eu" } } }],
    });
  });

  test("mistakes in it have their place", () => {
    const text = LATER.replace("25%", "0").replace("maxTargets: 3", "bake: 3m");
    expect(errors(text)).toEqual(["8:20 BAD_QUANTITY", "9:7 UNKNOWN_KEY"]);
    expect(parseRollouts(text, "r.yaml").problems.find((p) => p.code === "UNKNOWN_KEY")).toMatchObject({
      elsewhere: "stagecoach.dev/v1alpha1",
    });
  });

  test("annotations say what it cannot", () => {
    const annotations = `  annotations:
    stagecoach.dev/release: "version: v2"
    stagecoach.dev/pins: |
      - file: a.yaml
        path: b
    stagecoach.dev/mode: Run
`;
    const { rollouts, problems } = parseRollouts(SAMPLE.replace("  namespace: argocd\n", `  namespace: argocd\n${annotations}`), "r.yaml");
    expect(problems).toEqual([]);
    expect(rollouts[0]).toMatchObject({ mode: "Run", release: { kind: "version", version: "v2" }, pins: [{ file: "a.yaml", path: "b" }] });
  });

  test("a mistake in an annotation is told at the annotation", () => {
    const text = SAMPLE.replace("  namespace: argocd\n", '  namespace: argocd\n  annotations:\n    stagecoach.dev/release: "version: 2"\n');
    expect(errors(text)).toEqual(["7:29 WRONG_TYPE"]);
  });

  test("the repo's settings say it, and the resource stays as it is", () => {
    const config = parseRepoConfig(
      "mode: Run\nrollouts:\n  progressiverollout-sample:\n    release: { from: { file: r.yaml, path: version } }\n    pins:\n      - { file: a.yaml, path: b }\n",
      ".github/stagecoach.yaml",
    );
    expect(config.problems).toEqual([]);
    const { rollouts, problems } = parseRollouts(SAMPLE, "sample.yaml", config.rollouts);
    expect(problems).toEqual([]);
    expect(rollouts[0]).toMatchObject({
      mode: "Run",
      release: { kind: "from", file: "r.yaml", path: "version" },
      pins: [{ file: "a.yaml", path: "b" }],
    });
  });
});

describe("the repo's settings", () => {
  test("mistakes in them have their place there", () => {
    const { problems } = parseRepoConfig("mode: Fast\nrollouts:\n  a:\n    relase: {}\n    pins: [ { file: ../x, path: y } ]\n", "c.yaml");
    expect(problems.map((p) => `${p.file}:${p.line}:${p.column} ${p.code}`)).toEqual([
      "c.yaml:1:7 BAD_VALUE",
      "c.yaml:4:5 UNKNOWN_KEY",
      "c.yaml:5:21 FILE_OUTSIDE_REPO",
    ]);
  });

  test("what the resource says already is not said again", () => {
    const config = parseRepoConfig("rollouts: { payments: { release: { version: v3 } } }\n", "c.yaml").rollouts;
    expect(parseRollouts(rollout(RELEASE), "r.yaml", config).problems).toMatchObject([{ code: "SAID_TWICE", file: "c.yaml", line: 1 }]);
  });

  test("no file is no settings", () => {
    expect(parseRepoConfig(null, "c.yaml")).toMatchObject({ problems: [], rollouts: { file: "c.yaml" } });
  });
});
