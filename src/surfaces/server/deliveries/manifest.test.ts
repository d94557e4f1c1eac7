import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { WEBHOOK_PATH } from "./server.ts";

const text = readFileSync(new URL("../../../../app.yml", import.meta.url), "utf8");
const manifest = parse(text) as {
  default_permissions: Record<string, string>;
  default_events: string[];
  hook_attributes: { url: string };
};

/** GitHub sends an event only to an App with one of these permissions. */
const EVENT_NEEDS: Record<string, string[]> = {
  pull_request: ["pull_requests"],
  issue_comment: ["issues", "pull_requests"],
  push: ["contents"],
  pull_request_review: ["pull_requests"],
  check_run: ["checks"],
  check_suite: ["checks"],
  status: ["statuses"],
  merge_group: ["merge_queues"],
  repository: ["metadata"],
};

describe("the App's manifest", () => {
  it("asks for exactly what the product needs, and never for administration", () => {
    expect(manifest.default_permissions).toEqual({
      metadata: "read",
      contents: "write",
      pull_requests: "write",
      issues: "write",
      checks: "write",
      statuses: "read",
      deployments: "write",
      members: "read",
      merge_queues: "write",
    });
  });

  it("has for every event a permission with which GitHub sends it", () => {
    for (const event of manifest.default_events) {
      expect(
        EVENT_NEEDS[event]?.some((permission) => permission in manifest.default_permissions),
        event,
      ).toBe(true);
    }
  });

  it("gives the reason for every permission and event in a comment above it", () => {
    const lines = text.split("\n");
    for (const name of [...Object.keys(manifest.default_permissions), ...manifest.default_events]) {
      const at = lines.findIndex((line) => line.trim() === `- ${name}` || line.startsWith(`  ${name}:`));
      const before = lines[at - 1] ?? "";
      const grouped = ["check_suite", "status"].includes(name);
      expect(grouped || before.trim().startsWith("#"), name).toBe(true);
    }
  });

  it("is explained permission by permission in docs/permissions.md, with the same level", () => {
    const page = readFileSync(new URL("../../../../docs/permissions.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `([a-z_]+)`: (read|write) \| .{20,} \|$/gm)].map(([, name, level]) => [name, level]);
    expect(rows).toEqual(Object.entries(manifest.default_permissions));
  });

  it("holds no quote that would break out of the form on the set-up page", () => {
    expect(JSON.stringify(manifest)).not.toContain("'");
  });

  it("sends deliveries where the server takes them", () => {
    expect(new URL(manifest.hook_attributes.url).pathname).toBe(WEBHOOK_PATH);
  });
});
