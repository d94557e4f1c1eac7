/** The way to moments that are over: which one is shown, those around it, and which version each target had then. */
import { useContext, useState } from "preact/hooks";
import type { Moment, RolloutVersions, TargetVersion, Versions } from "../../../core/report/model/schema/versions.ts";
import { type PagePlace, pagePath } from "../../../core/report/page-places.ts";
import { API, asOf } from "./live.ts";
import { Unread, useRead } from "./past.tsx";
import { Going, Link } from "./route.tsx";
import { ClockContext, clockOf } from "./times.tsx";

const MOST_TARGETS = 200;

/** `place`: what is looked at, as of its moment. */
export function Moments({ of: place }: { of: PagePlace }) {
  const now = pagePath({ ...place, at: undefined });
  return place.at === undefined ? <LookBack of={place} /> : <Shown of={place} at={place.at} now={now} />;
}

function pathOf(place: PagePlace): string {
  return place.view === "fleet"
    ? `${API}/versions`
    : `${API}/repos/${place.repository}/rollouts/${encodeURIComponent(place.rollout)}/versions`;
}

/** Nothing is read before it is opened. */
function LookBack({ of: place }: { of: PagePlace }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="past" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Look back: which version ran where</summary>
      {isOpen ? <Around of={place} /> : null}
    </details>
  );
}

function Around({ of: place }: { of: PagePlace }) {
  const answer = useRead<Versions | RolloutVersions>(pathOf(place));
  if (typeof answer === "string") return <Unread what={answer} />;
  return <MomentList of={answer.document.moments} place={place} />;
}

/** A moment is chosen by its place among those around it, so that the arrow keys go from one to the next. */
function Shown({ of: place, at, now }: { of: PagePlace; at: string; now: string }) {
  const answer = useRead<Versions | RolloutVersions>(pathOf(place) + asOf(at));
  const moments = typeof answer === "string" ? [] : answer.document.moments;
  const { go } = useContext(Going);
  const chosen = moments.findLastIndex((one) => Date.parse(one.recordedAt) <= Date.parse(at));
  const goTo = (index: number) => {
    const one = moments[index];
    if (one !== undefined) go(pagePath({ ...place, at: one.recordedAt }), "replace");
  };
  return (
    <section class="then" aria-label="A moment that is over">
      <p>
        <b>{`As it was on ${at.slice(0, 10)} at ${at.slice(11, 19)} UTC`}</b>
        {", as far as the journal had it recorded by then. "}
        <Link to={now}>Back to now</Link>
      </p>
      <div class="row">
        <button type="button" disabled={chosen < 1} onClick={() => goTo(chosen - 1)}>
          ← Before
        </button>
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={moments[chosen] === undefined ? at : momentText(moments[chosen])}
          min={0}
          max={Math.max(0, moments.length - 1)}
          value={Math.max(0, chosen)}
          disabled={moments.length === 0}
          onChange={({ currentTarget: { value } }) => goTo(Number(value))}
        />
        <button type="button" disabled={chosen + 1 >= moments.length} onClick={() => goTo(chosen + 1)}>
          After →
        </button>
      </div>
      {typeof answer === "string" ? <Unread what={answer} /> : <Known of={answer.document} place={place} />}
    </section>
  );
}

function Known({ of, place }: { of: Versions | RolloutVersions; place: PagePlace }) {
  const chosen = of.moments.findLast((one) => Date.parse(one.recordedAt) <= Date.parse(of.at));
  return (
    <>
      <p class="quiet">{chosen === undefined ? "Nothing is recorded of before." : `Last before it: ${momentText(chosen)}`}</p>
      {of.kind === "Versions" && of.unread.length > 0 ? (
        <p class="ask">{`Nothing is known from then, or it cannot be read, of: ${of.unread.join(", ")}`}</p>
      ) : null}
      {of.kind === "RolloutVersions" ? <Targets of={of} /> : null}
      <details class="past">
        <summary>Moments around it</summary>
        <MomentList of={of.moments} place={place} />
      </details>
    </>
  );
}

function MomentList({ of, place }: { of: readonly Moment[]; place: PagePlace }) {
  const clock = useContext(ClockContext);
  if (of.length === 0) return <p class="quiet">The journal has no run yet.</p>;
  return (
    <ul class="rows">
      {of.toReversed().map((one) => (
        <li key={`${one.repository} ${one.rollout} ${one.number} ${one.what} ${one.batch ?? ""} ${one.at}`}>
          <Link to={pagePath({ ...place, at: one.recordedAt })}>{clockOf(one.at, clock.now())}</Link>
          {` ${deedText(one)}`}
        </li>
      ))}
    </ul>
  );
}

function momentText(one: Moment): string {
  return `${one.at.slice(0, 16).replace("T", " ")} UTC, ${deedText(one)}`;
}

const DID: Readonly<Record<Moment["what"], string>> = { Began: "began", Merged: "merged", Paused: "paused", Ended: "ended" };

function deedText({ rollout, number, what, batch, release }: Moment): string {
  const version = release === undefined || what !== "Began" ? "" : ` (${release})`;
  return `${rollout} run ${number}${batch === undefined ? "" : `: batch ${batch}`} ${DID[what]}${version}`;
}

const KNOWN: Readonly<Record<TargetVersion["known"], string>> = {
  Live: "seen live",
  Merged: "merged, not seen live yet",
  Failed: "failed on it",
  InGit: "in Git when the run began; nobody looked",
};

/** Which had which, by version. */
function Targets({ of }: { of: RolloutVersions }) {
  const { now } = useContext(ClockContext);
  const groups = Map.groupBy(of.targets.slice(0, MOST_TARGETS), ({ version, known }) => `${version} · ${KNOWN[known]}`);
  if (of.targets.length === 0) return <p class="quiet">No run of it had begun.</p>;
  return (
    <details class="past" open={of.targets.length <= 30}>
      <summary>{`Which version ${of.targets.length} targets had`}</summary>
      <ul class="rows">
        {[...groups].map(([name, targets]) => (
          <li key={name}>
            <b class="release">{name}</b>
            {`: ${targets.map(({ cluster, known, since }) => `${cluster}${known === "Live" ? ` since ${clockOf(since, now())}` : ""}`).join(", ")}`}
          </li>
        ))}
        {of.targets.length > MOST_TARGETS ? <li class="quiet">{`${of.targets.length - MOST_TARGETS} more`}</li> : null}
      </ul>
    </details>
  );
}
