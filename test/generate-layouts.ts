/** Writes a page for each layout: its repo and its rollout are those that `layouts.test.ts` tries, and for those of `LAYOUTS` `e2e/layouts.long.test.ts`, too. */
import { parseDocument } from "yaml";
import { proposedFiles } from "../src/core/report/onboarding/show.ts";
import { proposeFor } from "../src/surfaces/cli/init/init.ts";
import { inventoryOf, LAYOUTS, type Layout } from "./support/layouts.ts";
import { LAYOUTS_BY_HAND, rolloutText } from "./support/layouts-by-hand.ts";

/** What people should know of each, by its name: the page's name, its title, what the tree does not say, and what to mind. */
const PAGES: Record<string, { page: string; title: string; looks?: string; mind: string }> = {
  "one Argo CD per cluster": {
    page: "argocd-per-cluster",
    title: "One Argo CD per cluster",
    looks: "Every destination is `in-cluster`, and each Argo CD has one of the folders.",
    mind: "`init` needs all of them: `--from-argocd dev=… --from-argocd prod=…`. Stages choose by the [labels of control planes](../argocd.md#one-argo-cd-in-each-cluster), which the server's configuration gives them.",
  },
  "environment folders": {
    page: "environment-folders",
    title: "A folder for each environment",
    mind: "Each Application is a target of its own, chosen by its labels; without labels of yours by `name` or `stagecoach.dev/namespace`. Applications that share a pin move together, and the plan refuses that across stages.",
  },
  "environment branches": {
    page: "environment-branches",
    title: "A branch for each environment",
    looks: "Each Application follows its branch `env/NAME`.",
    mind: "A merge is the release; batches have no pull request. The branches are made beforehand and only ever moved forward: one with commits of its own stops the run. Of clusters instead of environments see [`rollouts/environment-branches.yaml`](../../rollouts/environment-branches.yaml).",
  },
  "hub with app-of-apps": {
    page: "app-of-apps",
    title: "A hub with an app of apps",
    looks: "`root` makes the others, of a chart in an OCI registry (`repoURL: ghcr.io/acme/charts`).",
    mind: "The children are the targets. A parent that the selector takes, too, counts only with [every Application it makes](../liveness.md), and with those that ApplicationSets among them generate: what they made before the change does not count. Of a set whose Git generator reads another repo only what its template says without parameters is compared.",
  },
  "clusters × environments matrix": {
    page: "clusters-and-environments",
    title: "Clusters × environments",
    mind: "The first stage takes dev of every cluster; of prod never two Applications of one region at once (`topologyKey`).",
  },
  "merge with overrides": {
    page: "merge-with-overrides",
    title: "A merge generator with overrides",
    mind: "A cluster's version stands in its element of the second list. Give `init` the cluster Secrets, and stages select by labels instead of names.",
  },
  "sets that kustomize patches": {
    page: "kustomized-sets",
    title: "ApplicationSets that kustomize patches",
    mind: "What kustomize makes of a set is known only live: `init --from-argocd`. With `kind: api` Argo CD is asked what [the parent renders](../argocd.md); a version that stands in the patch is pinned there.",
  },
  "sets that Helm makes": {
    page: "helm-made-sets",
    title: "ApplicationSets that Helm makes",
    mind: "What a chart makes is known only live: `init --from-argocd`. With `kind: api` Argo CD is asked what [the parent renders](../argocd.md); a version that is one of the chart's values is pinned there, one for each environment.",
  },
  "umbrella chart": {
    page: "umbrella-charts",
    title: "An umbrella chart for each environment",
    mind: "Keep no `Chart.lock` beside: it would go stale (`CHART_LOCKED`).",
  },
  "several images in each overlay": {
    page: "several-images",
    title: "Several images with versions of their own",
    mind: "A release changes one value or several; plan and pull request show a table. `/rollback --to shop=v1,worker=v2` names them. An image that an overlay does not name yet gets its item there (`create: true`), which a rollback takes away again.",
  },
  "values for each cluster, the version a default": {
    page: "values-for-each-cluster",
    title: "Values for each cluster, the version a default",
    mind: "The first release writes each cluster's own value over the default, and a rollback takes it away again. The same `create: true` appends a missing `images[name=…]` to an overlay, and gives a cluster its own value below a YAML anchor (`*name`, `<<`).",
  },
  "monorepo of services": {
    page: "monorepo",
    title: "A monorepo of services",
    mind: "A rollout for each service, alike but for its name: one set makes them all, and a label of its template tells them apart.",
  },
  "environments are copies": {
    page: "copies",
    title: "Each environment is a copy of the one before",
    looks: "Rendered manifests, or what Kargo copies. The selector leaves staging's own Application out.",
    mind: "A batch makes `to` what `from` was when the run started, removals and modes included. Keep what differs between environments elsewhere.",
  },
  "environments are namespaces": {
    page: "namespaces",
    title: "Several Applications share a namespace, which is the environment",
    mind: "All Applications of a namespace travel in one batch.",
  },
  "environment tags": {
    page: "environment-tags",
    title: "A tag for each environment",
    looks: "Each Application follows the tag `env/NAME`.",
    mind: "Tags are made beforehand. They are moved in one push for a batch, without a pull request; `/rollback` moves them back.",
  },
};

/** Path in the project → content. */
export function layoutPages(): [string, string][] {
  return [...LAYOUTS.map((layout) => page(layout, proposedRollout(layout))), ...LAYOUTS_BY_HAND.map((one) => page(one, rolloutText(one)))];
}

function page(layout: Layout, rollout: string): [string, string] {
  const about = PAGES[layout.name];
  if (about === undefined) throw new Error(`"${layout.name}" needs a page: a row in test/generate-layouts.ts`);
  const from = "rollout" in layout ? "As in `rollouts/`" : "As `stagecoach init` proposes it";
  return [
    `docs/layouts/${about.page}.md`,
    `# ${about.title}

<!-- Generated by \`npm run generate\` from test/generate-layouts.ts and the repos of test/support; do not edit. -->

\`\`\`text
${treeOf(layout.files).join("\n")}
\`\`\`

${about.looks === undefined ? "" : `${about.looks} `}${from}:

\`\`\`yaml
${rollout.replace(/^(#.*\n)+/, "")}\`\`\`

${about.mind} [Other layouts](../layouts.md)
`,
  ];
}

/** The first that init proposes: those of a monorepo are alike. */
function proposedRollout(layout: Layout): string {
  const { files } = layout;
  const checkout = { root: "/", paths: () => Object.keys(files).sort(), read: (path: string) => files[path] ?? null };
  const [text] = [...proposedFiles(proposeFor(checkout, inventoryOf(layout)))].flatMap(([file, text]) =>
    file.startsWith("rollouts/") ? [text] : [],
  );
  if (text === undefined) throw new Error(`init proposes nothing for "${layout.name}"`);
  return text;
}

function treeOf(files: Record<string, string>): string[] {
  const shown = new Set<string>();
  return Object.keys(files)
    .sort()
    .flatMap((path) => {
      const parts = path.split("/");
      const folders = parts.slice(0, -1).flatMap((name, depth) => {
        const folder = parts.slice(0, depth + 1).join("/");
        return shown.size === shown.add(folder).size ? [] : [`${"  ".repeat(depth)}${name}/`];
      });
      const line = `${"  ".repeat(parts.length - 1)}${parts.at(-1)}`;
      const note = noteOn(files[path] ?? "");
      return [...folders, note === "" ? line : `${line.padEnd(32)}# ${note}`];
    });
}

/** What of Argo CD's stands in a file, and the version where it has one. */
function noteOn(text: string): string {
  const kind = String(parseDocument(text, { logLevel: "silent" }).get("kind"));
  const revision = /"targetRevision": "(env\/\w+)"/.exec(text)?.[1];
  const version = /"?(\w+)"?: "?(v?1\.0\.0)/.exec(text);
  const parts = [
    /^Application/.test(kind) ? kind : "",
    revision === undefined ? "" : `at ${revision}`,
    version ? `${version[1]}: ${version[2]}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}
