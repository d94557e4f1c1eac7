/** The batches of a stage: what goes on and what failed is open, what is over and what is to come folds into a line. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Counting, countedWords, countPhrase } from "../../../core/report/counted.ts";
import { LABELS, stateLabel } from "../../../core/report/model/labels.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Cells, type Open } from "./cells.tsx";
import { Charts } from "./charts.tsx";
import { Mark, toneClass } from "./marks.tsx";
import { Age, Awaits, below, CauseLine, capital, Links, Outward, pullOf } from "./parts.tsx";
import { LinkInRun } from "./route.tsx";
import { Until } from "./times.tsx";

/** Sentences that the run's own slots say already are left out further down. */
export interface Told {
  says: string;
  next: string | undefined;
  cause: string | undefined;
}

export interface Shown {
  counting: Counting;
  told: Told;
  isNamed: boolean;
  /** The number of the batch that the address names. */
  batch: number | undefined;
  open: Open;
}

/** More of one list than this are counted. */
const MOST_ROWS = 20;

export function Batches({ of, ...shown }: { of: ModelNode } & Shown) {
  const batches = of.children.filter(({ kind }) => kind === "batch");
  const isAsked = ({ number }: ModelNode) => number !== undefined && number === shown.batch;
  const isOpen = (batch: ModelNode) =>
    shown.isNamed || batch.when === "now" || batch.tone === "bad" || batch.tone === "warn" || isAsked(batch);
  const past = batches.filter((batch) => batch.when === "past" && !isOpen(batch));
  const later = batches.filter((batch) => batch.when === "later" && !isOpen(batch));
  return (
    <>
      <Folded of={past} {...shown} />
      {batches.filter(isOpen).map((batch) => (
        <Batch key={batch.name} of={batch} {...shown} />
      ))}
      <Checks of={of} />
      <Beside of={of} {...shown} />
      <Folded of={later} {...shown} />
    </>
  );
}

/** Several batches that are alike, as one line that opens: of 2,000 clusters most are folded, and drawn once somebody wants to see them. */
function Folded({ of, counting, isNamed, open }: { of: readonly ModelNode[] } & Shown) {
  const [isOpen, setOpen] = useState(false);
  const clusters = of.flatMap((batch) => below(batch, "cluster"));
  const [first] = of;
  if (first === undefined) return null;
  const done = clusters.filter(({ state }) => state === "Healthy").length;
  const batches = of.length === 1 ? first.name : `${of.length} batches`;
  return (
    <details class="folded" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Mark of={first} />
        {first.when === "past"
          ? `${batches}: ${done}/${clusters.length} healthy`
          : `${batches} to come: ${countPhrase(clusters.length, counting)}`}
      </summary>
      {isOpen ? <Cells of={clusters} label={`${several(counting)} of ${batches}`} isNamed={isNamed} open={open} /> : null}
    </details>
  );
}

function Batch({ of, counting, told, isNamed, batch, open }: { of: ModelNode } & Shown) {
  const isOver = of.when === "past";
  const clusters = below(of, "cluster");
  const next = isOver || of.waitsFor === undefined || of.waitsFor.says === told.next ? null : <Awaits of={of} />;
  const isAsked = of.number !== undefined && of.number === batch;
  const here = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAsked) here.current?.scrollIntoView({ block: "center" });
  }, [isAsked]);
  return (
    <div ref={here} class={isAsked ? "batch asked" : "batch"} aria-current={isAsked ? "location" : undefined}>
      <p class="head">
        <BatchName of={of} />
        <span>
          <b class={toneClass(of.tone)}>{stateLabel(of.state) + (of.checking === undefined ? "" : `, ${of.checking}`)}</b>{" "}
          {isOver ? null : <Age of={of} />}
        </span>
      </p>
      <Cells of={clusters} label={`${several(counting)} of ${of.name}`} isNamed={isNamed} open={open} />
      <Failures of={clusters} counting={counting} told={told} open={open} />
      <Rows
        of={clusters.filter(({ state, says }) => state === "Skipped" && says !== "")}
        label={`${several(counting)} left out`}
        row={({ name, says }) => `${name}: ${says}`}
      />
      {isOver ? null : <ArgoRollouts of={clusters} />}
      <Checks of={of} />
      {of.says === "" || isOver || of.says === told.says ? null : <p>{of.says}</p>}
      {next === null ? null : <p class="quiet">{next}</p>}
      <Gates of={of.gates ?? []} />
    </div>
  );
}

/** Its name, which is the way to its own page; its pull request and what that changes. */
function BatchName({ of }: { of: ModelNode }) {
  const pull = pullOf(of);
  return (
    <span>
      <span class="plain">{of.number === undefined ? capital(of.name) : <LinkInRun batch={of.number}>{capital(of.name)}</LinkInRun>}</span>{" "}
      <Links of={of} /> {pull === undefined ? null : <Outward name="diff" url={`${pull.url}/files`} />}
    </span>
  );
}

/** What a batch passes before the next one, in order; which of them it waits for now is said beside it. */
function Gates({ of }: { of: NonNullable<ModelNode["gates"]> }) {
  if (of.length === 0) return null;
  return (
    <details class="gates quiet">
      <summary>{`Passes ${of.map(({ name }) => name).join(" → ")}`}</summary>
      <dl>
        {of.flatMap(({ name, why, opens, when }) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} ${why}`}>{`${capital(why)}. Opened by ${opens}${when === "" ? "" : `: ${when}`}.`}</dd>,
        ])}
      </dl>
    </details>
  );
}

/** Each by name and with what it says, however large the grid. */
function Failures({ of, counting, told, open }: { of: readonly ModelNode[] } & Pick<Shown, "counting" | "told" | "open">) {
  const failed = of.filter(({ tone, says, cause }) => tone === "bad" && (says !== "" || cause !== undefined));
  return (
    <Rows
      of={failed}
      label={`Failed ${countedWords(counting)}`}
      row={(one) => (
        <>
          <button type="button" class="link t-bad" onClick={() => open(one.name)}>
            {one.name}
          </button>
          {told.says.includes(one.says) ? " " : ` ${one.says} `}
          {one.cause?.name === told.cause ? null : <CauseLine cause={one.cause} />}
        </>
      )}
    />
  );
}

function ArgoRollouts({ of }: { of: readonly ModelNode[] }) {
  const all = of.flatMap((cluster) =>
    below(cluster, "rollout").map((rollout) => ({ cluster, rollout, name: `${cluster.name}/${rollout.name}` })),
  );
  return (
    <Rows
      of={all}
      label="Argo Rollouts"
      row={({ cluster, rollout }) => (
        <>
          <b>{cluster.name}</b>
          {` ⟳ ${rollout.name} `}
          <span class={toneClass(rollout.tone)}>{stateLabel(rollout.state)}</span>
          {rollout.says === "" ? null : ` · ${rollout.says}`}
        </>
      )}
    />
  );
}

/** Analyses and hooks. */
function Checks({ of }: { of: ModelNode }) {
  const checks = of.children.filter(({ kind }) => kind === "check");
  return (
    <Rows
      of={checks}
      label="Analyses and hooks"
      row={(check) => (
        <>
          <b>{check.name}</b> <span class={toneClass(check.tone)}>{stateLabel(check.state)}</span>
          {[...check.facts, check.tone === "good" ? "" : check.says].filter((one) => one !== "").map((one) => ` · ${one}`)}
          <Charts of={check.metrics ?? []} />
        </>
      )}
    />
  );
}

/** Clusters that stand in no batch, by what they are. */
function Beside({ of, counting, isNamed, open }: { of: ModelNode } & Shown) {
  const groups = Map.groupBy(
    of.children.filter(({ kind }) => kind === "cluster"),
    ({ state }) => state,
  );
  return [...groups].map(([state, clusters]) => (
    <div class="batch" key={state}>
      <p class="head">{LABELS[state]}</p>
      <Cells of={clusters} label={`${several(counting)}: ${LABELS[state]}`} isNamed={isNamed} open={open} />
      <Rows
        of={clusters.filter(({ says }) => says !== "")}
        label={`Why: ${LABELS[state]}`}
        row={({ name, says, eta }) => (
          <>
            {`${name}: ${says}`}
            {eta === undefined ? null : (
              <>
                {" Looked at again "}
                <Until time={eta.p50} />
              </>
            )}
          </>
        )}
      />
    </div>
  ));
}

function several(counting: Counting): string {
  return capital(countedWords(counting));
}

function Rows<T extends { name: string }>({
  of,
  label,
  row,
}: {
  of: readonly T[];
  label: string;
  row: (one: T) => preact.ComponentChildren;
}) {
  if (of.length === 0) return null;
  return (
    <ul class="rows" aria-label={label}>
      {of.slice(0, MOST_ROWS).map((one) => (
        <li key={one.name}>{row(one)}</li>
      ))}
      {of.length > MOST_ROWS ? <li class="quiet">{`${of.length - MOST_ROWS} more`}</li> : null}
    </ul>
  );
}
