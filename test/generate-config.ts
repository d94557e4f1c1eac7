import { z } from "zod";
import { repoConfigSchema } from "../src/core/spec/repo-config.ts";
import { overrideSchema } from "../src/core/spec/schema.ts";

interface Described {
  description?: string;
  properties?: Record<string, Described>;
  items?: Described;
  additionalProperties?: Described | boolean;
}

const INTRO = `# .github/stagecoach.yaml

<!-- Generated from src/core/spec/repo-config.ts by \`npm run generate\`; do not edit. -->

A repo's own settings. The file may be left out: then rollouts that name no mode propose, and every command is open to all who have the
permission it needs. It is always read from the default branch, never from a pull request: a change of it counts once it is merged.

\`\`\`yaml
# yaml-language-server: $schema=../schema/repo-configuration.schema.json
mode: Run                     # of rollouts that name none
commands:
  promote: { teams: [sre] }   # write permission, and a member of acme/sre
  abort: { teams: [sre, payments] }
bots: ["renovate[bot]"]       # whose comments count, too
rollouts:
  payments:                   # for a rollout that stays as Skyscanner's controller had it
    release: { from: { file: releases/payments.yaml, path: version } }
    pins:
      - { file: appsets/payments.yaml, path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision" }
\`\`\`

For completion in an editor keep a copy of
[\`schema/repo-configuration.schema.json\`](../../schema/repo-configuration.schema.json) and name it in the first line.

`;

const AFTER = `## Who may give a command

Each time a command is read, in this order:

1. The comment is one that counts: written by a person, or by a bot of \`bots\`; never edited.
2. Its author has the [permission that the command needs](commands.md) on the repository, now. A bot of \`bots\` counts as having write.
3. Where \`commands.NAME\` names teams: its author is a member of one of them, now. A team is named by its slug, the last part of
   \`github.com/orgs/ORG/teams/SLUG\`, and is one of the organisation that owns the repository.

Whether somebody is a member can be seen only where the App may read the organisation's members (\`members: read\`). Where it may not, the
command is refused, and the refusal says so: nobody gets more than the settings give because something could not be seen. In a repository of a
person's own account there are no teams.

## With an error in it

\`stagecoach lint\` shows it with file, line and column. While it stands on the default branch no rollout starts, since the settings may be what
holds one back; runs under way go on, and of commands only \`/pause\`, \`/abort\`, \`/status\`, \`/plan\` and \`/help\` are heard, since
nobody can tell who may give the others.
`;

/** The reference page of a repo's own settings. \`table\` prints the keys of an object of the schema. */
export function configPage(table: (schema: never) => string): string {
  const config = z.toJSONSchema(repoConfigSchema, { io: "input" }) as Described;
  const override = z.toJSONSchema(overrideSchema, { io: "input" }) as Described;
  const print = table as (schema: Described) => string;
  const rule = config.properties?.["commands"]?.properties?.["promote"];
  if (rule === undefined) throw new Error("the schema of the settings has no commands.promote");
  const keys = [
    "## Keys\n",
    print(config),
    "### `commands.NAME`\n",
    `NAME is a command's: ${Object.keys(config.properties?.["commands"]?.properties ?? {})
      .map((name) => `\`${name}\``)
      .join(", ")}.\n`,
    print(rule),
    "### `rollouts.NAME`\n",
    "NAME is the rollout's `metadata.name`. What stands here must not stand in the rollout as well.\n",
    print(override),
    ...["freezes", "limits", "limits.label", "limits.selected", "plans", "notifications", "journal"].flatMap((path) => [
      `### \`${path}\`\n`,
      print(at(config, path)),
    ]),
  ];
  return `${INTRO}${keys.join("\n")}\n${AFTER}`;
}

/** The object at a path of keys; of a list, one of its items. */
function at(schema: Described, path: string): Described {
  const found = path.split(".").reduce<Described | undefined>((here, key) => here?.properties?.[key], schema);
  if (found === undefined) throw new Error(`the schema of the settings has no ${path}`);
  return found.items ?? found;
}

/** The JSON Schema that editors use. */
export function configSchema(): string {
  const schema = z.toJSONSchema(repoConfigSchema, { io: "input" });
  return `${JSON.stringify({ ...schema, title: "Stagecoach settings", description: "A repo's own settings: .github/stagecoach.yaml." }, null, 2)}\n`;
}
