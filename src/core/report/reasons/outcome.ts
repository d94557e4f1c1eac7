import type { OutcomeReasons } from "../../reasons/outcome.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { analysisPhrase, hookPhrase } from "./phrases.ts";

/** How a run came out. */
export const OUTCOME: Entries<OutcomeReasons> = entriesOf<OutcomeReasons>()({
  RUN_THROUGH: {
    subject: "run",
    says: ({ phase, checks, failed, skipped, quarantined }, names) => {
      const parts = [phase === "RolledBack" ? "every cluster that could be put back is" : "every stage is done"];
      const gates = checks.slice(0, 5).map((check) => ("host" in check ? hookPhrase(check) : analysisPhrase(check, names)));
      if (gates.length > 0) parts.push(`failed: ${gates.join("; ")}`);
      if (failed.length > 0) parts.push(`${phase === "Failed" ? "failed" : "tolerated as failed"}: ${names.clusters(failed)}`);
      if (skipped.length > 0) parts.push(`left out: ${names.clusters(skipped)}`);
      if (quarantined.length > 0) parts.push(`still in quarantine: ${names.clusters(quarantined)}`);
      return parts.join("; ");
    },
  },
  RUN_ENDED: {
    subject: "run",
    says: ({ phase, because }, names) =>
      `${{ Succeeded: "succeeded", RolledBack: "rolled back", Failed: "failed" }[phase]}: ${names.because(because)}`,
  },
});
