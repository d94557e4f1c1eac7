/** One run: what happens, why it waits, what comes next and what one can do, above everything else; then its stages. */
import { useContext } from "preact/hooks";
import { stateWord } from "../../../core/report/model/labels.ts";
import type { RunDocument } from "../../../core/report/model/run-schema.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Actions } from "./actions.tsx";
import { Batches, type Told } from "./batches.tsx";
import { MOST_NAMED, type Open } from "./cells.tsx";
import { ClusterPanel } from "./cluster.tsx";
import { Badge, Legend, Mark } from "./marks.tsx";
import { Age, Awaits, Bar, below, CauseLine, countsText, DoneAbout, Outward, Pulls, pullOf, Said, Slot } from "./parts.tsx";
import { Past } from "./past.tsx";
import { TimeAxis } from "./time-axis.tsx";
import { ClockContext, Since, span } from "./times.tsx";

/** `target`: the cluster that is looked at. `open` shows another; without a name, none. */
export function RunScreen({ of, target, open }: { of: RunDocument; target?: string | undefined; open: (cluster?: string) => void }) {
  const isNamed = of.counts.clusters <= MOST_NAMED;
  const told: Told = { says: of.says, next: of.waitsFor?.says, cause: of.cause?.name };
  const pulls = new Map([of, ...below(of, "batch")].flatMap(({ links }) => links.map(({ name, url }) => [name, url])));
  return (
    <Pulls.Provider value={pulls}>
      <article class={`run r-${of.tone}`}>
        <Title of={of} />
        <div class="slots">
          <Slot name="What">
            <Bar counts={of.counts} />
            <p>{countsText(of.counts)}</p>
            {of.endedAt === undefined ? null : <p class="quiet">{`It took ${span(Date.parse(of.endedAt) - Date.parse(of.startedAt))}`}</p>}
            <StageSteps of={of} />
          </Slot>
          <Slot name="Why">
            <p class="why">
              <Said text={of.says} />
            </p>
            <CauseLine cause={of.cause} />
            <Planes of={of} />
          </Slot>
          <Slot name="Next">
            <Next of={of} />
          </Slot>
          <Slot name="You can">
            <Actions of={of.actions} pull={pullOf(of)} waits={of.waitsFor && `${of.says}; ${of.waitsFor.says}`} />
          </Slot>
        </div>
        {target === undefined ? null : <ClusterPanel of={of} name={target} close={() => open()} />}
        <TimeAxis of={of} />
        <div class="stages">
          {of.children.map((stage) => (
            <Stage key={stage.name} of={stage} told={told} isNamed={isNamed} open={open} />
          ))}
        </div>
        <Past of={of} />
        <Legend />
      </article>
    </Pulls.Provider>
  );
}

function Title({ of }: { of: RunDocument }) {
  const pull = pullOf(of);
  return (
    <header class="title">
      <h2>{of.rollout}</h2>
      <span class="release">{[of.change?.from, of.change?.to ?? of.release].filter((one) => one !== undefined).join(" → ")}</span>
      <Badge of={of} />
      <span class="quiet">
        {`run ${of.number}${of.pull === undefined ? "" : " · PR "}`}
        {of.pull === undefined ? null : pull === undefined ? `#${of.pull}` : <Outward {...pull} />}
        {` by ${of.author}`}
      </span>
    </header>
  );
}

function Next({ of }: { of: RunDocument }) {
  const clock = useContext(ClockContext);
  return (
    <>
      {of.ask === undefined ? null : (
        <p class="ask">
          <Said text={of.ask.says} />
        </p>
      )}
      {of.wayBack === undefined ? null : <p class="quiet">{`The way back: ${of.wayBack.says}`}</p>}
      {of.waitsFor === undefined ? null : (
        <p>
          <Awaits of={of} />
        </p>
      )}
      {of.endedAt === undefined ? null : <p class="quiet">Nothing: the run is over.</p>}
      {of.eta === undefined ? null : <DoneAbout eta={of.eta} now={clock.now()} />}
    </>
  );
}

function Planes({ of }: { of: RunDocument }) {
  return of.controlPlanes.map((plane) => (
    <p key={plane.name}>
      {`Control plane ${plane.name} cannot be reached${plane.says === "" ? "" : `: ${plane.says}`}. ${plane.facts.join(", ")} `}
      {plane.since === undefined ? null : <Since time={plane.since} />}
    </p>
  ));
}

/** The stages in a row, each a mark and how far it is. */
function StageSteps({ of }: { of: RunDocument }) {
  return (
    <ol class="steps" aria-label="Stages">
      {of.children.map((stage) => (
        <li key={stage.name} class={stage.when} aria-current={stage.when === "now" ? "step" : undefined}>
          <a href={`#${stageId(stage)}`}>
            <Mark of={stage} />
            {`${stage.name} ${shareOf(stage)}`}
          </a>
        </li>
      ))}
    </ol>
  );
}

function shareOf({ counts }: ModelNode): string {
  return counts === undefined || counts.clusters === 0 ? "" : `${counts.healthy}/${counts.clusters}`;
}

function stageId({ name }: ModelNode): string {
  return `stage-${encodeURIComponent(name.toWellFormed())}`;
}

function Stage({ of, told, isNamed, open }: { of: ModelNode; told: Told; isNamed: boolean; open: Open }) {
  const isEmpty = below(of, "cluster").length === 0;
  return (
    <section class={`stage ${of.when} r-${(of.counts?.failed ?? 0) > 0 && of.when === "now" ? "bad" : of.tone}`} id={stageId(of)}>
      <h3>
        <span>
          <Mark of={of} />
          {of.name}
        </span>
        <small>{isEmpty ? "no clusters" : of.counts === undefined ? "" : `${shareOf(of)} healthy`}</small>
      </h3>
      <p class="quiet">
        {stateWord(of)} {of.when === "now" ? <Age of={of} /> : null}
        {of.facts.map((fact) => ` · ${fact}`)}
      </p>
      <Batches of={of} told={told} isNamed={isNamed} open={open} />
    </section>
  );
}
