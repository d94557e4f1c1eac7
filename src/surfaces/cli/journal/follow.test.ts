import { afterEach, expect, test, vi } from "vitest";
import { follow, type Pace } from "./follow.ts";
import type { JournalSource } from "./source.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A source whose remote answers where it says so, one letter a question, and then no more. */
function sourceOf(answers: string) {
  let asked = 0;
  const source = {
    head: () => Promise.resolve("a"),
    known: () => Promise.resolve(undefined),
    refresh() {
      asked += 1;
      return Promise.resolve();
    },
    asOf: () => Promise.resolve({ at: 0, why: answers[asked - 1] === "+" ? undefined : "origin of config could not be asked" }),
  } as unknown as JournalSource;
  return { source, asked: () => asked };
}

async function followed(source: JournalSource, pace: Partial<Pace>): Promise<void> {
  for await (const _ of follow(source, { name: "payments" }, { pollMs: 1, fetchMs: 0, ...pace }));
}

test("a remote that is gone ends a watch with its reason, and a code of its own", async () => {
  const message = "origin of config could not be asked. It has not answered for 0s, and is asked no more";
  await expect(followed(sourceOf("").source, { silentMs: 0 })).rejects.toMatchObject({ exitCode: 3, message });
});

test("one that answers again is waited for anew", async () => {
  vi.useFakeTimers();
  const { source, asked } = sourceOf("--+");
  const ended = expect(followed(source, { pollMs: 1000, fetchMs: 1000, silentMs: 5000 })).rejects.toMatchObject({ exitCode: 3 });
  await vi.advanceTimersByTimeAsync(60_000);
  await ended;
  expect(asked()).toBe(6);
});
