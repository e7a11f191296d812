import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Environment, substitute, type WantedAt } from '#configuration/substitute.ts';
import { complete } from '#contract/configuration/complete.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { explain } from '#contract/configuration/explain.ts';
import { type Fault, formatPath, type Path } from '#contract/configuration/fault.ts';
import { ruleFaults } from '#contract/configuration/rules.ts';
import { schemaAt } from '#contract/configuration/schema-node.ts';
import type { Notes } from './notes.ts';

type Container = JsonObject | unknown[];

const wantedAt: WantedAt = (path) => schemaAt(Configuration, path).type;

/** The configuration that an import makes, with where each of its objects comes from. */
export class Result {
  readonly configuration: JsonObject = {};
  readonly #origins = new WeakMap<object, Path>();

  /** Remembers where an object of the configuration comes from. */
  from<Made extends Container>(origin: Path, made: Made): Made {
    this.#origins.set(made, origin);
    return made;
  }

  put(section: string, name: string, entry: JsonObject): void {
    const entries = this.configuration[section];
    if (isJsonObject(entries)) entries[name] = entry;
    else this.configuration[section] = Object.assign(Object.create(null), Object.fromEntries([[name, entry]]));
  }

  /** Takes out what the check of configurations refuses, and tells each. What is left passes the check. */
  settle(notesOf: (section: string) => Notes): void {
    for (;;) {
      const [fault] = this.#faults();
      if (fault === undefined) return;
      const { holder, key, path } = this.#toTakeOut(fault.path);
      const what = path.length < fault.path.length ? `${formatPath(fault.path.slice(path.length))} ` : 'it ';
      notesOf(String(path[0])).lose(this.#originOf(path), `is not carried: ${what}${fault.message}`, fault.hint);
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
    }
  }

  #faults(): readonly Fault[] {
    const { value } = substitute(this.configuration, placeholders(this.configuration), { wantedAt });
    const completed = complete(Configuration, value);
    return [...explain(Configuration, completed), ...ruleFaults(completed)];
  }

  /** The value at a path, or, if there is none, what is around it. */
  #toTakeOut(path: Path): { readonly holder: Container; readonly key: string; readonly path: Path } {
    let holder: Container = this.configuration;
    for (const [depth, key] of path.entries()) {
      const next: unknown = (holder as JsonObject)[key];
      const isLast = depth === path.length - 1;
      if (isLast && next !== undefined) return { holder, key: String(key), path };
      if (next === undefined || typeof next !== 'object' || next === null) return this.#toTakeOut(path.slice(0, depth));
      holder = next as Container;
    }
    return { holder: this.configuration, key: String(path[0]), path };
  }

  #originOf(path: Path): Path {
    let origin: Path = path;
    let found: unknown = this.configuration;
    for (const [depth, key] of path.entries()) {
      found = (found as JsonObject)[key];
      const known = typeof found === 'object' && found !== null ? this.#origins.get(found) : undefined;
      if (known !== undefined) origin = [...known, ...path.slice(depth + 1)];
    }
    return origin;
  }
}

/** Something of the right form for every variable that a configuration names. */
function placeholders(configuration: JsonObject): Environment {
  const text = JSON.stringify(configuration);
  const named = (pattern: RegExp, toValue: (name: string) => string) =>
    [...text.matchAll(pattern)].map(([, name = '']): [string, string] => [name, toValue(name)]);
  return Object.fromEntries([
    ...named(/\$\{(\w+)\}/g, (name) => `placeholder-${name.toLowerCase().replaceAll('_', '-')}`),
    ...named(/"(?:endpoint|url|issuer|jwksUrl)":"\$\{(\w+)\}/g, () => 'https://placeholder.example'),
    ...named(/"apiVersion":"\$\{(\w+)\}"/g, () => '2024-10-21'),
  ]);
}
