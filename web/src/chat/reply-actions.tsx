import { useState } from 'react';
import { hasControls, hasEndedWell, type Reply } from '../conversation/conversation.ts';
import { toGoingOn } from '../conversation/go-on.ts';
import { FollowUps } from '../follow-ups/follow-ups.tsx';
import { usePage } from '../page/page.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { ReadAloudButton } from '../speech/read-aloud-button.tsx';
import { useWords } from '../words/words.tsx';
import { useAnswerWords } from './answer-words.ts';
import { BranchSwitch } from './branch-switch.tsx';
import { hasRefusedStage } from './consent-refusal.ts';
import { DeploymentDialog } from './deployment-dialog.tsx';
import { focusMessage } from './focus-message.ts';
import { RatingButtons } from './rating-buttons.tsx';
import type { Said } from './said.ts';
import { UsageLine } from './usage-line.tsx';

interface ReplyActionsProps {
  readonly reply: Reply;
  readonly branches: readonly string[];
  readonly conversationId: string;
  readonly isBeside: boolean;
  readonly setIsBeside: (isBeside: boolean) => void;
  /** Absent where something follows it. */
  readonly say: ((said: Said) => void) | undefined;
  readonly edit: () => void;
}

/** What can be done with an answer. */
export function ReplyActions({ reply, branches, conversationId, isBeside, setIsBeside, say, edit }: ReplyActionsProps) {
  const words = useWords();
  const { asking, isTest, isTemporary } = usePage();
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
  const mayGoOn = say !== undefined && canGoOn(reply);
  return (
    <>
      <div className="actions">
        {mayGoOn && <GoOnButton {...{ reply, conversationId }} />}
        <BranchSwitch {...{ conversationId, branches }} turnId={reply.id} />
        {toggle}
        {reply.text !== '' && <CopyButton text={() => reply.text} />}
        {reply.text !== '' && <ReadAloudButton text={reply.text} />}
        {reply.text !== '' && !isTest && <EditButton edit={edit} />}
        <RetryButton hasFallenShort={!mayGoOn && (reply.state !== 'done' || hasRefusedStage(reply))} retry={retry} />
        {!isTest && <AskAnother {...{ reply, conversationId }} />}
        {!isTest && !isTemporary && reply.responseId !== undefined && <RatingButtons {...{ reply, conversationId }} />}
        <UsageLine reply={reply} />
      </div>
      {say !== undefined && hasEndedWell(reply) && !isTest && <FollowUps key={reply.id} {...{ reply, conversationId, say }} />}
    </>
  );
}

/** Whether the answer has an end that it did not come to, and that one more request may bring. */
function canGoOn(reply: Reply): boolean {
  const { text, finish, state, custom, functionCall } = reply;
  if (text === '' || functionCall !== undefined || hasControls(reply)) return false;
  // One that failed with a state is gone on with by trying again.
  return (
    finish === 'length' || state === 'stopped' || state === 'interrupted' || (state === 'failed' && custom.state === undefined)
  );
}

function GoOnButton({ reply, conversationId }: Pick<ReplyActionsProps, 'reply' | 'conversationId'>) {
  const words = useAnswerWords();
  const { asking } = usePage();
  const goOn = (): void => {
    focusMessage();
    void asking.answer(conversationId, reply.parent, { goingOn: toGoingOn(reply) });
  };
  return (
    <button type="button" className="button slim" title={words.goOnHint} onClick={goOn}>
      <Icon name="right" />
      {words.goOn}
    </button>
  );
}

function EditButton({ edit }: { readonly edit: () => void }) {
  const { editAnswer: name } = useAnswerWords();
  return (
    <button {...{ type: 'button', className: 'icon-button edit-answer', 'aria-label': name, title: name, onClick: edit }}>
      <Icon name="edit" />
    </button>
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
