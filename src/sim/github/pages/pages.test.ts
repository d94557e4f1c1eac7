import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { idleMs } from "../../../../test/support/cpu-time.ts";
import { samplePlan } from "../../../../test/support/sample-run.ts";
import { planChart } from "../../../core/report/plan/plan-chart.ts";
import { type TestGitHub, testGitHub } from "../testing/setup.ts";
import { ageWords } from "./frame.ts";
import { markdown } from "./markdown.ts";

const place = { repository: "/acme/config", folder: "main/docs", isLogin: (login: string) => login === "wim" };
const drawn = (text: string) => String(markdown(text, place));

describe("Markdown of strangers", () => {
  test.each([
    ["a script", "<script>alert(1)</script>", /<script/],
    ["a handler", '<img src=x onerror="alert(1)">', /onerror|<img/],
    ["a script's address", "[x](javascript:alert(1)) <a href='javascript:alert(1)'>y</a>", /javascript:/],
    ["data as a page", "[x](data:text/html,<script>1</script>)", /data:|<script/],
    ["a form", "<form action='/acme/config/pull/1/comment' method=post><button name=offer value=/abort>x</button></form>", /<form|<button/],
    ["a style", "<style>body{display:none}</style><p style='position:fixed'>x</p>", /<style|style=/],
    ["an id of the page", "<div id=offers data-live>x</div>", /id="offers"|data-live/],
    ["a frame", "<iframe src=//evil.example></iframe><object data=x></object><base href=//evil.example>", /<iframe|<object|<base/],
    ["a picture from elsewhere", "![spy](https://evil.example/a.png)", /<img/],
    ["a class of ours", "<div class='offers waits'>x</div>", /class=/],
    ["what is never closed", "<details><summary>x</summary><b>bold", /^(?!.*<\/b>.*<\/details>)/s],
    ["what closes the page", "</div></article></main><h1>mine</h1>", /<\/(?:div|article|main)>/],
    ["a chart that is none", '```mermaid\nflowchart LR\n s0["<script>alert(1)</script>"]\n click s0 href "javascript:1"\n```', /<script/],
  ])("cannot bring in %s", (_, text, never) => {
    expect(drawn(text)).not.toMatch(never);
  });

  test("is drawn within a moment, however deep it is", () => {
    const ms = idleMs(() => {
      for (const text of ["> ".repeat(30_000), "- ".repeat(30_000), "[".repeat(60_000), "<b>".repeat(20_000), "*a_".repeat(20_000)])
        drawn(text);
    });
    expect(ms).toBeLessThan(20_000);
  });

  test("is otherwise what GitHub shows: tables, folds, tasks, and names that lead somewhere", () => {
    const text =
      "| a | b |\n| - | - |\n| 1 | `2` |\n\n<details><summary>More</summary>\n\n- [x] done\n\n</details>\n\n#12, @wim, @nobody, [a](../b.md)";
    const html = drawn(text);
    for (const part of ["<table>", "<summary>More</summary>", 'type="checkbox"', 'href="/acme/config/issues/12"', 'href="/wim"'])
      expect(html).toContain(part);
    expect(html).toContain('href="/acme/config/blob/main/b.md"');
    expect(html).not.toContain('href="/nobody"');
  });

  test("draws an alert as a box with its title", () => {
    expect(drawn("> [!WARNING]\n> Your *turn*")).toMatch(
      /^<div class="alert warning"><strong>Warning<\/strong><p>Your <em>turn<\/em><\/p>/,
    );
    expect(drawn("> [!EVIL]\n> x")).toMatch(/^<blockquote>/);
  });

  test("draws the bot's own chart as boxes, in the order of the stages", () => {
    const plan = samplePlan();
    const html = drawn(
      planChart(
        plan,
        plan.stages.map(() => ["bake 2m"]),
      ),
    );
    expect(html).toMatch(/^<ol class="chart"><li class="box"><b>/);
    expect(html.match(/class="box"/g)).toHaveLength(plan.stages.length);
    expect(html).toContain('<li class="arrow"><span>bake 2m</span></li>');
  });
});

test("ages are words a person says", () => {
  expect([0, 1000, 59_000, 60_000, 7_200_000, 200_000_000].map(ageWords)).toEqual([
    "0 seconds ago",
    "1 second ago",
    "59 seconds ago",
    "1 minute ago",
    "2 hours ago",
    "2 days ago",
  ]);
});

describe("the pages", () => {
  let world: TestGitHub;
  let pull: number;

  beforeEach(async () => {
    const offers = () => ({ title: "Your turn", waits: true, comments: [{ body: "/promote", effect: "goes on" }] });
    world = await testGitHub({ visitor: { login: "wim", offers } });
    await world.branch("topic", { "apps/a.yaml": "one: 2\n" });
    pull = await world.sim
      .actAs("wim")
      .openPull(world.repository, { head: "topic", title: "<b>Bold</b> \u001b[31mred", body: "Look at `apps/a.yaml`." });
  });
  afterEach(() => world.sim.close());

  interface Asked {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
  }
  const TEXT = "text/html,application/xhtml+xml";

  function ask(path: string, { method = "GET", headers = {}, body = "" }: Asked = {}) {
    return new Promise<{ status: number; type: string; text: string; headers: Record<string, unknown> }>((resolve, reject) => {
      const url = new URL(path, world.sim.url);
      const sent = request(url, { method, headers: { accept: TEXT, ...headers } }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, type: answer.headers["content-type"] ?? "", text, headers: answer.headers }),
        );
      });
      sent.on("error", reject).end(body);
    });
  }

  const tokenIn = (text: string) => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Asked => ({
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: String(new URLSearchParams(fields)),
  });
  const comments = async () =>
    (await world.octokit("wim").rest.issues.listComments({ ...world.place, issue_number: pull })).data.map((one) => one.body);

  test("stand at every address that the API calls html_url, and programs get what they got", async () => {
    const { place, octokit, head } = world;
    const rest = octokit("wim").rest;
    const check = await world
      .appOctokit()
      .rest.checks.create({ ...place, name: "a check", head_sha: head, output: { title: "t", summary: "*s*" } });
    const issue = await rest.issues.create({ ...place, title: "An issue" });
    const comment = await rest.issues.createComment({ ...place, issue_number: pull, body: "hello" });
    const commit = await rest.repos.getCommit({ ...place, ref: "topic" });
    const file = await rest.repos.getContent({ ...place, path: "apps/a.yaml", ref: "topic" });
    const shown = [
      `${world.sim.url}/`,
      ...[check, issue, comment, commit, file].map(({ data }) => (data as { html_url: string }).html_url),
      (await rest.pulls.get({ ...place, pull_number: pull })).data.html_url,
      (await rest.repos.get(place)).data.html_url,
      (await rest.users.getAuthenticated()).data.html_url,
      (await world.appOctokit().rest.apps.getBySlug({ app_slug: world.sim.app.slug })).data?.html_url ?? "",
      ...["/pulls", "/issues", "/branches", "/commits/main", "/tree/main/apps", "/compare/main...topic"].map((to) => `/acme/config${to}`),
      ...["", "/commits", "/files", "/checks"].map((to) => `/acme/config/pull/${pull}${to}`),
    ];
    for (const url of shown) {
      const { status, type, headers } = await ask(url);
      expect([url, status, type]).toEqual([url, 200, "text/html; charset=utf-8"]);
      expect(String(headers["content-security-policy"])).toContain("default-src 'none'; script-src 'self'");
    }
    expect((await ask(`/acme/config/pull/${pull}`, { headers: { accept: "*/*" } })).type).toContain("application/json");
    expect(await ask("/acme/config/pull/999")).toMatchObject({ status: 404, type: "text/html; charset=utf-8" });
  });

  test("a title is text, whatever stands in it", async () => {
    const { text } = await ask(`/acme/config/pull/${pull}`);
    expect(text).toContain("&lt;b&gt;Bold&lt;/b&gt;");
    expect(text).not.toContain("<b>Bold");
  });

  test("a comment of the box is the visitor's, and a button is a comment", async () => {
    const token = tokenIn((await ask(`/acme/config/pull/${pull}`)).text);
    const posted = await ask(`/acme/config/pull/${pull}/comment`, form({ token, body: "first\r\nsecond" }, { origin: world.sim.url }));
    expect(posted).toMatchObject({
      status: 303,
      headers: { location: expect.stringMatching(/^\/acme\/config\/pull\/\d+#issuecomment-\d+$/) as string },
    });
    await ask(`/acme/config/pull/${pull}/comment`, form({ token, offer: "/promote" }));
    expect(await comments()).toEqual(["first\nsecond", "/promote"]);
  });

  test("no other page, host or program comments in the visitor's name", async () => {
    const path = `/acme/config/pull/${pull}/comment`;
    const { host } = new URL(world.sim.url);
    const token = tokenIn((await ask(`/acme/config/pull/${pull}`)).text);
    const attempts = [
      form({ body: "/abort" }),
      form({ token: "x".repeat(token.length), body: "/abort" }),
      form({ token, body: "/abort" }, { origin: "http://evil.example" }),
      form({ token, body: "/abort" }, { origin: "null" }),
      form({ token, body: "/abort" }, { "sec-fetch-site": "cross-site" }),
      form({ token, body: "/abort" }, { host: "evil.example" }),
      form({ token, body: "/abort" }, { host: `127.0.0.1.evil.example:${host.split(":")[1]}` }),
      form({ token, body: "/abort" }, { "content-type": "text/plain" }),
    ];
    for (const attempt of attempts) expect((await ask(path, attempt)).status).toBe(403);
    // A name of somebody else's that leads here gets no token either.
    expect((await ask(`/acme/config/pull/${pull}`, { headers: { host: "evil.example" } })).text).not.toContain('name="token"');
    expect((await ask(path, form({ token, body: " " }))).status).toBe(422);
    expect((await ask(path, form({ token, body: "x".repeat(900_000) }))).status).toBe(413);
    expect(await comments()).toEqual([]);
  });

  test("the visitor merges with a button, where they may and the rules of the branch let them", async () => {
    const page = `/acme/config/pull/${pull}`;
    const merge = (token: string) => ask(`${page}/comment`, form({ token, merge: "merge" }));
    const isOpen = async () => (await ask(page)).text.includes('class="state open"');
    const token = tokenIn((await ask(page)).text);
    expect((await ask(page)).text).toContain('name="merge"');
    for (const attempt of [form({ merge: "merge" }), form({ token, merge: "merge" }, { origin: "http://evil.example" })])
      expect((await ask(`${page}/comment`, attempt)).status).toBe(403);
    world.sim.collaborator(world.repository, "wim", "read");
    expect((await ask(page)).text).not.toContain('name="merge"');
    expect((await merge(token)).status).toBe(403);
    world.sim.collaborator(world.repository, "wim", "write");
    expect(await isOpen()).toBe(true);
    expect(await merge(token)).toMatchObject({ status: 303, headers: { location: page } });
    const { text } = await ask(page);
    expect(text).toMatch(/wim<\/a> merged it as/);
    expect(text).not.toContain('name="merge"');
    expect((await merge(token)).status).toBe(403);
  });

  test("a private repository is shown to nobody who may not read it", async () => {
    world.sim.settings(world.repository, { private: true });
    expect((await ask(`/acme/config/pull/${pull}`)).status).toBe(200);
    world.sim.collaborator(world.repository, "wim", "none");
    for (const path of ["/acme/config", `/acme/config/pull/${pull}`, "/acme/config/raw/main/README.md"]) {
      const { status, text } = await ask(path);
      expect([status, text.includes("Bold")]).toEqual([404, false]);
    }
    expect((await ask("/")).text).not.toContain("acme/config");
  });
});
