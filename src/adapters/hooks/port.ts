import type { HookAnswer } from "../../core/run/state/hooks-types.ts";

/** Asks hooks. What they answer is kept in memory alone: a request whose answer was lost is made again by who journalled it. */
export interface HookCaller {
  /** Makes the request unless one of this key is under way or answered; does not wait for it. */
  call(request: HookRequest): void;
  answer(key: string): HookAnswer | undefined;
  /** A request of this key was answered. */
  onChange(listener: (key: string) => void): () => void;
  close(): Promise<void>;
}

export interface HookRequest {
  /** Of this one request. */
  key: string;
  /** Of the event: the same for every request of it. */
  id: string;
  url: string;
  timeoutMs: number;
  /** The event as JSON. */
  body: string;
  /** Of the event, from 1. */
  count: number;
}
