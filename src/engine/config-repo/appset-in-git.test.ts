import { expect, test } from "vitest";
import type { RenderResult } from "../../core/appset/types.ts";
import { sourcesOf, specsOf } from "./appset-in-git.ts";

const dry = {
  repoURL: "https://github.example/org/config",
  path: "overlays/v2",
  targetRevision: "main",
  helm: { parameters: [{ name: "tag", value: "v2" }] },
};
const sourceHydrator = { drySource: dry, syncSource: { targetBranch: "env/eu", path: "eu-1" } };
const destination = { server: "https://eu-1.example", namespace: "payments" };
const ignoreDifferences = [{ kind: "Deployment", jsonPointers: ["/spec/replicas"] }];

test("what is rendered is kept whole: what is synced, and the dry source that it is made from", () => {
  const application = { metadata: { name: "payments-eu-1" }, spec: { project: "shop", sourceHydrator, destination, ignoreDifferences } };
  const result = { ok: true, applications: [application], generators: [], problems: [] } as unknown as RenderResult;
  expect(specsOf(result)?.get("payments-eu-1")).toEqual({
    project: "shop",
    sources: [{ repoURL: dry.repoURL, path: "eu-1", targetRevision: "env/eu" }],
    destination,
    ignoreDifferences,
    sourceHydrator,
  });
});

test("what could not be rendered has no specs", () => {
  expect(specsOf({ ok: false, applications: [], generators: [], problems: [] })).toBeUndefined();
});

test("files are read from the dry source, and else from every source", () => {
  const { helm, ...named } = dry;
  expect(sourcesOf({ sourceHydrator })).toEqual([{ ...named, rest: { helm } }]);
  expect(
    sourcesOf({
      sources: [
        { repoURL: "a", path: "b" },
        { repoURL: "c", ref: "v" },
      ],
    }),
  ).toHaveLength(2);
  expect(sourcesOf({ source: { repoURL: "a", path: "b" } })).toEqual([{ repoURL: "a", path: "b" }]);
});
