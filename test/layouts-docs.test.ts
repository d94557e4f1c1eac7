/** docs/layouts.md: each row leads to a rollout. Pages of docs/layouts/ are made of what `layouts.test.ts` tries. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseRollouts } from "../src/core/spec/parse/parse.ts";

const root = new URL("../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const PAGE = read("docs/layouts.md");

test("each row leads to a rollout: on a page of its layout, on another, or in rollouts/", () => {
  const rows = PAGE.split("\n").filter((line) => /^\| (?!my repo|---)/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter((row) => !/rollouts\/[\w-]+\.yaml|\]\(layouts\/[\w-]+\.md\)/.test(row))).toEqual([]);
  for (const [, file = ""] of PAGE.matchAll(/(rollouts\/[\w-]+\.yaml)/g)) {
    const { rollouts, problems } = parseRollouts(read(file), file);
    expect([file, rollouts.length, problems.filter(({ severity }) => severity === "error")]).toEqual([file, 1, []]);
  }
});

test("each page of a layout is led to once, has its repo and its whole rollout, and fewer than 120 words about them", () => {
  const pages = globSync("docs/layouts/*.md", { cwd: root }).sort();
  const linked = [...PAGE.matchAll(/\]\((layouts\/[\w-]+\.md)\)/g)].map(([, page]) => `docs/${page}`);
  expect(linked.sort()).toEqual(pages);
  for (const page of pages) {
    const [, rollout = ""] = /```text\n[\s\S]+?```[\s\S]+?```yaml\n([\s\S]+?)```/.exec(read(page)) ?? [];
    const prose = read(page).replace(/^```[\s\S]*?^```/gm, "");
    expect([page, parseRollouts(rollout, page).rollouts.length]).toEqual([page, 1]);
    expect([page, prose.split(/\s+/).length < 120]).toEqual([page, true]);
  }
});
