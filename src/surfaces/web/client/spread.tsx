/** How many targets have which version, as a bar: a stretch a version, striped where it was not seen live. */
import type { VersionShare } from "../../../core/report/model/schema/versions.ts";

/** `release`: the version that the run brings. */
export function Spread({ of, release }: { of: readonly VersionShare[]; release: string | undefined }) {
  const all = of.reduce((sum, { targets }) => sum + targets, 0);
  if (all === 0) return null;
  const width = (count: number) => ({ width: `${(100 * count) / all}%` });
  return (
    <div class="spread">
      <div class="bar" role="img" aria-label={of.map(shareText).join("; ")}>
        {of.flatMap(({ version, targets, live, failed }, index) => {
          const tone = version === release ? "new" : `old-${index % 3}`;
          return [
            <i key={`${version} live`} class={`v-${tone}`} style={width(live)} />,
            <i key={`${version} other`} class={`v-${tone} unseen`} style={width(targets - live - failed)} />,
            <i key={`${version} failed`} class="b-bad" style={width(failed)} />,
          ];
        })}
      </div>
      <span class="quiet">
        {of.map((share, index) => [
          index === 0 ? "" : " · ",
          <span class="release" key={share.version ?? ""}>
            {share.version ?? "others"}
          </span>,
          ` on ${share.targets}`,
        ])}
      </span>
    </div>
  );
}

function shareText({ version, targets, live, failed }: VersionShare): string {
  return `${version ?? "other versions"}: ${targets} ${targets === 1 ? "target" : "targets"}, ${live} seen live${failed > 0 ? `, ${failed} failed` : ""}`;
}
