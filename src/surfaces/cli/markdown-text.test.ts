import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { textWidth } from "../../core/base/text-width.ts";
import { markdownText } from "./markdown-text.ts";

const PLAN = `<!-- stagecoach:plan -->
### 🗺️ Plan: my-app \`v1\` → \`v2\`

Merging #\u200b1 starts a run: **12 clusters**, see [the docs](https://example.com/x).

| | stage | at once | gates |
| --- | --- | --- | --- |
| 1 | canary \\| EMEA | 2 | health, bake 2m |
| 2 | eu-west-1 | 10 | health |

- one **thing**
- another

\`\`\`mermaid
gantt
\`\`\`
<details><summary>more</summary>

| a |
| - |

</details>

<sub>As of now \\*not bold\\* <img src=x></sub>
`;

test("the bot's plan in a terminal: aligned columns, and no mark of Markdown or HTML", () => {
  expect(markdownText(PLAN)).toBe(`🗺️ Plan: my-app v1 → v2

Merging #1 starts a run: 12 clusters, see the docs.

   STAGE          AT ONCE  GATES
1  canary | EMEA  2        health, bake 2m
2  eu-west-1      10       health

• one thing
• another

As of now *not bold*${" "}
`);
});

test.each([20, 40, 80])("in %i columns no line is wider", (width) => {
  for (const line of markdownText(PLAN, { width }).split("\n")) expect(textWidth(line), line).toBeLessThanOrEqual(width);
});

test("nothing in it steers the terminal, and colour is only what was asked for", () => {
  const evil = "# \u001b[2J\u202e<b>x</b>\n\n`\u001b]0;own\u0007` &#27;[31m | **x**\n\n```\n\u001b[1m\n```\n";
  const bad = /[\p{Cc}\u202e]/u;
  expect([...markdownText(evil)].filter((one) => one !== "\n" && bad.test(one))).toEqual([]);
  expect(markdownText("# head", { colour: true })).toBe("\u001b[1mhead\u001b[22m\n");
});

test.each([">", "- ", "1. ", "[^a]: "])("what is nested without end by %j is shown as it is written, and at once", (mark) => {
  const text = mark.repeat(60_000 / mark.length);
  const before = cpuMs();
  expect(markdownText(`Hello\n\n${text}`)).toContain(text);
  expect(cpuMs() - before).toBeLessThan(1_000);
  expect(markdownText(`**Hello**\n\n${"-".repeat(60)}`)).toBe(`Hello\n\n${"─".repeat(40)}\n`);
});
