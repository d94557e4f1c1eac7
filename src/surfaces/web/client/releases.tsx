/** Open release PRs among the rollouts: what merging each would do, and the way to its plan. */
import { countPhrase } from "../../../core/report/counted.ts";
import type { FleetRelease } from "../../../core/report/model/schema/plan.ts";
import { pagePath } from "../../../core/report/page-places.ts";
import { changeText, Links } from "./parts.tsx";
import { PLAN_STATES } from "./plan.tsx";
import { Link } from "./route.tsx";
import { span } from "./times.tsx";

export function Releases({ title, of }: { title: string; of: readonly FleetRelease[] }) {
  if (of.length === 0) return null;
  return (
    <section class="group">
      <h2>
        {title} <small class="quiet">{of.length}</small>
      </h2>
      <ul class="fleet">
        {of
          .toSorted((a, b) => b.pull - a.pull || (a.key < b.key ? -1 : 1))
          .map((one) => (
            <Release key={one.key} of={one} />
          ))}
      </ul>
    </section>
  );
}

function Release({ of }: { of: FleetRelease }) {
  const { repository, rollout, pull, state, counts, took } = of;
  const { word, tone } = PLAN_STATES[state];
  const size = counts && `${countPhrase(counts.clusters, of)} in ${counts.batches} batches over ${counts.stages} stages`;
  const to = rollout === undefined || counts === undefined ? undefined : pagePath({ view: "plan", repository, rollout, pull });
  const why = [...of.against, ...of.problems.map(({ where, says }) => `${where}: ${says}`)];
  return (
    <li class={state === "Planned" ? "r-dim" : tone.replace("t-", "r-")}>
      <p class="head">
        <span>
          <b>{to === undefined ? (rollout ?? repository) : <Link to={to}>{rollout}</Link>}</b>{" "}
          <span class="release">{changeText(of.change ?? { to: of.release })}</span>
        </span>
        <span class="quiet">
          {`${repository} `}
          <Links of={of} />
          {` by ${of.author}${of.isFork ? ", from a fork" : ""}`}
        </span>
      </p>
      <p>
        <b class={tone}>{word}</b>
        {[size, took && `took ${span(took.p50Ms)} before`, size === undefined && state !== "Refused" ? of.says : undefined]
          .filter(Boolean)
          .map((text) => ` · ${text}`)}{" "}
        {to === undefined ? null : <Link to={to}>Its plan</Link>}
      </p>
      {why.map((text) => (
        <p key={text} class="t-bad">
          {text}
        </p>
      ))}
      {of.before.map((text) => (
        <p key={text} class="t-warn">
          {text}
        </p>
      ))}
    </li>
  );
}
