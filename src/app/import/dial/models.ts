import type { JsonObject } from '#base/json/json.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';
import { commonFates, toCommon } from './common.ts';
import { toService } from './upstreams.ts';

const fates = {
  ...commonFates,
  tokenizerModel: 'Parley announces no tokenizer',
  embeddingDimensions: 'Parley announces no dimensions',
};

const limitKeys = ['maxTotalTokens', 'maxPromptTokens', 'maxCompletionTokens'] as const;
const priceKeys = ['prompt', 'completion', 'cacheRead', 'cacheWrite'] as const;

/** The entries of `models`. */
export function importModels(root: ForeignObject, tools: ImportTools): void {
  for (const [id, model] of root.named('models')) {
    const type = toType(model, tools);
    if (type === undefined) continue;
    const service = toService(model, { id, type, tools });
    if (service === undefined) continue;
    const entry = tools.result.from(model.path, {
      ...(type === 'embedding' && { type }),
      ...service,
      ...toCommon(model, 'models', tools),
      ...toNumbers(model, tools),
    });
    model.leave(fates, 'a model of DIAL');
    tools.result.put('models', id, entry);
  }
}

function toType(model: ForeignObject, { notes }: ImportTools): 'chat' | 'embedding' | undefined {
  const type = (model.text('type') ?? 'chat').toLowerCase();
  if (type === 'chat' || type === 'embedding') return type;
  notes.lose(model.path, 'is left out: Parley serves models of the types chat and embedding');
  return undefined;
}

function toNumbers(model: ForeignObject, tools: ImportTools): JsonObject {
  const limits = model.object('limits');
  const pricing = model.object('pricing');
  const bounds = limits === undefined ? {} : pick(limits, limitKeys);
  limits?.leave({}, 'the limits of a model');
  const prices = pricing === undefined ? {} : toPrices(pricing, tools);
  return {
    ...(Object.keys(bounds).length > 0 && { limits: tools.result.from(model.at('limits'), bounds) }),
    ...(Object.keys(prices).length > 0 && { pricing: tools.result.from(model.at('pricing'), prices) }),
  };
}

function toPrices(pricing: ForeignObject, { notes }: ImportTools): JsonObject {
  const unit = pricing.text('unit') ?? 'token';
  if (unit === 'none') return {};
  if (unit !== 'token') {
    notes.lose(pricing.path, 'is not carried: prices are for tokens here, not for characters', 'set USD a token');
    return {};
  }
  const prices = pick(pricing, priceKeys);
  pricing.leave({}, 'the pricing of a model');
  return prices;
}

/** Numbers, most of which DIAL takes as texts too. */
function pick(object: ForeignObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const number = object.number(key);
      return number === undefined ? [] : [[key, number]];
    }),
  );
}
