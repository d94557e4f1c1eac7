/** What a commit of the journal says of one run, an event each: its subject names the first of them alone. */

/** `trailers`: those of the commit. Where it is of several runs, or of an older bot, its subject stands for it. */
export function recordedEvents(
  run: { rollout: string; number: number },
  subject: string,
  trailers: Readonly<Record<string, string>>,
): string[] {
  const begin = `${run.rollout} run ${run.number}: `;
  const bare = (text: string) => (text.startsWith(begin) ? text.slice(begin.length) : text);
  const all = trailers["Stagecoach-Event"];
  if (all === undefined || !all.startsWith(begin) || trailers["Stagecoach-Run"]?.includes(" ")) return [bare(subject)];
  return all.split(`; ${begin}`).map(bare);
}
