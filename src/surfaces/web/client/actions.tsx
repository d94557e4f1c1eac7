/** What a person may do here: each with its command, what will happen and who may. Where nobody is known, it is copied and written on GitHub. */
import { useContext, useRef, useState } from "preact/hooks";
import { count } from "../../../core/base/count.ts";
import type { Action } from "../../../core/report/model/types.ts";
import { ActingContext, whoMay } from "./acting.ts";
import { Giving, NotYou } from "./giving.tsx";
import { capital, Pulls, Said } from "./parts.tsx";

function commandOf({ verb, args }: Pick<Action, "verb" | "args">): string {
  return [`/${verb}`, ...args].join(" ");
}

interface Given {
  /** Where the comment is written; absent: nobody told its address. */
  pull: { name: string; url: string } | undefined;
  /** Why the run waits and what for: said of the command that this names, since it may want more than a permission. */
  waits?: string | undefined;
}

/** `asks`: the run waits for somebody to give the first of them; `rests`: it goes on without. */
export function Actions({
  of,
  pull,
  waits,
  asks = false,
  rests = false,
}: { of: readonly Action[]; asks?: boolean; rests?: boolean } & Given) {
  const [opened, choose] = useState<Action | undefined>(undefined);
  const dialog = useRef<HTMLDialogElement>(null);
  const open = (action: Action) => {
    choose(action);
    dialog.current?.showModal();
  };
  const close = () => dialog.current?.close();
  // It is told of late: by then the next action may have been opened.
  const closed = () => {
    if (dialog.current?.open !== true) choose(undefined);
  };
  // As it stands now: what is looked at may become impossible meanwhile, or be offered no more.
  const chosen = opened && (of.find((action) => commandOf(action) === commandOf(opened)) ?? opened);
  const [now, later] = [of.filter(({ allowed }) => allowed), of.filter(({ allowed }) => !allowed)];
  if (of.length === 0 && opened === undefined) return null;
  return (
    <>
      {now.length === 0 ? <p class="quiet">Nothing just now.</p> : null}
      {now.length > 0 && rests ? <p class="quiet">Nothing is asked of you.</p> : null}
      <Buttons of={now} open={open} asks={asks} />
      {later.length === 0 ? null : (
        <details class="quiet">
          <summary>{`${count(later.length, "command")} not possible now`}</summary>
          <Buttons of={later} open={open} />
        </details>
      )}
      <dialog ref={dialog} aria-labelledby="action-title" onClose={closed}>
        {chosen === undefined || opened === undefined ? null : (
          <Chosen action={chosen} opened={opened} pull={pull} waits={waits} close={close} again={() => choose(chosen)} />
        )}
      </dialog>
    </>
  );
}

function Buttons({ of, open, asks = false }: { of: readonly Action[]; open: (action: Action) => void; asks?: boolean }) {
  const acting = useContext(ActingContext);
  if (of.length === 0) return null;
  return (
    <ul class="actions">
      {of.map((action, index) => {
        const who = acting && whoMay(action, acting.me);
        const isFirst = asks && index === 0;
        const isAsked = isFirst && action.does !== undefined && who === undefined;
        return (
          <li key={commandOf(action)} class={isAsked ? "first" : ""}>
            <button
              type="button"
              class={action.allowed && who === undefined ? "" : "no"}
              title={action.allowed ? (who ?? `${action.effect} (needs ${action.needs})`) : action.whyNot?.says}
              onClick={() => open(action)}
            >
              {commandOf(action)}
            </button>
            {isAsked ? <span class="does">{capital(action.does ?? "")}</span> : null}
            {isFirst && who !== undefined ? <span class="quiet">{who}</span> : null}
          </li>
        );
      })}
    </ul>
  );
}

/** `opened`: as it was when it was opened. Whoever has given it sees what becomes of it, whatever is possible by then. */
function Chosen({
  action,
  opened,
  pull,
  waits,
  ...ways
}: { action: Action; opened: Action; close: () => void; again: () => void } & Given) {
  const acting = useContext(ActingContext);
  const url = useContext(Pulls).get(`#${action.pull}`);
  const place = url === undefined ? pull : { name: `#${action.pull}`, url };
  if (acting === undefined || !opened.allowed) return <Confirmation action={action} pull={place} waits={waits} close={ways.close} />;
  const Part = whoMay(opened, acting.me) === undefined ? Giving : NotYou;
  return (
    <>
      <Heading action={opened} waits={waits} />
      <Part action={opened} acting={acting} {...ways} />
    </>
  );
}

function Heading({ action, waits }: { action: Action; waits?: string | undefined }) {
  return (
    <>
      <h2 id="action-title">
        <code>{commandOf(action)}</code>
      </h2>
      <p>{`${capital(action.effect)}.`}</p>
      {action.allowed && waits?.includes(`/${action.verb}`) ? (
        <p>
          <Said text={`${waits}.`} />
        </p>
      ) : null}
    </>
  );
}

function Confirmation({ action, pull, waits, close }: { action: Action; close: () => void } & Given) {
  const [copied, setCopied] = useState(false);
  const command = commandOf(action);
  const copy = () => void navigator.clipboard.writeText(command).then(() => setCopied(true));
  return (
    <>
      <Heading action={action} waits={waits} />
      {action.allowed ? (
        <p class="quiet">{`It is a comment of yours on the pull request, and needs ${action.needs} permission there.`}</p>
      ) : (
        <p class="t-warn">{`It would be refused now: ${action.whyNot?.says ?? "nobody said why"}.`}</p>
      )}
      <div class="row">
        {action.allowed && canCopy() ? (
          <button type="button" class="main" onClick={copy}>
            {copied ? "Copied" : "Copy the comment"}
          </button>
        ) : null}
        {pull === undefined || !action.allowed ? null : (
          <a href={pull.url} target="_blank" rel="noreferrer">{`Open ${pull.name} to write it`}</a>
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </>
  );
}

/** Browsers keep the clipboard from pages that did not come over HTTPS or from this machine. */
function canCopy(): boolean {
  return (navigator.clipboard as Clipboard | undefined) !== undefined;
}
