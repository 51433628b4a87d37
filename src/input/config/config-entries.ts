// The keys of a configuration file: groups of machines, sections for single commands, and settings for all.

import type { Mistake } from "../mistake.js";
import { asList, type Field, readFields, readTexts, refuse } from "../yaml/yaml-fields.js";
import type { YamlMap } from "../yaml/yaml-tree.js";

export interface ConfigEntry {
  /** The command that it is for; null: every command that has the option. */
  readonly section: string | null;
  readonly key: string;
  /** Of the key. */
  readonly offset: number;
  readonly field: Field;
}

/** One group, as it is written. */
interface GroupEntry {
  readonly name: string;
  readonly offset: number;
  readonly members: readonly { readonly word: string; readonly offset: number }[];
}

export interface ConfigEntries {
  readonly settings: readonly ConfigEntry[];
  readonly groups: readonly GroupEntry[];
}

/** `sections`: the names of commands. */
export function readEntries(
  root: YamlMap,
  sections: ReadonlySet<string>,
  mistakes: Mistake[],
): ConfigEntries {
  const settings: ConfigEntry[] = [];
  const groups: GroupEntry[] = [];
  const offsets = offsetsIn(root);
  for (const [key, field] of readFields(root, { known: null }, mistakes)) {
    if (key === "groups") groups.push(...readGroups(field, mistakes));
    else if (sections.has(key)) settings.push(...readSection(key, field, mistakes));
    else settings.push({ section: null, key, offset: offsets.get(key) ?? 0, field });
  }
  return { settings, groups };
}

function readSection(section: string, { value }: Field, mistakes: Mistake[]): ConfigEntry[] {
  if (value.kind !== "map") {
    refuse(
      value,
      `${section} is a command: it must hold options, such as ${section}: {json: true}`,
      mistakes,
    );
    return [];
  }
  const offsets = offsetsIn(value);
  return [...readFields(value, { known: null, parent: section }, mistakes)].map(([key, field]) => ({
    section,
    key,
    offset: offsets.get(key) ?? 0,
    field,
  }));
}

const GROUP_NAME = /^[A-Za-z0-9][\w.-]*$/;

function readGroups({ label, value }: Field, mistakes: Mistake[]): GroupEntry[] {
  if (value.kind !== "map") {
    refuse(value, `${label} must hold names and machines, such as lab: [gpu1, gpu2]`, mistakes);
    return [];
  }
  const offsets = offsetsIn(value);
  return [...readFields(value, { known: null, parent: "group" }, mistakes)].flatMap(([name, field]) => {
    const offset = offsets.get(name) ?? 0;
    if (GROUP_NAME.test(name)) return readGroup({ name, offset }, field, mistakes);
    const message = `${JSON.stringify(name)} cannot be the name of a group: letters, digits, - _ and . only`;
    mistakes.push({ offset, message, hint: "the @ is only for where the group is used" });
    return [];
  });
}

function readGroup(
  { name, offset }: Pick<GroupEntry, "name" | "offset">,
  { label, value }: Field,
  mistakes: Mistake[],
): GroupEntry[] {
  const items = value.kind === "list" ? value.items : [value];
  const members = items.flatMap((item) =>
    readTexts({ label: `each machine of ${label}`, value: item }, mistakes).map((word) => ({
      word,
      offset: item.offset,
    })),
  );
  if (value.kind === "text" && /\s/.test(value.text.trim())) {
    const hint = `${name}: ${asList(value.text)}`;
    mistakes.push({ offset: value.offset, message: `${label}: several machines are a list`, hint });
  }
  // An empty group would mean this machine.
  if (items.length === 0 || members.some(({ word }) => word === ""))
    mistakes.push({ offset: value.offset, message: `${label} has no machines`, hint: "name at least one" });
  return [{ name, offset, members }];
}

function offsetsIn({ entries }: YamlMap): ReadonlyMap<string, number> {
  return new Map(entries.flatMap(({ key }) => (key.kind === "text" ? [[key.text, key.offset]] : [])));
}
