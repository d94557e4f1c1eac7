import { describe, expect, test } from "vitest";
import { type Comment, type Forge, ForgeError } from "../../../adapters/forge/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openAnswering } from "./answering.ts";
import { CommandAnswers } from "./answers.ts";
import { type Refusal, RefusalComments } from "./refusals.ts";

/** A forge that keeps the comments of ours on each PR, and fails where it is told to. `pages`: by PR and marker. */
function forgeOf() {
  const pages = new Map<string, string>();
  const reactions: string[] = [];
  const broken = new Set<number>();
  const forge: Partial<Forge> = {
    comments: async (pull) => [...pages].flatMap(([key, body]) => (key.startsWith(`${pull} `) ? [ours(body)] : [])),
    async stickyComment(pull, marker, body) {
      if (broken.has(pull)) throw new ForgeError("Unavailable", 502, "bad gateway");
      pages.set(`${pull} ${marker}`, `<!-- ${marker} -->\n${body}`);
      return { id: 1, url: "" };
    },
    async react(comment, reaction) {
      reactions.push(`${comment} ${reaction}`);
    },
  };
  return { forge: forge as Forge, pages, reactions, broken };
}

const SHARED = "1 stagecoach:answer";
const own = (comment: number | string) => `1 stagecoach:answer:${comment}`;

function ours(body: string): Comment {
  const at = "2026-11-21T10:00:00.000Z";
  return { id: 900, author: "stagecoach[bot]", authorIsBot: true, ours: true, body, createdAt: at, updatedAt: at };
}

function refusal(pull: number, comment: number, more: Partial<Refusal> = {}): Refusal {
  return { pull, comment: `${comment}`, author: "eve", text: "/abort", message: "no", command: `${comment}#0`, shown: true, ...more };
}

async function refused(page: RefusalComments, ...refusals: Refusal[]): Promise<number[]> {
  for (const one of refusals) page.add(one);
  return [...(await page.write())];
}

describe("each refused comment", () => {
  test("gets an answer of its own below it, which says nothing of the others and stays when they are refused", async () => {
    const { forge, pages } = forgeOf();
    const page = new RefusalComments(forge, silentLog);
    await refused(page, refusal(1, 10, { text: "/rollback" }));
    await refused(page, refusal(1, 11), refusal(1, 11, { text: "/retry", command: "11#1" }));
    expect([...pages.keys()]).toEqual([own(10), own(11)]);
    expect(pages.get(own(10))).toMatch(/\/rollback(?![\s\S]*\/abort)[\s\S]*<!-- refused: 10#0 -->$/);
    expect(pages.get(own(11))).toMatch(/\/abort[\s\S]*\/retry[\s\S]*<!-- refused: 11#0 11#1 -->$/);
    // Whoever starts anew writes no second one.
    const next = new RefusalComments(forge, silentLog);
    next.recall(1, [...pages.values()].map(ours));
    expect([next.has(1, "10#0"), next.has(1, "11#1"), next.has(1, "12#0")]).toEqual([true, true, false]);
    await refused(next, refusal(1, 10, { text: "/rollback" }));
    expect(pages.size).toBe(2);
  });

  test("of one account ten at most, and fifty of a pull request: the others share one, so that nobody makes us write without end", async () => {
    const { forge, pages } = forgeOf();
    const page = new RefusalComments(forge, silentLog);
    for (let n = 10; n < 40; n++) await refused(page, refusal(1, n));
    expect([pages.size, pages.get(SHARED)?.includes("39#0"), pages.has(own(20))]).toEqual([11, true, false]);
    for (let n = 100; n < 200; n++) await refused(page, refusal(1, n, { author: `eve-${n}` }));
    expect(pages.size).toBe(51);
    expect([page.has(1, "39#0"), page.has(1, "199#0")]).toEqual([true, true]);
  });

  test("of a review is told apart from a comment of that number", async () => {
    const { forge, pages } = forgeOf();
    const page = new RefusalComments(forge, silentLog);
    await refused(page, refusal(1, 10), refusal(1, 10, { comment: "r10", command: "r10#0" }));
    expect([...pages.keys()]).toEqual([own(10), own("r10")]);
  });
});

describe("what was refused", () => {
  test("that cannot be written on one pull request holds back no other's marks", async () => {
    const { forge, reactions, broken } = forgeOf();
    const clock = { now: () => 0, after: () => () => undefined };
    const answering = openAnswering()();
    const answers = new CommandAnswers({ forge, clock, log: silentLog, answering, recheck: () => undefined });
    const spoken = (pull: number) => ({ pull, comment: `${pull * 10}`, author: "eve", text: "/abort", command: `${pull * 10}#0` });
    broken.add(1);
    for (const pull of [1, 2]) answers.refuse(spoken(pull), "no");
    await answering.settled();
    expect(reactions).toEqual(["20 confused"]);
    broken.clear();
    answers.writeAgain();
    await answering.settled();
    expect(reactions).toEqual(["20 confused", "10 confused"]);
  });

  test("holds what another replica refused meanwhile", async () => {
    const { forge, pages } = forgeOf();
    const [one, other] = [new RefusalComments(forge, silentLog), new RefusalComments(forge, silentLog)];
    await refused(one, refusal(1, 10, { shown: false }));
    await refused(other, refusal(1, 11, { shown: false }));
    await refused(one, refusal(1, 12, { shown: false }));
    expect(pages.get(SHARED)).toMatch(/<!-- refused: 10#0 11#0 12#0 -->$/);
    expect(one.has(1, "11#0")).toBe(true);
  });

  test("is not written where what stands there cannot be read", async () => {
    const { forge, pages } = forgeOf();
    const comments = async () => {
      throw new ForgeError("Unavailable", 502, "bad gateway");
    };
    expect(await refused(new RefusalComments({ ...forge, comments }, silentLog), refusal(1, 10))).toEqual([1]);
    expect(pages.size).toBe(0);
  });

  test("what is refused while it is on its way is written after it", async () => {
    const { forge, pages } = forgeOf();
    let during: (() => void) | undefined;
    const stickyComment: Forge["stickyComment"] = async (...args) => {
      during?.();
      during = undefined;
      return forge.stickyComment(...args);
    };
    const page = new RefusalComments({ ...forge, stickyComment }, silentLog);
    during = () => page.add(refusal(1, 10, { text: "/rollback", command: "10#1" }));
    await refused(page, refusal(1, 10));
    expect(pages.get(own(10))).not.toContain("10#1");
    await page.write();
    expect(pages.get(own(10))).toMatch(/> `\/rollback`[\s\S]*10#0 10#1 -->$/);
  });

  test("is short enough for GitHub, and cut nowhere within marks of code", async () => {
    const { forge, pages } = forgeOf();
    const many = Array.from({ length: 12 }, (_, n) => refusal(1, 10, { text: `/skip ${n}`, message: "see `a b c` ".repeat(1000) }));
    const held = Array.from({ length: 600 }, (_, n) =>
      refusal(1, 9_999_999_999_000 + n, { shown: false, message: "see `a b c` ".repeat(1000) }),
    );
    await refused(new RefusalComments(forge, silentLog), ...many, ...held);
    expect(pages.get(own(10))?.length).toBeLessThan(65_536);
    const body = pages.get(SHARED) ?? "";
    expect(body.length).toBeLessThan(65_536);
    expect(body).toContain("<sub>`/help` lists what can be said here.</sub>\n<!-- refused:");
    expect(body.split("`").length % 2).toBe(1);
  });

  test("holds the newest five hundred", async () => {
    const { forge, pages } = forgeOf();
    await refused(new RefusalComments(forge, silentLog), ...Array.from({ length: 600 }, (_, n) => refusal(1, 700 - n, { shown: false })));
    const held = pages.get(SHARED)?.match(/\d+#0/g) ?? [];
    expect([held.length, held[0], held.at(-1)]).toEqual([500, "201#0", "700#0"]);
  });

  test("of a thousand pull requests is remembered; an older one's is taken in again with its comments", async () => {
    const { forge, pages } = forgeOf();
    const page = new RefusalComments(forge, silentLog);
    for (let pull = 1; pull <= 1001; pull++) await refused(page, refusal(pull, 10));
    expect([page.has(1, "10#0"), page.has(2, "10#0"), page.has(1001, "10#0")]).toEqual([false, true, true]);
    page.recall(1, [ours(pages.get(own(10)) ?? "")]);
    expect(page.has(1, "10#0")).toBe(true);
  });

  test("is not forgotten before it is written", async () => {
    const { forge, pages, broken } = forgeOf();
    const page = new RefusalComments(forge, silentLog);
    broken.add(1);
    for (let pull = 1; pull <= 1100; pull++) await refused(page, refusal(pull, 10));
    broken.clear();
    expect(await refused(page)).toEqual([]);
    expect(pages.get(own(10))).toContain("<!-- refused: 10#0 -->");
  });
});
