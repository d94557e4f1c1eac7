/** What merging an open release PR would do, as the bot judged it last: the stages with their batches, gates and times. */
import { Fragment } from "preact";
import { useContext } from "preact/hooks";
import { type Counting, countPhrase } from "../../../core/report/counted.ts";
import type { PlanDocument, PlannedStage } from "../../../core/report/model/schema/plan.ts";
import { pagePath } from "../../../core/report/page-places.ts";
import { capital, changeText, Links, Slot } from "./parts.tsx";
import { Link } from "./route.tsx";
import { ClockContext, clockOf, span } from "./times.tsx";
import { Values } from "./values.tsx";

export const PLAN_STATES: Readonly<Record<PlanDocument["state"], { word: string; tone: string; can: string }>> = {
  Planned: { word: "Ready to merge", tone: "t-good", can: "Merge it, or comment on it" },
  Warned: { word: "Not ready to merge", tone: "t-warn", can: "Do that first, then merge it" },
  Against: { word: "Not to be merged", tone: "t-bad", can: "Put that right, or close it" },
  Refused: { word: "No run would start", tone: "t-bad", can: "Put that right, or close it" },
  Waiting: { word: "Cannot be judged now", tone: "t-warn", can: "Wait, or ask anew by /plan on it" },
  NotPlanned: { word: "Not planned", tone: "t-warn", can: "Ask for the plan by /plan on it" },
};

/** In sight at once; the others stand below. */
const MOST_WARNED = 3;

export function PlanScreen({ of }: { of: PlanDocument }) {
  return (
    <article class="run">
      <Title of={of} />
      <Slots of={of} />
      <ol class="stages plan">
        {of.stages.map((stage, index) => (
          <li key={`${index} ${stage.name}`}>
            <Stage of={stage} index={index} counting={of} />
          </li>
        ))}
      </ol>
      {of.counts !== undefined && of.counts.stages > of.stages.length ? (
        <p class="quiet">{`${of.counts.stages - of.stages.length} more stages`}</p>
      ) : null}
      <Notes title="What the run goes by" of={of.rules} />
      <Notes title="More warnings" of={of.warnings.slice(MOST_WARNED).map(({ code, says }) => `${code}: ${says}`)} />
    </article>
  );
}

function Title({ of }: { of: PlanDocument }) {
  const { word, tone } = PLAN_STATES[of.state];
  return (
    <>
      <header class="title">
        <h2>{of.rollout ?? of.repository}</h2>
        {of.values === undefined ? <span class="release">{changeText(of.change ?? { to: of.release })}</span> : null}
        <span class={`badge ${tone}`}>{word}</span>
        <span class="quiet">
          {"plan of "}
          <Links of={of} />
          {` by ${of.author}${of.isFork ? ", from a fork" : ""}`}
        </span>
      </header>
      <p class="quiet">{of.title}</p>
    </>
  );
}

function Slots({ of }: { of: PlanDocument }) {
  const { now } = useContext(ClockContext);
  return (
    <div class="slots">
      <Slot name="What">
        <p>{of.says}</p>
        <Values of={of.values} />
        {of.overlap === undefined ? null : <p>{of.overlap}</p>}
      </Slot>
      <Slot name="Why not">
        {of.against.length + of.before.length + of.problems.length === 0 ? (
          <p>{`Nothing stands against it${of.warnings.length === 0 ? "." : ", but look first:"}`}</p>
        ) : null}
        <Problems of={of} />
        <ul class="rows">
          {of.warnings.slice(0, MOST_WARNED).map(({ code, says }) => (
            <li key={`${code} ${says}`} class="t-warn">
              {`${capital(says)} `}
              <span class="quiet">{code}</span>
            </li>
          ))}
        </ul>
      </Slot>
      <Slot name="How long">
        <p>{of.expected?.says ?? "No run tells how long it takes."}</p>
      </Slot>
      <Slot name="You can">
        <p>
          {`${PLAN_STATES[of.state].can}: `}
          <Links of={of} />
        </p>
        <p class="quiet">{`Judged ${clockOf(of.judgedAt, now())}, at ${of.head.slice(0, 7)}`}</p>
        {of.rollout === undefined ? null : (
          <Link to={pagePath({ view: "rollout", repository: of.repository, rollout: of.rollout })}>{`Runs of ${of.rollout}`}</Link>
        )}
      </Slot>
    </div>
  );
}

function Problems({ of: { against, before, problems } }: { of: PlanDocument }) {
  return (
    <ul class="rows">
      {against.map((text) => (
        <li key={text} class="t-bad">
          {text}
        </li>
      ))}
      {before.map((text) => (
        <li key={text} class="t-warn">
          {text}
        </li>
      ))}
      {problems.map((one, index) => (
        <li key={`${index} ${one.code}`}>
          <b>{one.where}</b>
          {`: ${one.says}${one.todo === "" ? "" : ` (${one.todo})`}`}
        </li>
      ))}
    </ul>
  );
}

function Stage({ of, index, counting }: { of: PlannedStage; index: number; counting: Counting }) {
  return (
    <section class="stage later">
      <h3>
        <span>{`${index + 1}. ${of.name}`}</span>
        <small>{countPhrase(of.clusters, counting)}</small>
      </h3>
      <p class="quiet">{[`${of.atOnce} at once`, ...of.gates].join(" · ")}</p>
      {of.took === undefined ? null : <p class="quiet">{expectedText(of.took)}</p>}
      <ol class="rows">
        {of.batches.map((batch, at) => (
          <li key={at}>
            <b>{`Batch ${at + 1} of ${of.batchCount}`}</b>
            <span class="release">{` ${batch.changes.map(stepText).join(", ")} `}</span>
            <Names of={batch.clusters} size={batch.size} counting={counting} />
          </li>
        ))}
        {of.batchCount > of.batches.length ? <li class="quiet">{`${of.batchCount - of.batches.length} more batches`}</li> : null}
        {of.requeuedCount === 0 ? null : (
          <li class="quiet">
            {"At its end: "}
            <Names of={of.requeued} size={of.requeuedCount} counting={counting} />
          </li>
        )}
      </ol>
    </section>
  );
}

function expectedText({ p50Ms, p90Ms }: NonNullable<PlannedStage["took"]>): string {
  const [usual, slow] = [span(p50Ms), span(p90Ms)];
  return `Expected: ${usual}${usual === slow ? "" : `, where it is slow ${slow}`}`;
}

function stepText({ value, from, to }: { value?: string | undefined; from?: string | undefined; to: string }): string {
  const name = value === undefined ? "" : `${value} `;
  return from === to ? `${name}${to} already` : `${name}${changeText({ from, to })}`;
}

/** Those that are named, each on one line, and how many more there are. */
function Names({ of, size, counting }: { of: readonly string[]; size: number; counting: Counting }) {
  const left = size - of.length;
  if (of.length === 0) return <>{countPhrase(size, counting)}</>;
  return (
    <>
      {of.map((name, at) => (
        <Fragment key={name}>
          <span class="cluster">{at < of.length - 1 ? `${name},` : name}</span>{" "}
        </Fragment>
      ))}
      {left > 0 ? `and ${left} more` : null}
    </>
  );
}

function Notes({ title, of }: { title: string; of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ul class="rows">
        {of.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
