import { type FormEvent, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { hasControls, hasEndedWell, type Rating, type Reply } from '../../conversation/conversation.ts';
import { toGoingOn } from '../../conversation/go-on.ts';
import { FollowUps } from '../../follow-ups/follow-ups.tsx';
import { usePage } from '../../page/page.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { type Fault, faultOf } from '../../service/fault.ts';
import { rateReply } from '../../service/rate-reply.ts';
import { ReadAloudButton } from '../../speech/read-aloud-button.tsx';
import { useWords } from '../../words/words.tsx';
import { hasRefusedStage } from '../consent/consent-refusal.ts';
import { DeploymentDialog } from '../deployments/deployment-dialog.tsx';
import { focusMessage } from '../focus-message.ts';
import type { Said } from '../said.ts';
import { useAnswerWords } from './answer-words.ts';
import { BranchSwitch } from './branch-switch.tsx';
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

/** Whether an answer was good, and a word on it, for those who run the service. */
function RatingButtons({ reply, conversationId }: { readonly reply: Reply; readonly conversationId: string }) {
  const words = useWords();
  const { service, library, announce } = usePage();
  const rating = useSyncExternalStore(library.subscribe, () => library.find(conversationId)?.ratings?.[reply.id]);
  const [isAsked, setIsAsked] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const rate = async (next: Rating): Promise<void> => {
    setFault(undefined);
    try {
      await rateReply(service, reply, next);
    } catch (thrown) {
      setFault(faultOf(thrown));
      return;
    }
    announce(words.ratingKept);
    setIsAsked(next.comment === '');
    library.change(conversationId, (now) => ({ ...now, ratings: { ...now.ratings, [reply.id]: next } }), 'now');
  };
  const button = (isGood: boolean) => {
    const name = isGood ? words.goodAnswer : words.badAnswer;
    return (
      <button
        {...{
          type: 'button',
          className: 'icon-button',
          'aria-label': name,
          title: name,
          'aria-pressed': rating?.isGood === isGood,
        }}
        onClick={() => void rate({ isGood, comment: rating?.isGood === isGood ? rating.comment : '' })}
      >
        <Icon name={isGood ? 'good' : 'bad'} />
      </button>
    );
  };
  return (
    <>
      {button(true)}
      {button(false)}
      {isAsked && rating !== undefined && <CommentForm tell={(comment) => void rate({ ...rating, comment })} />}
      <Trouble fault={fault} />
    </>
  );
}

function CommentForm({ tell }: { readonly tell: (comment: string) => void }) {
  const words = useWords();
  const id = useId();
  const [comment, setComment] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (comment.trim() !== '') tell(comment.trim());
  };
  return (
    <form ref={form} className="rating-comment" onSubmit={send}>
      <label htmlFor={id} className="small">
        {words.ratingWhy}
      </label>
      <input {...{ id, value: comment, maxLength: 2000 }} onChange={({ target }) => setComment(target.value)} />
      <button type="submit" className="button slim" disabled={comment.trim() === ''}>
        {words.send}
      </button>
    </form>
  );
}
