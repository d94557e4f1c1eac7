import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { fleetRollout } from "../../../core/report/model/fleet.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Fleet } from "../../../core/report/model/schema/fleet.ts";
import { parsePagePath } from "../../../core/report/page-places.ts";
import { NoPage, NotThere } from "./nowhere.tsx";
import { RunScreen } from "./run.tsx";
import { TargetScreen } from "./target.tsx";
import { pageText } from "./testing/page-text.ts";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");
const repository = "acme/config";
const run = sampleRun();
const document = runDocument(modelOf(run, NOW), NOW, { repository });

const fleet: Pick<Fleet, "rollouts" | "repositories"> = {
  rollouts: [fleetRollout(repository, run, modelOf(run, NOW), undefined)],
  repositories: [{ repository, attention: [], state: "Read", idle: ["search"], idleCount: 1 }],
};

/** As the page answers an address of which the API knows nothing. */
function answered(address: string): string {
  const place = parsePagePath(address);
  return pageText(place === undefined ? <NoPage address={address} fleet={fleet} /> : <NotThere of={place} fleet={fleet} />);
}

describe("an address that leads nowhere names what is not there, the nearest that is, and a way home", () => {
  test.each([
    ["/r/acme/config/paymnts", "There is no rollout paymnts in acme/config", "Did you mean [</r/acme/config/payments> payments]"],
    ["/r/acme/config/Payments/runs/42", "no rollout Payments in acme/config", "Did you mean [</r/acme/config/payments> payments]"],
    ["/r/acme/confg/payments/runs/42", "no rollout payments in acme/confg", "[</r/acme/config/payments> payments] in acme/config?"],
    ["/r/acme/config/nothing-like-it", "no rollout nothing-like-it", "Those there: [</r/acme/config/payments> payments]"],
    ["/r/acme/config/payments/runs/99", "payments has no run 99", "Its last is [</r/acme/config/payments/runs/42> run 42]"],
    ["/r/acme/config/search/runs/1", "No run of search yet", "Merge a release PR to start one"],
    ["/r/acme/config/payments/rns/1", "There is no such page", "begins like that of [</r/acme/config/payments> payments]"],
    ["/r/acme/config", "There is no such page", "[</?q=acme%2Fconfig> acme/config]"],
    ["/settings", "There is no such page", ""],
  ])("%s", (address, title, way) => {
    const text = answered(address);
    expect(text).toContain(title);
    expect(text).toContain(way);
    expect(text).toContain("[</> All rollouts]");
  });

  test("whoever may see nothing is told no name", () => {
    const place = parsePagePath("/r/acme/config/paymnts");
    if (place === undefined) throw new Error("it is a page");
    expect(pageText(<NotThere of={place} fleet={undefined} />)).not.toContain("payments");
  });

  test("a batch or a target that the run does not have", () => {
    const shown = pageText(<RunScreen of={document} batch={9} open={() => undefined} />);
    expect(shown).toContain("Run 42 has no batch 9: batches 1 to 2 were opened so far.");
    expect(pageText(<RunScreen of={document} batch={2} open={() => undefined} />)).not.toContain("has no batch");
    const target = pageText(<TargetScreen of={document} target="hub/argocd/payments-us1" />);
    expect(target).toContain("Did you mean [</r/acme/config/payments/targets/hub/argocd/payments-us-1>");
  });
});
