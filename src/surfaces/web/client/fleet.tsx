/** All rollouts, what wants a person first. */
import { useContext } from "preact/hooks";
import type { Fleet, FleetRollout } from "../../../core/report/model/fleet-schema.ts";
import { GROUP_TITLES, GROUPS, stateWord } from "../../../core/report/model/labels.ts";
import { pagePath } from "../../../core/report/page-places.ts";
import { Mark, toneClass } from "./marks.tsx";
import { Age, Awaits, Bar, changeText, countsText, Links } from "./parts.tsx";
import { Link } from "./route.tsx";
import { ClockContext, clockOf } from "./times.tsx";

type Group = (typeof GROUPS)[number];

/** What the address asks for: `?q=payments&state=Failing`. */
export interface Filter {
  q: string;
  state: string;
}

export function FleetScreen({ of, filter, change }: { of: Fleet; filter: Filter; change: (filter: Filter) => void }) {
  const rows = of.rollouts.filter((row) => isMeant(row, filter));
  return (
    <>
      <Search of={of} filter={filter} change={change} />
      {of.repositories.flatMap(({ repository, attention }) =>
        attention.map((text) => <p class="ask" key={`${repository} ${text}`}>{`${repository}: ${text}`}</p>),
      )}
      {rows.length === 0 ? <Nothing isFiltered={of.rollouts.length > 0} /> : null}
      {GROUPS.map((group) => {
        const inGroup = rows.filter((row) => row.group === group).sort(byName);
        return inGroup.length === 0 ? null : (
          <section key={group} class="group">
            <h2>
              {GROUP_TITLES[group]} <small class="quiet">{inGroup.length}</small>
            </h2>
            <ul class="fleet">
              {inGroup.map((row) => (
                <Row key={row.key} of={row} />
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function byName(one: FleetRollout, other: FleetRollout): number {
  return one.key < other.key ? -1 : 1;
}

function isMeant(row: FleetRollout, { q, state }: Filter): boolean {
  const text = [row.repository, row.rollout, row.release, row.author].join(" ").toLowerCase();
  return (
    (state === "" || row.group === state) &&
    q
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}

function Search({ of, filter, change }: { of: Fleet; filter: Filter; change: (filter: Filter) => void }) {
  const count = (group: Group) => of.rollouts.filter((row) => row.group === group).length;
  return (
    <search>
      <form class="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search rollouts"
          placeholder="Rollout, repository, version, who"
          value={filter.q}
          onInput={({ currentTarget: { value } }) => change({ ...filter, q: value })}
        />
        {GROUPS.map((group) => (
          <button
            key={group}
            type="button"
            aria-pressed={filter.state === group}
            onClick={() => change({ ...filter, state: filter.state === group ? "" : group })}
          >
            {`${GROUP_TITLES[group]} ${count(group)}`}
          </button>
        ))}
      </form>
    </search>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return <p class="quiet">{isFiltered ? "No rollout is like that." : "No run yet. Merge a release PR to start one."}</p>;
}

function Row({ of }: { of: FleetRollout }) {
  const { now } = useContext(ClockContext);
  const next = of.ask === undefined ? of.waitsFor && <Awaits of={of} /> : of.ask.says;
  return (
    <li class={`r-${(of.counts?.failed ?? 0) > 0 && of.endedAt === undefined ? "bad" : of.tone}`}>
      <RowHead of={of} />
      <p>
        <b class={toneClass(of.tone)}>{of.state === undefined ? "Refused" : stateWord({ ...of, state: of.state })}</b>{" "}
        {of.endedAt === undefined ? <Age of={of} /> : <span class="quiet">{clockOf(of.endedAt, now())}</span>}
        {of.says === "" || of.refused !== undefined ? "" : ` · ${of.says}`}
      </p>
      {next === undefined ? null : <p class="quiet">{next}</p>}
      {of.refused === undefined ? null : <RefusedLines of={of.refused} />}
      {of.counts === undefined || of.endedAt !== undefined ? null : (
        <div class="progress">
          <Bar counts={of.counts} />
          <span class="quiet">{countsText(of.counts)}</span>
        </div>
      )}
    </li>
  );
}

/** Which rollout, to which version, and where it came from. */
function RowHead({ of }: { of: FleetRollout }) {
  const { repository, rollout, state, tone } = of;
  const versions = changeText({ from: of.change?.from, to: of.change?.to ?? of.release });
  const name = <b>{rollout ?? repository}</b>;
  return (
    <p class="head">
      <span>
        {state === undefined ? null : <Mark of={{ state, tone, when: of.endedAt === undefined ? "now" : "past" }} />}
        {of.number === undefined || rollout === undefined ? (
          name
        ) : (
          <Link to={pagePath({ view: "rollout", repository, rollout })}>{name}</Link>
        )}{" "}
        <span class="release">{versions}</span>
      </span>
      <span class="quiet">
        {`${repository} `}
        <Links of={of} />
        {of.author === undefined ? "" : ` by ${of.author}`}
      </span>
    </p>
  );
}

/** Why a release that was merged started no run. */
export function RefusedLines({ of }: { of: NonNullable<FleetRollout["refused"]> }) {
  return (
    <div class="ask">
      {`${of.says}. ${of.waitsFor}`}
      <ul class="rows">
        {of.problems.map((problem) => (
          <li key={`${problem.where} ${problem.code} ${problem.says}`}>
            <b>{problem.where}</b>
            {`: ${problem.says}${problem.todo === "" ? "" : ` (${problem.todo})`}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
