/** Small parts that every screen uses. */
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Counting, countedWords } from "../../../core/report/counted.ts";
import type { VersionShare } from "../../../core/report/model/schema/versions.ts";
import type { Cause, Counts, ModelNode } from "../../../core/report/model/types.ts";
import { clockOf, Since, Until } from "./times.tsx";

/** An address from outside is a link only where it leads to a web page. */
export function isWeb(url: string): boolean {
  return /^https?:\/\//.test(url);
}

export function Outward({ name, url }: { name: string; url: string }) {
  return isWeb(url) ? (
    <a href={url} rel="noreferrer">
      {name}
    </a>
  ) : (
    <span>{name}</span>
  );
}

/** Where else it is shown; this page is no such place. */
export function Links({ of }: { of: Pick<ModelNode, "links"> }) {
  return of.links.filter(({ name }) => name !== "page").map((link) => <Outward key={link.url} {...link} />);
}

export function Bar({ of }: { of: { counts: Counts } & Counting }) {
  const { counts } = of;
  const { clusters, healthy, failed } = counts;
  const width = (n: number) => ({ width: `${clusters === 0 ? 0 : (100 * n) / clusters}%` });
  return (
    <div class="bar" role="img" aria-label={countsText(of)}>
      <i class="b-good" style={width(healthy)} />
      <i class="b-bad" style={width(failed)} />
    </div>
  );
}

export function countsText({ counts, targetBy }: { counts: Counts } & Counting): string {
  const { clusters, healthy, failed, requeued, skipped, toCome } = counts;
  const parts = { failed, requeued, skipped, "to come": toCome };
  const rest = Object.entries(parts).flatMap(([what, n]) => (n > 0 ? [`${n} ${what}`] : []));
  return [`${healthy} of ${clusters} ${countedWords({ targetBy })} healthy`, ...rest].join(", ");
}

/** How many targets have which version, as a bar: a stretch a version, striped where it was not seen live. `release`: what the run brings. */
export function Spread({ of, release }: { of: readonly VersionShare[]; release: string | undefined }) {
  const all = of.reduce((sum, { targets }) => sum + targets, 0);
  if (all === 0) return null;
  const width = (count: number) => ({ width: `${(100 * count) / all}%` });
  return (
    <div class="spread">
      <div class="bar" role="img" aria-label={of.map(shareText).join("; ")}>
        {of.flatMap(({ version, targets, live, failed }, index) => {
          const tone = version === release ? "new" : `old-${index % 3}`;
          return [
            <i key={`${version} live`} class={`v-${tone}`} style={width(live)} />,
            <i key={`${version} other`} class={`v-${tone} unseen`} style={width(targets - live - failed)} />,
            <i key={`${version} failed`} class="b-bad" style={width(failed)} />,
          ];
        })}
      </div>
      <span class="quiet">
        {of.map((share, index) => [
          index === 0 ? "" : " · ",
          <span class="release" key={share.version ?? ""}>
            {share.version ?? "others"}
          </span>,
          ` on ${share.targets}`,
        ])}
      </span>
    </div>
  );
}

function shareText({ version, targets, live, failed }: VersionShare): string {
  return `${version ?? "other versions"}: ${targets} ${targets === 1 ? "target" : "targets"}, ${live} seen live${failed > 0 ? `, ${failed} failed` : ""}`;
}

/** `Next` of a node, with its time where one is known. */
export function Awaits({ of }: { of: Pick<ModelNode, "waitsFor" | "deadline"> }) {
  const { waitsFor, deadline } = of;
  if (waitsFor === undefined) return null;
  const at = waitsFor.at ?? deadline;
  return (
    <>
      <Said text={waitsFor.says} />{" "}
      {at === undefined ? null : (
        <span class="nowrap">
          {waitsFor.at === undefined ? "at the latest " : ""}
          <Until time={at} />
        </span>
      )}
    </>
  );
}

export function DoneAbout({ eta, now }: { eta: NonNullable<ModelNode["eta"]>; now: number }) {
  return (
    <p class="quiet">
      {"Expected to be done "}
      <Until time={eta.p50} />
      {clockOf(eta.p50, now) === clockOf(eta.p90, now) ? "" : `, where it is slow at ${clockOf(eta.p90, now)}`}
    </p>
  );
}

/** What Argo CD, an analysis or a hook said; where the sentence has it already, the way there alone. */
export function CauseLine({ cause }: { cause: Cause | undefined }) {
  if (cause === undefined) return null;
  const measured = (cause.measured ?? []).map(({ metric, value, limit }) =>
    [metric, value && ` measured ${value}`, limit && `, ${limit}`].join(""),
  );
  if (cause.told) return cause.link === undefined ? null : <Outward name={`${cause.name} in Argo CD`} url={cause.link} />;
  return (
    <p class="t-bad">
      {`${cause.name}: ${measured.length > 0 ? measured.join("; ") : cause.says} `}
      {cause.link === undefined ? null : <Outward name="Argo CD" url={cause.link} />}
    </p>
  );
}

export function Age({ of }: { of: Pick<ModelNode, "since"> }) {
  return of.since === undefined ? null : (
    <span class="quiet nowrap">
      {"for "}
      <Since time={of.since} />
    </span>
  );
}

export function Slot({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section class="slot">
      <h3>{name}</h3>
      {children}
    </section>
  );
}

/** `v1.4.1 → v1.4.2` */
export function changeText({ from, to }: { from?: string | undefined; to?: string | undefined }): string {
  return [from, to].filter((one) => one !== undefined).join(" → ");
}

/** Where each pull request that sentences name stands: `#3` to its address. */
export const Pulls = createContext<ReadonlyMap<string, string>>(new Map());

/** Words that begin a sentence and are no name of anybody's. */
const BEGINS = /^(?:a|an|each|every|it|its|no|nobody|none|nothing|once|one|somebody|the|waiting|when)\b(?!-)/;

/** A sentence that stands by itself: with a capital, and with each pull request it names to click on. */
export function Said({ text }: { text: string }) {
  return <Linked text={text.replace(BEGINS, capital)} />;
}

export function Linked({ text }: { text: string }) {
  const pulls = useContext(Pulls);
  return (
    <>
      {text.split(/(#\d+)/).map((part) => {
        const url = pulls.get(part);
        return url === undefined ? part : <Outward key={part} name={part} url={url} />;
      })}
    </>
  );
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Those of a kind below it, at whatever depth. */
export function below(node: Pick<ModelNode, "children">, kind: ModelNode["kind"]): ModelNode[] {
  return node.children.flatMap((child) => (child.kind === kind ? [child] : below(child, kind)));
}

/** Its pull request among its links; one to this page is none. */
export function pullOf({ links }: Pick<ModelNode, "links">): ModelNode["links"][number] | undefined {
  return links.find(({ name }) => name.startsWith("#"));
}
