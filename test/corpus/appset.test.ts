import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { render } from "../../src/core/appset/render.ts";
import type { AppSetCluster } from "../../src/core/appset/types.ts";
import { intendedOf } from "../../src/core/argocd/decode/source.ts";
import { equalIntent } from "../../src/core/argocd/same.ts";
import type { RepoFiles } from "../../src/core/base/repo-files.ts";
import { readYamlDocuments } from "../../src/core/base/yaml-read.ts";
import { sayRender } from "../../src/core/report/reasons/render.ts";

const DATA = new URL("../../../shared/data/", import.meta.url).pathname;
const present = existsSync(DATA);
if (!present) console.log("skipped: no shared material beside the checkout");

/** Reasons a real set may have not to render offline; any other is a fault of ours, or of the set: see REFUSED. */
const EXPECTED = new Set(["rendered", "not YAML", "UNSUPPORTED_GENERATOR", "NO_REPO"]);

/** Sets that Argo CD refuses too, looked at one by one. */
const REFUSED: readonly [file: string, message: RegExp][] = [
  // Go syntax without goTemplate: true.
  ["examples/design-doc/clusters.yaml", /"\{\{\.name\}\}-guestbook" cannot be the name/],
  // Uses .path.path, which two list generators do not give.
  ["examples/matrix/list-and-list.yaml", /map has no entry for key "path"/],
  // Its name has no parameter, so it works for one cluster only.
  ["clusters__capz__aks-appset.yaml", /two Applications would be named/],
  // A number in an element, without goTemplate.
  ["ITL.Identity.Platform__argocd__applicationset.yaml", /replicas: 1 is not text/],
];

interface Outcome {
  file: string;
  reason: string;
  message: string;
  applications: number;
}

function folder(root: string): RepoFiles {
  const files = globSync("**/*", { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  const known = new Set(files);
  return { paths: () => files, read: (path) => (known.has(path) ? readFileSync(join(root, path), "utf8") : null) };
}

/** Whole repositories at hand, by the owner/name their folder is called after. */
function repositories(): Map<string, RepoFiles> {
  const folders = globSync("repos/*/", { cwd: DATA }).map((path) => path.replace(/\/$/, ""));
  return new Map(folders.map((path) => [path.replace("repos/", "").replace("__", "/"), folder(join(DATA, path))]));
}

function* selectors(node: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(node)) for (const item of node) yield* selectors(item);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === "selector" && typeof value === "object" && value !== null) yield value as Record<string, unknown>;
    else yield* selectors(value);
  }
}

function wanted(selector: Record<string, unknown>): Record<string, string> {
  const labels: Record<string, string> = { ...(selector["matchLabels"] as Record<string, string>) };
  for (const { key, operator, values } of (selector["matchExpressions"] ?? []) as { key: string; operator: string; values?: string[] }[]) {
    if (operator === "In") labels[key] = values?.[0] ?? "";
    if (operator === "Exists") labels[key] = "true";
  }
  return labels;
}

/** Made-up clusters: one for each selector, with all labels and annotations that the templates name. */
function inventoryFor(set: unknown): AppSetCluster[] {
  const text = JSON.stringify(set);
  const named = (kind: string) => {
    const dotted = [...text.matchAll(new RegExp(`metadata\\.${kind}\\.([\\w./-]+)`, "g"))].map((match) => match[1] ?? "");
    const indexed = [...text.matchAll(new RegExp(`metadata\\.${kind} \\\\"([^"\\\\]+)\\\\"`, "g"))].map((match) => match[1] ?? "");
    return Object.fromEntries([...dotted, ...indexed].map((key) => [key, "some"]));
  };
  return [{}, ...[...selectors((set as { spec?: { generators?: unknown } }).spec?.generators)].map(wanted)].map((labels, index) => ({
    name: `cluster-${index}`,
    server: `https://cluster-${index}.example.com`,
    labels: { ...named("labels"), environment: "dev", ...labels, "argocd.argoproj.io/secret-type": "cluster" },
    annotations: named("annotations"),
  }));
}

function applicationSets(value: unknown): unknown[] {
  const object = value as { items?: unknown; kind?: string } | null;
  if (Array.isArray(object?.items)) return object.items.flatMap(applicationSets);
  return object?.kind === "ApplicationSet" ? [value] : [];
}

function outcomes(): Outcome[] {
  const repos = repositories();
  const files = globSync(["corpus/applicationset/*", "argocd/applicationset/**/*.{yaml,yml}", "repos/**/*.{yaml,yml}"], {
    cwd: DATA,
  }).sort();
  return files.flatMap((file): Outcome[] => {
    const text = readFileSync(join(DATA, file), "utf8");
    if (!/kind:\s*["']?ApplicationSet\b/.test(text)) return [];
    return readYamlDocuments(text).flatMap((document): Outcome[] => {
      if (document.problem !== undefined)
        return [{ file, reason: "not YAML", message: `${document.line}: ${document.problem}`, applications: 0 }];
      return applicationSets(document.value).map((set) => outcome(file, set, repos));
    });
  });
}

function outcome(file: string, set: unknown, repos: ReadonlyMap<string, RepoFiles>): Outcome {
  const repo = (url: string) => [...repos].find(([name]) => url.replace(/\.git$/, "").endsWith(name))?.[1];
  const result = render(set, { clusters: inventoryFor(set), repo });
  const problem = result.problems[0];
  return {
    file,
    reason: problem?.code ?? "rendered",
    message: problem === undefined ? "" : `${problem.where}: ${sayRender(problem).message}`,
    applications: result.applications.length,
  };
}

const RECORDED = join(DATA, "argocd/recorded/watch-3.5.1.jsonl");

test.skipIf(!existsSync(RECORDED))(
  "what is rendered of a recorded set is what Argo CD 3.5.1 made of it, empty blocks and YAML 1.1 and all",
  () => {
    const objects = readFileSync(RECORDED, "utf8")
      .split("\n")
      .filter((line) => line.includes('"lab-set'))
      .map((line) => (JSON.parse(line) as { object?: Record<string, unknown> }).object);
    const named = (name: string) => objects.find((object) => (object?.["metadata"] as { name?: string } | undefined)?.name === name);
    const [rendered, ...others] = render(named("lab-set"), { clusters: [] }).applications;
    expect([rendered?.metadata.name, others]).toEqual(["lab-set-c3", []]);
    expect(rendered?.spec).toHaveProperty("source.directory.recurse", false);
    expect(equalIntent(intendedOf(rendered?.spec), intendedOf(named("lab-set-c3")?.["spec"]))).toBe(true);
    const [written] = readFileSync(join(DATA, "argocd/recorded/lab.yaml"), "utf8")
      .split(/^---$/m)
      .filter((text) => /name: lab-set,/.test(text));
    expect(readYamlDocuments(written ?? "")[0]?.value).toHaveProperty("spec.template.spec.syncPolicy.automated", {
      prune: true,
      selfHeal: true,
    });
  },
);

describe.skipIf(!present)("ApplicationSets of public repositories", () => {
  const all = present ? outcomes() : [];

  test("each renders, or says exactly why not", () => {
    const table = new Map<string, number>();
    for (const { reason } of all) table.set(reason, (table.get(reason) ?? 0) + 1);
    const rows = [...table].sort().map(([reason, count]) => `${reason.padEnd(24)} ${String(count).padStart(4)}`);
    const applications = all.reduce((sum, each) => sum + each.applications, 0);
    const empty = all.filter((each) => each.reason === "rendered" && each.applications === 0).length;
    console.log(
      [
        ...rows,
        `${all.length} ApplicationSets in ${new Set(all.map((each) => each.file)).size} files: ${applications} Applications, ${empty} rendered to none`,
      ].join("\n"),
    );
    const unexpected = all.filter(
      (each) => !EXPECTED.has(each.reason) && !REFUSED.some(([name, message]) => each.file.endsWith(name) && message.test(each.message)),
    );
    expect(unexpected.map((each) => `${each.file}: ${each.reason} ${each.message}`)).toEqual([]);
  });

  test("what is not YAML is a Helm chart's template", () => {
    const broken = all.filter((each) => each.reason === "not YAML").map((each) => each.file);
    for (const file of broken) expect(readFileSync(join(DATA, file), "utf8"), file).toMatch(/\{\{-? *(\/\*|\$|if|range|end)/);
  });
});
