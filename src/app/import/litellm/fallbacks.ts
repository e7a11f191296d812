import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Path } from '#contract/configuration/fault.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { LitellmTools } from './litellm-tools.ts';
import type { Group } from './model-list.ts';

type Groups = ReadonlyMap<string, Group>;

/** `fallbacks` and `default_fallbacks` as tiers: the upstreams of the models that stand in, behind those of the model itself. */
export function addFallbacks(settings: readonly ForeignObject[], groups: Groups, tools: LitellmTools): void {
  const own = new Map([...groups].map(([name, { upstreams }]) => [name, [...upstreams]]));
  const adder = new FallbackAdder(groups, own, tools);
  const named = new Set<string>();
  for (const holder of settings) {
    for (const each of holder.items('fallbacks')) {
      for (const model of each.keys()) {
        named.add(model);
        adder.add(model, each, model);
      }
    }
  }
  for (const holder of settings) {
    if (holder.value('defaultFallbacks') === undefined) continue;
    for (const model of groups.keys()) if (!named.has(model)) adder.add(model, holder, 'defaultFallbacks');
  }
}

class FallbackAdder {
  readonly #groups: Groups;
  readonly #own: ReadonlyMap<string, readonly JsonObject[]>;
  readonly #tools: LitellmTools;

  constructor(groups: Groups, own: ReadonlyMap<string, readonly JsonObject[]>, tools: LitellmTools) {
    this.#groups = groups;
    this.#own = own;
    this.#tools = tools;
  }

  /** The models under `key` of `holder` stand in for `model`. */
  add(model: string, holder: ForeignObject, key: string): void {
    const { notes } = this.#tools;
    const group = this.#groups.get(model);
    const written = holder.value(key);
    const names = Array.isArray(written) ? written : [];
    if (group === undefined) {
      notes.lose(holder.at(key), `is not carried: ${model} is not in the result`);
      return;
    }
    let wasAdded = false;
    for (const [index, name] of names.entries()) {
      const why = this.#whyNot(model, name);
      if (why !== undefined) notes.lose([...holder.at(key), index], `is not carried: ${why}`);
      else wasAdded = this.#append(group, String(name), holder.at(key)) || wasAdded;
    }
    if (wasAdded)
      notes.lose(
        holder.at(key),
        `stands as tiers of ${model}: calls that they answer count, cost and are limited as calls of ${model}`,
        'look at its `pricing` and at `roles`',
      );
  }

  #whyNot(model: string, name: unknown): string | undefined {
    if (typeof name !== 'string')
      return isJsonObject(name) ? 'a fallback with a request of its own has no counterpart' : 'it must be the name of a model';
    if (name === model) return 'a model does not stand in for itself';
    const other = this.#groups.get(name);
    if (other === undefined) return `${name} is not in the result`;
    return other.type === this.#groups.get(model)?.type ? undefined : `${name} is of another mode`;
  }

  #append({ upstreams }: Group, name: string, origin: Path): boolean {
    const first = 1 + Math.max(...upstreams.map(tierOf));
    const added = this.#own.get(name) ?? [];
    for (const upstream of added)
      upstreams.push(this.#tools.result.from(origin, { ...upstream, tier: first + tierOf(upstream) }));
    return added.length > 0;
  }
}

function tierOf({ tier }: JsonObject): number {
  return typeof tier === 'number' ? tier : 0;
}
