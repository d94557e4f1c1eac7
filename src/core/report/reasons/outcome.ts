import { count } from "../../base/count.ts";
import type { OutcomeReasons } from "../../reasons/outcome.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { analysisPhrase, hookPhrase } from "./phrases.ts";

/** How a run came out. */
export const OUTCOME: Entries<OutcomeReasons> = entriesOf<OutcomeReasons>()({
  RUN_THROUGH: {
    subject: "run",
    says: ({ phase, checks, failed, skipped, quarantined }, names) => {
      const parts = [phase === "RolledBack" ? "every <cluster> that could be put back is back" : "every stage is done"];
      const gates = checks.slice(0, 5).map((check) => ("host" in check ? hookPhrase(check) : analysisPhrase(check, names)));
      if (gates.length > 0) parts.push(`failed: ${gates.join("; ")}`);
      if (failed.length > 0) parts.push(`${phase === "Failed" ? "failed" : "failed, which the stages allow"}: ${names.clusters(failed)}`);
      if (skipped.length > 0) parts.push(`left out: ${names.clusters(skipped)}`);
      if (quarantined.length > 0) parts.push(`still in quarantine: ${names.clusters(quarantined)}`);
      return parts.join("; ");
    },
  },
  RUN_ENDED: {
    subject: "run",
    says: ({ phase, because }, names) => `${phase === "RolledBack" ? "rolled back" : phase.toLowerCase()}: ${names.because(because)}`,
  },
  TOO_MANY_FAILED: {
    subject: "run",
    actions: ["retry", "skip", "resume", "abort"],
    says: ({ clusters, most, because }, names) =>
      `${names.clusters(clusters)} failed, and the stage allows ${most === 0 ? "no failure" : count(most, "failure")}: ${names.because(because)}`,
  },
  WAITED_TOO_LONG: { subject: "cluster", actions: ["resume", "skip", "abort"], says: "{cluster} has waited {forMs}: {because}" },
  RUN_ROLLED_BACK: { subject: "run", says: "{because}; Stagecoach rolls it back" },
  ROLLBACK_IMPOSSIBLE: {
    subject: "run",
    actions: ["retry", "resume", "abort"],
    says: "{because}; Stagecoach cannot roll it back: {cannot}",
  },

  ROLLBACK_OF_BRANCHES: {
    subject: "run",
    says: "its pins are branches or tags, which go back to where they were: leave --to out, or release that version",
  },
  ROLLBACK_OF_NOTHING: {
    subject: "run",
    says: ({ moved }) => (moved ? "none of the <clusters> that it updated can be put back" : "it has updated no <cluster>"),
  },
  ROLLBACK_VALUE: {
    subject: "run",
    actions: ["rollback"],
    says: ({ given, known, near }) =>
      `the release has the values ${known.join(", ")}, and "--to ${given}" names none of them${near === undefined ? "" : ` (did you mean ${near}?)`}: write \`/rollback --to ${near ?? known[0] ?? ""}=VERSION\`, several with commas between them; all others go back to what they were`,
  },
  PIN_NOT_PLAIN: {
    subject: "file",
    says: "its pin {file} {path} does not hold the plain version of one target, so --to cannot be written there",
  },
  PIN_MADE_BY_RUN: {
    subject: "file",
    says: ({ file, path, changed }) =>
      changed === true
        ? `this run made its pin ${file} ${path}, and somebody has changed what stands around it since: Stagecoach leaves it to be removed by hand`
        : `this run made its pin ${file} ${path}, and what stood there before cannot be told: remove it by hand`,
  },

  ASK_FAILED: {
    actions: ["retry", "requeue", "skip", "resume", "abort"],
    says: ({ cluster, last }, names) => {
      const name = names.cluster(cluster);
      const put = last === true ? `\`/requeue ${name}\` puts it back and tries it last, ` : "";
      return `\`/retry\` looks again, ${put}\`/skip ${name}\` leaves it out, \`/resume\` accepts it as failed (needs maintain), \`/abort\` ends the run`;
    },
  },
  ASK_WAITED: {
    actions: ["resume", "skip", "abort"],
    says: "`/resume` keeps waiting, `/skip {cluster}` leaves it out, `/abort` ends the run",
  },
  WAY_BACK: {
    actions: ["rollback"],
    says: ({ clusters, branches }) =>
      `\`/rollback\` (needs maintain) puts ${count(clusters, "<cluster>")} back to what ${clusters === 1 ? "it" : "each"} had, ${branches === true ? "" : "by pull requests "}in reverse order`,
  },
  ASK_ACCEPT_FAILURES: {
    actions: ["retry", "resume", "abort"],
    says: "`/retry` looks again, `/resume` accepts the failures (needs maintain), `/abort` ends the run",
  },
});
