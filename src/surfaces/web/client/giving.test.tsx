import { expect, test } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { SITUATIONS } from "../../../core/report/testing/situations.ts";
import { type Acting, ActingContext } from "./acting.ts";
import { Actions } from "./actions.tsx";
import { Progress } from "./giving.tsx";
import { pageText } from "./testing/page-text.ts";

const AT = "2026-11-21T09:00:00.000Z";
const retried = { comment: "7", text: "/retry", by: "@alice", at: AT, state: "Done" as const, says: "Stagecoach looks again at c3" };
const reason = { code: "SAID" };

function shown(run: Partial<Acting["run"]>): string {
  const acting = { base: "", repository: "acme/config", me: { signIn: false }, run: { says: "", commands: [retried], ...run } };
  return pageText(
    <ActingContext.Provider value={acting as never}>
      <Progress sent={{ kind: "written", comment: "7", url: "https://github.example/1" }} close={() => undefined} />
    </ActingContext.Provider>,
  );
}

test("a /retry that failed again is told as that, with what to press now; one that helped, and a pause of somebody's, are not", () => {
  const pause = { reason, says: "", kind: "Failure", at: "2026-11-21T09:01:00.000Z", tried: { text: "/retry", by: "alice" } };
  const again = shown({ says: "c3 failed", pause, ask: { reason, says: "/skip c3 leaves it out" } });
  expect(again).toMatch(/Done: Stagecoach looks again at c3\s+It failed again: c3 failed\s+Now: \/skip c3 leaves it out/);
  expect(shown({})).not.toMatch(/again:|Now/);
  expect(shown({ pause: { ...pause, at: "2026-11-21T08:59:00.000Z" } })).not.toMatch(/again:|Now/);
  expect(shown({ pause: { ...pause, kind: "Command" } })).not.toMatch(/again:|Now/);
  expect(shown({ says: "c4 failed", pause: { ...pause, tried: undefined } })).toContain("Since then the run has paused: c4 failed");
});

test("an approval that is waited for is pressed by whoever may give it; who released it reads why they may not", () => {
  const waits = SITUATIONS["waiting for approval"];
  if (waits === undefined) throw new Error("there is such a situation");
  const { run, now } = waits();
  const document = runDocument(modelOf(run, now), now, { repository: "acme/config" });
  const seenBy = (login: string) => {
    const acting = { base: "", repository: "acme/config", run: document, me: { signIn: false, login, permission: "admin" } };
    return pageText(
      <ActingContext.Provider value={acting as never}>
        <Actions of={document.actions} pull={undefined} asks />
      </ActingContext.Provider>,
    );
  };
  const [{ login } = { login: "" }] = document.actions.find(({ verb }) => verb === "promote")?.notBy ?? [];
  expect(login).toBe(run.trigger.author);
  expect(seenBy(login.toUpperCase())).toContain(`@${login} released it, and somebody else has to approve`);
  expect(seenBy(login)).not.toContain("Approve stage");
  expect(seenBy("somebody-else")).toMatch(/\[\/promote\] +Approve stage/);
  // Approved already, and held by something else: whoever released it may end that wait.
  const batches = run.batches.map((batch) => ({ ...batch, why: said("its checks run") }));
  expect(modelOf({ ...run, batches }, now).actions.find(({ verb }) => verb === "promote")).not.toHaveProperty("notBy");
});
