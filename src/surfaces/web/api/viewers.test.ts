import { describe, expect, test } from "vitest";
import { type LoginOf, openTokenLogin, openTokenSight, type Sight } from "../../../adapters/forge/github/token-sight.ts";
import { seenBy } from "./sight.ts";
import { type Asker, Denied, isLocal, openViewers } from "./viewers.ts";

const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}) => isLocal({ socket: { remoteAddress }, headers });
const asker = (token: string | undefined, more: Partial<Asker> = {}): Asker => ({
  authorization: token === undefined ? undefined : `Bearer ${token}`,
  address: "10.0.0.9",
  isLocal: false,
  ...more,
});

function codeOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return error instanceof Denied ? error.code : String(error);
  }
}

describe("who is on this machine", () => {
  test.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])("%s is", (address) => expect(from(address)).toBe(true));
  test.each(["10.0.0.1", "127.0.0.6", "::ffff:127.0.0.6", "::ffff:10.0.0.1", "fe80::1", "127.0.0.1.evil.example", "", undefined])(
    "%s is not",
    (address) => expect(from(address)).toBe(false),
  );
  test.each(["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-proto", "x-envoy-attempt-count"])(
    "nobody is who comes through a proxy there, as %s says",
    (header) => expect(from("127.0.0.1", { [header]: "127.0.0.1" })).toBe(false),
  );
});

describe("the owner of a token", () => {
  function world(sight: (token: string, repository: string) => Sight) {
    let now = 0;
    const asked: string[] = [];
    const sightOf = async (token: string, repository: string) => {
      asked.push(`${token} ${repository}`);
      return sight(token, repository);
    };
    const viewers = openViewers({ sightOf }, "Loopback", () => now);
    return { viewers, asked, pass: (ms: number) => (now += ms) };
  }

  test("sees what GitHub shows them, asked once a minute, and nothing that they lost", async () => {
    let mine = "acme/config";
    const { viewers, asked, pass } = world((_, repository) => (repository === mine ? {} : "unseen"));
    const seen = () => viewers(asker("ghp_0123456789")).sees("acme/config");
    expect([await seen(), await seen(), asked.length]).toEqual([true, true, 1]);
    mine = "acme/other";
    pass(60_001);
    expect([await seen(), asked.length]).toEqual([false, 2]);
  });

  test("is shown nothing where GitHub does not say", async () => {
    const { viewers } = world(() => "unknown");
    await expect(viewers(asker("ghp_0123456789")).sees("acme/config")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("nobody without a token sees anything from elsewhere, and what is no token asks GitHub nothing", () => {
    const { viewers, asked } = world(() => ({}));
    expect(codeOf(() => viewers(asker(undefined)))).toBe("UNAUTHENTICATED");
    for (const token of ["short", "with space0123456789", `x${"y".repeat(2000)}`, "line\nbreak0123456789"])
      expect(codeOf(() => viewers(asker(token)))).toBe("UNAUTHENTICATED");
    expect(asked).toEqual([]);
  });

  test("who tries out tokens is told to slow down, and GitHub is not asked", async () => {
    const { viewers, asked, pass } = world(() => "refused");
    for (let index = 0; index < 20; index++)
      await expect(viewers(asker(`ghp_guess_${index}0000`)).sees("acme/config")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(codeOf(() => viewers(asker("ghp_guess_one_more")))).toBe("TOO_MANY_REQUESTS");
    expect(codeOf(() => viewers(asker("ghp_guess_00000")))).toBe("UNAUTHENTICATED");
    expect(asked).toHaveLength(20);
    expect(codeOf(() => viewers(asker("ghp_guess_one_more", { address: "10.0.0.8" })))).toBe("");
    pass(60_001);
    expect(codeOf(() => viewers(asker("ghp_guess_one_more")))).toBe("");
  });

  test("who tries out tokens behind the same proxy locks nobody out whose token GitHub took", async () => {
    const { viewers } = world((token) => (token.includes("guess") ? "refused" : {}));
    await viewers(asker("ghp_0123456789")).sees("acme/config");
    for (let index = 0; index < 20; index++)
      await viewers(asker(`ghp_guess_${index}0000`))
        .sees("acme/config")
        .catch(() => undefined);
    expect(codeOf(() => viewers(asker("ghp_guess_one_more")))).toBe("TOO_MANY_REQUESTS");
    expect(await viewers(asker("ghp_0123456789")).sees("acme/other")).toBe(true);
  });

  test("of a token that is none GitHub is asked once, however many repositories there are", async () => {
    const { viewers, asked } = world(() => "refused");
    const names = Array.from({ length: 300 }, (_, index) => `acme/config-${index}`);
    const viewer = viewers(asker("ghp_0123456789"));
    await expect(seenBy(viewer, names)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(asked).toHaveLength(1);
  });

  test("one token's many requests are not another's", () => {
    const { viewers } = world(() => ({}));
    const codes = Array.from({ length: 241 }, () => codeOf(() => viewers(asker("ghp_0123456789"))));
    expect([codes.filter((code) => code === "").length, codes.at(-1)]).toEqual([240, "TOO_MANY_REQUESTS"]);
    expect(codeOf(() => viewers(asker("ghp_9876543210")))).toBe("");
  });
});

describe("who acts", () => {
  const person = async () => ({ login: "alice" });
  const viewerOf = (loginOf: LoginOf, sight: Sight = { permission: "write" }) =>
    openViewers({ sightOf: async () => sight, loginOf }, "Loopback")(asker("ghp_0123456789"));

  test("is the owner of a token, whom GitHub names once, with the permission it told with the repository", async () => {
    let asked = 0;
    const viewer = viewerOf(async () => {
      asked += 1;
      return { login: "alice" };
    });
    expect([await viewer.person?.login(), await viewer.person?.login(), asked]).toEqual(["alice", "alice", 1]);
    expect([viewer.person?.token(), await viewer.permission?.("acme/config")]).toEqual(["ghp_0123456789", "write"]);
    expect(await viewerOf(person, "unseen").permission?.("acme/config")).toBe("none");
  });

  test("is nobody where there is no token, where it is no person's, and where GitHub does not say", async () => {
    expect(openViewers({ loginOf: person }, "Loopback")(asker(undefined, { isLocal: true })).person).toBe(undefined);
    for (const [answer, code] of [
      ["nobody", "UNAUTHENTICATED"],
      ["refused", "UNAUTHENTICATED"],
      ["unknown", "UNAVAILABLE"],
    ] as const)
      await expect(viewerOf(async () => answer).person?.login()).rejects.toMatchObject({ code });
  });
});

describe("GitHub, asked with a token", () => {
  test.each([
    [{ admin: false, maintain: false, push: true, triage: true, pull: true }, { permission: "write" }],
    [{ admin: true, maintain: true, push: true }, { permission: "admin" }],
    [{ pull: true }, { permission: "read" }],
    [{ pull: "yes" }, { permission: "none" }],
    [undefined, {}],
  ])("tells the permission %o with the repository", async (permissions, sight) => {
    const send = async () => Response.json({ permissions });
    expect(await openTokenSight("https://api.github.example", send)("t", "acme/config")).toEqual(sight);
  });

  test("tells nothing with an answer that has no end, or is none", async () => {
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1024 * 1024)) });
    for (const body of [endless, "<html>", "null"])
      expect(await openTokenSight("https://api.github.example", async () => new Response(body))("t", "acme/config")).toBe("unknown");
  });

  test.each([
    [200, { login: "alice" }, { login: "alice" }],
    [200, { login: "<b>" }, "nobody"],
    [403, {}, "nobody"],
    [401, {}, "refused"],
    [502, {}, "unknown"],
  ])("tells whose a token is: %s %o", async (status, body, whose) => {
    const send = async () => Response.json(body, { status });
    expect(await openTokenLogin("https://api.github.example", send)("t")).toEqual(whose);
  });

  const answered = (status: number, headers: Record<string, string> = {}) =>
    openTokenSight("https://api.github.example/", async () => new Response(status === 200 ? "{}" : null, { status, headers }))(
      "t",
      "acme/config",
    );

  test.each([
    [200, {}, {}],
    [404, {}, "unseen"],
    [403, {}, "unseen"],
    [301, { location: "https://evil.example/" }, "unseen"],
    [401, {}, "refused"],
    [403, { "x-ratelimit-remaining": "0" }, "unknown"],
    [429, {}, "unknown"],
    [502, {}, "unknown"],
  ])("%s %o is %s", async (status, headers, sight) => {
    expect(await answered(status, headers)).toEqual(sight);
  });

  test("is asked for no path that is none of a repository", async () => {
    const asked: string[] = [];
    const send = async (url: string | URL | Request) => {
      asked.push(String(url));
      return new Response(null, { status: 200 });
    };
    const sightOf = openTokenSight("https://api.github.example", send);
    for (const name of ["..", "../..", "acme/..", "./config", "acme/config/../../user", "acme/config?x", "acme/%2e%2e"])
      expect(await sightOf("t", name)).toBe("unseen");
    expect(asked).toEqual([]);
  });
});
