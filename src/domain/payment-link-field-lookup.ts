/** What is looked up in the table of the fields of payment links: the fields of a side, a flag, a setting and a view, and their words. */
import {
  LINK_FIELDS,
  type LinkField,
  type LinkFieldPath,
  type LinkFields,
  type LinkView,
} from "./payment-link-fields.ts";
import { capitalized } from "../values/sentence.ts";

/** The field with every member that a field may have. */
export const linkFieldAt = (path: LinkFieldPath): LinkField => LINK_FIELDS[path];

/** The paths and fields of a side, in the order of the table. */
export const linkFieldsOf = (side: "request" | "reply"): readonly [path: LinkFieldPath, field: LinkField][] =>
  LINK_FIELD_ENTRIES.filter(([, { request, reply }]) =>
    side === "request" ? request !== "never" : reply !== undefined,
  );

const LINK_FIELD_ENTRIES = Object.entries(LINK_FIELDS) as [LinkFieldPath, LinkField][];

/** The path of every field of a request that holds a single value. */
export const requestFields = (): readonly LinkFieldPath[] =>
  linkFieldsOf("request").flatMap(([path, { type }]) => (type === "object" ? [] : [path]));

/** The flags of `create` and `bulk` that set a field, by the names of their declarations. */
export type ValueFlag = Extract<LinkFields[LinkFieldPath], { readonly flag: string }>["flag"];

type FieldOfFlag = {
  readonly [
    Path in LinkFieldPath as LinkFields[Path] extends { readonly flag: infer Name extends string }
      ? Name
      : never
  ]: Path;
};

/** The field of each flag. */
export const FIELD_OF_FLAG = Object.fromEntries(
  LINK_FIELD_ENTRIES.flatMap(([path, { flag }]) => (flag === undefined ? [] : [[flag, path]])),
) as FieldOfFlag;

/** The settings that are sent in fields. */
export type FieldSetting = Extract<LinkFields[LinkFieldPath], { readonly setting: string }>["setting"];

export const FIELD_SETTINGS = LINK_FIELD_ENTRIES.flatMap(([path, { setting }]) =>
  setting === undefined ? [] : [[path, setting]],
) as readonly [path: LinkFieldPath, setting: FieldSetting][];

export const VALUE_FLAGS = Object.keys(FIELD_OF_FLAG) as ValueFlag[];

/** The flag as it is typed: `--terminal-id`. */
export const flagName = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The fields that a view shows, from the top. */
export const fieldsShownIn = (view: LinkView): readonly LinkFieldPath[] =>
  LINK_FIELD_ENTRIES.flatMap(([path, { shown }]) => {
    const place = shown?.[view];
    return place === undefined ? [] : [{ path, place }];
  })
    .toSorted((one, other) => one.place - other.place)
    .map(({ path }) => path);

/** What people call a field; the path of one that the specification lacks. */
export const fieldLabel = (path: string): string => (isLinkField(path) ? LINK_FIELDS[path].label : path);

/** The same as a heading, a question and a form begin with it. */
export const fieldTitle = (path: string): string => capitalized(fieldLabel(path));

/** What a question asks for: the title, and how it is typed. */
export function fieldQuestion(path: LinkFieldPath): string {
  const { typed } = linkFieldAt(path);
  return typed === undefined ? fieldTitle(path) : `${fieldTitle(path)} (${typed})`;
}

/** As a sentence. */
export const fieldMeaning = (path: string): string | undefined =>
  isLinkField(path) ? `${capitalized(linkFieldAt(path).meaning ?? fieldLabel(path))}.` : undefined;

export const isLinkField = (path: string): path is LinkFieldPath => Object.hasOwn(LINK_FIELDS, path);
