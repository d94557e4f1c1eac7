import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { mail } from "../../src/adapters/notify/mail.ts";
import { openNotifier } from "../../src/adapters/notify/notifier.ts";
import type { Notifier } from "../../src/adapters/notify/port.ts";
import { cloudEventWebhook, slackBot, teams } from "../../src/adapters/notify/post.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { HOOK_SECRET, type Services, SLACK_TOKEN, startServices } from "../support/notify-services.ts";

let journey: Journey | undefined;
let services: Services | undefined;
let directory = "";
let notifier: Notifier | undefined;

afterEach(async () => {
  await journey?.close();
  await services?.close();
  await rm(directory, { recursive: true, force: true });
});

const SETTINGS = `notifications:
  - to: slack
  - to: teams
    events: [needs-you, ended]
  - to: events
  - to: mail
    events: [ended]
  - to: others
`;

/** Whose they are, and where they go. `others` is for another owner. */
function destinations({ url, smtpPort }: Services) {
  const to = (name: string, sender: ReturnType<typeof teams>, repositories = ["*/*"]) => ({ name, repositories, sender });
  const server = { host: "127.0.0.1", port: smtpPort, tls: "none" as const, user: undefined, password: () => undefined };
  return [
    to("slack", slackBot({ api: `${url}/api/`, channel: "C1", token: () => SLACK_TOKEN }, {})),
    to(
      "teams",
      teams(() => `${url}/teams`, {}),
    ),
    to("events", cloudEventWebhook({ url: `${url}/events`, mode: "structured", secret: () => HOOK_SECRET }, {})),
    to("mail", mail({ ...server, from: "bot@example.com", to: ["a@example.com"] }, {})),
    to(
      "others",
      teams(() => `${url}/others`, {}),
      ["other/*"],
    ),
  ];
}

test("a run is told of in Slack, Teams, CloudEvents and e-mail, each event once, over a restart in its midst", async () => {
  const run = await startServices();
  services = run;
  directory = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
  journey = await startJourney({
    files: (files) => {
      short()(files);
      files.set(".github/stagecoach.yaml", `${files.get(".github/stagecoach.yaml") ?? ""}\n${SETTINGS}`);
    },
    gates: ({ clock }) => {
      notifier = openNotifier({ destinations: destinations(run), directory, clock, log: silentLog });
      return { notifier };
    },
  });
  await journey.release();
  await journey.until("the first batch is merged", (one) => one.batches[0]?.merged !== undefined);
  await journey.stop();
  await journey.start();
  const last = await journey.until("it ends", ended);
  await until(journey, () => run.mails.length > 0 && run.hooks.filter(({ path }) => path === "/teams").length > 0);
  expect(last.phase).toBe("Succeeded");
  expect(run.problems).toEqual([]);
  const events = run.hooks.filter(({ path }) => path === "/events").map(({ body }) => body as { id: string; type: string });
  expect(events.map(({ type }) => type)).toEqual(["dev.stagecoach.run.started.v1", "dev.stagecoach.ended.v1"]);
  const [root, reply, ...more] = run.slack.values();
  expect(root?.text).toContain("Succeeded");
  expect([reply?.thread_ts, more]).toEqual([root?.ts, []]);
  expect(run.hooks.filter(({ path }) => path === "/teams")).toHaveLength(1);
  expect(run.hooks.filter(({ path }) => path === "/others")).toEqual([]);
  expect(run.mails).toHaveLength(1);
});

/** Time passes while nobody works. */
async function until({ world }: Journey, holds: () => boolean): Promise<void> {
  for (let n = 0; n < 500 && !holds(); n++) {
    await notifier?.settled();
    await new Promise<void>((resolve) => void world.clock.after(1000, resolve));
  }
}
