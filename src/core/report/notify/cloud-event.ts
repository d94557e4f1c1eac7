/** Messages as CloudEvents 1.0 (https://github.com/cloudevents/spec): one an event, by an id that is the same however often it is sent. */
import { defined } from "../../base/defined.ts";
import type { NotifyEvent } from "./events.ts";
import type { Notice } from "./notice.ts";

export interface NotifyCloudEvent {
  specversion: "1.0";
  /** Unique together with `source`. */
  id: string;
  source: string;
  /** `dev.stagecoach.needs-you.v1` */
  type: string;
  /** `payments/12`. */
  subject?: string;
  time: string;
  datacontenttype: "application/json";
  data: {
    repository: string;
    rollout?: string;
    run?: number;
    release?: Record<string, string>;
    stage?: string;
    title: string;
    lines: string[];
    links: { name: string; url: string }[];
    /** Of a digest: how many messages it stands for. */
    stands?: number;
  };
}

export function cloudEvents(notice: Notice): NotifyCloudEvent[] {
  const { stands, events, id } = notice;
  if (stands === undefined) return events.map((event) => cloudEvent(notice, event.event, event));
  return [cloudEvent(notice, "digest", { id, at: events.at(-1)?.at ?? "", stage: undefined })];
}

function cloudEvent(notice: Notice, what: string, { id, at, stage }: Omit<NotifyEvent, "event">): NotifyCloudEvent {
  const { repository, source, run, title, lines, links, stands } = notice;
  return {
    specversion: "1.0",
    id,
    source,
    type: `dev.stagecoach.${what}.v1`,
    ...defined({ subject: run && `${run.rollout}/${run.number}` }),
    time: at,
    datacontenttype: "application/json",
    data: {
      repository,
      ...defined({ rollout: run?.rollout, run: run?.number, release: run?.release, stage }),
      ...{ title, lines, links },
      ...defined({ stands }),
    },
  };
}

/** Headers of the binary mode: as the HTTP binding says, what is no printable ASCII is percent-encoded, and so are `"` and `%`. */
export function binaryHeaders({ data: _, datacontenttype, ...attributes }: NotifyCloudEvent): Record<string, string> {
  const named = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encoded(value)] as const);
  return { "content-type": datacontenttype, ...Object.fromEntries(named) };
}

function encoded(value: string): string {
  const bytes = (one: string) => [...new TextEncoder().encode(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`);
  return value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, (one) => bytes(one).join(""));
}
