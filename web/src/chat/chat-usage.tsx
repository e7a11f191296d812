import type { Conversation, Reply, Turn } from '../conversation/conversation.ts';
import type { Deployment } from '../service/deployments.ts';
import { usePage } from '../shell/page.tsx';
import { formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { computeCost } from './reply-usage.tsx';
import { useAnswerStrings } from './turns/answer-strings.ts';
import './chat-usage.css';

interface ChatUsageProps {
  readonly conversation: Conversation | undefined;
  /** Visible turns. */
  readonly turns: readonly Turn[];
  /** Deployment of the next question. */
  readonly deployment: Deployment | undefined;
}

/** Used fraction of the model's context, and the cost of all answers of the chat. Each is shown only if it is known. */
export function ChatUsage({ conversation, turns, deployment }: ChatUsageProps) {
  const { strings, locale } = useLanguage();
  const { deployments } = usePage();
  const { contextUsed, contextTokens, costOfChat, usageOfChat } = useAnswerStrings();
  const context = measureContext(turns, deployment);
  const usd = sumCost(Object.values(conversation?.turns ?? {}).filter(isReply), deployments);
  if (context === undefined && usd === undefined) return null;
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  const formatPercent = (value: number): string => value.toLocaleString(locale, { style: 'percent' });
  return (
    <p {...{ className: 'chat-usage soft small', role: 'group', 'aria-label': usageOfChat }}>
      {context !== undefined && (
        <span title={contextTokens(formatNumber(context.used), formatNumber(context.max))}>
          <span className="context-bar" aria-hidden="true">
            <span
              style={{ inlineSize: `${100 * context.fraction}%` }}
              className={context.fraction > scarceFraction ? 'scarce' : ''}
            />
          </span>
          {contextUsed(formatPercent(context.fraction))}
        </span>
      )}
      {usd !== undefined && <span>{costOfChat(strings.cost(formatUsd(usd, locale)))}</span>}
    </p>
  );
}

const scarceFraction = 0.8;

/**
 * Returns how much of the context the request of the last answer and the answer itself used. Undefined unless the same model
 * answers next, because models count tokens differently. Also undefined for applications and continued answers, because their
 * usage is the sum of several calls.
 */
function measureContext(turns: readonly Turn[], deployment: Deployment | undefined) {
  const last = turns.findLast(isReply);
  const max = deployment?.contextTokens;
  if (last?.usage === undefined || last.continues !== undefined || max === undefined) return undefined;
  if (last.deployment !== deployment?.id || deployment.isApplication) return undefined;
  const used = last.usage.prompt_tokens + last.usage.completion_tokens;
  return used > 0 ? { used, max, fraction: Math.min(1, used / max) } : undefined;
}

/** Returns the cost in USD. Undefined if it is unknown for an answer or 0. */
function sumCost(replies: readonly Reply[], deployments: readonly Deployment[]): number | undefined {
  let sum = 0;
  const continued = new Set(replies.map(({ continues }) => continues));
  for (const reply of replies) {
    // The usage of the continuing answer includes that of the continued one.
    if (continued.has(reply.id) || (reply.usage === undefined && reply.state !== 'done')) continue;
    const cost = computeCost(reply, deployments);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum > 0 ? sum : undefined;
}

function isReply(turn: Turn): turn is Reply {
  return turn.kind === 'reply';
}
