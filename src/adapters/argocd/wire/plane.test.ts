import { describe, expect, test } from "vitest";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { steppedClock } from "../../../sim/github/testing/setup.ts";
import { application } from "../testing/application.ts";
import type { Informer } from "./informer.ts";
import { type Changed, openReading, REST_MS } from "./plane.ts";

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
  const { reads } = openReading("hub", clock, start, () => []);
  const change = () => {
    tell([`${view.namespace}/${view.name}`]);
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

  test("that is closed is not watched, whoever reads on", async () => {
    const { story, reads } = planes();
    look(reads);
    await reads.close();
    look(reads);
    expect(story.filter((one) => one === "left").length).toBeGreaterThanOrEqual(story.filter((one) => one === "watched").length);
  });
});
