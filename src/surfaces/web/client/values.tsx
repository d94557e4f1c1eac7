/** What becomes of each value of a release that has several, on the pages of its plan and of its run. */
import type { ValueShown } from "../../../core/report/model/types.ts";
import { changeText } from "./parts.tsx";

export function Values({ of }: { of: readonly ValueShown[] | undefined }) {
  if (of === undefined) return null;
  return (
    <table class="release-values">
      <thead>
        <tr>
          <th scope="col">Value</th>
          <th scope="col">Version</th>
        </tr>
      </thead>
      <tbody>
        {of.map(({ name, from, to }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class={from === to ? "quiet" : undefined}>{from === to ? `${to} stays` : changeText({ from, to })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
