/** The page of one Application: what runs there and since when, how it stands in which run and batch, what it was judged by, what was recorded of it. */
import { nearest } from "../../../core/base/nearest.ts";
import { countedWord } from "../../../core/report/counted.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Actions } from "./actions.tsx";
import { Evidence } from "./evidence.tsx";
import { API } from "./live.ts";
import { Badge } from "./marks.tsx";
import { Age, below, CauseLine, capital, changeText, Links, pullOf, Said } from "./parts.tsx";
import { Events } from "./past.tsx";
import { LinkInRun } from "./route.tsx";
import { InRun } from "./run.tsx";

/** `target`: `hub/argocd/payments-eu-1`. */
export function TargetScreen({ of, target }: { of: RunDocument; target: string }) {
  const found = placesOf(of).find(({ application }) => application.target === target);
  const [plane = "", namespace = "", name = ""] = target.split("/");
  return (
    <InRun of={of}>
      <article class="run target">
        <header class="title">
          <h2>{name}</h2>
          <span class="quiet">{`namespace ${namespace} of control plane ${plane} `}</span>
          {found === undefined ? null : <Links of={found.application} />}
        </header>
        {found === undefined ? <NotFound of={of} target={target} /> : <Found of={of} found={found} target={target} />}
      </article>
    </InRun>
  );
}

function NotFound({ of, target }: { of: RunDocument; target: string }) {
  const near = nearest(
    target,
    placesOf(of).map(({ application }) => application.target ?? ""),
  );
  return (
    <p>
      {`The last run of ${of.rollout} does not have it. `}
      {near === undefined ? null : "Did you mean "}
      {near === undefined ? null : <LinkInRun target={near}>{near}</LinkInRun>}
      {near === undefined ? <LinkInRun>See that run</LinkInRun> : "?"}
    </p>
  );
}

interface Place {
  stage: ModelNode;
  batch: ModelNode | undefined;
  cluster: ModelNode;
  application: ModelNode;
}

/** Each Application with what is above it, the last first: of one that was tried twice that counts. */
function placesOf(of: RunDocument): Place[] {
  const places = of.children.flatMap((stage) =>
    stage.children.flatMap((child) =>
      (child.kind === "cluster" ? [child] : below(child, "cluster")).flatMap((cluster) =>
        below(cluster, "application").map((application) => ({
          stage,
          batch: child.kind === "batch" ? child : undefined,
          cluster,
          application,
        })),
      ),
    ),
  );
  return places.toReversed();
}

interface Looked {
  of: RunDocument;
  found: Place;
  target: string;
}

function Found({ of, found, target }: Looked) {
  const { cluster, application } = found;
  const events = `${API}/repos/${of.repository}/rollouts/${encodeURIComponent(of.rollout)}/runs/${of.number}/events`;
  return (
    <>
      <div class="slots pair">
        <section class="slot">
          <h3>What</h3>
          <What of={of} found={found} target={target} />
        </section>
        <section class="slot">
          <h3>Why</h3>
          <Why of={of} found={found} target={target} />
        </section>
      </div>
      {of.repository === undefined ? null : (
        <section class="log">
          <h3>What happened to it</h3>
          <Events of={of} path={events} only={[cluster.name, application.name]} />
        </section>
      )}
    </>
  );
}

function What({ of, found: { stage, batch, cluster, application }, target }: Looked) {
  const beside = below(cluster, "application").filter((one) => one.target !== target);
  return (
    <>
      {application.change === undefined ? null : <p class="release why">{changeText(application.change)}</p>}
      <p>
        {`${capital(countedWord(of))} ${cluster.name}, `}
        <LinkInRun>{`run ${of.number}`}</LinkInRun>
        {`, stage ${stage.name}`}
        {batch === undefined ? null : ", "}
        {batch?.number === undefined ? batch?.name : <LinkInRun batch={batch.number}>{batch.name}</LinkInRun>}{" "}
        {batch === undefined ? null : <Links of={batch} />}
      </p>
      {below(application, "rollout").map((rollout) => (
        <p key={rollout.name}>
          {`Argo Rollout ${rollout.name} `}
          <Badge of={rollout} /> {rollout.says}
        </p>
      ))}
      {beside.length === 0 ? null : (
        <p>
          {`Beside it ${of.targetBy === "namespace" ? "in" : "on"} this ${countedWord(of)}: `}
          {beside.map((one, index) => (
            <span key={one.name}>
              {index > 0 ? ", " : ""}
              {one.target === undefined ? one.name : <LinkInRun target={one.target}>{one.name}</LinkInRun>}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

function Why({ of, found: { batch, cluster, application }, target }: Looked) {
  return (
    <>
      <p>
        <Badge of={application} /> <Age of={application} />
      </p>
      {application.says === "" ? null : (
        <p class="why">
          <Said text={application.says} />
        </p>
      )}
      {application.cause?.told ? null : <CauseLine cause={application.cause} />}
      {batch?.waitsFor === undefined || application.when === "past" ? null : <p class="quiet">{capital(batch.waitsFor.says)}</p>}
      {batch?.number === undefined ? null : <Evidence of={of} target={target} notes={application.evidence?.notes ?? []} open />}
      <Actions of={cluster.actions} pull={pullOf(of)} />
    </>
  );
}
