import { randomBytes } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../../src/core/run/state/run.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

if (chromiumPath === undefined) console.log("skipped: acting from the page (no Chromium on this machine)");

const SICK = "eu-central-1-a";

describe.skipIf(chromiumPath === undefined)("acting from the page", () => {
  let browser: Browser;
  let journey: Journey | undefined;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    await journey?.close();
    journey = undefined;
  });

  /** In a browser of their own; gives the page of the run. */
  async function signIn({ world, bot }: Journey, login: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    world.github.signIn(login);
    await page.goto(`${bot.insideUrl}/r/${world.repository}/my-app`);
    await authorize(page, login);
    return page;
  }
  async function authorize(page: Page, login: string): Promise<void> {
    await page.click(".sign-in a:has-text('Sign in with GitHub')");
    await page.click("#authorize");
    await page.waitForSelector(`.who:has-text('Signed in as @${login}')`);
  }

  /** Presses it and confirms. */
  async function press(page: Page, command: string, confirm: string): Promise<void> {
    await page.locator(`.slot .actions button:text-is("${command}")`).click();
    await page.locator(`dialog button:text-is("${confirm}")`).click();
  }
  /** Presses it, confirms, sees it done. */
  async function confirm(page: Page, command: string): Promise<void> {
    await page.locator(`.slot .actions button:text-is("${command}")`).click();
    await page.waitForSelector("dialog form");
    // What she sees may be a moment behind: asked to look again, she does.
    for (let tries = 0; tries < 3 && (await page.locator("dialog form").count()) > 0; tries++) {
      await page.locator("dialog form button.main").click();
      await page.waitForSelector("dialog .given .t-good, dialog button:text-is('Look again')");
    }
    await page.waitForSelector("dialog .given .t-good");
    await close(page);
  }
  const close = (page: Page) => page.locator("dialog button:has-text('Close')").click();
  const dialog = (page: Page) => page.locator("dialog").innerText();

  test("a person promotes, is told that a failure moved, tries again, pauses and goes on, and sees each done", async () => {
    journey = await startJourney({
      files: short({ spec: "delivery: { merge: Manual }" }),
      faults: [{ cluster: SICK, kind: "degraded" }],
      bot: ({ github: { app } }) => ({ login: { ...app, keys: [{ id: "a", secret: randomBytes(32) }], lastsMs: 3_600_000 } }),
    });
    const { world, until } = journey;
    world.github.setCallbackUrls(`${journey.bot.insideUrl}/login/callback`);
    const release = await journey.release();
    await until("it waits for a person", ({ batches }) => batches.some(({ phase }) => phase === "Open"));
    const page = await signIn(journey, "alice");
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(`${journey.bot.insideUrl}/r/${world.repository}/my-app/runs/1`);

    // What will happen, by whom: written, read, done.
    await page.locator(".slot .actions button:text-is('/promote')").click();
    await page.waitForSelector("dialog form");
    expect(await dialog(page)).toMatch(
      /lets Stagecoach merge #\d+ .*once GitHub allows it\.[\s\S]*@alice comments on #\d+: \/promote --rollout my-app/i,
    );
    await page.locator("dialog input").fill("looks good @acme/everybody");
    await page.locator("dialog button.main").click();
    await page.waitForSelector("dialog .given .t-good");
    expect(await dialog(page)).toMatch(/Written as your comment[\s\S]*Read by Stagecoach[\s\S]*Done: /);
    await close(page);
    // Why, in the journal, a click away.
    await page.locator(".title a:has-text('who did what')").click();
    await page.waitForSelector(".timeline :text('--reason looks good')");

    // The run stops at a failure. What somebody else does while one reads is not passed over.
    await until("it is paused", ({ phase }) => phase === "Paused");
    await page.locator(".slot .actions button:text-is('/retry')").click();
    await page.waitForSelector("dialog form");
    world.github.collaborator(world.repository, "bob", "write");
    world.github.actAs("bob").comment(world.repository, release, "/pause wait for me");
    await until("bob has paused it besides", ({ paused }) => paused?.held !== undefined);
    await page.waitForSelector("dialog button:text-is('Look again')");
    expect(await dialog(page)).toMatch(/Nothing was written, for it has moved since you looked\. Now: .*bob/s);
    world.argocd.setFault(SICK, null);
    await page.locator("dialog button:text-is('Look again')").click();
    await page.locator(`dialog button:text-is("Look at ${SICK} again")`).click();
    await page.waitForSelector("dialog .given .t-good");
    await close(page);

    // The session ends while one reads: nothing is written, and who signs in again is back where they were.
    await page.locator(".slot .actions button:text-is('/resume')").click();
    await page.waitForSelector("dialog form");
    world.github.revokeGrant("alice");
    await page.locator('dialog button:text-is("Go on")').click();
    await page.waitForSelector("dialog .t-warn:has-text('nobody is signed in any more')");
    world.github.signIn("alice");
    await page.reload();
    await page.waitForSelector("h2:has-text('Your session has ended')");
    await authorize(page, "alice");
    expect(new URL(page.url()).pathname).toBe(`/r/${world.repository}/my-app/runs/1`);
    expect(journey.run()?.phase).toBe("Paused");

    await press(page, "/resume", "Go on");
    await page.waitForSelector("dialog .given .t-good, dialog .given .t-bad");
    expect(await dialog(page)).toMatch(/Done: /);
    await close(page);

    // The next batch fails too. She may not take it all back, carol may; and alice's page tells of that to the end.
    world.argocd.setFault("us-east-1-a", { kind: "degraded" });
    await until("the next one waits for a person", ({ batches }) => batches[1]?.phase === "Open");
    await confirm(page, "/pause");
    await page.waitForSelector(".slot .actions button:text-is('/resume')");
    expect([journey.run()?.phase, journey.run()?.paused?.kind]).toEqual(["Paused", "Command"]);
    await confirm(page, "/resume");
    await confirm(page, "/promote");
    await until("it is paused again", ({ phase }) => phase === "Paused");
    world.argocd.setFault("us-east-1-a", null);
    await page.locator(".slot .actions button:text-is('/rollback')").click();
    await page.waitForSelector("dialog :text('needs maintain permission on the repository; @alice has write')");
    await close(page);
    const carols = await signIn(journey, "carol");
    await confirm(carols, "/rollback");
    for (;;) {
      const back = await until("it waits for a person, or is taken back", (run) => run.number === 2 && (ended(run) || isOpen(run)));
      if (ended(back)) break;
      await confirm(carols, "/promote");
      await until("that one is merged", (run) => ended(run) || !isOpen(run));
    }
    await page.waitForSelector(".title:has-text('Rolled back')");
    await carols.waitForSelector(".title:has-text('Rolled back')");
    expect(journey.versions().get(SICK)).toBe("v1.4.1");
    expect(errors).toEqual([]);
    expect(journey.errors).toEqual([]);
    await page.close();
  });
});

const isOpen = ({ batches }: Run) => batches.some(({ phase }) => phase === "Open");
