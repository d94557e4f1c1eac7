/** All rollouts, what wants a person first. */
import { useContext } from "preact/hooks";
import { GROUP_TITLES, GROUPS, stateWord } from "../../../core/report/model/labels.ts";
import type { Fleet, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import { pagePath, parsePagePath } from "../../../core/report/page-places.ts";
import { FleetEmpty, Places } from "./fleet-places.tsx";
import { Mark, toneClass } from "./marks.tsx";
import { Age, Awaits, Bar, changeText, countsText, Linked, Links, Pulls, Spread } from "./parts.tsx";
import { Releases } from "./releases.tsx";
import { Link } from "./route.tsx";
import { ClockContext, clockOf } from "./times.tsx";

/** Open release PRs stand after what goes on and what never began, before what is done. */
const SECTIONS = [...GROUPS.filter((group) => group !== "Done"), "Releases", "Done"] as const;
type Section = (typeof SECTIONS)[number];

const TITLES: Readonly<Record<Section, string>> = { ...GROUP_TITLES, Releases: "Open release PRs", Done: "Done lately" };
/** Of what is done the rest folds away. */
const MOST_DONE = 10;

/** What the address asks for: `?q=payments&state=Failing`. */
export interface Filter {
  q: string;
  state: string;
}

interface Shown {
  of: Fleet;
  filter: Filter;
  change: (filter: Filter) => void;
}

export function FleetScreen({ of, filter, change }: Shown) {
  const rows = of.rollouts.filter((row) => isMeant([row.repository, row.rollout, row.release, row.author], filter.q));
  const releases = of.releases.filter((one) => isMeant([one.repository, one.rollout, one.release, one.author, one.title], filter.q));
  const isWanted = (section: Section) => filter.state === "" || filter.state === section;
  const found = SECTIONS.filter(isWanted).map((section) =>
    section === "Releases" ? releases : rows.filter((row) => standsIn(row, section, filter.state)),
  );
  const isEmpty = found.every(({ length }) => length === 0);
  return (
    <>
      <Search of={of} filter={filter} change={change} />
      <Places of={of.repositories} />
      {isEmpty ? <FleetEmpty of={of} /> : null}
      {SECTIONS.filter(isWanted).map((section) =>
        section === "Releases" ? (
          <Releases key={section} title={TITLES[section]} of={releases} />
        ) : (
          <Group key={section} section={section} of={rows.filter((row) => standsIn(row, section, filter.state))} isAll={filter.q !== ""} />
        ),
      )}
    </>
  );
}

/** Each stands once; where one section is asked for, everything that it counts does. */
function standsIn(row: FleetRollout, section: Section, asked: string): boolean {
  return row.group === section || (asked === "Failing" && countsIn(row, section));
}

/** What failed and waits for a person is counted as both. */
function countsIn({ group, failing }: FleetRollout, section: Section): boolean {
  return group === section || (section === "Failing" && failing === true);
}

function isMeant(words: readonly (string | undefined)[], q: string): boolean {
  const text = words.join(" ").toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Search({ of, filter, change }: Shown) {
  const count = (section: Section) => (section === "Releases" ? of.releases : of.rollouts.filter((row) => countsIn(row, section))).length;
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
        {SECTIONS.map((section) => (
          <button
            key={section}
            type="button"
            aria-pressed={filter.state === section}
            onClick={() => change({ ...filter, state: filter.state === section ? "" : section })}
          >
            {`${TITLES[section]} ${count(section)}`}
          </button>
        ))}
      </form>
    </search>
  );
}

function Group({ section, of, isAll }: { section: Section; of: readonly FleetRollout[]; isAll: boolean }) {
  if (of.length === 0) return null;
  const rows = of.toSorted(section === "Done" ? byEnd : byName);
  const shown = section === "Done" && !isAll ? MOST_DONE : rows.length;
  return (
    <section class="group">
      <h2>
        {TITLES[section]} <small class="quiet">{`${rows.length}${section === "WaitsForYou" ? failingText(rows) : ""}`}</small>
      </h2>
      <Rows of={rows.slice(0, shown)} />
      {rows.length > shown ? (
        <details class="past">
          <summary>{`${rows.length - shown} more, done before`}</summary>
          <Rows of={rows.slice(shown)} />
        </details>
      ) : null}
    </section>
  );
}

/** So that a tile that counts them has its rows in sight. */
function failingText(rows: readonly FleetRollout[]): string {
  const failing = rows.filter((row) => row.failing === true).length;
  return failing === 0 ? "" : failing === rows.length ? ", failing" : `, ${failing} of them failing`;
}

function byName(one: FleetRollout, other: FleetRollout): number {
  return one.key < other.key ? -1 : 1;
}

/** The last first. */
function byEnd(one: FleetRollout, other: FleetRollout): number {
  const [a, b] = [one.endedAt ?? "", other.endedAt ?? ""];
  return a === b ? byName(one, other) : a > b ? -1 : 1;
}

function Rows({ of }: { of: readonly FleetRollout[] }) {
  return (
    <ul class="fleet">
      {of.map((row) => (
        <Row key={row.key} of={row} />
      ))}
    </ul>
  );
}

function Row({ of }: { of: FleetRollout }) {
  const { now } = useContext(ClockContext);
  const next = of.ask === undefined ? of.waitsFor && <Awaits of={of} /> : <Linked text={of.ask.says} />;
  return (
    <Pulls.Provider value={pullsNamed(of)}>
      <li class={`r-${of.failing === true ? "bad" : of.tone}`}>
        <RowHead of={of} />
        <p>
          <b class={toneClass(of.tone)}>{wordOf(of)}</b>{" "}
          {of.endedAt === undefined ? <Age of={of} /> : <span class="quiet">{clockOf(of.endedAt, now())}</span>}
          {of.says === "" || of.refused !== undefined ? null : (
            <>
              {" · "}
              <Linked text={of.says} />
            </>
          )}
        </p>
        {next === undefined ? null : <p class="quiet">{next}</p>}
        {of.refused === undefined ? null : <RefusedLines of={of.refused} />}
        {of.counts === undefined || of.endedAt !== undefined ? null : (
          <div class="progress">
            <Bar of={{ ...of, counts: of.counts }} />
            <span class="quiet">{countsText({ ...of, counts: of.counts })}</span>
          </div>
        )}
        {of.versions === undefined ? null : <Spread of={of.versions} release={of.release} />}
      </li>
    </Pulls.Provider>
  );
}

function wordOf(of: FleetRollout): string {
  if (of.unread !== undefined) return "Cannot be read";
  return of.state === undefined ? "Refused" : stateWord({ ...of, state: of.state });
}

/** Pull requests that its sentences name stand where its release PR does. */
function pullsNamed({ links, says, ask, waitsFor }: FleetRollout): ReadonlyMap<string, string> {
  const [, base] =
    links.map(({ name, url }) => (name.startsWith("#") ? /^(.*\/)\d+$/.exec(url) : null)).find((found) => found !== null) ?? [];
  const named = base === undefined ? [] : ([says, ask?.says, waitsFor?.says].join(" ").match(/#\d+/g) ?? []);
  return new Map(named.map((name) => [name, `${base}${name.slice(1)}`]));
}

/** Which rollout, to which version, and where it came from. */
function RowHead({ of }: { of: FleetRollout }) {
  const { repository, rollout, state, tone } = of;
  const versions = changeText({ from: of.change?.from, to: of.change?.to ?? of.release });
  // What declares no rollout is called by its file.
  const name = <b>{rollout ?? of.refused?.problems[0]?.file ?? repository}</b>;
  // What was refused may be called as no rollout can be.
  const path = rollout === undefined ? undefined : pagePath({ view: "rollout", repository, rollout });
  return (
    <p class="head">
      <span>
        {state === undefined ? null : <Mark of={{ state, tone, when: of.endedAt === undefined ? "now" : "past" }} />}
        {path === undefined || parsePagePath(path) === undefined ? name : <Link to={path}>{name}</Link>}{" "}
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
