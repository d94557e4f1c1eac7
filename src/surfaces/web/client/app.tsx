/** The page: which screen the address means, kept up to date. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { type PagePlace, pagePath, parsePagePath } from "../../../core/report/page-places.ts";
import type { Me } from "../api/documents.ts";
import { ActingContext } from "./acting.ts";
import { type Filter, FleetScreen, RefusedLines } from "./fleet.tsx";
import { fleetWanted, follow, type Live, notReadYet, planWanted, runWanted, type Wanted } from "./live.ts";
import { Moments } from "./moments.tsx";
import { LINKS, NoTime, Notice } from "./notices.tsx";
import { NoSuchPage } from "./nowhere.tsx";
import { PlanScreen } from "./plan.tsx";
import { Going, Link, WayToNow } from "./route.tsx";
import { RunScreen } from "./run.tsx";
import { TargetScreen } from "./target.tsx";
import { ClockContext, Wall } from "./times.tsx";
import { SignInScreen, useViewer, Who } from "./viewer.tsx";

type PlanPlace = Extract<PagePlace, { view: "plan" }>;
type RolloutPlace = Exclude<PagePlace, { view: "fleet" } | { view: "plan" }>;

/** `base`: what stands before each path of the page and the API, without a slash at its end. */
export function App({ base }: { base: string }) {
  const [address, setAddress] = useState(() => addressNow(base));
  useEffect(() => {
    const back = () => setAddress(addressNow(base));
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, [base]);
  const going = useMemo(() => {
    const go = (to: string, how: "push" | "replace" = "push") => {
      history[how === "push" ? "pushState" : "replaceState"](null, "", base + to);
      setAddress(to);
    };
    return { base, go };
  }, [base]);
  const place = parsePagePath(address);
  const query = new URLSearchParams(address.split("?")[1]);
  return (
    <Going.Provider value={going}>
      <Screen base={base} address={address} place={place} query={query} go={going.go} />
    </Going.Provider>
  );
}

interface Screened {
  base: string;
  address: string;
  place: PagePlace | undefined;
  query: URLSearchParams;
  go: Go;
}

function Screen({ place, ...given }: Screened) {
  if (place === undefined)
    return (
      <Nowhere>
        <NoSuchPage address={given.address} />
      </Nowhere>
    );
  if (place.noTime !== undefined) return <Nowhere>{<NoTime of={place} />}</Nowhere>;
  if (place.view === "plan") return <Plan base={given.base} place={place} />;
  return place.view === "fleet" ? <Home {...given} place={place} /> : <Rollout {...given} place={place} />;
}

function addressNow(base: string): string {
  const path = location.pathname;
  return (path.startsWith(base) ? path.slice(base.length) : path) + location.search;
}

type Go = (path: string, how?: "push" | "replace") => void;

function Home({ base, place, query, go }: Screened & { place: PagePlace }) {
  const { at } = place;
  const live = useMoment(
    useLive(base, `fleet ${at ?? ""}`, () => fleetWanted(at)),
    at,
  );
  const filter: Filter = { q: query.get("q") ?? "", state: query.get("state") ?? "" };
  const change = (to: Filter) => {
    const kept = Object.entries({ ...to, at: at ?? "" }).filter(([, value]) => value !== "");
    go(kept.length === 0 ? "/" : `/?${new URLSearchParams(kept)}`, "replace");
  };
  return (
    <Frame live={live} viewer={useViewer(base, live.link)} title="Stagecoach" place={place}>
      {at === undefined || live.link === "ahead" ? null : <Moments of={{ view: "fleet", at }} />}
      {live.document === undefined ? null : <FleetScreen of={live.document} filter={filter} change={change} />}
      {at === undefined && live.document !== undefined ? <Moments of={{ view: "fleet" }} /> : null}
    </Frame>
  );
}

/** What is over stands still: its clock is that of the moment. What has not come is told by the clock there is. */
function useMoment<T>(live: Live<T>, at: string | undefined): Live<T> {
  const then = useMemo(() => ({ now: Date.parse(at ?? ""), at: 0, speed: 0 }), [at]);
  return at === undefined || live.link === "ahead" ? live : { ...live, link: live.link === "live" ? "past" : live.link, clock: then };
}

function Plan({ base, place }: { base: string; place: PlanPlace }) {
  const { repository, rollout, pull } = place;
  const live = useLive(base, `plan ${repository} ${rollout} ${pull}`, () => planWanted(repository, rollout, pull));
  return (
    <Frame
      live={live}
      viewer={useViewer(base, live.link)}
      place={place}
      title={`${rollout}: plan of #${pull} · Stagecoach`}
      where={`${repository} / ${rollout} / plan of #${pull}`}
    >
      {live.document === undefined ? null : <PlanScreen of={live.document} />}
    </Frame>
  );
}

/** `?cluster=eu-1` opens what is known of that one. */
function Rollout({ base, place, query, go }: Screened & { place: RolloutPlace }) {
  const { repository, rollout } = place;
  const number = "number" in place ? place.number : undefined;
  const { at } = place;
  const here: PagePlace =
    number === undefined ? { view: "rollout", repository, rollout, at } : { view: "run", repository, rollout, number, at };
  const path = pagePath(here);
  const live = useMoment(
    useLive(base, path, () => runWanted(repository, rollout, { number, at })),
    at,
  );
  const { document } = live;
  const me = useViewer(base, live.link, repository);
  const open = useMemo(
    () => (cluster?: string) =>
      go(cluster === undefined ? path : `${path}${at === undefined ? "?" : "&"}${new URLSearchParams({ cluster })}`, "replace"),
    [path, go],
  );
  const target = query.get("cluster") ?? undefined;
  return (
    <Frame
      live={live}
      viewer={me}
      place={here}
      title={`${rollout} · Stagecoach`}
      where={`${repository} / ${rollout}${number === undefined ? "" : ` / run ${number}`}`}
    >
      {at === undefined || live.link === "ahead" ? null : <Moments of={here} />}
      {document?.refused === undefined ? null : <RefusedLines of={document.refused} />}
      {document === undefined ? null : (
        <ActingContext.Provider value={me?.login !== undefined && live.isFollowed ? { base, repository, run: document, me } : undefined}>
          {"target" in place ? (
            <TargetScreen of={document} target={place.target} />
          ) : (
            <RunScreen of={document} target={target} batch={"batch" in place ? place.batch : undefined} open={open} />
          )}
        </ActingContext.Provider>
      )}
      {at === undefined && document !== undefined ? <Moments of={here} /> : null}
    </Frame>
  );
}

/** `key`: what tells one document from another. */
function useLive<T>(base: string, key: string, wanted: () => Wanted<T>): Live<T> {
  const [seen, tell] = useState<{ key: string; live: Live<T> } | undefined>(undefined);
  useEffect(() => follow(base, wanted(), (live) => tell({ key, live })), [base, key]);
  return seen?.key === key ? seen.live : notReadYet();
}

interface FrameProps {
  live: Live<unknown>;
  viewer: Me | undefined;
  title: string;
  /** Which place it is, at its moment. */
  place: PagePlace;
  where?: string;
  children: preact.ComponentChildren;
}

function Frame({ live, viewer, title, place, where, children }: FrameProps) {
  useEffect(() => {
    document.title = title;
  }, [title]);
  const { now, at, speed } = live.clock;
  const clock = useMemo(() => ({ now: () => now + (performance.now() - at) * speed }), [live.clock]);
  return (
    <ClockContext.Provider value={clock}>
      <header class="page">
        <h1>
          <Link to="/">Stagecoach</Link>
        </h1>
        {where === undefined ? null : <p>{where}</p>}
        <p class="clock">
          <Wall />
          {speed > 1 ? `, ${speed}× as fast as yours` : ""}
        </p>
        <Who me={viewer} isAsked={live.link === "signed-out"} />
        <p role="status" class={live.link}>
          {LINKS[live.link]}
        </p>
      </header>
      <main>
        {live.link === "signed-out" ? (
          <SignInScreen me={viewer} />
        ) : (
          <WayToNow.Provider value={place.at === undefined ? undefined : pagePath({ ...place, at: undefined })}>
            {children}
            <Notice of={place} live={live} />
          </WayToNow.Provider>
        )}
      </main>
    </ClockContext.Provider>
  );
}

function Nowhere({ children }: { children: preact.ComponentChildren }) {
  return (
    <>
      <header class="page">
        <h1>
          <Link to="/">Stagecoach</Link>
        </h1>
      </header>
      <main>{children}</main>
    </>
  );
}
