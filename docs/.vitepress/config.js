/**
 * The site of docs/, built by `npm run docs`. What it is made with is installed here alone: 100 MB that nothing else needs. Rollup is the one in WebAssembly:
 * of its native packages a registry may lack those of other platforms, and then `npm ci` refuses.
 */
import { dirname, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const DOCS = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where files outside of docs/ can be read, such as https://github.com/OWNER/stagecoach/blob/main. Unset: they are named, not linked. */
const SOURCE = process.env.DOCS_SOURCE ?? "";

/** Every page of docs/, once; a test compares it with the folder. */
export const SIDEBAR = [
  ["Begin", ["tutorial", "concepts", "choosing", "installation", "onboarding", "layouts", "releases"]],
  [
    "Layouts",
    [
      "merge-with-overrides",
      "values-for-each-cluster",
      "clusters-and-environments",
      "environment-folders",
      "several-images",
      "umbrella-charts",
      "environment-branches",
      "environment-tags",
      "copies",
      "namespaces",
      "app-of-apps",
      "kustomized-sets",
      "helm-made-sets",
      "monorepo",
      "argocd-per-cluster",
    ].map((page) => `layouts/${page}`),
  ],
  ["Use", ["cli", "gates", "failure", "analysis", "hooks", "steps", "simulate", "reference/commands"]],
  ["Argo CD", ["argocd", "argo-rollouts", "liveness"]],
  [
    "Run the server",
    ["configuration", "operations", "notifications", "metrics", "page", "api", "security", "permissions", "troubleshooting"],
  ],
  [
    "Reference",
    ["reference/progressive-rollout", "reference/repo-configuration", "reference/server-configuration", "reference/metrics", "spec"],
  ],
];

const NAMES = {
  argocd: "Argo CD",
  "argo-rollouts": "Argo Rollouts",
  api: "Read API",
  page: "The page",
  cli: "Command line",
  "reference/commands": "Comments",
  "reference/progressive-rollout": "rollouts/*.yaml",
  "reference/repo-configuration": ".github/stagecoach.yaml",
  "reference/server-configuration": "stagecoach.yaml",
  metrics: "Metrics, alerts, traces",
  "reference/metrics": "Metrics",
  spec: "Specification",
};

function nameOf(page) {
  const word = page.replace(/^layouts\//, "").replaceAll("-", " ");
  return NAMES[page] ?? word[0].toUpperCase() + word.slice(1);
}

/** Links that lead out of docs/ go to the sources, or are text. */
function outside(md) {
  const render = md.renderer.rules.link_open ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options));
  md.core.ruler.push("outside", (state) => {
    for (const block of state.tokens) for (const token of block.children ?? []) if (token.type === "link_open") retarget(token, state.env);
  });
  md.renderer.rules.link_open = (tokens, at, options, env, self) => {
    if (tokens[at].attrGet("href") === "") tokens[at].attrs = [["class", "elsewhere"]];
    return tokens[at].attrGet("class") === "elsewhere" ? '<a class="elsewhere">' : render(tokens, at, options, env, self);
  };
}

/** Pages are Vue's templates, in which braces would be its own. */
function braces(md) {
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
  }
}

function retarget(token, env) {
  const href = token.attrGet("href") ?? "";
  if (/^(?:[a-z]+:|#)/.test(href)) return;
  const page = relative(DOCS, env.path ?? DOCS).replaceAll("\\", "/");
  const target = posix.normalize(posix.join("docs", posix.dirname(page), href));
  if (target.startsWith("docs/") && !target.startsWith("docs/adr/")) return;
  token.attrSet("href", SOURCE === "" ? "" : `${SOURCE}/${target}`);
}

/** Code in a cell breaks where it must, else it squeezes the sentences beside it into columns of one word. */
const TABLES =
  ".vp-doc td { vertical-align: top; padding: 6px 10px; min-width: 6.5rem } .vp-doc td > code, .vp-doc td a > code { overflow-wrap: anywhere; white-space: normal } .VPDoc.has-aside .content-container { max-width: 800px !important }";

export default {
  title: "Stagecoach",
  head: [
    ["style", {}, TABLES],
    ["link", { rel: "icon", href: "data:," }],
  ],
  description: "Carries a release across Argo CD clusters stage by stage, one pull request a batch",
  srcExclude: ["adr/**"],
  cleanUrls: true,
  markdown: {
    config(md) {
      outside(md);
      braces(md);
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: SIDEBAR.map(([text, pages]) => ({ text, items: pages.map((page) => ({ text: nameOf(page), link: `/${page}` })) })),
  },
};
