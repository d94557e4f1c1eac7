/** Server-sent events: one open line a viewer, so many at most; whoever reads too slowly is cut off, and comes back by the last id. */
import type { Context } from "hono";
import type { WebClock, WebSource } from "../source.ts";
import { JSON_HEADERS, problem } from "./answers.ts";
import { type EventLine, FLEET } from "./event-line.ts";
import { type LiveModels, writeDocument } from "./live-models.ts";
import { fleetSeen, type LineSight } from "./sight.ts";
import type { Viewer } from "./viewers.ts";

/** More lines than this open at once are answered 503: each holds a connection. */
const MOST_LISTENERS = 250;
/** Of one token. */
const MOST_OF_ONE = 10;
/** So much may wait for a slow reader. */
const MOST_UNREAD = 1024 * 1024;
/** Changes closer together than this are looked at as one. */
const COALESCE_MS = 100;
/** A word now and then keeps proxies from closing a quiet line, and moves on what is expected when. */
const PULSE_MS = 15_000;
/** Who reads is asked anew who they are, as no line asks: their session may be over, or a proxy know them no more. */
const LONGEST_MS = 15 * 60_000;

interface Asking {
  after: string | undefined;
  takesWhole: boolean;
}

export function openListening(source: WebSource, clock: WebClock, { line, models }: { line: EventLine; models: LiveModels }) {
  let stop: (() => void) | undefined;
  const pulses = new Set<() => Promise<void>>();
  const byViewer = new Map<string, number>();

  /** Looks at what changed while anybody listens. */
  function begin(): void {
    let due: NodeJS.Timeout | undefined;
    let speed = clock.speed ?? 1;
    const off = source.onChange(() => {
      due ??= setTimeout(() => {
        due = undefined;
        models.sync();
        // Times that are counted down would be those of before.
        if (speed !== (clock.speed ?? 1)) line.greet(hello());
        speed = clock.speed ?? 1;
      }, COALESCE_MS);
      due.unref();
    });
    const pulse = setInterval(() => {
      void source.look?.();
      models.sync();
      for (const send of [...pulses]) void send();
    }, PULSE_MS).unref();
    stop = () => {
      off();
      clearTimeout(due);
      clearInterval(pulse);
      stop = undefined;
    };
  }

  const hello = () => ({ now: new Date(clock.now()).toISOString(), speed: clock.speed ?? 1 });

  /** What is shown of a stream now, to whoever may see so much of it. */
  function wholeOf(stream: string, sight: LineSight): string | undefined {
    if (stream !== FLEET) return models.rollout(stream)?.text;
    const { document, written: whole } = models.fleet();
    return sight.seesAll ? whole.text : writeDocument(fleetSeen(document, sight.allows)).text;
  }

  function bodyFor(stream: string, sight: LineSight, { after, takesWhole }: Asking, onEnd: () => void): ReadableStream<Uint8Array> {
    let end = (): void => undefined;
    let mostUnread = MOST_UNREAD;
    const endsAt = performance.now() + LONGEST_MS;
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          const close = (): void => {
            end();
            controller.close();
          };
          const send = (bytes: Uint8Array, repository: string | undefined): void => {
            if (repository !== undefined && !sight.allows(repository)) return;
            if ((controller.desiredSize ?? 0) > -mostUnread) controller.enqueue(bytes);
            else close();
          };
          const pulse = async () => {
            const outcome = await sight.renew();
            if (!pulses.has(pulse)) return;
            if (outcome === "gone" || performance.now() >= endsAt) close();
            else send(outcome === "changed" ? RESET : PULSE, undefined);
          };
          if (stop === undefined) begin();
          models.sync();
          pulses.add(pulse);
          let off = (): void => undefined;
          end = () => {
            end = () => undefined;
            off();
            pulses.delete(pulse);
            onEnd();
            if (line.listening === 0) stop?.();
          };
          const whole = (): string | undefined => {
            const text = takesWhole ? wholeOf(stream, sight) : undefined;
            mostUnread += text?.length ?? 0;
            return text;
          };
          off = line.listen(stream, { after, hello: hello(), send, whole });
        },
        cancel: () => end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }),
    );
  }

  return function listen(context: Context, stream: string, viewer: Viewer, sight: LineSight): Response {
    const headers = { ...JSON_HEADERS, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };
    // Nobody would read on, nor go away.
    if (context.req.method === "HEAD" || context.req.raw.signal.aborted) return context.body(null, 200, headers);
    const theirs = byViewer.get(viewer.id) ?? 0;
    if (line.listening >= MOST_LISTENERS || (!viewer.seesAll && theirs >= MOST_OF_ONE))
      return problem(context, "UNAVAILABLE", "too many lines are open");
    if (!viewer.seesAll) byViewer.set(viewer.id, theirs + 1);
    const after = context.req.header("Last-Event-ID") ?? context.req.query("after");
    const takesWhole = context.req.query("whole") !== undefined;
    const body = bodyFor(stream, sight, { after, takesWhole }, () => {
      const left = (byViewer.get(viewer.id) ?? 1) - 1;
      if (left === 0) byViewer.delete(viewer.id);
      else if (!viewer.seesAll) byViewer.set(viewer.id, left);
    });
    return context.body(body, 200, { ...headers, "Cache-Control": "private, no-cache, no-transform" });
  };
}

const RESET = new TextEncoder().encode("event: reset\ndata: {}\n\n");
const PULSE = new TextEncoder().encode(": \n\n");
