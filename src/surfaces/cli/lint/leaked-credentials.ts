/** Live credentials of clusters in files of the repo, as `kubectl get secrets -o yaml` prints them. Called by `lint` and `plan`. */
import { type Document, isNode, LineCounter, parseAllDocuments } from "yaml";
import { SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import { isRecord, recordOf } from "../../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { expandsTooFar, hasTooManyDocuments, LINEAR } from "../../../core/base/yaml-bounds.ts";
import { parseJson } from "../../../core/base/yaml-read.ts";
import type { Path, Problem } from "../../../core/reasons/problems/problem.ts";
import { isManifestFile } from "../../../engine/config-repo/set-files.ts";

const LARGEST = 8 * 1024 * 1024;
const MOST = 20;
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** What an encryption, a vault or a template left in its place. */
const STAND_IN = /^ENC\[|^<.*>$|\{\{|\$\{|^\$/s;

/** One problem for each Secret; none of them quotes what it found. */
export function leakedCredentials(checkout: RepoFiles): Problem[] {
  return madeOnce(checkout, leaksOf);
}

function leaksOf(checkout: RepoFiles): Problem[] {
  const files = checkout.paths().filter(isManifestFile);
  return files.flatMap((file) => leaksIn(readOrNull(checkout, file) ?? "", file)).slice(0, MOST);
}

function leaksIn(text: string, file: string): Problem[] {
  if (!text.includes(SECRET_TYPE) || text.length > LARGEST || hasTooManyDocuments(text)) return [];
  const lines = new LineCounter();
  return parseAllDocuments(text, { ...LINEAR, version: "1.1", lineCounter: lines }).flatMap((document) => {
    return secretsIn(readValue(document as Document), []).flatMap(({ secret, path }) => {
      const holds = leakOf(secret);
      if (holds === undefined) return [];
      const at = holds.startsWith("annotation ") ? ["metadata", "annotations"] : holds.split(".");
      return [
        { ...named(secret, holds), severity: "warning" as const, file, ...placeOf(document as Document, lines, [...path, ...at]), path },
      ];
    });
  });
}

function readValue(document: Document): unknown {
  try {
    return document.errors.length > 0 || expandsTooFar(document) ? undefined : document.toJS({ maxAliasCount: -1 });
  } catch {
    return undefined;
  }
}

function named(secret: Record<string, unknown>, holds: string) {
  const { name } = recordOf(secret["metadata"]);
  return { code: "CREDENTIALS_IN_REPO" as const, secret: typeof name === "string" ? name.slice(0, 100) : undefined, holds };
}

/** Cluster Secrets, also those of a list. */
function secretsIn(object: unknown, path: Path): { secret: Record<string, unknown>; path: Path }[] {
  if (!isRecord(object)) return [];
  const { items, kind } = object;
  if (Array.isArray(items))
    return items.flatMap((item, at) => (isRecord(item) && !Array.isArray(item["items"]) ? secretsIn(item, [...path, "items", at]) : []));
  // Encrypted by sops as a whole: its labels may be plain.
  if (kind !== "Secret" || object["sops"] !== undefined) return [];
  return recordOf(recordOf(object["metadata"])["labels"])[SECRET_TYPE] === "cluster" ? [{ secret: object, path }] : [];
}

/** Where in a Secret a credential stands; undefined: nowhere. */
function leakOf(secret: Record<string, unknown>): string | undefined {
  const { data, stringData, metadata } = secret;
  const coded = recordOf(data)["config"];
  if (typeof coded === "string" && isLive(Buffer.from(coded, "base64").toString("utf8"))) return "data.config";
  const plain = recordOf(stringData)["config"];
  if (typeof plain === "string" && isLive(plain)) return "stringData.config";
  const applied = recordOf(recordOf(metadata)["annotations"])[APPLIED];
  const before = typeof applied === "string" ? parseJson(applied) : undefined;
  return isRecord(before) && leakOf({ ...before, metadata: {} }) !== undefined ? `annotation ${APPLIED}` : undefined;
}

/** A cluster's `config`, as Argo CD reads it, with a credential that opens it. Names of cloud roles open nothing by themselves. */
function isLive(config: string): boolean {
  const { bearerToken, password, tlsClientConfig } = recordOf(parseJson(config));
  return [bearerToken, password, recordOf(tlsClientConfig)["keyData"]].some(
    (one) => typeof one === "string" && one !== "" && !STAND_IN.test(one),
  );
}

function placeOf(document: Document, lines: LineCounter, path: Path): { line: number; column: number } {
  const node = document.getIn(path, true);
  const { line, col } = lines.linePos((isNode(node) && node.range?.[0]) || 0);
  return { line, column: col };
}
