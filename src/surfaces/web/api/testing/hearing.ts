/** Server-sent events of a response, one by one. */
export interface Heard {
  next(): Promise<{ event: string; id: string; data: Record<string, unknown>; bytes: number }>;
  close(): Promise<void>;
}

export function hearing(response: Response): Heard {
  if (response.body === null) throw new Error(`no events: ${response.status}`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end >= 0) {
          const frame = text.slice(0, end);
          text = text.slice(end + 2);
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1] ?? "";
          if (field("event") !== "")
            return {
              event: field("event"),
              id: field("id"),
              data: JSON.parse(field("data")) as Record<string, unknown>,
              bytes: frame.length + 2,
            };
          continue;
        }
        const { done, value } = await reader.read();
        if (done) throw new Error("the events ended");
        text += decoder.decode(value, { stream: true });
      }
    },
    close: () => reader.cancel(),
  };
}
