/** What is over: who did what in a run, and the runs before. Read when somebody opens it. */
import { useContext, useEffect, useState } from "preact/hooks";
import { countedWord, countedWords } from "../../../core/report/counted.ts";
import { stateLabel, stateWord } from "../../../core/report/model/labels.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import { pagePath } from "../../../core/report/page-places.ts";
import { recordedEvents } from "../../../core/report/recorded-events.ts";
import type { RunEvents, RunHistory } from "../api/documents.ts";
import { API, parseSafely } from "./live.ts";
import { toneClass } from "./marks.tsx";
import { below, capital, changeText, Said } from "./parts.tsx";
import { Going, Link } from "./route.tsx";
import { ClockContext, clockOf, span } from "./times.tsx";

/** Where the journal stands on the page. */
export const JOURNAL = "journal";

/** `told`: how often it was asked for who did what. */
export function Past({ of, told }: { of: RunDocument; told: number }) {
  if (of.repository === undefined) return null;
  const path = `${API}/repos/${of.repository}/rollouts/${encodeURIComponent(of.rollout)}/runs`;
  return (
    <>
      <Later title={`All ${countedWords(of)} as a table`}>
        <Clusters of={of} />
      </Later>
      <div id={JOURNAL}>
        <Later key={told} title="What happened: who did what" open={told > 0}>
          <Events of={of} path={`${path}/${of.number}/events`} />
        </Later>
      </div>
      <Later title="Runs of this rollout">
        <Runs of={of} path={path} repository={of.repository} />
      </Later>
    </>
  );
}

/** In place of the grids, for whoever reads by ear, or wants to search. */
function Clusters({ of }: { of: RunDocument }) {
  const rows = of.children.flatMap((stage) =>
    stage.children.flatMap((child) =>
      (child.kind === "cluster" ? [child] : below(child, "cluster")).map((cluster) => ({
        stage: stage.name,
        batch: child === cluster ? "" : child.name,
        cluster,
      })),
    ),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="wide" aria-label={capital(countedWords(of))} tabIndex={0}>
      <table class="clusters">
        <caption class="sr">{`${capital(countedWords(of))} of run ${of.number}`}</caption>
        <thead>
          <tr>
            {[capital(countedWord(of)), "State", "Version", "Stage", "Batch", "Why"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ stage, batch, cluster }) => (
            <tr key={`${stage} ${batch} ${cluster.name}`}>
              <th scope="row">{cluster.name}</th>
              <td class={toneClass(cluster.tone)}>{stateLabel(cluster.state)}</td>
              <td>{changeText(cluster.change ?? {})}</td>
              <td>{stage}</td>
              <td>{batch}</td>
              <td>{cluster.says}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Nothing of it is read before it is opened. */
export function Later({ title, open = false, children }: { title: string; open?: boolean; children: preact.ComponentChildren }) {
  const [isOpen, setOpen] = useState(open);
  return (
    <details class="past" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children : null}
    </details>
  );
}

/** `unread`: the journal cannot be read; `failed`: nobody knows why there is no answer. */
type NoAnswer = "reading" | "missing" | "unread" | "failed";
type Answer<T> = { document: T } | NoAnswer;

/** The answer of before stays until the next is there. */
export function useRead<T>(path: string): Answer<T> {
  const { base } = useContext(Going);
  const [answer, setAnswer] = useState<Answer<T>>("reading");
  useEffect(() => {
    let isWanted = true;
    void fetch(base + path)
      .then(async (response) => {
        const document = parseSafely(await response.text());
        return response.ok ? { document: document as T } : whyNone(response.status, document);
      })
      .catch(() => "failed" as const)
      .then((found) => isWanted && setAnswer(found));
    return () => {
      isWanted = false;
    };
  }, [base, path]);
  return answer;
}

function whyNone(status: number, document: unknown): NoAnswer {
  if (status === 404) return "missing";
  return (document as { code?: string }).code === "UNREADABLE" ? "unread" : "failed";
}

const NO_ANSWER: Readonly<Record<NoAnswer, string>> = {
  reading: "Reading the journal…",
  missing: "The journal has nothing of this.",
  unread: "The journal of this cannot be read. Somebody has to mend it; everything else is shown.",
  failed: "The server did not answer this. Open it again in a moment.",
};

export function Unread({ what }: { what: NoAnswer }) {
  return <p class="quiet">{NO_ANSWER[what]}</p>;
}

/** `only`: those events alone that name one of these. */
export function Events({ of, path, only }: { of: RunDocument; path: string; only?: readonly string[] }) {
  const { base } = useContext(Going);
  const { now } = useContext(ClockContext);
  const answer = useRead<RunEvents>(path);
  if (typeof answer === "string") return <Unread what={answer} />;
  const isMeant = (says: string) => only?.some((name) => namesOne(says, name)) !== false;
  const commits = answer.document.items
    .map((one) => ({ ...one, events: recordedEvents(of, one.says, one.trailers).filter(isMeant) }))
    .filter(({ events }) => events.length > 0);
  return (
    <>
      {commits.length === 0 ? <p class="quiet">Nothing yet.</p> : null}
      <ol class="timeline">
        {commits.toReversed().map((one) => (
          <li key={one.commit} class={one.by === undefined ? "" : "by"}>
            <time dateTime={one.at} title={one.at}>
              {clockOf(one.at, now())}
            </time>
            {one.by === undefined ? null : <b>{one.by}</b>}
            <ul>
              {one.events.map((says) => (
                <li key={says}>
                  <Said text={says} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      <a href={`${base}${path}?format=jsonl`}>All of it as JSON Lines</a>
    </>
  );
}

/** As a word of its own: `eu-1` is not named where `eu-10` is. */
function namesOne(says: string, name: string): boolean {
  return says.split(/[\s,:;()"]+/).includes(name);
}

function Runs({ of, path, repository }: { of: RunDocument; path: string; repository: string }) {
  const { now } = useContext(ClockContext);
  const [before, setBefore] = useState("");
  const answer = useRead<RunHistory>(path + before);
  if (typeof answer === "string") return <Unread what={answer} />;
  const { items, next } = answer.document;
  return (
    <>
      <ul class="rows">
        {items.map(({ number, release, phase, startedAt, endedAt }) => (
          <li key={number}>
            <Link to={pagePath({ view: "run", repository, rollout: of.rollout, number })}>{`run ${number}`}</Link>{" "}
            <span class="release">{release}</span>
            {` ${number === of.number ? stateWord(of) : stateLabel(phase)}`}
            <span class="quiet">
              {startedAt === undefined ? "" : `, begun ${clockOf(startedAt, now())}`}
              {startedAt === undefined || endedAt === undefined ? "" : `, took ${span(Date.parse(endedAt) - Date.parse(startedAt))}`}
            </span>
          </li>
        ))}
      </ul>
      {next === undefined ? null : (
        <button type="button" onClick={() => setBefore(next)}>
          Earlier ones
        </button>
      )}
    </>
  );
}
