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

export class Listening {
  readonly #source: WebSource;
  readonly #clock: WebClock;
  readonly #line: EventLine;
  readonly #models: LiveModels;
  readonly #pulses = new Set<() => Promise<void>>();
  readonly #byViewer = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(source: WebSource, clock: WebClock, { line, models }: { line: EventLine; models: LiveModels }) {
    this.#source = source;
    this.#clock = clock;
    this.#line = line;
    this.#models = models;
  }

  listen(context: Context, stream: string, viewer: Viewer, sight: LineSight): Response {
    const headers = { ...JSON_HEADERS, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };
    // Nobody would read on, nor go away.
    if (context.req.method === "HEAD" || context.req.raw.signal.aborted) return context.body(null, 200, headers);
    const theirs = this.#byViewer.get(viewer.id) ?? 0;
    if (this.#line.listening >= MOST_LISTENERS || (!viewer.seesAll && theirs >= MOST_OF_ONE))
      return problem(context, "UNAVAILABLE", "too many lines are open");
    if (!viewer.seesAll) this.#byViewer.set(viewer.id, theirs + 1);
    const after = context.req.header("Last-Event-ID") ?? context.req.query("after");
    const takesWhole = context.req.query("whole") !== undefined;
    const body = this.#bodyFor(stream, sight, { after, takesWhole }, () => {
      const left = (this.#byViewer.get(viewer.id) ?? 1) - 1;
      if (left === 0) this.#byViewer.delete(viewer.id);
      else if (!viewer.seesAll) this.#byViewer.set(viewer.id, left);
    });
    return context.body(body, 200, { ...headers, "Cache-Control": "private, no-cache, no-transform" });
  }

  #bodyFor(stream: string, sight: LineSight, asking: Asking, onEnd: () => void): ReadableStream<Uint8Array> {
    let end = (): void => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          end = this.#open(controller, stream, sight, asking, onEnd);
        },
        cancel: () => end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }),
    );
  }

  /** Returns how to end it. */
  #open(
    controller: ReadableStreamDefaultController<Uint8Array>,
    stream: string,
    sight: LineSight,
    { after, takesWhole }: Asking,
    onEnd: () => void,
  ): () => void {
    let mostUnread = MOST_UNREAD;
    const endsAt = performance.now() + LONGEST_MS;
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
      if (!this.#pulses.has(pulse)) return;
      if (outcome === "gone" || performance.now() >= endsAt) close();
      else send(outcome === "changed" ? RESET : PULSE, undefined);
    };
    if (this.#stop === undefined) this.#begin();
    this.#models.sync();
    this.#pulses.add(pulse);
    let off = (): void => undefined;
    let end = (): void => {
      end = () => undefined;
      off();
      this.#pulses.delete(pulse);
      onEnd();
      if (this.#line.listening === 0) this.#stop?.();
    };
    const whole = (): string | undefined => {
      const text = takesWhole ? this.#wholeOf(stream, sight) : undefined;
      mostUnread += text?.length ?? 0;
      return text;
    };
    off = this.#line.listen(stream, { after, hello: this.#hello(), send, whole });
    return () => end();
  }

  /** What is shown of a stream now, to whoever may see so much of it. */
  #wholeOf(stream: string, sight: LineSight): string | undefined {
    if (stream !== FLEET) return this.#models.rollout(stream)?.text;
    const { document, written: whole } = this.#models.fleet();
    return sight.seesAll ? whole.text : writeDocument(fleetSeen(document, sight.allows)).text;
  }

  #hello() {
    return { now: new Date(this.#clock.now()).toISOString(), speed: this.#clock.speed ?? 1 };
  }

  /** Looks at what changed while anybody listens. */
  #begin(): void {
    let due: NodeJS.Timeout | undefined;
    let speed = this.#clock.speed ?? 1;
    const off = this.#source.onChange(() => {
      due ??= setTimeout(() => {
        due = undefined;
        this.#models.sync();
        // Times that are counted down would be those of before.
        if (speed !== (this.#clock.speed ?? 1)) this.#line.greet(this.#hello());
        speed = this.#clock.speed ?? 1;
      }, COALESCE_MS);
      due.unref();
    });
    const pulse = setInterval(() => {
      void this.#source.look?.();
      this.#models.sync();
      for (const send of [...this.#pulses]) void send();
    }, PULSE_MS).unref();
    this.#stop = () => {
      off();
      clearTimeout(due);
      clearInterval(pulse);
      this.#stop = undefined;
    };
  }
}

const RESET = new TextEncoder().encode("event: reset\ndata: {}\n\n");
const PULSE = new TextEncoder().encode(": \n\n");
