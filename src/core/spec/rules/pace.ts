import { formatDuration, parseDuration } from "../../base/time.ts";
import type { Finding } from "../../reasons/problem.ts";
import type { Resource } from "../schema.ts";

type Path = (string | number)[];

/** Bakes longer than this are rather a slip of the pen. */
const LONG_BAKE_MS = 30 * 86_400_000;

/** Deadlines that nothing could meet, sizes that never grow, and bakes that hardly anybody means. */
export function paceIsMeant({ spec }: Resource): Finding[] {
  return [
    ...deadline(spec.seenDeadline, "seenDeadline", ["spec"]),
    ...deadline(spec.waitingDeadline, "waitingDeadline", ["spec"]),
    ...spec.stages.flatMap((stage, i) => {
      const path = ["spec", "stages", i];
      return [
        ...deadline(stage.progressDeadline, "progressDeadline", path),
        ...growth(stage.maxUnavailable, [...path, "maxUnavailable"]),
        ...longBake(stage.bake, [...path, "bake"]),
      ];
    }),
  ];
}

function deadline(given: string, key: "seenDeadline" | "waitingDeadline" | "progressDeadline", path: Path): Finding[] {
  return (parseDuration(given) ?? 1) > 0 ? [] : [{ code: "BAD_DURATION", kind: "Zero", key, given, path: [...path, key] }];
}

function growth(size: Resource["spec"]["stages"][number]["maxUnavailable"], path: Path): Finding[] {
  if (typeof size !== "object") return [];
  const findings: Finding[] = [];
  const { start, factor, max } = size;
  if (factor <= 1) findings.push({ code: "BAD_QUANTITY", kind: "NeverGrows", factor, start, path: [...path, "factor"] });
  if (typeof max === "number" && start > max)
    findings.push({ code: "BAD_QUANTITY", kind: "StartAboveMax", start, max, path: [...path, "start"] });
  return findings;
}

function longBake(value: string, path: Path): Finding[] {
  const ms = parseDuration(value) ?? 0;
  return ms <= LONG_BAKE_MS ? [] : [{ code: "LONG_BAKE", severity: "warning", bake: formatDuration(ms), path }];
}
