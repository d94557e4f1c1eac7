import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** What stands for an answer of GitHub's or of a controller's where they gave none, and what only programmers read. */
const APART = /^(?:forge\/github\/(?:merge|merge-refusal|commit-writer)|analysis\/argo-rollouts\/index|cell\/cell)\.ts$/;

test("an adapter hands on codes and data: no sentence for people is made below the report", () => {
  const files = readdirSync("src/adapters", { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/testing[./]/.test(file) && !APART.test(file),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    const text = readFileSync(join("src/adapters", file), "utf8");
    const fields = [...text.matchAll(/\b(?:error|message|why|because|said): (?:"([^"\n]*)"|`([^`\n]*)`)/g)];
    const thrown = [...text.matchAll(/new OutboundError\([^,\n]+, (?:"([^"\n]*)"|`([^`\n]*)`)/g)];
    return [...fields, ...thrown]
      .map(([, plain, template]) => plain ?? template ?? "")
      .filter((said) => /[a-z]+ [a-z]+ [a-z]+/.test(said))
      .map((said) => `${file}: ${said}`);
  });
  expect(found).toEqual([]);
});
