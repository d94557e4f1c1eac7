import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLAUSE_NAMES } from "../../src/core/argocd/liveness/types.ts";
import { CLAUSE_DOCS } from "../../src/core/report/clause-docs.ts";
import { TRAPS } from "./all.ts";

const page = readFileSync(new URL("../../docs/liveness.md", import.meta.url), "utf8");

const REPOSITORIES: Record<string, string> = {
  "argo-cd": "argoproj/argo-cd",
  appset: "argoproj/applicationset",
  kargo: "akuity/kargo",
  promoter: "argoproj-labs/gitops-promoter",
};

function link(issue: string): string {
  const [repository = "", number] = issue.split("#");
  return `[${issue}](https://github.com/${REPOSITORIES[repository]}/issues/${number})`;
}

test("docs/liveness.md has a row for every clause, in the order they are judged, saying what the source says", () => {
  const rows = page.split("\n").filter((line) => /^\| `[a-z]+` \|/.test(line));
  const wanted = CLAUSE_NAMES.map((name) => {
    const { holds, protects, bitten } = CLAUSE_DOCS[name];
    return `| \`${name}\` | ${holds} | ${protects} | ${bitten.map(link).join(", ")} |`;
  });
  expect(rows).toEqual(wanted);
});

test("every report that a clause names has its scenario, stopped by that very clause or showing that it must not be more", () => {
  const bare = CLAUSE_NAMES.flatMap((name) =>
    CLAUSE_DOCS[name].bitten
      .filter(
        (issue) => !TRAPS.some((trap) => trap.issues.includes(issue) && (trap.stops === undefined || trap.stops.startsWith(`${name}/`))),
      )
      .map((issue) => `${name}: ${issue}`),
  );
  expect(bare).toEqual([]);
});
