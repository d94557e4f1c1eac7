import { z } from "zod";
import { serverConfigSchema } from "../src/surfaces/server/config/schema.ts";

interface Shown {
  properties?: Record<string, Shown>;
  items?: Shown;
  description?: string;
}

const INTRO = `# stagecoach.yaml: the server's configuration

<!-- Generated from src/surfaces/server/config/schema.ts by \`npm run generate\`; do not edit. -->

What the operator of a server decides. [Configuring the server](../configuration.md) explains it; this page has every key. The file may be left
out. A name in capitals is the variable of the environment that wins over the key.

For completion in an editor keep a copy of
[\`schema/server-configuration.schema.json\`](../../schema/server-configuration.schema.json) beside the file and begin it with

\`\`\`yaml
# yaml-language-server: $schema=server-configuration.schema.json
\`\`\`

`;

/** They are windows, and the page of those has their keys. */
const FREEZES = "## `freezes[]`\n\nThe keys are those of the repo's [`freezes`](repo-configuration.md#freezes).\n";

function schema(): Shown {
  return z.toJSONSchema(serverConfigSchema, { io: "input" }) as Shown;
}

export function serverSchema(): string {
  const titled = {
    ...schema(),
    title: "Stagecoach server configuration",
    description: "What the operator of a Stagecoach server decides.",
  };
  return `${JSON.stringify(titled, null, 2)}\n`;
}

/** `table` prints one object's keys. */
export function serverPage(table: (schema: never) => string): string {
  const sections: string[] = [];
  section("Keys", schema(), "");
  return INTRO + sections.join("\n");

  function section(title: string, shown: Shown, path: string): void {
    sections.push(`## ${title}\n\n${table(shown as never)}`);
    for (const [name, property] of Object.entries(shown.properties ?? {})) {
      const inner = property.items ?? property;
      const child = `${path === "" ? "" : `${path}.`}${name}${property.items === undefined ? "" : "[]"}`;
      if (name === "freezes") sections.push(FREEZES);
      else if (inner.properties !== undefined) section(`\`${child}\``, inner, child);
    }
  }
}
