/** One run: what happens, why it waits, what comes next and what one can do, above everything else; then its stages. */
import type { ComponentChildren } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import { Actions } from "./actions.tsx";
import type { Told } from "./batches.tsx";
import { MOST_NAMED } from "./cells.tsx";
import { ClusterPanel } from "./cluster.tsx";
import { Badge, Legend, Mark } from "./marks.tsx";
import { Awaits, Bar, below, CauseLine, changeText, countsText, DoneAbout, Linked, Outward, Pulls, pullOf, Said, Slot } from "./parts.tsx";
import { JOURNAL, Past } from "./past.tsx";
import { Link, RunPlace, WayToNow } from "./route.tsx";
import { StageSteps, Stages } from "./stages.tsx";
import { TimeAxis } from "./time-axis.tsx";
import { ClockContext, Since, span } from "./times.tsx";
import { Values } from "./values.tsx";

interface Shown {
  of: RunDocument;
  /** The cluster that is looked at. */
  target?: string | undefined;
  /** The number of the batch that the address names. */
  batch?: number | undefined;
  /** Shows another cluster; without a name, none. */
  open: (cluster?: string) => void;
}

export function RunScreen({ of, target, batch, open }: Shown) {
  const isNamed = of.counts.clusters <= MOST_NAMED;
  const [asked, askAgain] = useState(0);
  const told: Told = { says: of.says, next: of.waitsFor?.says, cause: of.cause?.name };
  return (
    <InRun of={of}>
      <article class={classOf(of)}>
        <Title of={of} tell={() => askAgain(asked + 1)} />
        <Slots of={of} />
        {target === undefined ? null : <ClusterPanel of={of} name={target} close={() => open()} />}
        <NoBatch of={of} batch={batch} />
        <TimeAxis of={of} />
        <Stages of={of} told={told} isNamed={isNamed} batch={batch} open={open} />
        <Legend />
        <Past of={of} told={asked} />
      </article>
    </InRun>
  );
}

/** The address names a batch that the run does not have, or not yet. */
function NoBatch({ of, batch }: { of: RunDocument; batch: number | undefined }) {
  const last = Math.max(0, ...below(of, "batch").map(({ number }) => number ?? 0));
  if (batch === undefined || below(of, "batch").some(({ number }) => number === batch)) return null;
  const has = last === 0 ? "no batch was opened" : last === 1 ? "batch 1 alone was opened" : `batches 1 to ${last} were opened`;
  return <p class="ask">{`Run ${of.number} has no batch ${batch}: ${has}${of.endedAt === undefined ? " so far" : ""}.`}</p>;
}

/** What stands in it knows which run it is of, and where the pull requests are that it names. */
export function InRun({ of, children }: { of: RunDocument; children: ComponentChildren }) {
  const pulls = new Map([of, ...below(of, "batch")].flatMap(({ links }) => links.map(({ name, url }) => [name, url])));
  const { repository, rollout, number } = of;
  const place = useMemo(
    () => (repository === undefined ? undefined : { view: "run" as const, repository, rollout, number }),
    [repository, rollout, number],
  );
  return (
    <RunPlace.Provider value={place}>
      <Pulls.Provider value={pulls}>{children}</Pulls.Provider>
    </RunPlace.Provider>
  );
}

function Slots({ of }: { of: RunDocument }) {
  return (
    <div class="slots">
      <Slot name="What">
        <Values of={of.values} />
        <Bar of={of} />
        <p>{countsText(of)}</p>
        {of.endedAt === undefined ? null : <p class="quiet">{`It took ${span(Date.parse(of.endedAt) - Date.parse(of.startedAt))}`}</p>}
        <StageSteps of={of} />
      </Slot>
      <Slot name="Why">
        {isToldFirst(of) ? <CauseLine cause={of.cause} /> : null}
        <p class="why">
          <Said text={of.says} />
        </p>
        {isToldFirst(of) ? null : <CauseLine cause={of.cause} />}
        <Planes of={of} />
      </Slot>
      <Slot name="Next">
        <Next of={of} />
      </Slot>
      <Slot name="You can">
        <YouCan of={of} />
      </Slot>
    </div>
  );
}

/** What Argo CD or a measurement said comes before what became of it; a mere link to it comes after. */
function isToldFirst({ cause }: RunDocument): boolean {
  return cause !== undefined && cause.told !== true;
}

function YouCan({ of }: { of: RunDocument }) {
  const now = useContext(WayToNow);
  if (now === undefined) {
    const waits = of.waitsFor && `${of.says}; ${of.waitsFor.says}`;
    const asks = of.waitsOn?.kind === "person";
    return (
      <Actions
        of={of.actions}
        pull={pullOf(of)}
        waits={waits}
        asks={asks}
        rests={!asks && of.endedAt === undefined && of.controlPlanes.length === 0}
      />
    );
  }
  return (
    <>
      <p>Nothing: this is how it was.</p>
      <p>
        <Link to={now}>See it as it is now</Link>
      </p>
    </>
  );
}

/** `tell`: opens the journal of it. */
function Title({ of, tell }: { of: RunDocument; tell: () => void }) {
  const pull = pullOf(of);
  return (
    <header class="title">
      <h2>{of.rollout}</h2>
      {of.values === undefined ? <span class="release">{changeText(of.change ?? { to: of.release })}</span> : null}
      <Badge of={of} />
      <span class="quiet">
        {`run ${of.number}${of.pull === undefined ? "" : " · PR "}`}
        {of.pull === undefined ? null : pull === undefined ? `#${of.pull}` : <Outward {...pull} />}
        {` by ${of.author}`}
        {of.repository === undefined ? null : (
          <>
            {" · "}
            <a href={`#${JOURNAL}`} onClick={tell}>
              who did what
            </a>
          </>
        )}
      </span>
    </header>
  );
}

function Next({ of }: { of: RunDocument }) {
  const clock = useContext(ClockContext);
  const isThen = useContext(WayToNow) !== undefined;
  return (
    <>
      {of.ask === undefined ? null : (
        <div class="ask">
          <Asked text={of.ask.says} />
        </div>
      )}
      {of.wayBack === undefined ? null : <p class="quiet">{`The way back: ${of.wayBack.says}`}</p>}
      {of.waitsFor === undefined ? null : (
        <p>
          <Awaits of={of} />
        </p>
      )}
      {of.endedAt === undefined ? null : <p class="quiet">Nothing: the run is over.</p>}
      {of.eta === undefined || isThen ? null : <DoneAbout eta={of.eta} now={clock.now()} />}
    </>
  );
}

/** Where several commands are offered, a line each. */
function Asked({ text }: { text: string }) {
  const ways = text.split(/, (?=\/)/);
  if (ways.length === 1) return <Said text={text} />;
  return (
    <ul>
      {ways.map((way) => {
        const [, command = "", effect = ""] = /^(\/\w+)(.*)$/s.exec(way) ?? ["", "", way];
        return (
          <li key={way}>
            <code>{command}</code>
            <Linked text={effect} />
          </li>
        );
      })}
    </ul>
  );
}

function classOf({ tone, counts, endedAt, controlPlanes }: RunDocument): string {
  const isFailing = counts.failed > 0 && endedAt === undefined;
  return ["run", `r-${tone}`, ...(isFailing ? ["failing"] : []), ...(controlPlanes.length > 0 ? ["unseen"] : [])].join(" ");
}

function Planes({ of }: { of: RunDocument }) {
  return of.controlPlanes.map((plane) => (
    <p key={plane.name} class="t-warn">
      <Mark of={plane} />
      {` Control plane ${plane.name} cannot be reached${plane.says === "" ? "" : `: ${plane.says}`}. ${plane.facts.join(", ")}`}
      {plane.since === undefined ? null : (
        <>
          {", for "}
          <Since time={plane.since} />
        </>
      )}
    </p>
  ));
}
