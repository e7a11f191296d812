import type { Reply } from '../../conversation/conversation.ts';
import { useGetName, usePage } from '../../page/page.tsx';
import { useLanguage } from '../../strings/strings.tsx';
import { computeCost, countPerModel, formatUsd } from '../reply-usage.ts';

const minSeconds = 0.05;

/** Tokens and approximate cost of the answer. Unfolded, it lists them by model. */
export function UsageLine({ reply }: { readonly reply: Reply }) {
  const { strings, language } = useLanguage();
  const { deployments } = usePage();
  const getName = useGetName();
  const counts = countPerModel(reply, deployments);
  const number = (value: number): string => value.toLocaleString(language);
  const total = counts.reduce((sum, { prompt, completion }) => sum + prompt + completion, 0);
  if (total === 0) return null;
  const usd = computeCost(reply, deployments);
  const money = (amount: number | undefined): string =>
    amount === undefined || amount === 0 ? '' : ` · ${strings.cost(formatUsd(amount, language))}`;
  const seconds = reply.endedAtMs === undefined ? 0 : (reply.endedAtMs - reply.atMs) / 1000;
  return (
    <details className="usage">
      <summary>
        {strings.tokens(number(total))}
        {money(usd)}
        {seconds > minSeconds && ` · ${seconds.toLocaleString(language, { maximumFractionDigits: 1 })} s`}
      </summary>
      <ul aria-label={strings.usageOfModels}>
        {counts.map(({ model, prompt, completion, isEstimated, usd: part }) => (
          <li key={model}>
            <strong>{getName(model)}</strong> {strings.tokensInAndOut(number(prompt), number(completion))}
            {isEstimated && ` (${strings.estimated})`}
            {money(part)}
          </li>
        ))}
      </ul>
    </details>
  );
}
