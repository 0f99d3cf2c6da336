/** Names the profile in the commands of a text, so that they reach the account that the text is about. */

/** The commands that use an account. */
const COMMANDS =
  /\bpaylink (?=(?:bulk|config|create|events|links|listen|login|status|transaction|verify)\b)/g;

/** `profile` is the one that the command line or PAYLINK_PROFILE names; without it, the current one is meant. */
export const forProfile = (text: string, profile: string | undefined): string =>
  profile === undefined ? text : text.replace(COMMANDS, `paylink -p ${profile} `);
