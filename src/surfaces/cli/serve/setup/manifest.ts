import { readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from "yaml";
import { WEBHOOK_PATH } from "../../../server/deliveries/server.ts";

/** One permission or event of the App, and why it asks for it, as the comment in app.yml says. */
export interface Asked {
  name: string;
  /** `read` or `write`; of an event nothing. */
  access: string;
  why: string;
}

export interface AppManifest {
  /** As GitHub takes it. */
  json: Record<string, unknown>;
  permissions: Asked[];
  events: Asked[];
}

/** app.yml, with the address of this very server. Without one, deliveries are off until somebody sets it. */
export function manifestFor(publicUrl: string | undefined): AppManifest {
  const document = parseDocument(readFileSync(new URL("../../../../../app.yml", import.meta.url), "utf8"));
  const json = document.toJS() as Record<string, unknown>;
  const hook = json["hook_attributes"] as { url: string };
  const hook_attributes =
    publicUrl === undefined ? { ...hook, active: false } : { url: `${publicUrl.replace(/(?<!\/)\/+$/, "")}${WEBHOOK_PATH}`, active: true };
  return {
    json: { ...json, hook_attributes },
    permissions: permissionsOf(document.get("default_permissions")),
    events: eventsOf(document.get("default_events")),
  };
}

function permissionsOf(node: unknown): Asked[] {
  if (!isMap(node)) return [];
  return node.items.map(({ key, value }, index) => ({
    name: String(key),
    access: String(value),
    why: reason(node, key, index) ?? "",
  }));
}

/** Some share the comment of the one before. */
function eventsOf(node: unknown): Asked[] {
  if (!isSeq(node)) return [];
  let why = "";
  return node.items.map((item, index) => {
    why = reason(node, item, index) ?? why;
    return { name: String(item), access: "", why };
  });
}

/** The comment above a line; that above the first one belongs, to the parser, to the whole. */
function reason(whole: Pick<YAMLMap, "commentBefore">, node: unknown, index: number): string | undefined {
  const own = isScalar(node) ? node.commentBefore : undefined;
  const text = own ?? (index === 0 ? whole.commentBefore : undefined);
  return text?.replace(/\s+/g, " ").trim();
}
