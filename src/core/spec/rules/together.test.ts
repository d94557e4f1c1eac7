import { describe, expect, test } from "vitest";
import { sayProblem } from "../../report/reasons/problems/problems.ts";
import { parseRollouts } from "../parse/parse.ts";
import { clashes } from "./together.ts";

function rollout(name: string, set: string, file = `rollouts/${name}.yaml`, plane = "", dependsOn: string[] = []) {
  return from(name, `{ kind: ApplicationSet, name: ${set}${plane === "" ? "" : `, controlPlane: ${plane}`} }`, file, dependsOn);
}

function from(name: string, source: string, file = `rollouts/${name}.yaml`, dependsOn: string[] = []) {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: ${name} }
spec:
  sourceRef: ${source}
  release: { version: v1 }
  pins: [{ file: set.yaml, path: a }]
${dependsOn.length === 0 ? "" : `  dependsOn: [${dependsOn.map((other) => `{ rollout: ${other} }`).join(", ")}]\n`}  stages: [{ name: all, clusters: { selector: {} } }]
`;
  const { rollouts, problems } = parseRollouts(text, file);
  const [first] = rollouts;
  if (first === undefined) throw new Error(JSON.stringify(problems));
  return first;
}

describe("rollouts of one repo", () => {
  test("may each have a set of their own, or one of one name on another control plane", () => {
    expect(
      clashes([rollout("a", "x"), rollout("b", "y"), rollout("c", "z", "c.yaml", "hub-1"), rollout("d", "z", "d.yaml", "hub-2")]),
    ).toEqual([]);
  });

  test("clash over one ApplicationSet: the later names the earlier, and what to do", () => {
    const [a, b] = [rollout("a", "x"), rollout("b", "x")];
    expect(clashes([a, b])).toEqual([
      {
        rollouts: [a, b],
        problem: expect.objectContaining({
          code: "SOURCE_SHARED",
          file: "rollouts/b.yaml",
          path: ["spec", "sourceRef", "name"],
          source: expect.objectContaining({ kind: "ApplicationSet", namespace: "argocd", name: "x" }),
          owner: "a",
          ownerFile: "rollouts/a.yaml",
        }),
      },
    ]);
  });

  test("clash over the Applications of one name or one selector, in whatever order it is written; others may stand side by side", () => {
    const named = (name: string, values: string) =>
      from(name, `{ kind: Application, selector: { matchExpressions: [{ key: name, operator: In, values: [${values}] }] } }`);
    const labelled = (name: string, labels: string, more = "") =>
      from(name, `{ kind: Application, selector: { matchLabels: ${labels} }${more} }`);
    const told = (...all: ReturnType<typeof from>[]) =>
      clashes(all).map(({ problem }) => [problem.code, problem.file, problem.path?.join("."), sayProblem(problem).message]);
    expect(told(named("shop", "shop-a, shop-b"), named("shop-2", "shop-b, shop-a"))).toEqual([
      [
        "SOURCE_SHARED",
        "rollouts/shop-2.yaml",
        "spec.sourceRef.selector",
        'Applications of argocd with name in (shop-b,shop-a) belong to rollout "shop" (rollouts/shop.yaml) already',
      ],
    ]);
    expect(told(labelled("a", "{ x: y, app: shop }"), labelled("b", "{ app: shop, x: y }"))).toHaveLength(1);
    expect(
      told(
        labelled("a", "{ app: shop }"),
        labelled("b", "{ app: cart }"),
        labelled("c", "{ app: shop }", ", namespace: other"),
        labelled("d", "{ app: shop }", ", controlPlane: hub-2"),
        named("e", "shop-a"),
      ),
    ).toEqual([]);
  });

  test("clash over a name", () => {
    const found = clashes([rollout("a", "x"), rollout("a", "y", "rollouts/other.yaml")]);
    expect(found.map(({ problem }) => [problem.code, problem.file, sayProblem(problem).message])).toEqual([
      ["DUPLICATE_ROLLOUT", "rollouts/other.yaml", 'rollout "a" is also in rollouts/a.yaml'],
    ]);
  });

  test("dependsOn that goes round over the files of three rollouts is told in each of them, with the way round; a name that nobody has, too", () => {
    const of = (name: string, ...others: string[]) => rollout(name, `${name}-set`, `rollouts/${name}.yaml`, "", others);
    const told = (all: ReturnType<typeof of>[]) =>
      clashes(all).map(({ problem }) => `${problem.code} ${problem.file}: ${sayProblem(problem).message} (${sayProblem(problem).hint})`);
    expect(told([of("a", "b"), of("b", "c"), of("c")])).toEqual([]);
    const round = told([of("a", "b"), of("b", "c"), of("c", "a"), of("d", "a")]);
    expect(round).toHaveLength(3);
    expect(round[0]).toMatch(/^DEPENDENCY_CYCLE rollouts\/a\.yaml: .*a → b → c → a /);
    expect(told([of("a", "a")])[0]).toContain("a → a");
    expect(told([of("ledger"), of("orders", "leger")])[0]).toMatch(/leger.*ledger/);
  });

  test("dependsOn between rollouts whose environments share clusters goes by the names of stages: none in common is warned of", () => {
    const of = (name: string, targetBy: "namespace" | "application" | undefined, ...stages: string[]) => {
      const made = rollout(name, `${name}-set`);
      const [stage] = made.stages;
      if (stage === undefined) throw new Error("no stage");
      return { ...made, targetBy, stages: stages.map((own) => ({ ...stage, name: own })) };
    };
    const told = (one: ReturnType<typeof of>, other: ReturnType<typeof of>) =>
      clashes([{ ...one, dependsOn: [{ rollout: other.name, atLeast: "SameVersion" }] }, other]).map(
        ({ problem }) => `${problem.severity} ${problem.path?.join(".")}: ${sayProblem(problem).message} (${sayProblem(problem).hint})`,
      );
    expect(told(of("web", "application", "dev", "prod"), of("base", "namespace", "prod"))).toEqual([]);
    expect(told(of("web", "namespace", "dev"), of("base", "namespace", "prod"))).toEqual([]);
    expect(told(of("web", undefined, "dev"), of("base", "application", "prod"))).toEqual([]);
    expect(told(of("web", "application", "dev", "prod"), of("base", "application", "deve", "production"))).toEqual([
      'warning spec.dependsOn.0.rollout: no stage is called as one of "base" (deve, production): each batch waits for all that it has on the clusters, whatever the environment (rename dev to deve, as there)',
    ]);
  });

  test("dependsOn compares values by name: two releases of several that have none in common could only wait for ever", () => {
    const set = (name: string, ...values: string[]) => ({
      ...rollout(name, `${name}-set`),
      release: { kind: "values" as const, values: Object.fromEntries(values.map((value) => [value, "v1"])), attempt: 1 },
    });
    const told = (one: ReturnType<typeof rollout>, other: ReturnType<typeof rollout>, atLeast = "SameVersion") =>
      clashes([{ ...one, dependsOn: [{ rollout: other.name, atLeast }] }, other]).map(
        ({ problem }) => `${problem.path?.join(".")}: ${sayProblem(problem).message}`,
      );
    const base = set("base", "image", "chart");
    expect(told(set("web", "image", "other"), base)).toEqual([]);
    expect(told(rollout("web", "web-set"), set("base", "image"))).toEqual([]);
    expect(told(rollout("web", "web-set"), base)).toEqual([
      'spec.dependsOn.0.rollout: rollout "base" releases image, chart, and this one version: no value of the two has one name',
    ]);
    expect(told(base, set("ledger", "version", "chart"), "1.2.0")).toEqual([]);
    expect(told(rollout("web", "web-set"), base, "1.2.0")).toEqual([expect.stringContaining("none of them is called version")]);
  });
});
