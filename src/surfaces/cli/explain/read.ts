/** The files that `explain` is given are read into views, or refused as wrong usage. Called by `explain.ts`. */
import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import { decodeApplication, decodeIntended } from "../../../core/argocd/decode/application.ts";
import { decodeClusterItem, decodeClusterSecret } from "../../../core/argocd/decode/cluster.ts";
import { child, type Fields, fields, list, own, word } from "../../../core/argocd/decode/lenient.ts";
import type { Intended } from "../../../core/argocd/liveness/types.ts";
import { plainServer } from "../../../core/argocd/same.ts";
import type { ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { CommandError } from "../command.ts";

/** Every object of a YAML or JSON file: several documents, Lists and arrays are taken apart. */
async function objectsIn(file: string): Promise<{ objects: unknown[]; isList: boolean }> {
  let text: string;
  try {
    text = file === "-" ? await textOf(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new CommandError(2, `${file} is not there`);
    throw new CommandError(2, `${file}: ${errorText(error)}`);
  }
  const found: unknown[] = [];
  let isList = false;
  for (const value of parsed(file, text)) {
    isList ||= word(fields(value), "kind")?.endsWith("List") === true;
    if (Array.isArray(value)) found.push(...value);
    else if (Array.isArray(own(fields(value), "items"))) found.push(...list(fields(value), "items"));
    else if (value !== null && value !== undefined) found.push(value);
  }
  return { objects: found, isList };
}

/** JSON by itself is many times faster than as YAML, and a status may have megabytes. */
function parsed(file: string, text: string): unknown[] {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      // YAML in flow style begins like this too.
    }
  }
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: false });
    return (Array.isArray(documents) ? documents : []).map((document) => {
      const problem = document.errors[0];
      if (problem !== undefined) throw new CommandError(2, `${file}: ${problem.message}`);
      return document.toJS({ maxAliasCount: 100 }) as unknown;
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(2, `${file} cannot be read as YAML: ${errorText(error).slice(0, 200)}`);
  }
}

/** undefined: the file is a List without items, as kubectl prints where there is no such Application: that is an answer. */
export async function applicationIn(file: string, now: number): Promise<ApplicationView | undefined> {
  const { objects, isList } = await objectsIn(file);
  const applications = objects.filter((object) => (word(fields(object), "kind") ?? "Application") === "Application");
  const views = applications.map((object) => decodeApplication(object, now)).filter((view) => view !== undefined);
  if (views.length > 1) {
    const names = views.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`);
    const more = views.length > 3 ? " …" : "";
    throw new CommandError(2, `${file} holds ${views.length} Applications (${names.join(", ")}${more}); give the one in question`);
  }
  if (views.length === 1 || (isList && objects.length === 0)) return views[0];
  const where = file === "-" ? "standard input" : file;
  if (objects.length === 0) throw new CommandError(2, `${where} is empty: give what \`kubectl get application NAME -o yaml\` prints`);
  const kinds = [...new Set(objects.map((object) => word(fields(object), "kind") ?? typeof object))].slice(0, 3).join(", ");
  throw new CommandError(2, `${where} holds no Application with a metadata.name, but: ${kinds.slice(0, 100)}`);
}

/** The Application's own cluster among those of a file, by the name or the server of its destination; of an Application that is not there, any. */
export async function clusterIn(file: string, application: ApplicationView | undefined): Promise<ClusterView> {
  const { objects } = await objectsIn(file);
  const decode = (object: unknown) => (word(fields(object), "kind") === "Secret" ? decodeClusterSecret(object) : decodeClusterItem(object));
  const clusters = objects.map(decode).filter((cluster) => cluster !== undefined);
  const { name, server = "" } = application?.spec.destination ?? {};
  const isOwn = (cluster: ClusterView) =>
    application === undefined || cluster.name === name || (server !== "" && plainServer(cluster.server) === plainServer(server));
  const own = clusters.filter(isOwn);
  // Of two that could be meant the worse one counts.
  const found = own.find((cluster) => cluster.connection?.status === "Failed") ?? own[0];
  if (found !== undefined) return found;
  const held = clusters.slice(0, 3).map((cluster) => cluster.name);
  throw new CommandError(
    2,
    `${file} does not hold the Application's cluster ${name ?? server}${held.length === 0 ? "" : `, but ${held.join(", ")}${clusters.length > 3 ? " …" : ""}`}`,
  );
}

/** What the commit gives the Application: as decisions see it, and as it was written. */
export interface IntendedSpec {
  intended: Intended;
  spec: Fields;
}

/** A rendered Application, one of several by its namespace and name, or the bare spec. */
export async function intendedIn(file: string, application: ApplicationView | undefined): Promise<IntendedSpec> {
  const { objects } = await objectsIn(file);
  const fitting = objects.filter((object) => application === undefined || isOf(object, application));
  const called = application === undefined ? "" : ` ${application.name}`;
  if (fitting.length > 1)
    throw new CommandError(2, `${file} holds ${fitting.length} Applications${called}: give the one in question, with its namespace`);
  const [object] = fitting;
  const whole = own(fields(object), "spec") === undefined ? { spec: object } : object;
  const intended = decodeIntended(whole);
  if (intended.sources.length === 0) throw new CommandError(2, `${file} holds no Application${called} with a source`);
  return { intended, spec: child(fields(whole), "spec") };
}

/** What a file does not say, such as the namespace that the ApplicationSet's gives it, is no difference. */
function isOf(object: unknown, { name, namespace }: ApplicationView): boolean {
  const metadata = child(fields(object), "metadata");
  const [itsName, itsNamespace] = [word(metadata, "name"), word(metadata, "namespace")];
  return (itsName ?? name) === name && (itsNamespace === undefined || namespace === "" || itsNamespace === namespace);
}
