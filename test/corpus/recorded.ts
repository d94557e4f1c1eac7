import { existsSync, readFileSync } from "node:fs";

/** What a real Argo CD 3.5.1 wrote, event by event, and what was done to it meanwhile. */
const RECORDED = new URL("../../../shared/data/argocd/recorded/", import.meta.url);

export const isRecordedHere = existsSync(RECORDED);

export interface RecordedEvent {
  at: string;
  kind: "applications" | "applicationsets" | "note";
  type: string;
  object: { metadata: { name: string; resourceVersion: string }; spec: Record<string, unknown>; status?: Record<string, unknown> };
}

export function recorded(name: string): RecordedEvent[] {
  const lines = readFileSync(new URL(`${name}-3.5.1.jsonl`, RECORDED), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedEvent);
}

export function eventsOf(events: readonly RecordedEvent[], application: string): RecordedEvent[] {
  return events.filter(({ kind, type, object }) => kind === "applications" && type !== "DELETED" && object.metadata.name === application);
}
