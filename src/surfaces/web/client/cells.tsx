/** Clusters as a grid of marks: one tab stop, arrow keys inside; by name where there is room for names. */
import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { stateLabel } from "../../../core/report/model/labels.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Mark } from "./marks.tsx";
import { below, changeText, isWeb } from "./parts.tsx";

/** As many as this are shown by name. */
export const MOST_NAMED = 60;

/** Opens what is known of one cluster. */
export type Open = (cluster: string) => void;

const Cell = memo(({ of, isNamed, isStop, open }: { of: ModelNode; isNamed: boolean; isStop: boolean; open: Open }) => (
  <button type="button" class="cell" tabIndex={isStop ? 0 : -1} title={titleOf(of)} aria-label={titleOf(of)} onClick={() => open(of.name)}>
    <Mark of={of} />
    {isNamed ? of.name : null}
  </button>
));

/** What is known of a cluster, a line each. */
function titleOf(cluster: ModelNode): string {
  const facts = cluster.facts.length > 0 ? ` (${cluster.facts.join(", ")})` : "";
  const change = changeText(cluster.change ?? {});
  const applications = below(cluster, "application").map(({ name }) => name);
  return [`${cluster.name}: ${stateLabel(cluster.state)}${facts}`, change, applications.join(", "), cluster.says]
    .filter((line) => line !== "")
    .join("\n");
}

export function Cells({ of, label, isNamed, open }: { of: readonly ModelNode[]; label: string; isNamed: boolean; open: Open }) {
  const grid = useRef<HTMLUListElement>(null);
  const [stop, setStop] = useState(0);
  const move = (event: KeyboardEvent) => {
    const to = nextOf(event.key, stop, of.length, () => columnsOf(grid.current));
    if (to === undefined) return;
    event.preventDefault();
    setStop(to);
    (grid.current?.children[to]?.firstElementChild as HTMLElement | null | undefined)?.focus();
  };
  return (
    <ul ref={grid} class={isNamed ? "cells named" : "cells"} aria-label={label} onKeyDown={move}>
      {of.map((cluster, index) => (
        <li key={cluster.name}>
          <Cell of={cluster} isNamed={isNamed} isStop={index === Math.min(stop, of.length - 1)} open={open} />
          {isNamed ? <Elsewhere of={cluster} /> : null}
        </li>
      ))}
    </ul>
  );
}

/** Its Application, a click away; by the keyboard it is in its panel. */
function Elsewhere({ of }: { of: ModelNode }) {
  const [link] = of.links;
  if (link === undefined || !isWeb(link.url)) return null;
  const name = `${of.name} in ${link.name}`;
  return (
    <a class="out" href={link.url} rel="noreferrer" tabIndex={-1} title={name} aria-label={name}>
      ↗
    </a>
  );
}

function nextOf(key: string, from: number, count: number, columns: () => number): number | undefined {
  const steps: Record<string, () => number> = {
    ArrowRight: () => from + 1,
    ArrowLeft: () => from - 1,
    ArrowDown: () => from + columns(),
    ArrowUp: () => from - columns(),
    Home: () => 0,
    End: () => count - 1,
  };
  const to = steps[key]?.();
  return to === undefined ? undefined : Math.min(Math.max(to, 0), count - 1);
}

/** How many stand in the first line, as it is drawn just now. */
function columnsOf(grid: HTMLElement | null): number {
  const all = [...(grid?.children ?? [])] as HTMLElement[];
  const second = all.findIndex(({ offsetTop }) => offsetTop !== all[0]?.offsetTop);
  return second === -1 ? all.length : second;
}
