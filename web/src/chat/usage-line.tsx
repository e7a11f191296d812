import type { Reply } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import type { Deployment } from '../service/deployments.ts';
import { useSpeech } from '../words/words.tsx';

interface Counted {
  readonly model: string;
  readonly prompt: number;
  readonly completion: number;
  readonly isEstimated: boolean;
}

/** How many tokens the answer took and what they cost about; unfolded, by model. */
export function UsageLine({ reply }: { readonly reply: Reply }) {
  const { words, language } = useSpeech();
  const { deployments } = usePage();
  const counted = countedOf(reply);
  const number = (value: number): string => value.toLocaleString(language);
  const total = counted.reduce((sum, { prompt, completion }) => sum + prompt + completion, 0);
  if (total === 0) return null;
  const usd = costOf(counted, deployments);
  const money = (amount: number): string =>
    words.cost(amount.toLocaleString(language, { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 }));
  const seconds = reply.endedAtMs === undefined ? undefined : (reply.endedAtMs - reply.atMs) / 1000;
  return (
    <details className="usage">
      <summary>
        {words.tokens(number(total))}
        {usd !== undefined && ` · ${money(usd)}`}
        {seconds !== undefined && ` · ${seconds.toLocaleString(language, { maximumFractionDigits: 1 })} s`}
      </summary>
      <ul aria-label={words.usageOfModels}>
        {counted.map(({ model, prompt, completion, isEstimated }) => (
          <li key={model}>
            <strong>{model}</strong> {words.tokensOf(number(prompt), number(completion))}
            {isEstimated && ` (${words.estimated})`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function countedOf({ statistics, usage, deployment }: Reply): readonly Counted[] {
  const perModel = Array.isArray(statistics?.usage_per_model) ? statistics.usage_per_model : [];
  if (perModel.length === 0) return usage === undefined ? [] : [toCounted(usage, deployment)];
  return perModel.map((item) => toCounted(item, item.model ?? item.name));
}

function toCounted(item: { prompt_tokens: number; completion_tokens: number; estimated?: unknown }, model: string): Counted {
  const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
  return {
    model,
    prompt: count(item.prompt_tokens),
    completion: count(item.completion_tokens),
    isEstimated: item.estimated === true,
  };
}

/** In USD; undefined where the price of a model is not known. */
function costOf(counted: readonly Counted[], deployments: readonly Deployment[]): number | undefined {
  let usd = 0;
  for (const { model, prompt, completion } of counted) {
    const pricing = deployments.find(({ id }) => id === model)?.pricing;
    if (pricing === undefined) return undefined;
    usd += prompt * pricing.prompt + completion * pricing.completion;
  }
  return usd > 0 ? usd : undefined;
}
