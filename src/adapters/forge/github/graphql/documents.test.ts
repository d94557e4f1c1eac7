import { validate } from "@octokit/graphql-schema";
import { expect, test } from "vitest";
import * as documents from "./documents.ts";

test("the documents of proposing, committing, labelling and queueing are there", () => {
  expect(Object.keys(documents)).toEqual(expect.arrayContaining(["PROPOSE_BATCH", "COMMIT_ON_BRANCH", "LABEL_PULL", "ENQUEUE"]));
});

test.each(Object.entries(documents))("%s is valid by GitHub's own schema", (_name, document) => {
  expect(validate(document)).toEqual([]);
});
