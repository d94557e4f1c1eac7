import { createHmac, randomUUID } from "node:crypto";
import type { Clock } from "../../rollout/time.ts";
import type { Faults } from "./faults.ts";

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
  /** Of the receiver's answer; 0 where there was none. undefined: on its way, dropped, or there is no receiver. */
  status?: number;
  durationMs?: number;
}

export interface Webhooks {
  /** Where deliveries go; none: they are only recorded. */
  target: { url: string; secret: string } | undefined;
  readonly deliveries: Delivery[];
  /** Sends at once, without waiting. */
  emit(event: { name: string; action?: string; installation?: number; repository?: number; payload: object }): void;
  /** Sends a recorded delivery again under the same GUID. */
  redeliver(id: number): boolean;
  /** Resolves when nothing is on its way any more. */
  idle(): Promise<void>;
  close(): void;
}

const KEPT = 5000;

/** Sends events as GitHub does: signed, in no guaranteed order, once, never again by itself. */
export function createWebhooks(options: { clock: Clock; faults: Faults; nextId(): number; appId: number }): Webhooks {
  const { clock, faults } = options;
  const deliveries: Delivery[] = [];
  const onTheirWay = new Set<Promise<void>>();
  let held: Delivery[] = [];
  let closed = false;

  function track(work: Promise<void>): void {
    onTheirWay.add(work);
    void work.finally(() => onTheirWay.delete(work));
  }

  function send(delivery: Delivery): void {
    if (hooks.target === undefined || closed) return;
    track(post(hooks.target, delivery, options.appId));
  }

  function later(delivery: Delivery, delay: number): void {
    track(
      new Promise((resolve) => {
        clock.after(delay, () => {
          send(delivery);
          resolve();
        });
      }),
    );
  }

  function dispatch(delivery: Delivery): void {
    const fate =
      faults.webhook?.({ guid: delivery.guid, event: delivery.event, action: delivery.action, body: delivery.body }) ?? "deliver";
    if (fate === "drop") return;
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
    const waiting = held;
    held = [];
    for (const one of waiting) send(one);
  }

  function record(delivery: Delivery): void {
    deliveries.push(delivery);
    if (deliveries.length > KEPT) deliveries.shift();
  }

  const hooks: Webhooks = {
    target: undefined,
    deliveries,
    emit(event) {
      const delivery: Delivery = {
        id: options.nextId(),
        guid: randomUUID(),
        event: event.name,
        action: event.action,
        body: JSON.stringify(event.payload),
        redelivery: false,
        installation: event.installation,
        repository: event.repository,
        at: clock.now(),
      };
      record(delivery);
      dispatch(delivery);
    },
    redeliver(id) {
      const found = deliveries.find((one) => one.id === id);
      if (found === undefined) return false;
      const { status: _status, durationMs: _duration, ...rest } = found;
      const again: Delivery = { ...rest, id: options.nextId(), redelivery: true, at: clock.now() };
      record(again);
      send(again);
      return true;
    },
    async idle() {
      while (onTheirWay.size > 0) await Promise.all(onTheirWay);
    },
    close() {
      closed = true;
    },
  };
  return hooks;
}

export function sign(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

async function post(target: { url: string; secret: string }, delivery: Delivery, appId: number): Promise<void> {
  const started = performance.now();
  try {
    const answer = await fetch(target.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/5tagec0",
        "x-github-event": delivery.event,
        "x-github-delivery": delivery.guid,
        "x-github-hook-id": String(appId),
        "x-github-hook-installation-target-type": "integration",
        "x-github-hook-installation-target-id": String(appId),
        "x-hub-signature-256": sign(target.secret, delivery.body),
      },
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
