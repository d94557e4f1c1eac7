import { afterEach, expect, test, vi } from "vitest";
import { ForgeError } from "../port.ts";
import { openCommentAs } from "./comment-as.ts";

afterEach(() => void vi.restoreAllMocks());

test("a GitHub that hangs is given up, and the token is neither sent on nor told", async () => {
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort(new DOMException("late", "TimeoutError")));
  const asked: (RequestInit | undefined)[] = [];
  const hangs: typeof fetch = (_, init) => {
    asked.push(init);
    return new Promise((_resolve, reject) => {
      if (init?.signal?.aborted === true) reject(init.signal.reason as Error);
      else reject(new Error("it would hang"));
    });
  };
  const commentAs = openCommentAs("https://github.example", hangs);
  const comment = { token: "ghu_secret_0123456", login: "bob", repository: "acme/config", pull: 1, mark: "<!-- a -->" };
  for (const call of [commentAs.find(comment, "2026-11-21T09:00:00.000Z"), commentAs.write(comment, "/pause")]) {
    const error = await call.catch((failed: unknown) => failed);
    expect(error).toBeInstanceOf(ForgeError);
    expect((error as ForgeError).kind).toBe("Unavailable");
    expect(JSON.stringify([error, String(error)])).not.toContain(comment.token);
  }
  expect(asked.map((init) => [init?.redirect, init?.signal?.aborted])).toEqual([
    ["manual", true],
    ["manual", true],
  ]);
});
