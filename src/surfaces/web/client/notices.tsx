/** What is said in place of a screen, and what to do: nothing is there, not yet, or cannot be shown. */
import { useContext } from "preact/hooks";
import type { Fleet, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import { type PagePlace, pagePath } from "../../../core/report/page-places.ts";
import { API, type Live } from "./live.ts";
import { Badge } from "./marks.tsx";
import { NotThere } from "./nowhere.tsx";
import { capital, Slot } from "./parts.tsx";
import { useRead } from "./past.tsx";
import { Link } from "./route.tsx";
import { ClockContext, Since } from "./times.tsx";

/** In the header: how what is shown stands. */
export const LINKS: Readonly<Record<Live<unknown>["link"], string>> = {
  loading: "Loading…",
  live: "Live",
  lost: "Not connected, trying again. What you see may be old.",
  past: "Past",
  ahead: "Not yet",
  before: "Nothing recorded",
  missing: "Nothing here",
  unread: "Cannot be read",
  fault: "Stagecoach failed to show this, trying again. What you see may be old.",
  "signed-out": "",
};

/** `of`: the place that the address names. */
export function Notice({ of: place, live }: { of: PagePlace; live: Live<unknown> }) {
  const now = pagePath({ ...place, at: undefined });
  if (live.link === "ahead") return <Ahead to={now} />;
  if (live.link === "before") return <Before to={now} at={place.at ?? ""} />;
  if (live.link === "missing") return place.view === "plan" ? <NotOpen of={place} /> : <Missing of={place} />;
  if (live.link === "unread") return <UnreadJournal says={live.detail} />;
  if (live.link !== "fault" || live.document !== undefined) return null;
  return (
    <Words title="Stagecoach failed to show this">
      {"That says nothing about the journal or the run. The server's log has the cause; please report it. "}
      <Link to="/">All rollouts</Link>
    </Words>
  );
}

function Words({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <section class="then notice">
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  );
}

/** What stands behind `?at=` is no time. */
export function NoTime({ of: { noTime = "", ...place } }: { of: PagePlace }) {
  return (
    <Words title={noTime === "" ? "The address names no time after at=" : `“${noTime.slice(0, 60)}” is no time`}>
      {"Write one as "}
      <code>?at=2026-11-21T09:00:00Z</code>
      {", or "}
      <Link to={pagePath(place)}>see it as it is now</Link>
    </Words>
  );
}

function Ahead({ to }: { to: string }) {
  const { now } = useContext(ClockContext);
  return (
    <Words title="This moment has not come yet">
      {`On the server it is ${new Date(now()).toISOString().slice(0, 19).replace("T", " ")} UTC. `}
      <Link to={to}>See it as it is now</Link>
    </Words>
  );
}

function Before({ to, at }: { to: string; at: string }) {
  return (
    <Words title="Nothing is recorded from then">
      {`On ${at.slice(0, 10)} at ${at.slice(11, 19)} UTC it had not begun, or you may not see it. Go to a later moment above, or `}
      <Link to={to}>see it as it is now</Link>
    </Words>
  );
}

/** All there is of a rollout whose first release started no run. */
export function Refused({ of }: { of: NonNullable<FleetRollout["refused"]> }) {
  return (
    <article class="run r-warn">
      <header class="title">
        <h2>{of.rollout}</h2>
        {of.release === undefined ? null : <span class="release">{of.release}</span>}
        <Badge of={{ state: "Failed", tone: "warn", when: "now" }} word="Refused" />
      </header>
      <div class="slots">
        <Slot name="What">
          <p>{`${of.says}.`}</p>
          {of.since === undefined ? null : (
            <p class="quiet">
              <Since time={of.since} />
              {" ago"}
            </p>
          )}
        </Slot>
        <Slot name="Why">
          {of.problems.map((problem) => (
            <p class="why" key={`${problem.where} ${problem.code} ${problem.says}`}>
              {`${capital(problem.says)}. `}
              <span class="quiet">{problem.where}</span>
            </p>
          ))}
        </Slot>
        <Slot name="Next">
          {of.problems
            .flatMap(({ todo }) => (todo === "" ? [] : [todo]))
            .map((todo) => (
              <p class="ask" key={todo}>{`${capital(todo)}.`}</p>
            ))}
          <p>{of.waitsFor}</p>
        </Slot>
        <Slot name="You can">
          <p>Put it right by a pull request to the same branch. Nothing can be pressed here: there is no run.</p>
        </Slot>
      </div>
    </article>
  );
}

function UnreadJournal({ says }: { says: string | undefined }) {
  return (
    <Words title="The journal of this cannot be read">
      {says === undefined ? "" : `${says}. `}
      {"The run stands still until somebody mends it; all others go on. "}
      <Link to="/">All rollouts</Link>
    </Words>
  );
}

/** Whoever has just merged it looks here. */
function NotOpen({ of: { repository, rollout, pull } }: { of: Extract<PagePlace, { view: "plan" }> }) {
  return (
    <Words title={`There is no open release PR #${pull} of ${rollout} that you may see`}>
      {"Once it is merged or closed it has no plan any more. "}
      <Link to={pagePath({ view: "rollout", repository, rollout })}>{`The last run of ${rollout}`}</Link>
    </Words>
  );
}

/** A rollout may have no run yet, or a release of it may have been refused: the fleet knows. */
function Missing({ of: place }: { of: PagePlace }) {
  const answer = useRead<Fleet>(`${API}/fleet`);
  if (answer === "reading") return null;
  const { repository, rollout } = "rollout" in place ? place : { repository: "", rollout: "" };
  const isHere = (one: { repository: string }) => one.repository.toLowerCase() === repository.toLowerCase();
  const fleet = typeof answer === "string" ? undefined : answer.document;
  const row = fleet?.rollouts.find((one) => isHere(one) && one.rollout === rollout);
  if (row?.unread !== undefined) return <UnreadJournal says={row.says} />;
  if (row?.refused !== undefined) return <Refused of={row.refused} />;
  return <NotThere of={place} fleet={fleet} />;
}
