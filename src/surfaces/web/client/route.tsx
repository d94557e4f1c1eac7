/** How one goes from one screen to another. */
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type PagePlace, pagePath } from "../../../core/report/page-places.ts";

/** How one goes elsewhere without a new page. `base`: what stands before each path. */
export const Going = createContext<{ base: string; go: (path: string, how?: "push" | "replace") => void }>({
  base: "",
  go: () => undefined,
});

export function Link({ to, children }: { to: string; children: ComponentChildren }) {
  const { base, go } = useContext(Going);
  const click = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={base + to} onClick={click}>
      {children}
    </a>
  );
}

/** Where what is shown stands as it is now; undefined: it is as it is now. */
export const WayToNow = createContext<string | undefined>(undefined);

/** The run that is shown; undefined: nobody knows the address of its page. */
export const RunPlace = createContext<Extract<PagePlace, { view: "run" }> | undefined>(undefined);

/** Leads to the page of one of its batches or targets. */
export function LinkInRun({ batch, target, children }: { batch?: number; target?: string; children: ComponentChildren }) {
  const run = useContext(RunPlace);
  if (run === undefined) return <>{children}</>;
  const { at: _, ...place } = run;
  if (target !== undefined) return <Link to={pagePath({ ...place, view: "target", target })}>{children}</Link>;
  return <Link to={pagePath(batch === undefined ? place : { ...place, view: "batch", batch })}>{children}</Link>;
}
