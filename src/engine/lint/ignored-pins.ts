import { texts } from "../../core/argocd/source-files.ts";
import { isRecord } from "../../core/base/is-record.ts";
import type { Finding } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type Gathered, specOf } from "./gathered.ts";

/** What the set is told to leave alone in live Applications must not be what pins change. */
export function ignoredPins({ set, pinPaths }: Gathered): Finding[] {
  const ignored = specOf(set?.object)?.["ignoreApplicationDifferences"];
  if (set === undefined || pinPaths === undefined || !Array.isArray(ignored)) return [];
  const findings: Finding[] = [];
  for (const entry of ignored.filter(isRecord)) {
    for (const text of [...texts(entry["jsonPointers"]), ...texts(entry["jqPathExpressions"])]) {
      const hit = pinPaths.find((path) => covers(stepsOf(text), stepsOf(path)));
      if (hit === undefined) continue;
      findings.push({ code: "IGNORED_PIN", set: set.file, ignored: text, change: hit, path: ["spec", "pins"] });
    }
  }
  return findings;
}

/**
 * `/spec/source/targetRevision`, `.spec.sources[0].helm` and `spec["source"]` alike, as steps; a place in a list is `*`. Of a jq
 * expression the path before its first filter counts.
 */
function stepsOf(path: string): string[] {
  const pointer = path.startsWith("/");
  const plain = pointer ? path.slice(1) : (path.split("|")[0] ?? "").trim();
  const steps = pointer ? plain.split("/") : plain.replace(/\["?([^\]"]*)"?\]/g, ".$1").split(".");
  return steps
    .map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~").trim())
    .flatMap((step, index) => (step === "" && index === 0 ? [] : [step === "" || /^\d+$/.test(step) ? "*" : step]));
}

/** One lies in the other: what is ignored holds the pin, or is a part of what the pin changes. */
function covers(ignored: readonly string[], pin: readonly string[]): boolean {
  const length = Math.min(ignored.length, pin.length);
  if (length < 2) return false;
  // A path into a list keeps or loses the whole list in a merge patch.
  const cut = ignored.slice(0, length).findIndex((step, index) => step === "*" && pin[index] === "*");
  const until = cut === -1 ? length : cut;
  return ignored.slice(0, until).every((step, index) => step === pin[index]);
}

/** Whether a rollout's pins write an image, by what they are called. */
export function pinsAnImage({ pins }: Pick<Rollout, "pins">): boolean {
  return pins.some(
    (pin) =>
      pin.kind === "value" &&
      ((pin.part !== undefined && pin.part !== "ref") || /(^|[.\]])(image|tag|newTag|newName|digest)$/i.test(pin.path)),
  );
}
