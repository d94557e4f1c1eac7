import { globSync } from "node:fs";
import { validate as validateByGitHub } from "@octokit/graphql-schema";
import { parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { graphqlSchema } from "../../src/sim/github/graphql/endpoint.ts";

const SOURCE = new URL("../../src/", import.meta.url);

/** Every text that a module of the product exports and that reads like a document. */
async function documents(): Promise<{ name: string; text: string }[]> {
  const found: { name: string; text: string }[] = [];
  const files = globSync("{adapters/forge,surfaces/server}/**/*.ts", { cwd: SOURCE.pathname }).filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.filter((one) => /graphql/i.test(one))) {
    const module = (await import(new URL(file, SOURCE).href)) as Record<string, unknown>;
    for (const [name, text] of Object.entries(module)) {
      if (typeof text === "string" && /^\s*(query|mutation|\{)/.test(text)) found.push({ name: `${file} ${name}`, text });
    }
  }
  return found;
}

const all = await documents();

describe("GraphQL documents that the product sends", () => {
  it("are found", () => {
    expect(all.map((one) => one.text).join("\n")).toMatch(/createCommitOnBranch/);
    expect(all.map((one) => one.text).join("\n")).toMatch(/enqueuePullRequest/);
  });

  it.each(all)("$name fits GitHub's schema, and the embedded one's", ({ text }) => {
    expect(validateByGitHub(text)).toEqual([]);
    expect(validate(graphqlSchema(), parse(text))).toEqual([]);
  });

  it("would not pass with a field that GitHub has not", () => {
    expect(validateByGitHub("{ viewer { shoeSize } }")).not.toEqual([]);
  });
});
