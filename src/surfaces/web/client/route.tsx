/** How one goes from one screen to another. */
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** How one goes elsewhere without a new page. `base`: what stands before each path. */
export const Going = createContext<{ base: string; go: (path: string) => void }>({ base: "", go: () => undefined });

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
