/** The configuration's file is read with its places: a server that starts has one without a problem. */
import { globMatcher } from "../../../core/base/glob.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { parseDuration } from "../../../core/base/time.ts";
import type { Finding, Problem } from "../../../core/reasons/problem.ts";
import { newFindings, validate } from "../../../core/spec/parse/validate.ts";
import { readYaml } from "../../../core/spec/parse/yaml.ts";
import { checkWindows } from "../../../core/spec/rules/pace.ts";
import { whyNoHost, whyNoListening } from "./hosts.ts";
import { type ServerConfig, serverConfigSchema } from "./schema.ts";

/** Reads the server's configuration. Without a text it is what the defaults say. With a problem the server must not start. */
export function parseServerConfig(text: string | undefined, file: string): { config: ServerConfig | undefined; problems: Problem[] } {
  if (text === undefined) return { config: serverConfigSchema.parse({}), problems: [] };
  const { sources, problems } = readYaml(text, file);
  const [source, second] = sources;
  if (second !== undefined) {
    const hint = "merge the documents into one";
    problems.push(second.place({ code: "SEVERAL_DOCUMENTS", message: "the configuration is one document", hint, path: [] }));
  }
  if (source === undefined) return { config: problems.length > 0 ? undefined : serverConfigSchema.parse({}), problems };
  const { value, findings } = validate(serverConfigSchema, source.data);
  const rules = value === undefined ? [] : RULES.flatMap((rule) => rule(value));
  for (const finding of [...findings, ...newFindings(rules, findings)]) problems.push(source.place(finding));
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { config: problems.length > 0 ? undefined : value, problems };
}

const RULES: readonly ((config: ServerConfig) => Finding[])[] = [
  namesOnce,
  keysOfKind,
  apiIsComplete,
  grantsKnownPlanes,
  globsAreGlobs,
  resyncInPeace,
  keyOfSigning,
  hostsAreNames,
  ({ freezes }) => checkWindows(freezes, ["freezes"]),
];

/** More often, the resync alone would use the hour's calls up. */
const LEAST_RESYNC_MS = 30_000;

function resyncInPeace({ resync }: ServerConfig): Finding[] {
  if ((parseDuration(resync) ?? 0) >= LEAST_RESYNC_MS) return [];
  return [
    { code: "BAD_VALUE", message: `resync is ${resync}, less than 30s`, hint: "write 30s or more; 5m is the default", path: ["resync"] },
  ];
}

function namesOnce({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap(({ name }, i) => {
    const first = controlPlanes.findIndex((other) => other.name === name);
    if (first === i) return [];
    const message = `two control planes are called "${name}"`;
    return [{ code: "DUPLICATE_NAME", message, hint: "give each a name of its own", path: ["controlPlanes", i, "name"] }];
  });
}

const ONLY_KUBERNETES = ["kubeconfig", "context", "clusterSecrets", "allowRefresh"] as const;
const ONLY_API = ["url", "tokenFile", "projects", "caFile", "allowRolloutActions", "allowGenerate"] as const;

function keysOfKind({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap((plane, i) => {
    const foreign = plane.kind === "api" ? ONLY_KUBERNETES : ONLY_API;
    const other = plane.kind === "api" ? "kubernetes" : "api";
    return foreign
      .filter((name) => plane[name] !== undefined && plane[name] !== false)
      .map((name) => ({
        code: "BAD_VALUE",
        message: `${name} belongs to kind ${other}, and this control plane is of kind ${plane.kind}`,
        hint: `remove ${name}, or write kind: ${other}`,
        path: ["controlPlanes", i, name],
        atKey: true,
      }));
  });
}

function apiIsComplete({ controlPlanes }: ServerConfig): Finding[] {
  return controlPlanes.flatMap((plane, i) =>
    (["url", "tokenFile"] as const)
      .filter((name) => plane.kind === "api" && plane[name] === undefined)
      .map((name) => ({
        code: "MISSING_KEY",
        message: `controlPlanes[${i}].${name} is missing`,
        hint: name === "url" ? "add Argo CD's address: https://argocd.example.com" : "add the file that holds the account's token",
        path: ["controlPlanes", i],
      })),
  );
}

function grantsKnownPlanes({ controlPlanes, tenancy = [] }: ServerConfig): Finding[] {
  // A name that cannot be read is told of by itself.
  const known = controlPlanes.map(({ name }) => name).filter((name) => !/^faulty-\d/.test(name));
  return tenancy.flatMap((rule, i) =>
    rule.controlPlanes.flatMap(({ name }, j) => {
      if (known.includes(name)) return [];
      const near = nearest(name, known);
      return [
        {
          code: "BAD_VALUE",
          message: `there is no control plane "${name}"`,
          hint: near === undefined ? `one of ${known.join(", ")}` : `did you mean ${near}?`,
          path: ["tenancy", i, "controlPlanes", j, "name"],
        },
      ];
    }),
  );
}

function globsAreGlobs({ tenancy = [] }: ServerConfig): Finding[] {
  const bad = (glob: string, path: Finding["path"]): Finding[] =>
    globMatcher(glob, "go") === undefined
      ? [{ code: "BAD_VALUE", message: `"${glob}" is not a glob`, hint: "close every [; * and ? stand for what is not known", path }]
      : [];
  return tenancy.flatMap((rule, i) => [
    ...rule.repositories.flatMap((glob, j) => {
      const path = ["tenancy", i, "repositories", j];
      if (glob.split("/").length === 2) return bad(glob, path);
      return [{ code: "BAD_VALUE", message: `"${glob}" can match no repository`, hint: "write owner/name: acme/payments-*, or */*", path }];
    }),
    ...rule.controlPlanes.flatMap(({ projects }, j) =>
      projects.flatMap((glob, k) => bad(glob, ["tenancy", i, "controlPlanes", j, "projects", k])),
    ),
  ]);
}

function keyOfSigning({ commits: { signing, sshKeyFile } }: ServerConfig): Finding[] {
  if ((signing === "ssh") === (sshKeyFile !== undefined)) return [];
  if (signing === "ssh") {
    const hint = "add the file of an OpenSSH private key: ssh-keygen -t ed25519 -N '' -f signing-key";
    return [{ code: "MISSING_KEY", message: "commits.sshKeyFile is missing", hint, path: ["commits"] }];
  }
  const message = `sshKeyFile belongs to signing: ssh, and signing is ${signing}`;
  return [{ code: "BAD_VALUE", message, hint: "remove sshKeyFile, or write signing: ssh", path: ["commits", "sshKeyFile"], atKey: true }];
}

function hostsAreNames({ github, listen, inside }: ServerConfig): Finding[] {
  const found = (path: Finding["path"], wrong: ReturnType<typeof whyNoHost>): Finding[] =>
    wrong === undefined ? [] : [{ code: "BAD_VALUE", ...wrong, path }];
  return [
    ...found(["github", "host"], github.host === undefined ? undefined : whyNoHost(github.host)),
    ...found(["listen", "host"], whyNoListening(listen.host)),
    ...found(["inside", "host"], whyNoListening(inside.host)),
  ];
}
