import type { Finding } from "../../base/problem.ts";
import { formatDuration, parseDuration } from "../../base/time.ts";
import type { Resource } from "../schema.ts";

type Path = (string | number)[];

/** Bakes longer than this are rather a slip of the pen. */
const LONG_BAKE_MS = 30 * 86_400_000;

/** Deadlines that nothing could meet, sizes that never grow, and bakes that hardly anybody means. */
export function paceIsMeant({ spec }: Resource): Finding[] {
  return [
    ...deadline(spec.seenDeadline, "seenDeadline", "every run would pause at its first look", ["spec"]),
    ...deadline(spec.waitingDeadline, "waitingDeadline", "every run would pause at once where something waits", ["spec"]),
    ...spec.stages.flatMap((stage, i) => {
      const path = ["spec", "stages", i];
      return [
        ...deadline(stage.progressDeadline, "progressDeadline", "every cluster would fail as soon as it is seen", path),
        ...growth(stage.maxUnavailable, [...path, "maxUnavailable"]),
        ...longBake(stage.bake, [...path, "bake"]),
      ];
    }),
  ];
}

function deadline(value: string, name: string, what: string, path: Path): Finding[] {
  if ((parseDuration(value) ?? 1) > 0) return [];
  return [
    { code: "BAD_DURATION", message: `${name} is ${value}: ${what}`, hint: "write more than 0s, such as 15m", path: [...path, name] },
  ];
}

function growth(size: Resource["spec"]["stages"][number]["maxUnavailable"], path: Path): Finding[] {
  if (typeof size !== "object") return [];
  const findings: Finding[] = [];
  const { start, factor, max } = size;
  if (factor <= 1) {
    const hint = `write a factor above 1, such as 2, or maxUnavailable: ${start}`;
    findings.push({ code: "BAD_QUANTITY", message: `a factor of ${factor} never grows`, hint, path: [...path, "factor"] });
  }
  if (typeof max === "number" && start > max) {
    const hint = `write a start of at most ${max}, or raise max`;
    findings.push({ code: "BAD_QUANTITY", message: `start is ${start}, above max, which is ${max}`, hint, path: [...path, "start"] });
  }
  return findings;
}

function longBake(value: string, path: Path): Finding[] {
  const ms = parseDuration(value) ?? 0;
  if (ms <= LONG_BAKE_MS) return [];
  const message = `each batch bakes for ${formatDuration(ms)}, longer than a month`;
  return [{ code: "LONG_BAKE", severity: "warning", message, hint: "check its unit: s, m, h or d", path }];
}
