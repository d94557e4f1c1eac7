/**
 * What an address that leads nowhere gets: what is not there, the nearest that is, and a way home. Called by `app.tsx` for addresses of no page,
 * by `notices.tsx` for places that the API does not know.
 */
import type { ComponentChildren } from "preact";
import { nearest } from "../../../core/base/nearest.ts";
import type { Fleet } from "../../../core/report/model/schema/fleet.ts";
import { type PagePlace, pagePath } from "../../../core/report/page-places.ts";
import { API } from "./live.ts";
import { useRead } from "./past.tsx";
import { Link } from "./route.tsx";

const MOST_NAMED = 5;
const MOST_SHOWN = 100;

/** A rollout that is there. `number`: of its last run; absent: it has none. */
interface Known {
  repository: string;
  rollout: string;
  number?: number | undefined;
}

/** undefined: nobody could ask what is there. */
type Asked = Pick<Fleet, "rollouts" | "repositories"> | undefined;

function knownIn(fleet: Asked): Known[] {
  const rows = (fleet?.rollouts ?? []).flatMap(({ repository, rollout, number }) =>
    rollout === undefined ? [] : [{ repository, rollout, number }],
  );
  return [...rows, ...(fleet?.repositories ?? []).flatMap(({ repository, idle }) => idle.map((rollout) => ({ repository, rollout })))];
}

/** What was meant by names of which no rollout is called so: in its repository first, then whatever differs in one of the two alone. */
function nearestRollout({ repository, rollout }: Known, known: readonly Known[]): Known | undefined {
  const isHere = (one: Known) => one.repository.toLowerCase() === repository.toLowerCase();
  const here = known.filter(isHere);
  const near = nearest(
    rollout,
    here.map((one) => one.rollout),
  );
  if (near !== undefined) return here.find((one) => one.rollout === near);
  const named = known.filter((one) => one.rollout === rollout);
  const place = nearest(
    repository,
    named.map((one) => one.repository),
  );
  return named.find((one) => one.repository === place);
}

function NoWay({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="then notice">
      <h2>{title}</h2>
      <p>
        {children}
        <Link to="/">All rollouts</Link>
      </p>
    </section>
  );
}

function To({ of }: { of: Known }) {
  return <Link to={pagePath({ view: "rollout", repository: of.repository, rollout: of.rollout })}>{of.rollout}</Link>;
}

/** There is no such rollout, or run of it, for whoever looks. */
export function NotThere({ of: place, fleet }: { of: PagePlace; fleet: Asked }) {
  if (!("rollout" in place))
    return <NoWay title="There is nothing here that you may see">{"It is not there, or GitHub does not show it to you. "}</NoWay>;
  const { repository, rollout } = place;
  const known = knownIn(fleet);
  const own = known.find((one) => one.rollout === rollout && one.repository.toLowerCase() === repository.toLowerCase());
  if (own?.number !== undefined && "number" in place)
    return (
      <NoWay title={`${rollout} has no run ${place.number}`}>
        {"Its last is "}
        <Link to={pagePath({ view: "run", repository, rollout, number: own.number })}>{`run ${own.number}`}</Link>
        {". "}
      </NoWay>
    );
  if (own !== undefined && own.number === undefined)
    return <NoWay title={`No run of ${rollout} yet`}>{"Merge a release PR to start one. "}</NoWay>;
  return <NoRollout of={{ repository, rollout }} known={known} />;
}

function NoRollout({ of, known }: { of: Known; known: readonly Known[] }) {
  const near = nearestRollout(of, known);
  const here = known.filter((one) => one.repository.toLowerCase() === of.repository.toLowerCase()).slice(0, MOST_NAMED);
  return (
    <NoWay title={`There is no rollout ${shortened(of.rollout)} in ${shortened(of.repository)} that you may see`}>
      {near === undefined ? "It is not there, or GitHub does not show it to you. " : "Did you mean "}
      {near === undefined ? null : <To of={near} />}
      {near === undefined ? null : near.repository === of.repository ? "? " : ` in ${near.repository}? `}
      {near !== undefined || here.length === 0 ? null : "Those there: "}
      {near === undefined ? here.map((one, at) => [<To key={one.rollout} of={one} />, at === here.length - 1 ? ". " : ", "]) : null}
    </NoWay>
  );
}

function shortened(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** The address is that of no page at all. It may begin like one. */
export function NoSuchPage({ address }: { address: string }) {
  const answer = useRead<Fleet>(`${API}/fleet`);
  if (answer === "reading") return null;
  return <NoPage address={address} fleet={typeof answer === "string" ? undefined : answer.document} />;
}

export function NoPage({ address, fleet }: { address: string; fleet: Asked }) {
  const [, repository, rollout] = /^\/r\/([^/?]+\/[^/?]+)(?:\/([^/?]+))?/.exec(address) ?? [];
  if (repository === undefined) return <NoWay title="There is no such page" />;
  if (rollout === undefined)
    return (
      <NoWay title="There is no such page">
        {"There is one for each of its rollouts: "}
        <Link to={`/?${new URLSearchParams({ q: repository })}`}>{shortened(repository)}</Link>
        {". "}
      </NoWay>
    );
  const known = knownIn(fleet);
  const own = known.find((one) => one.rollout === rollout && one.repository.toLowerCase() === repository.toLowerCase());
  if (own === undefined) return <NoRollout of={{ repository, rollout }} known={known} />;
  return (
    <NoWay title="There is no such page">
      {"The address begins like that of "}
      <To of={own} />
      {". "}
    </NoWay>
  );
}
