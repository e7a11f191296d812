import type { Reply } from '../conversation/conversation.ts';
import type { Deployment } from '../service/deployments.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';

interface ModelCount {
  readonly model: string;
  readonly prompt: number;
  readonly completion: number;
  readonly isEstimated: boolean;
  /** Undefined if the price of the model is unknown. */
  readonly usd: number | undefined;
}

/** Returns the cost of a reply in USD as the service computed it, or from the prices of its models. Undefined if it is unknown. */
export function computeCost(reply: Reply, deployments: readonly Deployment[]): number | undefined {
  const cost = reply.usage?.cost;
  if (typeof cost === 'number') return cost;
  return countPerModel(reply, deployments).reduce<number | undefined>(
    (sum, { usd }) => (sum === undefined || usd === undefined ? undefined : sum + usd),
    0,
  );
}

/** Counts the tokens of a reply for each model. */
function countPerModel({ statistics, usage, deployment }: Reply, deployments: readonly Deployment[]): readonly ModelCount[] {
  const perModel = Array.isArray(statistics?.usage_per_model) ? statistics.usage_per_model : [];
  if (perModel.length === 0) return usage === undefined ? [] : [toModelCount(usage, deployment, deployments)];
  return perModel.map((item) => toModelCount(item, item.model ?? item.name, deployments));
}

interface Tokens {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly estimated?: unknown;
}

function toModelCount(item: Tokens, model: string, deployments: readonly Deployment[]): ModelCount {
  const toCount = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
  const [prompt, completion] = [toCount(item.prompt_tokens), toCount(item.completion_tokens)];
  const pricing = deployments.find(({ id }) => id === model)?.pricing;
  const usd = pricing && prompt * pricing.prompt + completion * pricing.completion;
  return { model, prompt, completion, isEstimated: item.estimated === true, usd };
}

const minVisibleSeconds = 0.05;

/** Tokens and approximate cost of the answer. When expanded, it lists them by model. */
export function UsageLine({ reply }: { readonly reply: Reply }) {
  const { strings, locale } = useLanguage();
  const { deployments } = usePage();
  const getName = useGetName();
  const counts = countPerModel(reply, deployments);
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  const total = counts.reduce((sum, { prompt, completion }) => sum + prompt + completion, 0);
  if (total === 0) return null;
  const usd = computeCost(reply, deployments);
  const formatCost = (amount: number | undefined): string =>
    amount === undefined || amount === 0 ? '' : ` · ${strings.cost(formatUsd(amount, locale))}`;
  const seconds = reply.endedAtMs === undefined ? 0 : (reply.endedAtMs - reply.atMs) / 1000;
  return (
    <details className="usage">
      <summary>
        {strings.tokens(formatNumber(total))}
        {formatCost(usd)}
        {seconds > minVisibleSeconds && ` · ${seconds.toLocaleString(locale, { maximumFractionDigits: 1 })} s`}
      </summary>
      <ul aria-label={strings.usageOfModels}>
        {counts.map(({ model, prompt, completion, isEstimated, usd: part }) => (
          <li key={model}>
            <strong>{getName(model)}</strong> {strings.tokensInAndOut(formatNumber(prompt), formatNumber(completion))}
            {isEstimated && ` (${strings.estimated})`}
            {formatCost(part)}
          </li>
        ))}
      </ul>
    </details>
  );
}
