import { expect, test } from "vitest";
import { createListeners } from "./listeners.ts";

test("a listener that fails is reported, and keeps the news from no other", () => {
  const heard: string[] = [];
  const failed: unknown[] = [];
  const listeners = createListeners<string>((error, key) => failed.push([key, (error as Error).message]));
  listeners.add(() => {
    throw new Error("broken");
  });
  const stop = listeners.add((key) => heard.push(key));
  listeners.tell("a");
  stop();
  listeners.tell("b");
  expect(heard).toEqual(["a"]);
  expect(failed).toEqual([
    ["a", "broken"],
    ["b", "broken"],
  ]);
});
