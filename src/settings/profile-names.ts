/** The names of profiles: which are allowed, and what to say about one that does not exist. */
import { SANDBOX_PROFILE } from "../domain/known-services.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { accepted, nearest, refused, type Parsed } from "../values/parse-result.ts";
import { profileNamed, type Profile, type Profiles } from "./profile.ts";

/** The profile that commands write if none is named and none is current. */
export const DEFAULT_PROFILE = "default";

/** The profile of this name. Throws `no_profile` if no profile has it. */
export function requireProfile(name: string, profiles: Profiles): Profile {
  const profile = profileNamed(profiles, name);
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  const near = nearest(name, names);
  const hints = [
    // `login` makes no profile of this name.
    ...(parseOwnProfileName(name).ok
      ? []
      : [hint`To start the sandbox, with its profile: ${paylink`sandbox`}`]),
    ...(names.length === 0 ? [] : [hint`Profiles: ${names.join(", ")}`]),
  ];
  throw new PaylinkError(
    "no_profile",
    `There is no profile named ${name}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    { hints: hints.length === 0 ? undefined : hints },
  );
}

/** The name of a profile. `__proto__` cannot be the name of a member of a JavaScript object. */
export const parseProfileName = (text: string): Parsed<string> =>
  /^(?!-)[A-Za-z0-9._-]+$/.test(text) && text !== "__proto__"
    ? accepted(text)
    : refused("must consist of letters, digits, dots, underscores and hyphens, and not start with a hyphen");

/** The name of a profile that is not the sandbox's. */
export const parseOwnProfileName = (text: string): Parsed<string> =>
  text === SANDBOX_PROFILE
    ? refused("must be another name: this one belongs to the sandbox")
    : parseProfileName(text);
