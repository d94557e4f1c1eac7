import { expect, test } from "vitest";
import { follow, type Pace } from "./follow.ts";
import type { JournalSource } from "./source.ts";

/** A source whose remote answers so often, and then no more. */
function sourceOf(answers: number) {
  let asked = 0;
  const source = {
    head: () => Promise.resolve("a"),
    known: () => Promise.resolve(undefined),
    refresh() {
      asked += 1;
      return Promise.resolve();
    },
    asOf: () => Promise.resolve({ at: 0, why: asked <= answers ? undefined : "origin of config could not be asked" }),
  } as unknown as JournalSource;
  return { source, asked: () => asked };
}

async function followed(source: JournalSource, pace: Partial<Pace>): Promise<void> {
  for await (const _ of follow(source, { name: "payments" }, { pollMs: 1, fetchMs: 0, ...pace }));
}

test("a remote that is gone ends a watch with its reason, and a code of its own", async () => {
  const message = "origin of config could not be asked. It has not answered for 0s, and is asked no more";
  await expect(followed(sourceOf(0).source, { silentMs: 0 })).rejects.toMatchObject({ exitCode: 3, message });
});

test("one that answers again is waited for anew", async () => {
  const { source, asked } = sourceOf(2);
  await expect(followed(source, { silentMs: 0 })).rejects.toMatchObject({ exitCode: 3 });
  expect(asked()).toBe(3);
});
