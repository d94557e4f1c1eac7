import type {
  InvalidKinds,
  NameKinds,
  ParamKinds,
  PatchKinds,
  RenderProblem,
  RenderProblems,
  TemplateKinds,
} from "../../reasons/render.ts";
import type { TemplateReason } from "../../reasons/templates.ts";
import { byKind, type ProblemEntries, type SaidProblem, sayEntry } from "./problems/entry.ts";
import { sayTemplateFailure } from "./templates.ts";

const BY_ARGO = "let Argo CD render this set (argocd appset generate)";
const SIMPLIFY = `simplify it, or ${BY_ARGO}`;
const IN_QUOTES = "put it in quotes";
const CORRECT = "correct it, or exclude it: one broken file stops the whole set";

const text = (value: unknown) => JSON.stringify(value);
const noText = (r: { given: unknown }) => `${text(r.given)} is not text`;

const INVALID = byKind<InvalidKinds>({
  NoSet: ["this is not an ApplicationSet: it has no spec", "give an object of kind ApplicationSet"],
  NoGenerators: ["generators is missing or no list", "list at least one generator"],
  NoTemplate: ["the template is missing or no map", "write the Application's metadata and spec there"],
  OptionsNoTexts: ["goTemplateOptions is not a list of texts", 'write ["missingkey=error"]'],
  UnknownOption: [(r) => `${text(r.given)} is not an option of Go templates`, "use one of {known}"],
  PatchNoText: ["the patch is not text", "hold it in a block scalar: templatePatch: |"],
  TooDeep: ["it is nested too deeply or yields too much", SIMPLIFY],
  Other: ["{said}", SIMPLIFY],
  NothingToCombine: ["generators is missing or no list", "list the generators to combine"],
  MatrixOf: ["a matrix combines exactly two generators, not {generators}", "nest a matrix in a matrix (one level) to combine three"],
  MergeOfOne: ["a merge combines two generators or more", "add one, or use the generator by itself"],
  NoMergeKeys: ["mergeKeys is missing or empty", "name the parameters that tell sets apart"],
  GeneratorNoMap: ["the generator is not a map", "write one of {known}"],
  NoGenerator: ["the entry holds no generator, so Argo CD makes no Application of it", "write one of {known}"],
  UnknownGenerator: [(r) => `${text(r.given)} is not a generator`, "[did you mean {near}? Else ]write one of {known}"],
  FieldsNoMap: ["the generator is not a map", "write its fields below it, or {}"],
  SeveralGenerators: [(r) => `the entry holds ${r.generators.join(" and ")}: only one generator may stand here`, "make an entry of each"],
  NestedTwice: ["matrix and merge nest one level deep only", "take this one out, or write its result as a list"],
  GitOfNothing: ["the git generator names neither directories nor files", "give it directories: [{path: …}] or files: [{path: …}]"],
  NoRepoURL: ["repoURL is missing or not text", "name the repository to read"],
  NoPathList: ["not a list", "write a list of {path: …}"],
  NoPath: ["the path is missing or not text", "write - path: …"],
  ElementsNoList: ["elements is not a list", "write a list of maps"],
  ElementNoMap: ["the element is not a map", "write key: value lines"],
  ElementsYamlNoText: ["elementsYaml is not text", "hold the YAML in a block scalar"],
  ValueNoText: [noText, "put it in quotes: values are texts"],
  NoText: [noText, IN_QUOTES],
  NoMap: [(r) => `${text(r.given)} is not a map`, "put {{ … }} in quotes, as YAML wants at the start of a value"],
  SourcesNoList: ["sources is not a list", "write a list of sources"],
  SelectorNoMap: ["the selector is not a map", "give it matchLabels or matchExpressions"],
  LabelsNoMap: ["matchLabels is not a map of texts", "write key: value lines"],
  ExpressionsNoList: ["matchExpressions is not a list", "write a list of key, operator, values"],
  ValuesNoList: ["values is not a list", "write a list of texts"],
  ValuesMissing: ["operator {operator} wants at least one value", "list the values"],
  ValuesNeedless: ["operator {operator} takes no values", "remove the values, or use In or NotIn"],
  UnknownOperator: [(r) => `${text(r.given)} is not an operator of a label selector`, "use In, NotIn, Exists or DoesNotExist"],
  LabelValue: [(r) => `${text(r.given)} cannot be the value of a label`, "use at most 63 letters, digits, -, _ and ."],
  LabelKey: [
    (r) => `${text(r.given)} is not a valid label key`,
    "use letters, digits, -, _ and ., after an optional DNS prefix and /; with goTemplate no leading dot",
  ],
});

const keysHint = (r: { dotted: boolean }) =>
  r.dotted
    ? "use top-level keys: with goTemplate: true nested ones cannot be merge keys"
    : "choose merge keys that tell the sets of a generator apart";

const PARAM_ERROR = byKind<ParamKinds>({
  BothGive: [
    (r) => `both generators give ${text(r.key)}, with different values (${text(r.mine)}, ${text(r.theirs)})`,
    "rename one (pathParamPrefix does it for git generators), or set goTemplate: true",
  ],
  KeysMissing: ["no set has the merge keys {keys}", keysHint],
  KeysTwice: ["two sets have the same merge keys: {key}", keysHint],
  TwoMaps: [
    (r) => `parameter ${text(r.key)} is a map of texts in one generator and of anything in the other`,
    "rename one of them: Argo CD cannot merge these either",
  ],
  OutsideRepo: [
    (r) => `git does not take ${text(r.glob)} for a path inside the repository`,
    "write the path from the repository's root, without a leading / or :",
  ],
  BadGlob: [(r) => `the pattern ${text(r.glob)} is malformed`, "check its brackets and backslashes"],
  Unreadable: ["{name} cannot be read[: {said}]", "make it a plain file of this revision"],
  FileNotYaml: [(r) => `${r.name}: not ${r.name.endsWith(".json") ? "JSON" : "YAML"}: ${r.said}`, CORRECT],
  FileNoMap: ["{name}: neither a map nor a list of maps", "correct it, or exclude it: one such file stops the whole set"],
  ValuesNoMap: ["values is not a map of texts", "write key: value lines below it"],
  TextsOnly: [
    (r) => `${text(r.given)} is not text, and without goTemplate: true elements hold texts only`,
    "put it in quotes, or set goTemplate: true",
  ],
  NotYaml: ["not YAML: {said}", "check what the template yields (toJson is safest)"],
  NoListOfMaps: ["it does not yield a list of maps", "yield a YAML or JSON list of maps"],
  ItemNoMap: ["item {index} is not a map", "yield a list of maps"],
});

const ONLINE: Record<RenderProblems["UNSUPPORTED_GENERATOR"]["generator"], string> = {
  scmProvider: "it lists repositories at an SCM provider",
  pullRequest: "it lists pull requests at an SCM provider",
  clusterDecisionResource: "it reads a placement object in the cluster",
  plugin: "it asks a plugin's server",
};

/** Every code of a set that cannot be rendered. */
export const RENDER_PROBLEMS: ProblemEntries<RenderProblems> = {
  INVALID: {
    ...INVALID,
    means: "not an ApplicationSet that Argo CD would take",
    todo: "correct what the message names; often `{{ … }}` needs quotes",
  },
  PARAM_ERROR: {
    ...PARAM_ERROR,
    means: "a file of a git generator, or a merge of parameters, that cannot be used",
    todo: "correct or exclude the file: one stops the whole set",
  },
  INVALID_NAME: {
    ...byKind<NameKinds>({
      Characters: [cannotBeName, "use lower-case letters, digits, - and ., at most 253 of them; nameNormalized or normalize make one"],
      Parameter: [cannotBeName, "give this set every parameter that the name uses"],
      NoName: ["an Application would have no name", "set template.metadata.name"],
    }),
    means: "a name no Application can have",
    todo: "give the set every parameter that the name uses",
  },
  DUPLICATE_NAME: {
    says: "two Applications would be named {name}",
    hint: "put a parameter into the name that tells them apart",
    means: "two Applications of one name",
  },
  CLUSTERS_UNSEEN: {
    says: {
      selects: {
        true: "it selects clusters by the labels of their Secrets, which this server does not read (`clusterSecrets: true`, or a control plane of `kind: api`)",
        false:
          "templates take labels or annotations of cluster Secrets, which this server does not read (`clusterSecrets: true`, or a control plane of `kind: api`)",
      },
    },
    hint: "let the server read them",
    means: "an ApplicationSet needs labels or annotations of cluster Secrets, and clusters are only what Applications say of them",
    todo: "set `clusterSecrets: true` with `deploy/cluster-secrets`, or use a control plane of `kind: api`",
  },
  NO_REPO: {
    says: "the repository {repoURL}[ at {revision}] is not at hand",
    hint: "give a checkout of it (--repo DIR)",
    means: "a git generator reads a repository that is not at hand",
    todo: "give `--repo DIR` with a checkout. The bot reads its own repo only",
  },
  TEMPLATE_ERROR: {
    ...byKind<TemplateKinds>({
      Go: [(r) => `template ${text(r.template)}: ${sayTemplateFailure(r.because)}`, (r) => templateHint(r.because)],
      Unclosed: [(r) => `no "}}" closes the tag ${text(r.tag)}`, "close the tag with }}"],
      PatchNotYaml: ["the rendered patch is not YAML: {said}", "check its indentation, and what the template yields"],
      PatchNoMap: ["the rendered patch is not a map", "begin with `spec:` or `metadata:`, since it patches an Application"],
    }),
    means: "the template fails",
    todo: "check what it yields for the parameters named",
  },
  UNSUPPORTED_FUNCTION: {
    says: (r) => `${sayTemplateFailure(r.because)} (in ${text(r.template)})`,
    hint: `${BY_ARGO}, or write the template without it`,
    means: "a template function that is not rebuilt here",
  },
  UNSUPPORTED_GENERATOR: {
    says: (r) => `${r.generator} cannot be evaluated offline: ${ONLINE[r.generator]}`,
    hint: BY_ARGO,
    means: "a generator that asks the outside: scmProvider, pullRequest, plugin, clusterDecisionResource",
    todo: "let Argo CD render it; for a run `sourceRef.unverified: true`",
  },
  UNSUPPORTED_PATCH: {
    ...byKind<PatchKinds>({
      Directive: ["the patch directive {directive} is not supported", "write the patch as plain fields"],
      Raw: [
        "the patch and the template both set {field}, which versions of Argo CD refuse to merge",
        "set all of valuesObject in the template or all of it in the patch",
      ],
    }),
    means: "a `templatePatch` with directives, or one that versions of Argo CD merge differently",
    todo: "write plain fields",
  },
};

function cannotBeName(r: { given: unknown }): string {
  return `${text(r.given)} cannot be the name of an Application`;
}

function templateHint(reason: TemplateReason): string {
  if (reason.code === "GO_NO_KEY") return "give every element this parameter, or guard it with {{ if }} or default";
  if (reason.code === "GO_UNKNOWN_FUNCTION")
    return "write parameters with a dot, as goTemplate: true wants ({{ .name }}); else check the function's name";
  if (reason.code === "GO_INCOMPARABLE") return "compare with 1.0, or convert with int: numbers from data are floats";
  if (Object.values(reason).includes("map[string]string")) return "read labels, annotations and values with index: they are maps of texts";
  return "correct the template: Argo CD fails on it in the same way";
}

/** Says why an ApplicationSet cannot be rendered, and what to do. */
export function sayRender(problem: RenderProblem): SaidProblem {
  return sayEntry(RENDER_PROBLEMS[problem.code], problem);
}
