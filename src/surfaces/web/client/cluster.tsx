/** All that is known of one cluster: each Application with its change, what Argo CD said of it and since when. */
import { useEffect, useRef } from "preact/hooks";
import { nearest } from "../../../core/base/nearest.ts";
import { countedWord } from "../../../core/report/counted.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Actions } from "./actions.tsx";
import { Evidence } from "./evidence.tsx";
import { Badge } from "./marks.tsx";
import { Age, below, CauseLine, capital, changeText, Links, pullOf, Said } from "./parts.tsx";
import { LinkInRun } from "./route.tsx";

function meant(of: RunDocument, name: string): string {
  const near = nearest(
    name,
    below(of, "cluster").map((cluster) => cluster.name),
  );
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

export function ClusterPanel({ of, name, close }: { of: RunDocument; name: string; close: () => void }) {
  const found = below(of, "cluster").find((cluster) => cluster.name === name);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), [name]);
  // In a command's dialog it closes that alone.
  const press = ({ key, target }: KeyboardEvent) => {
    if (key === "Escape" && (target as Element).closest("dialog") === null) close();
  };
  return (
    <aside ref={panel} class="panel" tabIndex={-1} aria-label={`${capital(countedWord(of))} ${name}`} onKeyDown={press}>
      <p class="head">
        <b>{name}</b>
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
      {found === undefined ? <p>{`This run has no ${countedWord(of)} ${name}.${meant(of, name)}`}</p> : null}
      {found === undefined ? null : (
        <>
          <p>
            <Badge of={found} /> <Age of={found} />
          </p>
          <Sentence text={found.says} />
          {found.cause?.told ? null : <CauseLine cause={found.cause} />}
          {below(found, "application").map((application) => (
            <Application key={application.name} run={of} of={application} told={found.says} />
          ))}
          {found.state !== "Healthy"
            ? null
            : of.notes.map((note) => (
                <p class="quiet" key={note}>
                  {note}
                </p>
              ))}
          <Actions of={found.actions} pull={pullOf(of)} />
        </>
      )}
    </aside>
  );
}

function Sentence({ text }: { text: string }) {
  return text === "" ? null : (
    <p>
      <Said text={text} />
    </p>
  );
}

/** `told`: what its cluster says already. */
function Application({ run, of, told }: { run: RunDocument; of: ModelNode; told: string }) {
  const { target } = of;
  return (
    <section>
      <h4>
        {target === undefined ? of.name : <LinkInRun target={target}>{of.name}</LinkInRun>} <Badge of={of} /> <Links of={of} />
      </h4>
      {of.change === undefined ? null : <p class="release">{changeText(of.change)}</p>}
      {of.says === "" || of.says === told ? null : <p>{of.says}</p>}
      {target === undefined || of.evidence === undefined ? null : <Evidence of={run} target={target} notes={of.evidence.notes} />}
    </section>
  );
}
