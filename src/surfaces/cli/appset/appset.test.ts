import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runHere } from "../testing/in-process.ts";
import { run } from "./appset.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), "stagecoach-appset-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const render = (...args: string[]) => runHere(run, "render", ...args);

const TEMPLATE =
  "  template:\n    metadata: {name: 'app-{{name}}'}\n    spec: {project: p, destination: {name: '{{name}}'}, source: {repoURL: r, path: x, targetRevision: '{{rev}}'}}\n";
const LIST = `kind: ApplicationSet\nmetadata: {name: first}\nspec:\n  generators:\n  - list: {elements: [{name: a, rev: v1}, {name: b, rev: v2}]}\n${TEMPLATE}`;
const CLUSTERS = `kind: ApplicationSet\nmetadata: {name: second}\nspec:\n  generators:\n  - clusters: {selector: {matchLabels: {area: emea}}, values: {}}\n${TEMPLATE}`;
const GIT = `kind: ApplicationSet\nmetadata: {name: third}\nspec:\n  generators:\n  - git: {repoURL: 'https://github.com/acme/config.git', revision: main, files: [{path: 'clusters/*'}]}\n${TEMPLATE}`;
const INVENTORY =
  "kind: Secret\nmetadata: {name: s, labels: {argocd.argoproj.io/secret-type: cluster, area: emea}}\nstringData: {name: eu-1, server: 'https://eu-1'}\n";

describe("appset render", () => {
  test("prints the Applications of every set of a file, as JSON", () => {
    const path = file("sets.yaml", `${LIST}---\nkind: ConfigMap\n---\n${CLUSTERS}`);
    const inventory = file("inventory.yaml", INVENTORY);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [MAIN, "appset", "render", path, "--inventory", inventory, "-o", "json"],
      {
        encoding: "utf8",
      },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { kind: "Application", metadata: { name: "app-a", namespace: "argocd" }, spec: { source: { targetRevision: "v1" } } },
      { metadata: { name: "app-b" } },
      { metadata: { name: "app-eu-1" }, spec: { destination: { name: "eu-1" } } },
    ]);
  });

  test("prints the parameters of each top-level generator, in order", async () => {
    const { code, out } = await render(file("list.yaml", LIST), "--params", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([
      {
        applicationSet: "first",
        index: 0,
        kind: "list",
        params: [
          { name: "a", rev: "v1" },
          { name: "b", rev: "v2" },
        ],
      },
    ]);
  });

  test("git generators read a checkout without a remote, whatever they name", async () => {
    file("repo/clusters/a.yaml", "name: a\nrev: v9\n");
    const { code, out } = await render(file("git.yaml", GIT), "--repo", join(dir, "repo"));
    expect(code).toBe(0);
    expect(out).toBe("third: 1 Application\n  app-a  a  x@v9\n");
  });

  test("one line says why a set cannot be rendered, the others are printed, and the exit code is 1", async () => {
    const { code, out, err } = await render(file("both.yaml", `${GIT}---\n${LIST}`), "-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toHaveLength(2);
    expect(err).toMatch(/^.*both\.yaml:1: ApplicationSet third: spec\.generators\[0\]\.git: .* \[NO_REPO\]; .*\n$/);
  });

  test("what is not YAML is placed, and a chart's template is told from it", async () => {
    const { code, err } = await render(file("chart.yaml", "kind: ApplicationSet\n{{- if .Values.x }}\nspec: {}\n{{- end }}\n"));
    expect(code).toBe(1);
    expect(err).toMatch(/chart\.yaml:\d+:\d+: not YAML: .*render the chart first/);
  });

  test("wrong usage is exit code 2", async () => {
    expect((await render()).code).toBe(2);
    expect((await render(join(dir, "none.yaml"))).code).toBe(2);
    expect((await render(file("list.yaml", LIST), "-o", "xml")).code).toBe(2);
    expect((await render("--help")).code).toBe(0);
  });
});
