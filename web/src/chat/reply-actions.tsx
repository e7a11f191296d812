import { useState } from 'react';
import type { Reply } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { ReadAloudButton } from '../speech/read-aloud-button.tsx';
import { useWords } from '../words/words.tsx';
import { BranchSwitch } from './branch-switch.tsx';
import { hasRefusedStage } from './consent-refusal.ts';
import { DeploymentDialog } from './deployment-dialog.tsx';
import { focusMessage } from './focus-message.ts';
import { RatingButtons } from './rating-buttons.tsx';
import { UsageLine } from './usage-line.tsx';

interface ReplyActionsProps {
  readonly reply: Reply;
  readonly branches: readonly string[];
  readonly conversationId: string;
  readonly isBeside: boolean;
  readonly setIsBeside: (isBeside: boolean) => void;
}

/** What can be done with an answer. */
export function ReplyActions({ reply, branches, conversationId, isBeside, setIsBeside }: ReplyActionsProps) {
  const words = useWords();
  const { asking, isTest } = usePage();
  const retry = (): void => {
    // The button goes away with the answer that it stands below.
    focusMessage();
    void asking.answer(conversationId, reply.parent, { behind: reply });
  };
  const toggle = branches.length > 1 && (
    <button
      {...{ type: 'button', className: 'icon-button', 'aria-pressed': isBeside }}
      aria-label={words.sideBySide}
      title={words.sideBySide}
      onClick={() => setIsBeside(!isBeside)}
    >
      <Icon name="columns" />
    </button>
  );
  // What else there is would be done with the one that stands last, as if it were chosen.
  if (isBeside) return <div className="actions">{toggle}</div>;
  return (
    <div className="actions">
      <BranchSwitch {...{ conversationId, branches }} turnId={reply.id} />
      {toggle}
      {reply.text !== '' && <CopyButton text={() => reply.text} />}
      {reply.text !== '' && <ReadAloudButton text={reply.text} />}
      <RetryButton hasFallenShort={reply.state !== 'done' || hasRefusedStage(reply)} retry={retry} />
      {!isTest && <AskAnother {...{ reply, conversationId }} />}
      {!isTest && reply.responseId !== undefined && <RatingButtons {...{ reply, conversationId }} />}
      <UsageLine reply={reply} />
    </div>
  );
}

/** The same question to somebody else: another version of the answer. */
function AskAnother({ reply, conversationId }: Pick<ReplyActionsProps, 'reply' | 'conversationId'>) {
  const words = useWords();
  const { asking, deployments } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  // Where somebody failed, another one is a way on.
  const isNamed = reply.state === 'failed';
  if (deployments.length < 2) return null;
  return (
    <>
      <button
        {...{ type: 'button', 'aria-haspopup': 'dialog', title: words.retryWith }}
        {...(isNamed ? { className: 'button slim' } : { className: 'icon-button', 'aria-label': words.retryWith })}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="swap" />
        {isNamed && words.retryWith}
      </button>
      {isOpen && (
        <DeploymentDialog
          title={words.retryWith}
          chosen={reply.deployment}
          pick={(deployment) => void asking.answer(conversationId, reply.parent, { deployment })}
          close={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

/** Where an answer is not whole, trying again is what helps: then it is named. */
function RetryButton({ hasFallenShort, retry }: { readonly hasFallenShort: boolean; readonly retry: () => void }) {
  const words = useWords();
  const looks = hasFallenShort ? { className: 'button slim' } : { className: 'icon-button', 'aria-label': words.retry };
  return (
    <button type="button" {...looks} title={words.retry} onClick={retry}>
      <Icon name="again" />
      {hasFallenShort && words.retry}
    </button>
  );
}
