import { describe, expect, test } from "vitest";
import { readInventory } from "./inventory-file.ts";

const b64 = (text: string) => Buffer.from(text).toString("base64");

function secret(fields: string, name = "cluster-eu-1-12345"): string {
  return `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\n  labels:\n    argocd.argoproj.io/secret-type: cluster\n    area: emea\n${fields}`;
}

describe("readInventory", () => {
  test("name and server come out of base64 data, credentials stay behind", () => {
    const text = secret(
      `data:\n  name: ${b64("eu-1")}\n  server: ${b64("https://eu-1:6443")}\n  project: ${b64("pay")}\n  config: ${b64('{"bearerToken":"hush"}')}\n`,
    );
    const inventory = readInventory(text, "i.yaml");
    expect(inventory.problems).toEqual([]);
    expect(inventory.clusters).toEqual([
      {
        name: "eu-1",
        server: "https://eu-1:6443",
        labels: { "argocd.argoproj.io/secret-type": "cluster", area: "emea" },
        annotations: {},
        registered: true,
        project: "pay",
      },
    ]);
    expect(JSON.stringify(inventory)).not.toContain(b64('{"bearerToken":"hush"}'));
  });

  test("stringData is read too, and a Secret without data is named as itself", () => {
    const text = [secret("stringData:\n  name: eu-2\n  server: https://eu-2\n"), secret("", "eu-3")].join("---\n");
    expect(readInventory(text, "i.yaml").clusters.map((cluster) => [cluster.name, cluster.server])).toEqual([
      ["eu-2", "https://eu-2"],
      ["eu-3", ""],
    ]);
  });

  test("a List is opened, as YAML and as JSON, and other kinds are passed over", () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [
        { kind: "Application", metadata: { name: "a" } },
        { kind: "ApplicationSet", metadata: { name: "s" } },
        { kind: "ConfigMap", metadata: { name: "c" } },
        { kind: "Secret", metadata: { name: "repo-creds", labels: { "argocd.argoproj.io/secret-type": "repository" } } },
      ],
    };
    const inventory = readInventory(JSON.stringify(list), "i.json");
    expect(inventory.applications).toHaveLength(1);
    expect(inventory.applicationSets).toHaveLength(1);
    expect(inventory.clusters).toEqual([]);
    expect(inventory.problems).toEqual([]);
    expect(
      readInventory("kind: ApplicationList\nitems:\n- kind: Application\n  metadata: {name: a}\n", "i.yaml").applications,
    ).toHaveLength(1);
  });

  test("a broken document is named with its place, never quoted, and the others are read", () => {
    const inventory = readInventory(`kind: Secret\ndata: {config: hush: hush\n---\n${secret("", "eu-3")}`, "i.yaml");
    expect(inventory.problems[0]).toMatchObject({ kind: "NotYaml", file: expect.stringMatching(/^i\.yaml:\d+:\d+$/) });
    expect(JSON.stringify(inventory.problems)).not.toContain("hush");
    expect(inventory.clusters.map((cluster) => cluster.name)).toEqual(["eu-3"]);
  });

  test("two Secrets of one cluster name are reported", () => {
    const inventory = readInventory(
      [secret("stringData: {name: a}\n", "x"), secret("stringData: {name: a}\n", "y")].join("---\n"),
      "i.yaml",
    );
    expect(inventory.clusters).toHaveLength(1);
    expect(inventory.problems).toEqual([{ kind: "Twice", file: "i.yaml", cluster: "a" }]);
  });

  test("a file with nothing to read says what it should hold", () => {
    expect(readInventory("kind: ConfigMap\n", "i.yaml").problems).toEqual([
      { kind: "NothingOfArgoCd", file: "i.yaml", label: "argocd.argoproj.io/secret-type" },
    ]);
  });

  test("an empty List says that kubectl found nothing, not that the file holds something else", () => {
    const text = 'apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: ""\n';
    expect(readInventory(text, "i.yaml").problems).toEqual([{ kind: "EmptyList", file: "i.yaml" }]);
    expect(readInventory(`${text}---\n${secret("stringData: {name: a}\n", "x")}`, "i.yaml").problems).toEqual([]);
  });

  test("an alias bomb is refused", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(", ")}]`,
      );
    expect(readInventory(lines.join("\n"), "i.yaml").problems).toMatchObject([{ kind: "NotYaml", said: "its aliases stand for too much" }]);
  });
});
