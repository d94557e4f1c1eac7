import { describe, expect, test } from "vitest";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import type { Draft } from "./draft.ts";
import { checkDigests } from "./targets.ts";
import { collectProblems } from "./targets-problems.ts";

const FILE = "overlays/eu/kustomization.yaml";
const OLD = `sha256:${"a".repeat(64)}`;

const pin = (path: string, change: Partial<Edit> = {}): Edit => ({ file: FILE, path, kind: "value", from: "v1", to: "v2", ...change });

function told(text: string, ...edits: (Edit | undefined)[]): string[] {
  const problems = collectProblems(sampleRollout(), () => null);
  checkDigests([{ edits, seen: { view: { name: "web-eu" } } } as unknown as Draft], (file) => (file === FILE ? text : null), problems);
  return problems.all().map((problem) => `${problem.severity} ${problem.path?.join(".")} ${sayProblem(problem).message}`);
}

const IMAGES = (more: string) => `images:\n  - name: web\n    newTag: v1\n${more}`;

describe("an image's tag and its digest move together", () => {
  test("a digest that stays beside kustomize's newTag is refused: the old image would run on", () => {
    expect(told(IMAGES(`    digest: ${OLD}\n`), pin("images[name=web].newTag"))).toEqual([
      expect.stringMatching(/^error spec\.pins\.0\.path images\[name=web\]\.digest of .*kustomization\.yaml stays .* wins over the tag/),
    ]);
  });

  test("not so where a pin writes it, too, or where there is none; where nothing changes yet it is a warning", () => {
    const both = [pin("images[name=web].newTag"), pin("images[name=web].digest", { from: OLD, to: `sha256:${"b".repeat(64)}` })];
    expect(told(IMAGES(`    digest: ${OLD}\n`), ...both)).toEqual([]);
    expect(told(IMAGES(`    digest: ${OLD}\n`), pin("images[name=web].newTag"), undefined)).toEqual([]);
    expect(told(IMAGES(""), pin("images[name=web].newTag"))).toEqual([]);
    expect(told(IMAGES('    digest: ""\n'), pin("images[name=web].newTag"))).toEqual([]);
    const [soon] = told(IMAGES(`    digest: ${OLD}\n`), pin("images[name=web].newTag", { to: "v1" }));
    expect(soon).toMatch(/^warning spec\.pins\.0\.path .* wins over the tag/);
    expect(told(IMAGES(`  - name: other\n    digest: ${OLD}\n`), pin("images[name=web].newTag"))).toEqual([]);
  });

  test("of a chart's values it is a warning, as only the chart knows; so is a tag that stays beside a digest", () => {
    expect(told(`image: { tag: v1, digest: ${OLD} }\n`, pin("image.tag"))).toEqual([expect.stringMatching(/^warning /)]);
    expect(told(IMAGES(`    digest: ${OLD}\n`), pin("images[name=web].digest", { from: OLD }))).toEqual([
      expect.stringMatching(/^warning .*newTag .* at v1, .*another image/),
    ]);
  });
});
