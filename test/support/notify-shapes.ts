/** What services take, as they publish it: Adaptive Cards and CloudEvents by their schemas, Slack by the limits of its documentation. */
import { readFileSync } from "node:fs";
import type { KnownBlock } from "@slack/types";
import { Ajv } from "ajv";
import formats from "ajv-formats";

const slices = JSON.parse(readFileSync(new URL("../schemas/notify.generated.json", import.meta.url), "utf8")) as Record<string, object>;

function checker(name: string): (value: unknown) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  const check = ajv.compile(slices[name] ?? {});
  return (value) => (check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`));
}

const cardProblems = checker("adaptiveCard");
export const cloudEventProblems = checker("cloudEvent");

/** The envelope of a Workflow's webhook, its one card, and Teams' limit of a message. */
export function teamsProblems(body: unknown): string[] {
  const { type, attachments } = body as { type?: unknown; attachments?: { contentType?: unknown; content?: { version?: unknown } }[] };
  const [card] = attachments ?? [];
  return [
    ...(type === "message" ? [] : ["no message"]),
    ...(attachments?.length === 1 ? [] : ["not one card"]),
    ...(card?.contentType === "application/vnd.microsoft.card.adaptive" ? [] : ["no Adaptive Card"]),
    ...(card?.content?.version === "1.4" ? [] : ["another version"]),
    ...(Buffer.byteLength(JSON.stringify(body)) > 28 * 1024 ? ["more than 28 KB"] : []),
    ...cardProblems(card?.content),
  ];
}

/** docs.slack.dev: at most 50 blocks; a header of 150 characters, a section of 3000, ten elements of a context; a text of 40,000. */
export function slackProblems(message: { text: string; blocks: KnownBlock[] }): string[] {
  const { text, blocks } = message;
  const lengths = blocks.flatMap((block): [number, number][] => {
    if (block.type === "header") return [[block.text.text.length, 150]];
    if (block.type === "section") return [[block.text?.text.length ?? 0, 3000]];
    if (block.type === "context") return [[block.elements.length, 10]];
    return [];
  });
  return [
    ...(text === "" || text.length > 40_000 ? ["text"] : []),
    ...(blocks.length === 0 || blocks.length > 50 ? ["blocks"] : []),
    ...lengths.flatMap(([is, most]) => (is === 0 || is > most ? [`${is} of ${most}`] : [])),
  ];
}
