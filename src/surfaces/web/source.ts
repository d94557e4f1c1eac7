/** What the page and the API are made of. The server hands it in. */
import type { CommentAs } from "../../adapters/forge/github/comment-as.ts";
import type { LoginOf, SightOf } from "../../adapters/forge/github/token-sight.ts";
import type { JournalReader } from "../../adapters/git/journal/port.ts";
import type { Clock } from "../../core/base/time.ts";
import type { UnreadRun } from "../../core/report/model/fleet.ts";
import type { RefusedModel } from "../../core/report/model/refused.ts";
import type { FleetRepository } from "../../core/report/model/schema/fleet.ts";
import type { ReleasePull } from "../../core/report/model/schema/plan.ts";
import type { RunDocument } from "../../core/report/model/schema/run.ts";
import type { History } from "../../core/report/plan/duration.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { CommandName } from "../../core/spec/commands.ts";
import type { Login } from "./login/login.ts";
import type { ProxyDoor } from "./login/proxy.ts";

/** Who sees everything without a name. */
export type Anonymous = "Nobody" | "Loopback" | "Everywhere";

export interface WebSource {
  /** The last run of each rollout, by repository. `history`: how long the runs before it took. */
  runs(): readonly { repository: string; run: Run; history?: History | undefined }[];
  /** Repositories in which something stands still that is no run's own matter. */
  standing?(): readonly Standing[];
  /** Where their Applications are shown. */
  planes?: readonly { name: string; uiUrl?: string | undefined }[];
  /** Where people reach the page; it may have a path: `https://host/stagecoach/`. */
  publicUrl?: string | undefined;
  /** Who sees everything without a name. Default: who comes from this machine, where nobody can say who they are; else nobody. */
  anonymous?: Anonymous | undefined;
  /** Absent: nobody signs in. */
  login?: Login | undefined;
  /** Absent: no proxy says who somebody is. */
  proxy?: ProxyDoor | undefined;
  /** What GitHub shows the owner of a token. Absent: no token is taken. */
  sightOf?: SightOf | undefined;
  /** Whose token it is. Absent: nobody acts by a token. */
  loginOf?: LoginOf | undefined;
  /** Writes what somebody comments from the page. Absent: nobody does. */
  commentAs?: (CommentAs & { textOf(given: CommandGiven): string | undefined }) | undefined;
  /** Whose the browser of this machine is, in a world of its own. */
  visitor?: Person | undefined;
  /** What was read of comments on a pull request, and of which no run knows, or none yet. */
  heard?(repository: string, rollout: string, pulls: readonly number[]): RunDocument["commands"];
  /** A run of this repository could not be drawn. */
  onBroken?(repository: string, error: unknown): void;
  /** A request failed as none should. */
  onFault?(error: unknown): void;
  onChange(listener: () => void): () => void;
  /** Somebody looks: resolves once what other processes show is known. Absent: there are no others. */
  look?: (() => Promise<void>) | undefined;
  /** Past runs of a repository, the same object while it is the same repository; undefined: it is not looked after, or was not yet. */
  journal?(repository: string): Pick<JournalReader, "runs" | "run" | "log" | "stateAt" | "runsAround"> | undefined;
  /** All repositories that are looked after. Absent: those that have runs. */
  repositories?(): readonly LookedAfter[];
}

/** What is known of a repository besides its runs. */
export interface LookedAfter extends Pick<FleetRepository, "repository" | "state"> {
  /** Rollouts that had no run yet. */
  idle: readonly string[];
  unread: readonly UnreadRun[];
  /** Open release PRs; the same objects while nothing of them has changed. */
  releases: readonly ReleasePull[];
}

/** Who comments on GitHub what is pressed here. */
export interface Person {
  /** Throws Denied where GitHub does not say, or says that the token is none or is no person's. */
  login(): Promise<string>;
  /** Lives as long as the request; whoever asks for it keeps it nowhere and writes it to no log. */
  token(): string;
  /** GitHub takes the token no more, as somebody was told who wrote with it. */
  refused?(): void;
}

/** A command as somebody gives it, to be written as a comment: `textOf` gives undefined where that is not one command. */
export interface CommandGiven {
  verb: CommandName;
  args: readonly string[];
  rollout: string;
  reason?: string | undefined;
}

/** What of a repository needs attention, and its releases that were merged and started no run. */
export interface Standing {
  repository: string;
  attention: readonly string[];
  refused: readonly RefusedModel[];
}

/** `speed`: seconds of the bot's clock in one of the wall's; in a fast world more than one. */
export type WebClock = Clock & { readonly speed?: number };
