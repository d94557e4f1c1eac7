/**
 * Writes what is generated: from the schema of the resource the JSON Schema that editors use and the reference page, from the shape of a
 * run the JSON Schema of what programs read, from the tables of commands and of metrics their pages, from the codes of problems the tables of
 * docs/troubleshooting.md, and from the repos that tests try the pages of docs/layouts/.
 * `npm run generate`; a test compares the committed files with what this would write.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { runSchema } from "../src/core/report/model/schema/run.ts";
import { resourceSchema } from "../src/core/spec/schema.ts";
import { DURATION } from "../src/core/spec/schema-common.ts";
import { commandsPage } from "./generate-commands.ts";
import { configPage, configSchema } from "./generate-config.ts";
import { layoutPages } from "./generate-layouts.ts";
import { metricsPage } from "./generate-metrics.ts";
import { troubleshootingPage } from "./generate-problems.ts";
import { serverPage, serverSchema } from "./generate-server.ts";
import { stills } from "./stills.ts";

interface JsonSchema {
  description?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  pattern?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
}

/** Path in the project → content. */
export function generated(): Map<string, string> {
  const schema = z.toJSONSchema(resourceSchema, { io: "input" });
  const titled = { ...schema, title: "ProgressiveRollout", description: "How versions of one ApplicationSet travel over its clusters." };
  return new Map([
    ["schema/progressive-rollout.schema.json", `${JSON.stringify(titled, null, 2)}\n`],
    ["docs/reference/progressive-rollout.md", page(schema as JsonSchema)],
    ["schema/run.schema.json", `${JSON.stringify(z.toJSONSchema(runSchema, { io: "input" }), null, 2)}\n`],
    ["schema/repo-configuration.schema.json", configSchema()],
    ["docs/reference/repo-configuration.md", configPage(table)],
    ["schema/server-configuration.schema.json", serverSchema()],
    ["docs/reference/server-configuration.md", serverPage(table)],
    ["docs/reference/commands.md", commandsPage()],
    ["docs/reference/metrics.md", metricsPage()],
    ["docs/troubleshooting.md", troubleshootingPage()],
    ...layoutPages(),
    ...stills(),
  ]);
}

const INTRO = `# ProgressiveRollout

<!-- Generated from src/core/spec/schema*.ts by \`npm run generate\`; do not edit. -->

A rollout stands in \`rollouts/NAME.yaml\` of a config repo and says how versions of one ApplicationSet travel over its
clusters. \`stagecoach lint\` checks it, \`stagecoach plan NAME\` shows what it would do. Ready-to-copy ones are in
[\`rollouts/\`](../../rollouts). For completion in an editor keep a copy of
[\`schema/progressive-rollout.schema.json\`](../../schema/progressive-rollout.schema.json) in the repo and begin the file with

\`\`\`yaml
# yaml-language-server: $schema=../schema/progressive-rollout.schema.json
\`\`\`

- Durations are written as \`90s\`, \`30m\` or \`1h30m\`. Counts are whole numbers or percentages (\`"25%"\`).
- An unknown key is an error: it is never ignored.
- Counts are of clusters: all Applications of a cluster travel in one batch, and one failed Application fails its cluster.
- Several rollouts may share one file as YAML documents. A file may have at most 256 KiB, the settings 64 KiB.
- One ApplicationSet belongs to one rollout only.

`;

const TEMPLATES = `## Templates

\`file\`, \`path\`, \`value\` and \`branch\` of a pin may hold

| variable | is |
| --- | --- |
| \`{{ cluster.name }}\`, \`{{ cluster.server }}\` | the target's cluster |
| \`{{ cluster.labels.X }}\`, \`{{ cluster.labels["X"] }}\` | a label of its Secret |
| \`{{ controlPlane.name }}\`, \`{{ controlPlane.labels.X }}\` | its control plane, and a label that the server's configuration gives it |
| \`{{ application.name }}\`, \`{{ application.namespace }}\` | the target's Application |
| \`{{ application.path }}\`, \`{{ application.valuesFile }}\` | the folder of its source, the last of its Helm values files |
| \`{{ application.set }}\` | the ApplicationSet that makes it |
| \`{{ params.X }}\` | a parameter the generator gave the Application |
| \`{{ release.version }}\` | the release's version |
| \`{{ release.values.X }}\` | one of its values, where it has several |

A variable without a value is an error. In a pin path a value with special characters is quoted by itself.

## Targets that share a pin

Targets whose pins come out as the same file and path change together: their clusters are a *unit* and travel in one batch.
A unit larger than \`maxUnavailable\`, spanning stages, or (with \`topologyKey\`) holding two clusters of one value is an error
of the plan. Where \`maxClusters\` has no room for all of a unit, it is left whole to a later stage. One requeued cluster puts
its whole unit off.

## Resources of the Skyscanner controllers

\`apiVersion: deployment.skyscanner.net/v1alpha1\` and \`argoproj.skyscanner.net/v1alpha1\`, kind \`ProgressiveRollout\` or
\`ProgressiveSync\`, are read unchanged, with \`maxClusters\`, \`maxUnavailable\` and \`clusters\` or \`maxTargets\`, \`maxParallel\` and
\`targets.clusters\`, with \`sourceRef\` or \`appSetRef\`. Their counts were of Applications; here they are of clusters. What they
cannot say stands in annotations, as YAML text,

\`\`\`yaml
metadata:
  annotations:
    stagecoach.dev/release: "{ from: { file: releases/my-app.yaml, path: version } }"
    stagecoach.dev/pins: |
      - file: appsets/my-app-set.yaml
        path: spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision
    stagecoach.dev/mode: Run
\`\`\`

or, so that the resource stays as it is, in [\`.github/stagecoach.yaml\`](repo-configuration.md). Without either they can be linted and planned.

`;

const OUTPUT = `## \`stagecoach plan NAME -o json\`

\`\`\`json
{
  "rollout": "my-app",
  "release": "v1.5.0",
  "hash": "…",
  "stages": [
    {
      "name": "canary in EMEA",
      "clusters": ["eu-central-1-a"],
      "requeued": ["eu-west-1-c"],
      "batches": [
        { "targets": [{ "cluster": "…", "application": "…", "from": "v1.4.1", "to": "v1.5.0", "file": "…", "path": "…" }] }
      ]
    }
  ],
  "next": { "stage": "canary in EMEA", "batch": 1, "targets": [] },
  "uncovered": [],
  "rules": {
    "windows": [
      {
        "of": "repo", "selector": "env=prod", "stages": ["prod"], "open": true, "changesAt": "2026-12-04T00:00:00.000Z",
        "windows": [{ "kind": "deny", "schedule": "0 0 * * 5", "duration": "1d", "timeZone": "UTC" }]
      }
    ],
    "limits": [{ "of": "rollout", "clusters": 3 }],
    "says": ["In flight at once of this rollout: at most 3 clusters."]
  },
  "warnings": [{ "code": "…", "message": "…" }]
}
\`\`\`

- \`release\` is the version; an object where the release has values by name; null without one (\`from\`, \`to\`, \`file\` and \`path\`
  are null then).
- Names of clusters and Applications are short where they are unique, else \`controlPlane/cluster\` and
  \`controlPlane/namespace/application\`.
- A target with several pins has the first in \`from\` to \`path\`, and all of them in \`edits\`.
- \`next\` is the batch that would be opened now, by the pins in the checkout and the status of the Applications in the
  inventory; null where there is none to open, or no status. \`batch\` counts from 1 in its stage. A cluster at the release that is
  not healthy and synced counts against \`maxUnavailable\` first. With \`Fixed\` a batch is opened when the one before is done, with
  \`Rolling\` clusters fill the room there is. Requeued clusters hold up the next stage, not their own stage's batches.
- \`rules\` are those besides the stages: \`windows\` of the rollout, of a stage (\`stage\`) and of the repo (its freezes), as of now: those of one entry
  are open or shut together, until \`changesAt\` (null: for a year at least). \`selector\`, \`stages\`, \`rollouts\` say for whom an entry is. \`says\` has every rule in a sentence.
- Where no plan can be made, exit code 1 and \`{"problems": […]}\` as lint has them.

## \`stagecoach lint -o json\`

\`{"problems": [{code, severity, file, line, column, message, hint, path}], "rollouts": [{name, file}], "files": […]}\`. Exit code 1
where a problem has severity \`error\`. With \`--online\` also \`"calls": […]\`: calls of \`gh api\`, ready to paste, that mend what was found on GitHub.

`;

const CODES = `### Codes

Each code, and what to do, is in [troubleshooting](../troubleshooting.md).
`;

function page(schema: JsonSchema): string {
  const sections: string[] = [];
  section("The resource", schema, sections, "", new Map());
  const settings = "## `.github/stagecoach.yaml`\n\nA repo's own settings have [a page of their own](repo-configuration.md).\n";
  return `${INTRO}${sections.join("\n")}\n${TEMPLATES}${settings}\n${OUTPUT}${CODES}`;
}

/** `seen`: where keys stand already; several places take the same ones. */
function section(title: string, schema: JsonSchema, sections: string[], path: string, seen: Map<string, string>): void {
  const at = sections.push("") - 1;
  const alike: string[] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.description?.includes("Not available in this version") === true) continue;
    const list = property.type === "array";
    const inner = objectIn(list ? (property.items ?? {}) : property);
    const child = `${path === "" ? "" : `${path}.`}${name}${list ? "[]" : ""}`;
    if (inner?.properties === undefined) continue;
    const keys = JSON.stringify(inner.properties);
    const before = seen.get(keys);
    seen.set(keys, before ?? child);
    if (before === undefined) section(`\`${child}\``, inner, sections, child, seen);
    else alike.push(`\nThe keys of \`${name}\` are those of [\`${before}\`](#${before.toLowerCase().replace(/[^a-z]/g, "")}).\n`);
  }
  sections[at] = `## ${title}\n\n${table(schema)}${alike.join("")}`;
}

function objectIn(schema: JsonSchema): JsonSchema | undefined {
  return schema.properties === undefined ? schema.anyOf?.map(objectIn).find((found) => found !== undefined) : schema;
}

function table(schema: JsonSchema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const required = schema.required?.includes(name) === true ? "**required**" : defaultOf(property);
    return `| \`${name}\` | ${typeOf(property)} | ${required} | ${(property.description ?? "").replaceAll("|", "\\|")} |`;
  });
  return `| key | type | default | |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

function defaultOf(schema: JsonSchema): string {
  if (schema.default === undefined) return "";
  const text = JSON.stringify(schema.default);
  return text.length > 40 ? "see below" : `\`${text}\``;
}

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === "string") {
    if (schema.pattern === DURATION.source) return "duration";
    return schema.pattern?.includes("%") === true ? "percentage" : "text";
  }
  if (schema.type === "integer" || schema.type === "number") return "count";
  if (schema.type === "object" && schema.properties === undefined) return "map";
  return schema.type ?? "any";
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [path, content] of generated()) {
    const target = new URL(`../${path}`, import.meta.url);
    mkdirSync(dirname(target.pathname), { recursive: true });
    writeFileSync(target, content);
    console.log(path);
  }
}
