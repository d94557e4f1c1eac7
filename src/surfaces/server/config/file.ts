/** The configuration's file is read with its places: a server that starts has one without a problem. */
import { globMatcher } from "../../../core/base/glob.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { show } from "../../../core/base/problem.ts";
import { isLabelKey, isLabelValue } from "../../../core/base/selector.ts";
import { parseDuration } from "../../../core/base/time.ts";
import type { Finding, Path, Problem, ProblemReason } from "../../../core/reasons/problems/problem.ts";
import { newFindings, validate } from "../../../core/spec/parse/validate.ts";
import { readYaml } from "../../../core/spec/parse/yaml.ts";
import { checkWindows } from "../../../core/spec/rules/pace.ts";
import { whyNoHost, whyNoListening } from "./hosts.ts";
import { checkDestinations } from "./notify.ts";
import { type ServerConfig, serverConfigSchema } from "./schema.ts";

/** Reads the server's configuration. Without a text it is what the defaults say. With a problem the server must not start. */
export function parseServerConfig(text: string | undefined, file: string): { config: ServerConfig | undefined; problems: Problem[] } {
  if (text === undefined) return { config: serverConfigSchema.parse({}), problems: [] };
  const { sources, problems } = readYaml(text, file);
  const [source, second] = sources;
  if (second !== undefined) problems.push(second.place({ code: "SEVERAL_DOCUMENTS", path: [] }));
  if (source === undefined) return { config: problems.length > 0 ? undefined : serverConfigSchema.parse({}), problems };
  const { value, findings } = validate(serverConfigSchema, source.data);
  const odd = findings.flatMap(undecided);
  const follows = ({ code, path }: Finding) =>
    (code === "KEY_OF_OTHER_KIND" || code === "MISSING_KEY") && odd.some((start) => start.every((step, at) => path[at] === step));
  const rules = value === undefined ? [] : RULES.flatMap((rule) => rule(value)).filter((finding) => !follows(finding));
  for (const finding of [...findings, ...newFindings(rules, findings)]) problems.push(source.place(finding));
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { config: problems.length > 0 ? undefined : value, problems };
}

/** Which keys belong to a map is not known where what says so is mistyped: the path of the map. */
function undecided(finding: Finding): Path[] {
  const last = finding.code === "UNKNOWN_KEY" && "near" in finding ? finding.near : finding.path.at(-1);
  return last === "kind" || last === "signing" ? [finding.path.slice(0, -1)] : [];
}

const RULES: readonly ((config: ServerConfig) => Finding[])[] = [
  namesOnce,
  labelsOfPlanes,
  keysOfKind,
  apiIsComplete,
  grantsKnownPlanes,
  globsAreGlobs,
  resyncInPeace,
  keyOfSigning,
  keyOfQueue,
  hostsAreNames,
  checkDestinations,
  ({ freezes }) => checkWindows(freezes, ["freezes"]),
];

/** More often, the resync alone would use the hour's calls up. */
const LEAST_RESYNC_MS = 30_000;

function resyncInPeace({ resync: given }: ServerConfig): Finding[] {
  if ((parseDuration(given) ?? 0) >= LEAST_RESYNC_MS) return [];
  return [{ code: "BAD_VALUE", kind: "Least", key: "resync", given, least: "30s", path: ["resync"] }];
}

function namesOnce({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap(({ name }, i) => {
    const isFirst = controlPlanes.findIndex((other) => other.name === name) === i;
    return isFirst ? [] : [{ code: "PLANE_TWICE", name, path: ["controlPlanes", i, "name"] }];
  });
}

/** What Kubernetes would refuse; and `name` and `server`, which selectors take for the cluster's own where no label has that key. */
function labelsOfPlanes({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap(({ labels }, i) =>
    Object.entries(labels).flatMap(([key, value]): Finding[] => {
      const path = ["controlPlanes", i, "labels", key];
      if (key === "name" || key === "server") return [{ code: "PLANE_LABEL", given: show(key), path, atKey: true }];
      if (!isLabelKey(key)) return [{ code: "BAD_LABEL", kind: "Key", given: show(key), path, atKey: true }];
      return isLabelValue(value) ? [] : [{ code: "BAD_LABEL", kind: "Value", given: show(value), path }];
    }),
  );
}

const ONLY_KUBERNETES = ["kubeconfig", "context", "clusterSecrets", "allowRefresh"] as const;
const ONLY_API = ["url", "tokenFile", "projects", "caFile", "allowRolloutActions", "allowSync", "allowGenerate"] as const;

function keysOfKind({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap((plane, i) => {
    const [foreign, kind] = plane.kind === "api" ? [ONLY_KUBERNETES, "kubernetes"] : [ONLY_API, "api"];
    return foreign
      .filter((key) => plane[key] !== undefined && plane[key] !== false)
      .map((key) => otherKind({ key, whose: "plane", kind, is: plane.kind }, ["controlPlanes", i, key]));
  });
}

function otherKind(data: { key: string; whose: "plane" | "signing" | "queue"; kind: string; is: string }, path: Path): Finding {
  return { code: "KEY_OF_OTHER_KIND", ...data, path, atKey: true };
}

function apiIsComplete({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap((plane, i) =>
    (["url", "tokenFile"] as const)
      .filter((name) => plane.kind === "api" && plane[name] === undefined)
      .map((name): Finding => ({ code: "MISSING_KEY", kind: "Key", key: `controlPlanes[${i}].${name}`, path: ["controlPlanes", i] })),
  );
}

function grantsKnownPlanes({ controlPlanes, tenancy = [] }: ServerConfig): Finding[] {
  // A name that cannot be read is told of by itself.
  const known = controlPlanes.map(({ name }) => name).filter((name) => !/^faulty-\d/.test(name));
  return tenancy.flatMap((rule, i) =>
    rule.controlPlanes.flatMap(({ name }, j): Finding[] => {
      const path = ["tenancy", i, "controlPlanes", j, "name"];
      return known.includes(name) ? [] : [{ code: "PLANE_UNKNOWN", name, known, near: nearest(name, known), path }];
    }),
  );
}

function globsAreGlobs({ tenancy = [] }: ServerConfig): Finding[] {
  const bad = (given: string, path: Path, fault: "Open" | "NoRepository" = "Open"): Finding[] =>
    fault === "Open" && globMatcher(given, "go") !== undefined ? [] : [{ code: "TENANT_GLOB", given, fault, path }];
  return tenancy.flatMap(({ repositories, controlPlanes }, i) => [
    ...repositories.flatMap((glob, j) =>
      bad(glob, ["tenancy", i, "repositories", j], glob.split("/").length === 2 ? "Open" : "NoRepository"),
    ),
    ...controlPlanes.flatMap(({ projects }, j) =>
      projects.flatMap((glob, k) => bad(glob, ["tenancy", i, "controlPlanes", j, "projects", k])),
    ),
  ]);
}

function keyOfSigning({ commits: { signing: is, sshKeyFile } }: ServerConfig): Finding[] {
  if ((is === "ssh") === (sshKeyFile !== undefined)) return [];
  if (is === "ssh") return [{ code: "MISSING_KEY", kind: "Key", key: "commits.sshKeyFile", path: ["commits"] }];
  return [otherKind({ key: "sshKeyFile", whose: "signing", kind: "ssh", is }, ["commits", "sshKeyFile"])];
}

/** Where it is missing, the environment may have it. */
function keyOfQueue({ queue: { kind: is, urlFile } }: ServerConfig): Finding[] {
  if (is === "postgres" || urlFile === undefined) return [];
  return [otherKind({ key: "urlFile", whose: "queue", kind: "postgres", is }, ["queue", "urlFile"])];
}

function hostsAreNames({ github, listen, inside }: ServerConfig): Finding[] {
  const found = (path: Path, why: ProblemReason | undefined): Finding[] => (why === undefined ? [] : [{ ...why, path }]);
  return [
    ...found(["github", "host"], github.host === undefined ? undefined : whyNoHost(github.host)),
    ...found(["listen", "host"], whyNoListening(listen.host)),
    ...found(["inside", "host"], whyNoListening(inside.host)),
  ];
}
