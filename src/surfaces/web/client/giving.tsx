/** A command on its way: what will be written and by whom, then what became of it. */
import { useContext, useState } from "preact/hooks";
import { hasMoved } from "../../../core/report/model/has-moved.ts";
import type { Action } from "../../../core/report/model/types.ts";
import { type Acting, ActingContext, give, type Outcome, whoMay } from "./acting.ts";
import { capital, Linked, Outward, Said } from "./parts.tsx";

const LONGEST_REASON = 300;
/** Of these every word is their reason; others have a flag for it. */
const WITH_REASON: ReadonlySet<string> = new Set(["pause", "resume", "abort", "retry", "rollback"]);

type Sent = Outcome | { kind: "sending" };

interface Props {
  /** As it was when it was looked at. */
  action: Action;
  acting: Acting;
  close(): void;
  /** It is to be shown as it is now. */
  again(): void;
}

/** What is in view, as it is drawn first or looked at again, and what became of what was sent. */
function useSending({ action, acting, again }: Omit<Props, "close">) {
  const [seen, setSeen] = useState(acting.run.seen);
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState<Sent | undefined>(undefined);
  const moved = sent?.kind === "moved" || hasMoved(action.verb, seen, acting.run.seen);
  const press = () => {
    if (sent?.kind === "sending") return;
    setSent(moved ? undefined : { kind: "sending" });
    if (!moved) return void give(acting, { action, reason, seen }).then(setSent);
    setSeen(acting.run.seen);
    again();
  };
  return { reason, setReason, sent, moved, press };
}

export function Giving(props: Props) {
  const { action, acting, close } = props;
  const { reason, setReason, sent, moved, press } = useSending(props);
  if (sent?.kind === "written") return <Progress sent={sent} close={close} />;
  const line = [`/${action.verb}`, "--rollout", acting.run.rollout, ...action.args].join(" ");
  const isSending = sent?.kind === "sending";
  const submit = (event: Event) => {
    event.preventDefault();
    press();
  };
  return (
    <form method="dialog" onSubmit={submit}>
      <label>
        {"Reason, if you like "}
        <input
          value={reason}
          maxLength={LONGEST_REASON}
          disabled={isSending}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <Preview
        who={`@${acting.me.login} comments${action.pull === undefined ? "" : ` on #${action.pull}`}: `}
        line={line}
        verb={action.verb}
        reason={reason.trim()}
      />
      <div role="status">
        {moved ? <Moved says={sent?.kind === "moved" ? sent.says : acting.run.says} /> : null}
        {sent === undefined || moved ? null : <Trouble sent={sent} />}
      </div>
      <div class="row">
        <button type="submit" class="main" disabled={isSending}>
          {moved ? "Look again" : sent?.kind === "lost" ? "Try again" : capital(action.does ?? line)}
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </form>
  );
}

/** The comment, before it is one. */
function Preview({ who, line, verb, reason }: Record<"who" | "line" | "verb" | "reason", string>) {
  const isPart = WITH_REASON.has(verb);
  return (
    <p class="quiet">
      <Linked text={who} />
      <code>{reason === "" ? line : `${line} ${isPart ? "" : "--reason "}${reason}`}</code>
    </p>
  );
}

function Moved({ says }: { says: string }) {
  return (
    <p class="t-warn">
      {"Nothing was written, for it has moved since you looked. Now: "}
      <Said text={says} />
    </p>
  );
}

function Trouble({ sent }: { sent: Exclude<Sent, { kind: "written" }> }) {
  if (sent.kind === "sending") return <p>Writing it…</p>;
  if (sent.kind === "ended")
    return <p class="t-warn">{`Nothing was written, for nobody is signed in any more. Load the page again and sign in. (${sent.says})`}</p>;
  if (sent.kind === "lost") return <p class="t-warn">{`${sent.says}. Try again: however often you do, it is one comment.`}</p>;
  return <p class="t-bad">{`Nothing was written. ${sent.says}.`}</p>;
}

const STATES = { Waiting: "It waits", Done: "Done", Refused: "Refused" } as const;

/** Followed as the run is: what became of it stands in the run's document. */
export function Progress({ sent, close }: { sent: Extract<Outcome, { kind: "written" }>; close: () => void }) {
  const run = useContext(ActingContext)?.run;
  const command = run?.commands.find(({ comment }) => comment === sent.comment);
  const isOver = command?.state === "Done" || command?.state === "Refused";
  const stopped = command?.state === "Done" && hasStoppedSince(run, command.at) ? run : undefined;
  const tone = command?.state === "Refused" ? "t-bad" : command?.state !== "Done" ? "" : stopped === undefined ? "t-good" : "quiet";
  return (
    <>
      <div role="status">
        <ol class="given">
          <li>
            {"Written as "}
            <Outward name="your comment" url={sent.url} />
          </li>
          <li class={command === undefined ? "quiet" : ""}>
            {command === undefined ? "Not read yet. It counts for 15 minutes." : "Read by Stagecoach"}
          </li>
          {command === undefined || command.state === "Read" ? null : (
            <li class={tone}>
              {STATES[command.state]}
              {command.says === "" ? "" : ": "}
              <Said text={command.says} />
            </li>
          )}
          {stopped === undefined ? null : <Stopped run={stopped} />}
        </ol>
      </div>
      <div class="row">
        <button type="button" class={isOver ? "main" : ""} onClick={close}>
          Close
        </button>
      </div>
    </>
  );
}

/** By itself: what a person paused is no outcome of what another gave. */
function hasStoppedSince(run: Acting["run"] | undefined, at: string): boolean {
  return run?.pause !== undefined && run.pause.kind !== "Command" && run.pause.at >= at;
}

/** What was done, and did not help. */
function Stopped({ run }: { run: Acting["run"] }) {
  return (
    <>
      <li class="t-bad">
        {run.pause?.tried === undefined ? "Since then the run has paused: " : "It failed again: "}
        <Said text={run.says} />
      </li>
      {run.ask === undefined ? null : (
        <li>
          {"Now: "}
          <Said text={run.ask.says} />
        </li>
      )}
    </>
  );
}

/** What is said where whoever looks may not. */
export function NotYou({ action, acting, close }: Props) {
  return (
    <>
      <p class="t-warn">{`${whoMay(action, acting.me)}.`}</p>
      <div class="row">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </>
  );
}
