import { createHmac, randomUUID } from "node:crypto";
import type { Clock } from "../../../core/base/time.ts";
import type { Faults } from "../http/faults.ts";
import type { App } from "../model/account.ts";

export interface Delivery {
  id: number;
  guid: string;
  event: string;
  action: string | undefined;
  body: string;
  redelivery: boolean;
  installation: number | undefined;
  repository: number | undefined;
  at: number;
  /** Whose it is. */
  app: App;
  /** Of the receiver's answer; 0 where there was none, also when it was dropped. undefined: on its way, or there is no receiver. */
  status?: number;
  durationMs?: number;
}

export interface Webhooks {
  readonly deliveries: Delivery[];
  /** Sends at once, without waiting. */
  emit(event: WebhookEvent): void;
  /** Sends a recorded delivery again under the same GUID. */
  redeliver(id: number): boolean;
  /** Work that goes on by itself: `idle` waits for it. */
  track(work: Promise<void>): void;
  /** Resolves when nothing is on its way any more. */
  idle(): Promise<void>;
  close(): void;
}

interface WebhookEvent {
  app: App;
  name: string;
  action?: string;
  installation?: number;
  repository?: number;
  payload: object;
}

const KEPT = 5000;
/** GitHub never sends more. */
const MAX_PAYLOAD = 25 * 1024 * 1024;

interface WebhookOptions {
  clock: Clock;
  faults: Faults;
  nextId(): number;
  onDelivery?: ((delivery: { event: string; action: string | undefined; payload: unknown }) => void) | undefined;
}

/** Sends events as GitHub does: signed, in no guaranteed order, once, never again by itself. */
export function createWebhooks(options: WebhookOptions): Webhooks {
  const { clock } = options;
  const deliveries: Delivery[] = [];
  const record = (delivery: Delivery) => {
    deliveries.push(delivery);
    if (deliveries.length > KEPT) deliveries.shift();
  };
  const sender = createSender(clock);
  const dispatch = dispatcher(options.faults, sender, record);
  return {
    deliveries,
    track: sender.track,
    emit(event) {
      const body = JSON.stringify(event.payload);
      options.onDelivery?.({ event: event.name, action: event.action, payload: JSON.parse(body) });
      if (Buffer.byteLength(body) > MAX_PAYLOAD) return;
      dispatch(firstDelivery(event, body, options.nextId(), clock.now()));
    },
    redeliver(id) {
      const found = deliveries.find((one) => one.id === id);
      if (found === undefined) return false;
      const { status: _status, durationMs: _duration, ...rest } = found;
      const again: Delivery = { ...rest, id: options.nextId(), redelivery: true, at: clock.now() };
      record(again);
      sender.send(again);
      return true;
    },
    idle: sender.idle,
    close: sender.close,
  };
}

interface Sender extends Pick<Webhooks, "track" | "idle" | "close"> {
  send(delivery: Delivery): void;
  later(delivery: Delivery, delay: number): void;
}

/** Knows what is on its way. */
function createSender(clock: Clock): Sender {
  const onTheirWay = new Set<Promise<void>>();
  let closed = false;

  function track(work: Promise<void>): void {
    onTheirWay.add(work);
    void work.finally(() => onTheirWay.delete(work));
  }

  function send(delivery: Delivery): void {
    const target = delivery.app.hook;
    if (target !== undefined && !closed) track(post(target, delivery));
  }

  return {
    track,
    send,
    later(delivery, delay) {
      const sent = new Promise<void>((resolve) => {
        clock.after(delay, () => {
          send(delivery);
          resolve();
        });
      });
      track(sent);
    },
    async idle() {
      while (onTheirWay.size > 0) await Promise.all(onTheirWay);
    },
    close() {
      closed = true;
    },
  };
}

/** Asks what becomes of each delivery, and lets it. What is swapped goes right behind the next one that is sent. */
function dispatcher(faults: Faults, { send, later }: Sender, record: (delivery: Delivery) => void): (delivery: Delivery) => void {
  const held: Delivery[] = [];
  return (delivery) => {
    const { guid, event, action, body } = delivery;
    const fate = faults.webhook?.({ guid, event, action, body }) ?? "deliver";
    if (fate === "lose") return;
    record(delivery);
    if (fate === "drop") {
      delivery.status = 0;
      return;
    }
    if (fate === "swap") {
      held.push(delivery);
      return;
    }
    if (typeof fate === "object") {
      later(delivery, fate.delay);
      return;
    }
    send(delivery);
    if (fate === "double") send(delivery);
    for (const one of held.splice(0)) send(one);
  };
}

function firstDelivery({ app, name, action, installation, repository }: WebhookEvent, body: string, id: number, at: number): Delivery {
  return { id, guid: randomUUID(), event: name, action, body, redelivery: false, installation, repository, at, app };
}

export function sign(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** All but the signature. */
export function deliveryHeaders(delivery: Delivery): Record<string, string> {
  return {
    accept: "*/*",
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/5tagec0",
    "x-github-event": delivery.event,
    "x-github-delivery": delivery.guid,
    "x-github-hook-id": String(delivery.app.id),
    "x-github-hook-installation-target-type": "integration",
    "x-github-hook-installation-target-id": String(delivery.app.id),
  };
}

async function post(target: { url: string; secret: string }, delivery: Delivery): Promise<void> {
  const started = performance.now();
  try {
    const answer = await fetch(target.url, {
      method: "POST",
      headers: { ...deliveryHeaders(delivery), "x-hub-signature-256": sign(target.secret, delivery.body) },
      body: delivery.body,
      // GitHub gives a receiver ten seconds.
      signal: AbortSignal.timeout(10_000),
    });
    await answer.arrayBuffer();
    delivery.status = answer.status;
  } catch {
    delivery.status = 0;
  }
  delivery.durationMs = Math.round(performance.now() - started);
}
