import { describe, expect, test } from "vitest";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import type { ContentQuestion } from "../port.ts";
import { NOW, rawApplication } from "../testing/application.ts";
import { WireError } from "../wire/http.ts";
import type { ArgoClient, Query } from "./client.ts";
import { contentOf } from "./content.ts";

const image = (tag: string) => JSON.stringify({ kind: "Deployment", spec: { containers: [{ image: `ghcr.io/acme/web:${tag}` }] } });
const config = (text: string) => JSON.stringify({ kind: "ConfigMap", data: { text } });
const view = decodeApplication(rawApplication(), NOW) as ApplicationView;
const SEEN = "c".repeat(40);
const BEFORE = "b".repeat(40);

interface World {
  live?: string[];
  target?: string[];
  rendered?: Record<string, string[]>;
  error?: Error;
}

/** What comes of the question, and what was asked for it. */
async function asked(world: World, over: Partial<ContentQuestion> = {}, of = view) {
  const { live = [], target = live, rendered = {}, error } = world;
  const calls: string[] = [];
  const queries: Query[] = [];
  const client: Partial<ArgoClient> = {
    async get(path, query = {}) {
      calls.push(path.replace(/.*\//, ""));
      queries.push(query);
      if (error !== undefined) throw error;
      if (path.endsWith("/manifests")) return { manifests: rendered[String(query["revision"])] ?? [] };
      return { items: live.map((liveState, index) => ({ liveState, targetState: target[index] ?? "null" })) };
    },
  };
  const values = [{ from: "v1.4.1", to: "v1.4.2" }];
  const outcome = await contentOf(client as ArgoClient, of, { values, seen: [SEEN], before: [BEFORE], thorough: false, ...over });
  return { outcome: outcome.kind === "done" ? outcome.proof : outcome, calls, queries };
}

describe("what an Application's objects show of a change", () => {
  test("live objects that hold the new value are one call", async () => {
    expect(await asked({ live: [image("v1.4.2")] })).toMatchObject({ outcome: "shown", calls: ["managed-resources"] });
  });

  test("one that should be new and is not live is not live", async () => {
    const ignored = { live: [image("v1.4.1")], target: [image("v1.4.2")] };
    expect(await asked(ignored)).toMatchObject({ outcome: "notLive", calls: ["managed-resources"] });
  });

  test("manifests of before that bear the new revision's name are found, where the old value is there yet", async () => {
    const old = [image("v1.4.1")];
    const renamed = await asked({ live: old, rendered: { [SEEN]: old, [BEFORE]: old } });
    expect(renamed).toMatchObject({ outcome: "same", calls: ["managed-resources", "manifests", "manifests"] });
    const anew = await asked({ live: old, rendered: { [SEEN]: [image("v1.4.2")], [BEFORE]: old } });
    expect(anew.outcome).toBe("notLive");
    // Another component may well stay at what this pin was set from.
    const other = await asked({
      live: old,
      rendered: { [SEEN]: [image("v1.4.1"), config("on")], [BEFORE]: [image("v1.4.1"), config("off")] },
    });
    expect(other.outcome).toBe("differs");
  });

  test("where nothing can be told it is one call, unless more are wanted", async () => {
    const flag = { values: [{ from: "off", to: "on" }] };
    const rendered = { [SEEN]: [config("on")], [BEFORE]: [config("off")] };
    expect(await asked({ live: [config("on")], rendered }, flag)).toMatchObject({ outcome: "unknown", calls: ["managed-resources"] });
    expect((await asked({ live: [config("on")], rendered }, { ...flag, thorough: true })).outcome).toBe("differs");
    expect((await asked({ live: [config("on")], rendered }, { ...flag, thorough: true, before: undefined })).outcome).toBe("unknown");
  });

  test("of several sources each is asked for at its own revision", async () => {
    const source = (repoURL: string) => ({ repoURL, path: "." });
    const spec = { ...view.spec, multiSource: true, sources: [source("https://a"), source("https://b")] };
    const thorough = { thorough: true, seen: [SEEN, "v2"], before: [BEFORE, ""] };
    const { queries } = await asked({}, thorough, { ...view, spec });
    expect(queries.slice(1)).toMatchObject([
      { revisions: [SEEN, "v2"], sourcePositions: ["1", "2"] },
      { revisions: [BEFORE], sourcePositions: ["1"] },
    ]);
  });

  test.each([401, 403, 404, 405, 501])("HTTP %i is an answer for good", async (status) => {
    const { outcome } = await asked({ error: new WireError(status, reason("PROGRAM_SAYS", { message: "no" })) });
    expect(outcome).toMatchObject({ kind: "failed", refused: true });
  });

  test.each([500, 502, 0])("HTTP %i may be another the next time", async (status) => {
    const { outcome } = await asked({ error: new WireError(status, reason("PROGRAM_SAYS", { message: "no" })) });
    expect(outcome).toEqual({ kind: "failed", why: expect.anything() });
  });
});
