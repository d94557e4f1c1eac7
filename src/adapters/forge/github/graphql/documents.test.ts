import { readdirSync } from "node:fs";
import { validate } from "@octokit/graphql-schema";
import { expect, test } from "vitest";

const FOLDER = new URL("./", import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "send.ts");

test("the documents of proposing, committing, labelling and queueing are there", () => {
  expect(files).toEqual(expect.arrayContaining(["commits.ts", "label-pull.ts", "merge-queue.ts"]));
});

test.each(files)("%s is valid by GitHub's own schema", async (file) => {
  const documents = Object.values((await import(new URL(file, FOLDER).href)) as Record<string, unknown>);
  expect(documents.length).toBeGreaterThan(0);
  for (const document of documents) expect(validate(String(document))).toEqual([]);
});
