import { describe, expect, test } from "vitest";
import { type Comment, type Forge, ForgeError, type Pull } from "../../../adapters/forge/port.ts";
import { said as words } from "../../../core/reasons/run.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { COMMANDS, type Permission } from "../../../core/spec/commands.ts";
import type { CommandPolicy } from "../../../core/spec/repo-config.ts";
import { inboxOn, LONG_AGO, NOW, PLACE, said } from "./testing/inbox-on.ts";

const old = { createdAt: LONG_AGO };

test("what was said long ago to a run that is over is not answered anew by the last one", async () => {
  const { texts, calls } = inboxOn({
    comments: [said(1, "ann", "/pause", old), said(2, "ann", "/halt fire", old), said(3, "ann", "/status")],
    permissions: new Map([["ann", "maintain"]]),
  });
  expect(await texts("payments", [{ number: 5, shared: false, former: 41 } as (typeof PLACE)[0]])).toEqual(["/halt fire", "/status"]);
  expect(calls).not.toContain("react 1 eyes");
  expect(await texts("payments", [{ number: 6, shared: false }])).toEqual(["/pause", "/halt fire", "/status"]);
});

describe("whose commands count", () => {
  test("a command refused for want of permission costs nothing again, and does not act once its author is given it", async () => {
    const permissions = new Map<string, Permission>();
    const { texts, calls } = inboxOn({ comments: [said(7, "mallory", "/pause", old)], permissions });
    expect(await texts()).toEqual([]);
    expect(calls).toEqual(["permission mallory", "sticky", "react 7 confused"]);
    permissions.set("mallory", "write");
    expect(await texts()).toEqual([]);
    expect(calls).toHaveLength(3);
  });

  test("a permission that was taken away a second ago is gone, even for a command that waits", async () => {
    const permissions = new Map<string, Permission>([["wim", "write"]]);
    const { texts } = inboxOn({ comments: [said(7, "wim", "/abort")], permissions });
    expect(await texts()).toEqual(["/abort"]);
    permissions.set("wim", "read");
    expect(await texts()).toEqual([]);
  });

  test("what was edited, what we wrote, and what a bot wrote is passed over without a word", async () => {
    const { texts, calls } = inboxOn({
      comments: [
        said(1, "wim", "/pause", { updatedAt: "2026-11-21T09:59:59.000Z" }),
        said(2, "stagecoach[bot]", "/pause", { ours: true, authorIsBot: true }),
        said(3, "renovate[bot]", "/pause", { authorIsBot: true }),
      ],
    });
    expect([await texts(), calls]).toEqual([[], []]);
  });

  test("a bot that the settings name counts as having write permission, whatever GitHub says, and no more", async () => {
    const { texts, bodies } = inboxOn({
      comments: [said(3, "Renovate[bot]", "/pause", { authorIsBot: true }), said(4, "Renovate[bot]", "/rollback", { authorIsBot: true })],
      permissions: new Map([["Renovate[bot]", "none"]]),
      policy: { teams: new Map(), bots: new Set(["renovate[bot]"]) },
    });
    expect(await texts()).toEqual(["/pause"]);
    expect(bodies[0]).toContain("maintain");
  });
});

describe("teams of the settings", () => {
  const policy: CommandPolicy = { teams: new Map([["promote", ["sre", "on-call"]]]), bots: new Set() };

  test("a member of one of them may, and nobody else, whatever their permission", async () => {
    const permissions = new Map<string, Permission>([
      ["wim", "write"],
      ["ada", "admin"],
    ]);
    const comments = [said(1, "wim", "/promote"), said(2, "ada", "/promote"), said(3, "ada", "/pause")];
    const { texts, bodies } = inboxOn({ comments, permissions, policy, teams: { sre: [], "on-call": ["wim"] } });
    expect(await texts()).toEqual(["/promote", "/pause"]);
    expect(bodies).toEqual([
      expect.stringContaining(sentenceOf({ code: "COMMENTER_NOT_IN_TEAM", command: "promote", teams: ["sre", "on-call"], unseen: [] })),
    ]);
  });

  test("a member without the permission may not, and is not asked about", async () => {
    const { texts, calls } = inboxOn({ comments: [said(1, "eve", "/promote")], permissions: new Map(), policy, teams: { sre: ["eve"] } });
    expect(await texts()).toEqual([]);
    expect(calls.filter((call) => call.startsWith("team"))).toEqual([]);
  });

  test("where members cannot be seen it is refused, and the refusal says what to grant", async () => {
    const { texts, bodies } = inboxOn({ comments: [said(1, "wim", "/promote")], policy, teams: { sre: "unseen", "on-call": [] } });
    expect(await texts()).toEqual([]);
    const unseen = { code: "COMMENTER_NOT_IN_TEAM", command: "promote", teams: ["sre", "on-call"], unseen: ["sre"] };
    expect(bodies[0]).toContain(sentenceOf(unseen));
  });

  test("with an error in the settings only what makes things safer is heard", async () => {
    const comments = ["/promote", "/skip a", "/pause", "/abort", "/status"].map((body, id) => said(id, "wim", body));
    const { texts, bodies } = inboxOn({ comments, policy: "broken" });
    expect(await texts()).toEqual(["/pause", "/abort", "/status"]);
    expect(bodies[0]).toContain(sentenceOf({ code: "COMMANDS_UNDECIDED", command: "promote" }));
  });

  test("what GitHub does not answer now is neither done nor refused, and asked again soon", async () => {
    let fails = true;
    const permission = async () => {
      if (fails) throw new ForgeError("Unavailable", 502, "bad gateway");
      return "write" as const;
    };
    const { texts, calls, again } = inboxOn({ comments: [said(1, "wim", "/promote")], forge: { permission } });
    expect([await texts(), calls, again]).toEqual([[], [], [5000]]);
    fails = false;
    expect(await texts()).toEqual(["/promote"]);
  });
});

describe("what was refused stays so", () => {
  /** What the next process finds on the PR: what people wrote, and our answers as they were written last. */
  const found = (comments: Comment[], bodies: string[]) => {
    const answers = new Map(bodies.map((body) => [body.split("\n")[0], body.replace(/^(\S+)\n/, "<!-- $1 -->\n")]));
    return [
      ...comments,
      ...[...answers.values()].map((body, n) => said(900 + n, "stagecoach[bot]", body, { ours: true, authorIsBot: true })),
    ];
  };
  const abort = said(7, "mallory", "/abort", old);
  const mayNow = new Map<string, Permission>([["mallory", "maintain"]]);

  test("for a process started anew, once its author may, and costs it no call", async () => {
    const first = inboxOn({ comments: [abort, said(8, "wim", "/halt all of it", old)], permissions: new Map([["wim", "write"]]) });
    expect(await first.texts()).toEqual([]);
    const comments = found([abort, said(8, "wim", "/halt all of it", old), said(9, "wim", "/pause", old)], first.bodies);
    const next = inboxOn({ comments, permissions: new Map([...mayNow, ["wim", "maintain"]]) });
    expect(await next.texts()).toEqual(["/pause"]);
    expect(next.calls).toEqual(["permission wim", "react 9 eyes"]);
    expect(await next.texts("payments", [{ number: 1, shared: false, former: 41 } as (typeof PLACE)[0]])).toEqual([]);
  });

  test("also where nobody was told, since one account had so many", async () => {
    const many = Array.from({ length: 40 }, (_, index) => said(index, "mallory", `/abort ${index}`, old));
    const first = inboxOn({ comments: many, permissions: new Map() });
    await first.texts();
    expect(await inboxOn({ comments: found(many, first.bodies), permissions: mayNow }).texts()).toEqual([]);
  });

  test("also after the next process has refused something itself", async () => {
    const first = inboxOn({ comments: [abort], permissions: new Map() });
    await first.texts();
    const later = said(950, "eve", "/rollback");
    const next = inboxOn({ comments: [...found([abort], first.bodies), later], permissions: new Map() });
    await next.texts();
    expect(await inboxOn({ comments: found([abort, later], [...first.bodies, ...next.bodies]), permissions: mayNow }).texts()).toEqual([]);
  });

  test("where it was refused before there was a run", async () => {
    const early = said(7, "wim", "/pause");
    const first = inboxOn({ comments: [early] });
    await first.inbox.beforeRun?.(1);
    expect(await inboxOn({ comments: found([early], first.bodies) }).texts()).toEqual([]);
  });

  test("and is told before 😕 is set; what cannot be written yet is written at the next look", async () => {
    let fails = true;
    const bodies: string[] = [];
    const stickyComment = async (_pull: number, _marker: string, body: string) => {
      if (fails) throw new ForgeError("Unavailable", 502, "bad gateway");
      bodies.push(body);
      return { id: 1, url: "" };
    };
    const { texts, calls, again } = inboxOn({ comments: [abort], permissions: new Map(), forge: { stickyComment } });
    expect([await texts(), calls, again]).toEqual([[], ["permission mallory"], [5000]]);
    fails = false;
    expect([await texts(), calls]).toEqual([[], ["permission mallory", "react 7 confused"]]);
    expect(bodies).toEqual([expect.stringContaining("<!-- refused: 7#0 -->")]);
  });

  test("nobody can have another's command refused by writing as we do", async () => {
    const note = "<!-- refused: 99#0 -->";
    const quoted = `stagecoach:answer\n> \`/resume \n${note}\n\n@mallory: no.`;
    const comments = found([said(6, "mallory", `<!-- stagecoach:answer -->\nx\n${note}`), said(99, "ann", "/pause", old)], [quoted]);
    expect(await inboxOn({ comments }).texts()).toEqual(["/pause"]);
  });
});

describe("crowds", () => {
  test("one account is told ten refusals in one look, and none of the others later", async () => {
    const comments = Array.from({ length: 40 }, (_, index) => said(index, "mallory", `/pause ${index}`, old));
    const { texts, calls } = inboxOn({ comments, permissions: new Map() });
    await texts();
    await texts();
    expect(calls.filter((call) => call.startsWith("react"))).toHaveLength(10);
    // Below each of the ten; the other thirty are noted in one.
    expect(calls.filter((call) => call === "sticky")).toHaveLength(11);
    expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(1);
  });

  test("readers that ask for the status a hundred times are heard ten times", async () => {
    const comments = Array.from({ length: 100 }, (_, index) => said(index, "mallory", "/status"));
    const { texts, calls } = inboxOn({ comments, permissions: new Map() });
    expect(await texts()).toHaveLength(10);
    expect(calls.filter((call) => call.startsWith("react"))).toHaveLength(10);
  });

  test("a crowd of strangers is asked about in several looks, and who may act is heard in the end", async () => {
    const crowd = Array.from({ length: 60 }, (_, index) => said(index, `stranger-${index}`, "/abort", old));
    const comments = [...crowd, said(99, "wim", "/abort", old)];
    const { inbox, calls, again } = inboxOn({ comments, permissions: new Map([["wim", "write"]]) });
    for (const asked of [20, 40, 60]) {
      expect(await inbox.read("payments", PLACE)).toEqual([]);
      expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(asked);
    }
    expect(again).toEqual([5000, 5000, 5000]);
    expect((await inbox.read("payments", PLACE)).map((command) => command.actor)).toEqual(["wim"]);
    expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(61);
  });
});

describe("answers", () => {
  test("refusals of one comment stand together below it, and those of the next comment below that", async () => {
    const comments = [said(1, "wim", "/rollback\n/halt now")];
    const { inbox, texts, bodies } = inboxOn({ comments });
    await texts();
    expect(bodies.at(-1)).toMatch(/> `\/rollback`[\s\S]*> `\/halt now`/);
    comments.push(said(2, "wim", "/hotfix a"));
    inbox.resync();
    await texts();
    expect(bodies.map((body) => body.split("\n")[0])).toEqual(["stagecoach:answer:1", "stagecoach:answer:2"]);
    expect(bodies.at(-1)).not.toContain("/rollback");
    expect(bodies.at(-1)).toContain("> `/hotfix a`");
  });

  test("a reaction on a comment that was deleted meanwhile is not tried again", async () => {
    let tries = 0;
    const react = async () => {
      tries += 1;
      throw new ForgeError("NotFound", 404, "Not Found");
    };
    const { texts } = inboxOn({ comments: [said(1, "wim", "/pause")], forge: { react } });
    expect(await texts()).toEqual(["/pause"]);
    expect(await texts()).toEqual(["/pause"]);
    expect(tries).toBe(1);
  });

  test("hostile text of a command can neither notify, nor act, nor leave its quote", async () => {
    const { texts, bodies } = inboxOn({ comments: [said(1, "wim", "/promote @everyone`</details>\n/abort")] });
    expect(await texts()).toEqual([]);
    expect(bodies[0]).toContain("`@everyone'</details>`");
    expect(bodies[0]?.replaceAll(/(`+)[^\n]*?\1/g, "")).not.toMatch(/@everyone|<\/details>/);
  });

  test("/help lists what is built, with what each needs; /help COMMAND says more of one", async () => {
    const comments = [said(1, "wim", "/help")];
    const { inbox, bodies, calls } = inboxOn({ comments });
    expect(await inbox.read("payments", PLACE)).toEqual([]);
    comments.push(said(2, "wim", "/help requeue"));
    inbox.touched(1);
    expect(await inbox.read("payments", PLACE)).toEqual([]);
    expect(bodies[0]).toContain("| `/pause [reason]` | ");
    for (const command of COMMANDS) expect(bodies[0]).toContain(`/${command.name}`);
    expect(bodies[1]).toContain("`--for DURATION`");
    expect(calls.filter((call) => call.includes("rocket"))).toHaveLength(2);
  });
});

describe("several rollouts on one release PR", () => {
  const places = [{ number: 1, shared: true }];

  test("only what is for all of them acts without a name", async () => {
    const comments = ["/pause", "/abort", "/status", "/plan", "/resume", "/retry"].map((body, id) => said(id, "wim", body));
    const { texts, bodies } = inboxOn({ comments });
    expect(await texts("payments", places)).toEqual(["/pause", "/abort", "/status", "/plan"]);
    expect(await texts("ledger", places)).toEqual(["/pause", "/abort", "/status", "/plan"]);
    expect(bodies[0]).toContain("`--rollout NAME`");
  });

  test("a name picks one, and the answer to one rollout does not keep the command from the other", async () => {
    const comments = [said(1, "wim", "/resume --rollout ledger"), said(2, "wim", "/pause")];
    const { inbox } = inboxOn({ comments });
    const mine = await inbox.read("payments", places);
    const theirs = await inbox.read("ledger", places);
    expect([mine.map((c) => c.text), theirs.map((c) => c.text)]).toEqual([["/pause"], ["/resume --rollout ledger", "/pause"]]);
    for (const command of mine) await inbox.answer(command, "done", undefined);
    expect((await inbox.read("payments", places)).map((c) => c.text)).toEqual([]);
    expect((await inbox.read("ledger", places)).map((c) => c.text)).toEqual(["/resume --rollout ledger", "/pause"]);
  });

  test("a name that nobody has is told, once all had their look", async () => {
    const { texts, bodies, pass } = inboxOn({ comments: [said(1, "wim", "/resume --rollout leger")] });
    expect([await texts("payments", places), await texts("ledger", places), bodies]).toEqual([[], [], []]);
    pass(5000);
    await texts("payments", places);
    expect(bodies).toEqual([expect.stringContaining("only `payments`, `ledger`")]);
  });
});

describe("an open release PR, which has no run yet", () => {
  test("/plan asks for a fresh plan, everything else is told that there is no run", async () => {
    const { inbox, bodies, calls } = inboxOn({ comments: [said(1, "wim", "/plan"), said(2, "wim", "/pause")] });
    const asked = (await inbox.beforeRun?.(1)) ?? [];
    expect(asked.map((command) => command.text)).toEqual(["/plan"]);
    expect(bodies).toEqual([expect.stringContaining("`/pause`")]);
    for (const command of asked) await inbox.answer(command, "done", undefined);
    expect(calls).toContain("react 1 rocket");
    expect(await inbox.beforeRun?.(1)).toEqual([]);
  });

  test("what is written right after its merge, before anybody saw that, is left to the run", async () => {
    const pull = async () => ({ state: "merged" }) as Pull;
    const comments = [said(1, "wim", "/pause"), said(2, "wim", "/abort")];
    const { inbox, texts, calls } = inboxOn({ comments, forge: { pull } });
    expect([await inbox.beforeRun?.(1), calls]).toEqual([[], ["permission wim"]]);
    expect(await texts()).toEqual(["/pause", "/abort"]);
  });

  test("who may not give a command is refused then, too, and for good", async () => {
    const permissions = new Map<string, Permission>();
    const pull = async () => ({ state: "merged" }) as Pull;
    const { inbox, texts, bodies } = inboxOn({ comments: [said(1, "eve", "/abort")], permissions, forge: { pull } });
    await inbox.beforeRun?.(1);
    expect(bodies).toEqual([expect.stringContaining("<!-- refused: 1#0 -->")]);
    permissions.set("eve", "maintain");
    expect(await texts()).toEqual([]);
  });

  test("what was refused before the merge does not act after it, and GitHub is asked once", async () => {
    let asked = 0;
    const pull = async () => ({ state: asked++ === 0 ? "open" : "merged" }) as Pull;
    const { inbox, texts } = inboxOn({ comments: [said(1, "wim", "/pause"), said(2, "wim", "/abort")], forge: { pull } });
    await inbox.beforeRun?.(1);
    await inbox.beforeRun?.(1);
    expect([await texts(), asked]).toEqual([[], 1]);
  });

  test("where GitHub does not say whether it is merged, nothing is refused, and it is asked again soon", async () => {
    const pull = async () => {
      throw new ForgeError("Unavailable", 502, "bad gateway");
    };
    const { inbox, texts, bodies, again } = inboxOn({ comments: [said(1, "wim", "/abort")], forge: { pull } });
    expect([await inbox.beforeRun?.(1), bodies, again]).toEqual([[], [], [5000]]);
    expect(await texts()).toEqual(["/abort"]);
  });
});

describe("comments are asked for", () => {
  function counted(forge: Partial<Forge> = {}) {
    let asked = 0;
    const comments: Comment[] = [];
    const bench = inboxOn({
      comments,
      forge: {
        comments: async () => {
          asked += 1;
          return [...comments];
        },
        ...forge,
      },
    });
    return { ...bench, comments, asked: () => asked };
  }

  test("once, then when an event says so, at each resync, and after five minutes without one", async () => {
    const { inbox, texts, pass, asked } = counted();
    await texts();
    await texts();
    expect(asked()).toBe(1);
    inbox.touched(1);
    await texts();
    expect(asked()).toBe(2);
    inbox.resync();
    await texts();
    expect(asked()).toBe(3);
    pass(4 * 60_000);
    await texts();
    expect(asked()).toBe(3);
    pass(60_000);
    await texts();
    expect(asked()).toBe(4);
  });

  test("not of a pull request that we have just opened, until somebody writes on it", async () => {
    const { inbox, texts, comments, asked } = counted({ isBlank: (pull) => pull === 1 });
    await texts();
    expect(asked()).toBe(0);
    comments.push(said(1, "wim", "/pause"));
    inbox.touched(1);
    expect(await texts()).toEqual(["/pause"]);
  });

  test("of one just opened, where the event of a comment came first", async () => {
    const { inbox, texts, comments } = counted({ isBlank: () => true });
    comments.push(said(1, "wim", "/pause"));
    inbox.touched(1);
    expect(await texts()).toEqual(["/pause"]);
  });

  test("what an event told of is known to whoever asks where to look, once; commands say on whose pull request they stand", async () => {
    const { inbox } = inboxOn({ comments: [said(1, "wim", "/pause")] });
    inbox.touched(1);
    inbox.touched(5);
    expect([inbox.spokenOn?.(), inbox.spokenOn?.()]).toEqual([[1, 5], []]);
    expect(await inbox.read("payments", [{ number: 1, shared: false, former: 41 }])).toMatchObject([{ name: "pause", former: 41 }]);
  });
});

describe("commands in the body of a review", () => {
  const review = (id: number, body: string, more: Partial<Comment> = {}) => said(id, "wim", body, { review: true, ...more });
  function reviewed(...bodies: Comment[]) {
    let asked = 0;
    const reviewBodies = async () => {
      asked += 1;
      return bodies;
    };
    return { ...inboxOn({ comments: [said(1, "wim", "/pause")], forge: { reviewBodies } }), asked: () => asked };
  }

  test("act as in a comment, are told apart from the comment of that number, and are answered below the review", async () => {
    const { inbox, calls, bodies } = reviewed(review(1, "Looks good.\n\n/promote"));
    const found = await inbox.read("payments", PLACE);
    expect(found.map(({ id, text }) => [id, text])).toEqual([
      ["1#0", "/pause"],
      ["r1#0", "/promote"],
    ]);
    for (const command of found) await inbox.answer(command, command.name === "pause" ? "done" : "refused", words("no wait"));
    // There is no reaction to a review.
    expect(calls.filter((call) => call.startsWith("react"))).toEqual(["react 1 eyes", "react 1 rocket"]);
    expect(bodies).toEqual([expect.stringMatching(/^stagecoach:answer:r1\n> `\/promote`\n\n@wim: No wait\./)]);
  });

  test("that are done are said to be, below the review; and stay so for whoever starts anew", async () => {
    const { inbox, bodies } = reviewed(review(7, "/promote"));
    for (const command of await inbox.read("payments", PLACE))
      if (command.name === "promote") await inbox.answer(command, "done", words("the bake ends"));
    expect(bodies).toEqual([expect.stringMatching(/^stagecoach:answer:r7\n> `\/promote`\n\n@wim: The bake ends/)]);
  });

  test("never act once they were edited, nor where a bot wrote them", async () => {
    const { inbox } = reviewed(
      review(1, "/abort", { updatedAt: new Date(NOW).toISOString() }),
      review(2, "/abort", { author: "copilot[bot]", authorIsBot: true }),
    );
    expect((await inbox.read("payments", PLACE)).map(({ text }) => text)).toEqual(["/pause"]);
  });

  test("are asked for once, and again when an event tells of a review: comments cost no more than before", async () => {
    const { inbox, texts, asked } = reviewed();
    await texts();
    inbox.touched(1);
    await texts();
    expect(asked()).toBe(1);
    inbox.touched(1, "review");
    await texts();
    expect(asked()).toBe(2);
  });
});

describe("while GitHub's GraphQL does not answer", () => {
  const down = { unedited: () => Promise.reject(new ForgeError("Unavailable", 502, "bad gateway")) };
  const anybody = new Map<string, Permission>([["mia", "maintain"]]);

  test("what stops acts all the same, and everything else waits", async () => {
    const comments = ["/promote", "/halt --off", "/rollback", "/halt fire", "/pause"].map((text, n) => said(n + 1, "mia", text));
    const { texts, again } = inboxOn({ comments, permissions: anybody, forge: down });
    expect(await texts()).toEqual(["/halt fire", "/pause"]);
    expect(again).toContain(5000);
  });

  test("what waited until it was too late to act is told so, and is not lost without a word", async () => {
    const { inbox, pass, bodies, calls } = inboxOn({ comments: [said(1, "mia", "/promote")], permissions: anybody, forge: down });
    const read = () => inbox.read("payments", PLACE, { late: true });
    expect(await read()).toEqual([]);
    pass(16 * 60_000);
    const [late] = await read();
    expect(late).toMatchObject({ text: "/promote", late: true });
    // A run that is over is not woken by it.
    expect(await inbox.read("payments", PLACE)).toEqual([]);
    if (late === undefined) throw new Error("nothing was found");
    await inbox.answer(late, "refused", { code: "COMMAND_TOO_LATE" });
    expect(bodies.at(-1)).toContain("15 minutes");
    expect(await read()).toEqual([]);
    expect(calls.filter((call) => call.startsWith("react"))).toEqual(["react 1 confused"]);
  });

  test("what was answered in its time is not answered again by a later process", async () => {
    const { inbox, calls } = inboxOn({ comments: [said(1, "mia", "/promote", old)], permissions: anybody });
    const [late] = await inbox.read("payments", PLACE, { late: true });
    if (late === undefined) throw new Error("nothing was found");
    await inbox.answer(late, "done", { code: "FULL_DONE" });
    expect(calls.filter((call) => !call.startsWith("permission"))).toEqual([]);
    expect(await inbox.read("payments", PLACE, { late: true })).toEqual([]);
  });

  test("a stop is judged before anything else, on whichever pull request it stands", async () => {
    const comments = new Map([
      [1, [said(1, "eve", "/skip a"), said(2, "mia", "/promote")]],
      [2, [said(3, "mia", "/pause")]],
    ]);
    const { texts, calls } = inboxOn({
      comments: [],
      permissions: anybody,
      forge: { comments: async (pull: number) => comments.get(pull) ?? [] },
    });
    const places = [1, 2].map((number) => ({ number, shared: false }));
    expect(await texts("payments", places)).toEqual(["/promote", "/pause"]);
    expect(calls[0]).toBe("permission mia");
  });
});
