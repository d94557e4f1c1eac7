import { expect, test } from "vitest";
import type { Cell } from "../../adapters/cell/port.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import type { RepoContext } from "../round/context.ts";
import { planeOf } from "./inside-cell.ts";
import { openJudgeInCell } from "./judge-in-cell.ts";
import type { JudgedPull, PlanBase } from "./types.ts";

test("thousands of Applications are told as a list, and not asked for again one by one", () => {
  const asked: string[] = [];
  const one = { namespace: "argocd", name: "a" } as ApplicationView;
  const ask = (question: string): unknown => {
    asked.push(question);
    return question === "plane.applications" ? [one] : undefined;
  };
  const plane = planeOf(
    { name: "hub", uiUrl: undefined, labels: undefined, generates: false, reads: false, renders: false, syncs: false },
    ask,
  );
  expect(plane.applications()).toEqual([one]);
  expect(plane.application("argocd", "a")).toBe(one);
  expect(asked).toEqual(["plane.applications"]);
  // One that no list told of may be there all the same.
  expect(plane.application("argocd", "b")).toBeUndefined();
  expect(asked).toEqual(["plane.applications", "plane.application"]);
});

test("a cell has Argo CD render the base and the head alone, and never the head of a fork", async () => {
  const rendered: string[][] = [];
  const manifests = async (_namespace: string, _name: string, revisions: readonly string[]) => {
    rendered.push([...revisions]);
    return { kind: "done", objects: [] } as const;
  };
  const context = { planes: new Map([["hub", { name: "hub", manifests }]]), clock: { now: () => 0 } } as unknown as RepoContext;
  async function asks(isFork: boolean, revision: string): Promise<unknown> {
    let answer: unknown;
    const run: Cell["run"] = async ({ answers }) => {
      const manifestsOf = answers["plane.manifests"] as unknown as (...asked: unknown[]) => unknown;
      try {
        answer = await manifestsOf("hub", "argocd", "fleet", [revision]);
      } catch (error) {
        answer = String(error);
      }
      return { kind: "done", value: undefined } as never;
    };
    const judge = openJudgeInCell(context, { run } as Cell, {} as never);
    await judge({ commit: "base", branch: "main" } as PlanBase, { head: "head", isFork } as JudgedPull);
    return answer;
  }
  expect(await asks(false, "head")).toMatchObject({ kind: "done" });
  expect(await asks(true, "base")).toMatchObject({ kind: "done" });
  expect(await asks(true, "head")).toMatch(/this base and this head only/);
  expect(await asks(false, "another")).toMatch(/this base and this head only/);
  expect(rendered).toEqual([["head"], ["base"]]);
});
