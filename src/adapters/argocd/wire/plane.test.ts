import { describe, expect, test } from "vitest";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { steppedClock } from "../../../sim/github/testing/setup.ts";
import { application } from "../testing/application.ts";
import type { Informer } from "./informer.ts";
import { type Changed, openReading, REST_MS } from "./plane.ts";

const APART_MS = 1000;
const view: ApplicationView = application();

function planes() {
  const clock = steppedClock();
  const story: string[] = [];
  let tell: Changed = () => undefined;
  const start = (changed: Changed) => {
    story.push("watched");
    tell = changed;
    const informer: Informer<ApplicationView> = {
      items: () => new Map([[`${view.namespace}/${view.name}`, view]]),
      ready: async () => undefined,
      problem: () => undefined,
      freshSince: clock.now,
      offer: () => undefined,
      close: () => void story.push("left"),
    };
    return { applications: [informer], sets: [], others: [] };
  };
  const { reads } = openReading({ name: "hub", clock, apartMs: APART_MS }, start, () => []);
  const change = (name = view.name) => {
    tell([`${view.namespace}/${name}`]);
    clock.step(20);
  };
  return { clock, story, reads, change };
}

const look = (reads: ReturnType<typeof planes>["reads"]) => reads.application(view.namespace, view.name)?.name;

describe("a control plane", () => {
  test("is watched from the first read on, for as long as it is read, and again when it is", () => {
    const { clock, story, reads } = planes();
    expect([reads.isWatched?.(), story]).toEqual([false, []]);
    for (let n = 0; n < 4; n++) {
      expect([look(reads), reads.state().fresh]).toEqual([view.name, true]);
      clock.step(REST_MS / 2);
    }
    expect([reads.isWatched?.(), story]).toEqual([true, ["watched"]]);
    clock.step(REST_MS / 2);
    expect([reads.isWatched?.(), story]).toEqual([false, ["watched", "left"]]);
    expect(reads.applications()).toEqual([view]);
    expect(story).toEqual(["watched", "left", "watched"]);
  });

  test("that nobody needs is not kept by its own changes, though who is told looks what they are", () => {
    const { clock, story, reads, change } = planes();
    const seen: (string | undefined)[] = [];
    reads.onChange(() => seen.push(look(reads)));
    look(reads);
    for (let n = 0; n < 2; n++) {
      clock.step(REST_MS / 3);
      change();
    }
    clock.step(REST_MS / 3);
    expect(seen).toEqual([view.name, view.name]);
    expect(story).toEqual(["watched", "left"]);
  });

  test("tells a change at once, and what follows within a second together at its end, though the clock is set back", () => {
    const { clock, reads, change } = planes();
    const told: string[] = [];
    reads.onChange((keys) => told.push([...(keys ?? [])].map((key) => key.split("/")[1]).join(" ")));
    look(reads);
    for (const name of ["a", "b", "c"]) change(name);
    expect(told).toEqual(["a"]);
    clock.step(APART_MS - 40);
    expect(told).toEqual(["a", "b c"]);
    clock.step(-3_600_000);
    change("d");
    clock.step(APART_MS);
    expect(told).toEqual(["a", "b c", "d"]);
  });

  test("that is closed is not watched, whoever reads on", async () => {
    const { story, reads } = planes();
    look(reads);
    await reads.close();
    look(reads);
    expect(story.filter((one) => one === "left").length).toBeGreaterThanOrEqual(story.filter((one) => one === "watched").length);
  });
});
