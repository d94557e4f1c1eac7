/** What an Application was judged by: which clause, and each field that Argo CD showed. Read from the journal when somebody opens it. */
import { useContext } from "preact/hooks";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { TargetEvidence } from "../api/documents.ts";
import { API } from "./live.ts";
import { Later, Unread, useRead } from "./past.tsx";
import { ClockContext, clockOf } from "./times.tsx";

interface Judged {
  of: RunDocument;
  target: string;
  notes: readonly string[];
  /** Where it is what one came for. */
  open?: boolean;
}

export function Evidence({ of, target, notes, open = false }: Judged) {
  return (
    <>
      {notes.map((note) => (
        <p class="quiet" key={note}>
          {note}
        </p>
      ))}
      {of.repository === undefined ? null : (
        <Later title="What it was judged by" open={open}>
          <Read of={of} target={target} />
        </Later>
      )}
    </>
  );
}

function Read({ of, target }: { of: RunDocument; target: string }) {
  const { now } = useContext(ClockContext);
  const place = target.split("/").map(encodeURIComponent).join("/");
  const path = `${API}/repos/${of.repository}/rollouts/${encodeURIComponent(of.rollout)}/runs/${of.number}/targets/${place}`;
  const answer = useRead<TargetEvidence>(path);
  if (typeof answer === "string") return <Unread what={answer} />;
  const { evidence, merged } = answer.document;
  if (evidence === undefined) return <p class="quiet">Nobody has looked at it yet.</p>;
  const { verdict, clause, readAt, fields } = evidence;
  const rows = [...(merged === undefined ? [] : [{ name: "has to be live", value: `${merged.commit} (merged ${merged.at})` }]), ...fields];
  return (
    <>
      <p>
        {`${clause === "all" ? "Every clause is met" : `Clause ${clause} is not met`}, so it is taken for ${verdict}. Argo CD was read at ${clockOf(readAt, now())}.`}
      </p>
      <table class="evidence">
        <tbody>
          {rows.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
