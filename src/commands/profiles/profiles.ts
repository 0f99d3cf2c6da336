/** `paylink profiles`: lists the profiles, and chooses, renames or removes one. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { serviceLabel, SERVICES, type ServiceLabel } from "../../domain/known-services.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderTable } from "../../render/table.ts";
import { noSuchProfile, parseOwnProfileName } from "../../settings/profile-names.ts";
import type { Profile } from "../../settings/profile.ts";
import { isConfirmed } from "../confirm.ts";
import { createFlagReader } from "../flag-reader.ts";

interface Listed {
  readonly name: string;
  readonly current: boolean;
  readonly service: string | null;
  readonly baseUrl: string | null;
  readonly label: ServiceLabel | null;
  readonly terminalId: string | null;
}

export async function listProfiles({ out, profiles }: Context): Promise<number> {
  const settings = await profiles();
  const current = settings.current();
  const listed = Object.entries(settings.profiles()).map(([name, profile]) =>
    listedProfile(name, profile, name === current),
  );
  if (out.json) out.data(JSON.stringify({ current: current ?? null, profiles: listed }));
  else if (listed.length === 0) out.note("There is no profile. Run paylink sandbox, or paylink login.");
  else out.data(renderTable(listed.map((one) => rowOf(one).map((text) => ({ text })))));
  return 0;
}

function listedProfile(name: string, { service, baseUrl, terminalId }: Profile, current: boolean): Listed {
  const address = baseUrl ?? (service && SERVICES[service].settings.baseUrl);
  return {
    name,
    current,
    service: service ?? null,
    baseUrl: address ?? null,
    label: address === undefined ? null : serviceLabel(address),
    terminalId: terminalId ?? null,
  };
}

const rowOf = ({ name, current, baseUrl, label, terminalId }: Listed): string[] => [
  current ? "*" : "",
  name,
  parseWebAddress(baseUrl ?? "")?.host ?? "–",
  label ?? "–",
  terminalId === null ? "" : `terminal ${terminalId}`,
];

export async function useProfile({ out, profiles }: Context, name: string): Promise<number> {
  const settings = await profiles();
  requireProfile(name, Object.keys(settings.profiles()));
  await settings.use(name);
  if (out.json) out.data(JSON.stringify({ current: name }));
  else out.data(`${safeText(name)} is the current profile now.`);
  return 0;
}

export async function renameProfile({ out, profiles }: Context, name: string, next: string): Promise<number> {
  const settings = await profiles();
  const names = Object.keys(settings.profiles());
  requireProfile(name, names);
  const reader = createFlagReader();
  reader.read("<profile>", name, parseOwnProfileName);
  reader.read("<new name>", next, parseOwnProfileName);
  reader.finish("Nothing was renamed.");
  if (names.includes(next))
    throw new PaylinkError("usage", `There is a profile named ${next} already. Nothing was renamed.`, {
      hints: [hint`To delete it: ${paylink("profiles", "remove", next)}`],
    });
  await settings.rename(name, next);
  if (out.json) out.data(JSON.stringify({ renamed: name, profile: next }));
  else out.data(`Profile ${safeText(name)} is now named ${safeText(next)}.`);
  return 0;
}

export async function removeProfile(context: Context, name: string): Promise<number> {
  const { out } = context;
  const settings = await context.profiles();
  requireProfile(name, Object.keys(settings.profiles()));
  const isCurrent = settings.current() === name;
  if (!(await isConfirmed(context, `Delete profile ${safeText(name)} with its settings and secrets?`))) {
    out.note("Nothing was deleted.");
    return 0;
  }
  await settings.remove(name);
  if (out.json) out.data(JSON.stringify({ removed: name, current: settings.current() ?? null }));
  else out.data(`Deleted profile ${safeText(name)}.`);
  if (isCurrent) out.note("No profile is current now. Choose one: paylink profiles use <name>");
  return 0;
}

function requireProfile(name: string, names: readonly string[]): void {
  if (!names.includes(name)) throw noSuchProfile(name, names);
}
