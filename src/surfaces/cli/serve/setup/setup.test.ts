import { describe, expect, test } from "vitest";
import { hasKey, isSameState, keyCookie, setupHost, whyRefused } from "./guard.ts";
import { manifestFor } from "./manifest.ts";
import { failedPage, madePage, type SetupView, setupPage } from "./page.ts";

const HERE = { host: "127.0.0.1:3000" };
const WINDOW = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

describe("who may ask for the set-up page", () => {
  test.each([
    ["a person who typed its address", "GET", { ...HERE, ...WINDOW, "sec-fetch-site": "none" }],
    ["one behind an SSH tunnel from another port", "GET", { host: "localhost:8080" }],
    ["a browser by the other loopback address", "GET", { host: "[::1]:3000" }],
    [
      "the page itself, for its style",
      "GET",
      { ...HERE, "sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "style" },
    ],
    ["GitHub, leading a window back", "GET", { ...HERE, ...WINDOW, "sec-fetch-site": "cross-site" }],
    ["the same, after a form", "GET", { ...HERE, ...WINDOW, "sec-fetch-site": "cross-site", origin: "null" }],
  ])("%s may", (_who, method, headers) => {
    expect(whyRefused({ method, headers })).toBeUndefined();
  });

  test.each([
    ["a name that somebody let point here", "GET", { host: "evil.example:3000" }],
    ["a name that only begins like ours", "GET", { host: "127.0.0.1.evil.example" }],
    ["the name of every address", "GET", { host: "0.0.0.0:3000" }],
    ["no name at all", "GET", {}],
    ["an address that cannot be one", "GET", { host: "127.999.1.1:99999" }],
    ["a form of another site", "POST", { ...HERE, ...WINDOW, origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["a form without an origin", "POST", HERE],
    [
      "a script of another site",
      "GET",
      { ...HERE, origin: "https://evil.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" },
    ],
    ["a script of another server on this computer", "GET", { ...HERE, origin: "http://127.0.0.1:9999", "sec-fetch-site": "same-site" }],
    [
      "an image of another site",
      "GET",
      { ...HERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
    ],
    [
      "a frame of another site",
      "GET",
      { ...HERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    ],
  ])("%s may not", (_who, method, headers) => {
    expect(whyRefused({ method, headers })).toMatch(/this computer's own name|another site|only read/);
  });

  test("a way back counts only with the state that was given out", () => {
    expect([isSameState("abc", "abc"), isSameState("abd", "abc"), isSameState("", "abc"), isSameState(null, "abc")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("the page is shown to who opened the printed address, by a cookie that no script reads", () => {
    const cookie = keyCookie("k1");
    expect(cookie).toContain("HttpOnly; SameSite=Lax");
    const sent = cookie.split(";")[0] ?? "";
    expect([hasKey(`a=b; ${sent}`, "k1"), hasKey(sent, "k2"), hasKey("stagecoach-setup=", "k1"), hasKey(undefined, "k1")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test.each([
    [undefined, "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["::", "127.0.0.1"],
    ["10.1.2.3", "127.0.0.1"],
    ["127.0.0.2", "127.0.0.2"],
    ["::1", "::1"],
  ])("HOST=%s: it listens on %s", (wanted, host) => {
    expect(setupHost(wanted)).toBe(host);
  });
});

const view: SetupView = {
  host: "ghe.example.com",
  createUrl: "https://ghe.example.com/settings/apps/new?state=s",
  manifest: manifestFor("https://stagecoach.example.com/"),
  organisation: 'acme"><script>',
  deliveries: "https://stagecoach.example.com/api/github/webhooks",
  envFile: "/home/alice/.env",
};

describe("the set-up page", () => {
  test("names every permission and event of app.yml with its reason", () => {
    const { permissions, events, json } = view.manifest;
    expect(permissions.map(({ name, access }) => [name, access])).toEqual(Object.entries(json["default_permissions"] as object));
    expect(events.map(({ name }) => name)).toEqual(json["default_events"]);
    const html = setupPage(view);
    for (const { name, why } of [...permissions, ...events]) {
      expect(why, name).toMatch(/\.$/);
      expect(html).toContain(`<code>${name}</code>`);
    }
    expect(permissions[0]?.why).toMatch(/commenter's permission/);
    expect(events.find(({ name }) => name === "status")?.why).toMatch(/required check/);
  });

  test("hands the manifest to that GitHub, needs no script, and lets nothing in it be one", () => {
    const html = setupPage(view);
    expect(html).toContain('action="https://ghe.example.com/settings/apps/new?state=s"');
    expect(html).toContain("Create the App on ghe.example.com");
    expect(html).not.toContain("<script");
    expect(html).toContain("acme&quot;&gt;&lt;script&gt;");
    expect(failedPage("<b>", "")).toContain("&lt;b&gt;");
  });

  test("once the App is there it says what is left to do, and no more", () => {
    const made = {
      name: "Coach",
      installUrl: "https://ghe.example.com/apps/coach/installations/new",
      settingsUrl: "https://ghe.example.com/x",
      hasSecret: true,
    };
    expect(madePage(view, made)).not.toMatch(/deliveries are off|webhook secret/);
    const bare = madePage({ ...view, deliveries: undefined }, { ...made, hasSecret: false });
    expect(bare).toMatch(/deliveries are off[\s\S]*made none/i);
  });
});
