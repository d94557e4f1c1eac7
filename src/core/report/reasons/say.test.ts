import { expect, test } from "vitest";
import { ATTENTION } from "./attention.ts";
import { BATCHES } from "./batches.ts";
import { BREACHES } from "./breaches.ts";
import { CHECKS } from "./checks.ts";
import { COMMANDS } from "./commands.ts";
import { COMMENTS } from "./comments.ts";
import { CONTROL_PLANE } from "./control-plane.ts";
import { ENGINE } from "./engine.ts";
import { GATES } from "./gates.ts";
import { JOURNAL } from "./journal.ts";
import { LIVENESS } from "./liveness.ts";
import { OUTCOME } from "./outcome.ts";
import { PROBLEMS } from "./problems/problems.ts";
import { RENDER_PROBLEMS } from "./render.ts";
import { REASONS, sentenceOf } from "./say.ts";
import { SETTINGS } from "./settings.ts";
import { STAGES } from "./stages.ts";
import { TARGETS } from "./targets.ts";

test("each code is declared by one room: none hides another's sentence", () => {
  const ofRuns = [GATES, BATCHES, STAGES, TARGETS, CHECKS, COMMANDS, COMMENTS, OUTCOME, LIVENESS, CONTROL_PLANE, BREACHES, ENGINE];
  const tables = [...ofRuns, SETTINGS, JOURNAL, ATTENTION, PROBLEMS, RENDER_PROBLEMS];
  const codes = tables.flatMap((table) => Object.keys(table));
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  expect(Object.keys(REASONS).toSorted()).toEqual(codes.toSorted());
});

test.each([
  ["an unknown code", { code: "NO_SUCH_CODE", by: "eve" }],
  ["a name of every object", { code: "constructor" }],
  ["data of another shape", { code: "RETRY_DONE", clusters: 7 }],
])("of a journal that somebody changed, %s is shown as it stands", (_, reason) => {
  expect(sentenceOf(reason)).toBe(JSON.stringify(reason));
});
