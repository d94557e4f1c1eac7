import { describe, expect, test } from "vitest";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import type { PinTemplate } from "../../core/spec/rollout.ts";
import { declaredSet } from "./declared-sets.ts";

const ROLLOUT = "kind: ProgressiveRollout\nspec:\n  sourceRef: { kind: ApplicationSet, name: payments }\n";

function set(project: string): string {
  return `kind: ApplicationSet\nmetadata: { name: payments, namespace: argocd }\nspec:\n  generators: []\n  template: { spec: { project: ${project} } }\n`;
}

function declared(texts: Record<string, string>, live?: string, pin = "values/{{ cluster.name }}.yaml") {
  const pins: PinTemplate[] = [{ kind: "value", file: pin, path: "tag", value: "{{ release.version }}", create: false }];
  const files: Record<string, string> = { "rollouts/payments.yaml": ROLLOUT, ...texts };
  const repo = { paths: () => Object.keys(files), read: (path: string) => files[path] ?? null };
  const spec = { generators: [], template: { spec: { project: live } } };
  const lives = live === undefined ? [] : [{ kind: "ApplicationSet", metadata: { name: "payments", namespace: "argocd" }, spec }];
  const found = declaredSet(sampleRollout({ pins, file: "rollouts/payments.yaml" }), repo, lives);
  return { file: found.set?.file, problems: found.problems };
}

const COPIES = { "a/set.yaml": set("a"), "b/set.yaml": set("b") };

describe("of several files that declare one set", () => {
  test("the one that lives is taken, not the first in the order of paths", () => {
    expect(declared(COPIES, "b")).toEqual({ file: "b/set.yaml", problems: [] });
  });

  test("the one with the pins is taken", () => {
    expect(declared(COPIES, undefined, "b/set.yaml")).toEqual({ file: "b/set.yaml", problems: [] });
  });

  test("which nobody can tell apart, all are named in an error", () => {
    const { file, problems } = declared(COPIES, "c");
    expect(file).toBeUndefined();
    expect(problems).toMatchObject([{ code: "SET_AMBIGUOUS", severity: "error", files: ["a/set.yaml", "b/set.yaml"] }]);
    expect(problems.map((problem) => sayProblem(problem).message)).toEqual([expect.stringContaining("a/set.yaml and by b/set.yaml")]);
  });
});

test("a patch of Kustomize that bears the set's name is no second declaration of it", () => {
  const patch = (spec: string) => `kind: ApplicationSet\nmetadata: { name: payments }\n${spec}`;
  const wave = patch("");
  const project = patch("spec: { template: { spec: { project: b } } }\n");
  expect(declared({ "a/wave.yaml": wave, "b/set.yaml": set("b"), "c/project.yaml": project })).toEqual({
    file: "b/set.yaml",
    problems: [],
  });
  expect(declared({ "a/wave.yaml": wave })).toEqual({ file: "a/wave.yaml", problems: [] });
});

test("a set in a List is found", () => {
  const list = `kind: List\nitems:\n  - ${set("a").trimEnd().replaceAll("\n", "\n    ")}\n`;
  expect(declared({ "sets.yaml": list })).toEqual({ file: "sets.yaml", problems: [] });
  expect(declared({ "sets.yaml": "kind: List\nitems: []\n" })).toEqual({ file: undefined, problems: [] });
});

describe("a file of the set that is no YAML", () => {
  const broken = set("a").replace("generators: []", "generators: [");
  test("is an error at its place, not a set that is nowhere", () => {
    expect(declared({ "a/set.yaml": broken })).toMatchObject({
      file: undefined,
      problems: [{ code: "SET_BROKEN", kind: "Slip", slip: { kind: "BracketOpen" }, severity: "error", file: "a/set.yaml" }],
    });
  });

  test("is told as JSON where its name says so", () => {
    const text = '{"kind": "ApplicationSet"\n"metadata": {"name": "payments"}}';
    expect(declared({ "a/set.json": text }).problems).toMatchObject([{ code: "SET_BROKEN", kind: "Json", file: "a/set.json", line: 2 }]);
  });

  test("is none of ours where it is a chart's template, or is about another set", () => {
    expect(declared({ "c/Chart.yaml": "name: c\n", "c/templates/set.yaml": broken }).problems).toEqual([]);
    expect(declared({ "a/set.yaml": broken.replace("name: payments", "name: ledger") }).problems).toEqual([]);
    for (const name of ["payments-web", "other-payments", "pay.payments.web"])
      expect(declared({ "a/set.yaml": broken.replace("name: payments", `name: ${name}`) }).problems).toEqual([]);
    // Another file declares it: a kind of copy that somebody is at.
    expect(declared({ "a/set.yaml": broken, "b/set.yaml": set("b") })).toEqual({ file: "b/set.yaml", problems: [] });
  });

  test("is found by its name in quotes, also where the quote is what is broken, and beside a patch", () => {
    for (const name of ['"payments"', '"payments', "'payments'"])
      expect(declared({ "a/set.yaml": broken.replace("name: payments", `name: ${name}`) }).problems).toHaveLength(1);
    expect(declared({ "a/set.yaml": broken, "b/wave.yaml": "kind: ApplicationSet\nmetadata: { name: payments }\n" }).problems).toHaveLength(
      1,
    );
  });
});

test("a set that Helm makes from a file with pins is told of before a batch is refused; one whose generators read the pins is not", () => {
  const chart = {
    "fleet/Chart.yaml": "name: fleet\n",
    "fleet/templates/set.yaml": set("a").replace("name: payments", 'name: "{{ .Release.Name }}"'),
  };
  const told = [{ code: "SET_FED", severity: "warning", template: "fleet/templates/set.yaml", pinned: "fleet/values.yaml" }];
  expect(declared(chart, undefined, "fleet/values.yaml").problems).toMatchObject(told);
  expect(declared(chart, undefined, "clusters/{{ cluster.name }}.yaml").problems).toEqual([]);
});
