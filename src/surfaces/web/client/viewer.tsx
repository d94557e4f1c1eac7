/** Who looks: their name in the header, and what is said to somebody who has to sign in first. */
import { useContext, useEffect, useState } from "preact/hooks";
import type { Me } from "../api/documents.ts";
import { API, type Live } from "./live.ts";
import { Going } from "./route.tsx";

/**
 * Who looks, and what they may on `repository`; undefined: it is not known yet. Asked again where a document was kept from them, or no longer
 * is.
 */
export function useViewer(base: string, link: Live<unknown>["link"], repository?: string): Me | undefined {
  const [me, tell] = useState<Me | undefined>(undefined);
  const isKept = link === "signed-out";
  useEffect(() => {
    let ended = false;
    const about = repository === undefined ? "" : `?${new URLSearchParams({ repository })}`;
    void fetch(`${base}${API}/me${about}`, { headers: { accept: "application/json" } })
      .then(async (answer) => (answer.ok ? ((await answer.json()) as Me) : undefined))
      .catch(() => undefined)
      .then((known) => (ended ? undefined : tell(known)));
    return () => {
      ended = true;
    };
  }, [base, isKept, repository]);
  return me;
}

/** `isAsked`: the screen itself asks them to sign in. */
export function Who({ me, isAsked }: { me: Me | undefined; isAsked: boolean }) {
  const { base } = useContext(Going);
  const [left, leave] = useState<"no" | "leaving" | "half">("no");
  const name = me?.login ?? me?.name;
  if (me === undefined || (name === undefined && !me.signIn)) return null;
  if (left === "half") return <p class="who">You are signed out here. GitHub did not answer: its token ends by itself within hours.</p>;
  if (name === undefined) return <p class="who">{me.ended === true || isAsked ? null : <SignInLink base={base} />}</p>;
  const signOut = () => {
    leave("leaving");
    void endSession(base).then((outcome) => (outcome === "ended" ? location.reload() : leave(outcome)));
  };
  return (
    <p class="who">
      {me.login === undefined ? `Signed in as ${name}` : me.signIn ? `Signed in as @${name}` : `@${name}`}
      {me.login === undefined || !me.signIn ? null : (
        <button type="button" disabled={left === "leaving"} onClick={signOut}>
          Sign out
        </button>
      )}
    </p>
  );
}

/** `half`: GitHub did not say that the token has ended. `no`: nothing has. */
async function endSession(base: string): Promise<"ended" | "half" | "no"> {
  try {
    const answer = await fetch(`${base}/logout`, { method: "POST", headers: { "stagecoach-page": "1" } });
    if (!answer.ok) return "no";
    return ((await answer.json()) as { revoked: boolean }).revoked ? "ended" : "half";
  } catch {
    return "no";
  }
}

function SignInLink({ base }: { base: string }) {
  const address = (location.pathname.startsWith(base) ? location.pathname.slice(base.length) : location.pathname) + location.search;
  return (
    <a class="button" href={`${base}/login?${new URLSearchParams({ to: address })}`}>
      Sign in with GitHub
    </a>
  );
}

export function SignInScreen({ me }: { me: Me | undefined }) {
  const { base } = useContext(Going);
  if (me === undefined) return null;
  return (
    <section class="sign-in">
      <h2>{me.ended === true ? "Your session has ended" : "You are not signed in"}</h2>
      {me.ended === true ? <p>GitHub takes its token no more: it was revoked, or you took back what you allowed the App.</p> : null}
      {me.signIn ? (
        <>
          <p>You will see the rollouts of the repositories that GitHub shows you.</p>
          <p>
            <SignInLink base={base} />
          </p>
        </>
      ) : (
        <p>Nobody can sign in at this address. Its operator can let people in: by a login with GitHub, or by a proxy that knows them.</p>
      )}
    </section>
  );
}
