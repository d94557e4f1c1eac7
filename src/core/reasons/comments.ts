import { type AnyReason, type NoData, reasonsOf } from "../base/reason.ts";

/** Why a comment, or a command in it, is refused before any run sees it. */
export interface CommentReasons {
  /** Commands that follow a mistake may lean on it, so none of its comment is obeyed. */
  COMMENT_NOT_DONE: { because: AnyReason };
  COMMENT_TOO_LONG: NoData;
  COMMANDS_TOO_MANY: { most: number };
  COMMAND_UNKNOWN: { given: string; near: string };
  FLAG_UNKNOWN: { command: string; flag: string; known: readonly string[]; near?: string | undefined };
  FLAG_TAKES_NO_VALUE: { command: string; flag: string };
  FLAG_WANTS_VALUE: { command: string; flag: string; value: string };
  COMMAND_TAKES_NO_WORDS: { command: string; word: string };

  COMMENTER_LACKS_PERMISSION: { command: string; needs: string; has: string };
  /** Of the label stagecoach/bypass, and why it counts for nothing. */
  BYPASS_NOT_GIVEN: { by: string };
  BYPASS_BEFORE_HEAD: { by: string };
  BYPASS_UNSEEN: NoData;
  /** More than those who may not steer are answered in ten minutes. */
  COMMENTER_ASKS_TOO_OFTEN: NoData;
  /** The repo's settings cannot be read: they might forbid it. */
  COMMANDS_UNDECIDED: { command: string };
  /** unseen: teams whose members cannot be seen. */
  COMMENTER_NOT_IN_TEAM: { command: string; teams: readonly string[]; unseen: readonly string[] };
  COMMAND_NAMES_NO_ROLLOUT: NoData;
  COMMAND_BEFORE_RUN: { command: string };
  ROLLOUT_STEERED_ELSEWHERE: { here: readonly string[] };
}

export const comment = reasonsOf<CommentReasons>();
