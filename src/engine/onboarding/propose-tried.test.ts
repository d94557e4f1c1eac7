import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { propose } from "./propose.ts";
import { type Tried, tryRollout } from "./propose-tried.ts";

const SET = readFileSync(new URL("../../../fixtures/fleet/appsets/my-app-set.yaml", import.meta.url), "utf8");

/** What comes of every rollout that is proposed for a repo of these files. */
function tried(more: Record<string, string>): Tried[] {
  const texts: Record<string, string> = { "appsets/set.yaml": SET, ...more };
  const files = { paths: () => Object.keys(texts), read: (path: string) => texts[path] ?? null } as unknown as SyncFiles;
  const found: Tried[] = [];
  propose({
    files: { paths: () => files.paths(), read: (path) => files.read(path) },
    clusters: [],
    applications: [],
    isThisRepo: () => true,
    verify(file, text, targets) {
      const one = tryRollout({
        file,
        text,
        targets,
        clusters: [],
        registered: [],
        files,
        repoURL: "https://github.com/example/fleet.git",
        baseBranch: "main",
      });
      found.push(one);
      return one.ok ? [] : one.against;
    },
  });
  return found;
}

test("a proposed rollout is planned under the limits that the repo has already", () => {
  const free = tried({});
  expect(free).toMatchObject([{ ok: true }]);
  const [limited] = tried({ ".github/stagecoach.yaml": "limits: { clusters: 1 }\n" });
  expect(limited).toMatchObject({ ok: true, preview: expect.stringContaining("limits.clusters") });
  expect(free[0]).not.toMatchObject({ preview: expect.stringContaining("limits.clusters") });
});
