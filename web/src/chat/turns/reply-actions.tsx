import { type ComponentProps, type FormEvent, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { toContinuation } from '../../conversation/continuation.ts';
import {
  forkConversation,
  hasControls,
  isCompleteAnswer,
  listClientCalls,
  type Rating,
  type Reply,
  type UserMessage,
} from '../../conversation/conversation.ts';
import { FollowUps } from '../../follow-ups/follow-ups.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon, IconButton, type IconName } from '../../parts/icon.tsx';
import { useAction } from '../../parts/use-loaded.ts';
import { encodePath, type Service } from '../../service/service.ts';
import { usePage } from '../../shell/page.tsx';
import { ReadAloudButton } from '../../speech/read-aloud-button.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { hasStageWithoutConsent } from '../consent/missing-consent.ts';
import { DeploymentDialog } from '../deployments/deployment-dialog.tsx';
import { focusMessage } from '../focus-message.ts';
import { UsageLine } from '../reply-usage.tsx';
import { useAnswerStrings } from './answer-strings.ts';
import { BranchSwitch } from './branch-switch.tsx';

interface ReplyActionsProps {
  readonly reply: Reply;
  readonly versionIds: readonly string[];
  readonly conversationId: string;
  readonly isSideBySide: boolean;
  readonly setIsSideBySide: (isSideBySide: boolean) => void;
  /** Undefined if other turns follow the reply. */
  readonly sendMessage: ((message: UserMessage) => void) | undefined;
  readonly edit: () => void;
}

/** Actions of an answer. */
export function ReplyActions({
  reply,
  versionIds,
  conversationId,
  isSideBySide,
  setIsSideBySide,
  sendMessage,
  edit,
}: ReplyActionsProps) {
  const strings = useStrings();
  const { replyRunner, isTest, isTemporary } = usePage();
  const retry = (): void => {
    // The button disappears with its answer.
    focusMessage();
    void replyRunner.answer(conversationId, reply.parent, { previous: reply });
  };
  const versions = <BranchSwitch {...{ conversationId, versionIds, isSideBySide, setIsSideBySide }} turnId={reply.id} />;
  // Other actions would apply to the last version, as if it were selected.
  if (isSideBySide) return <div className="actions">{versions}</div>;
  const canContinue = sendMessage !== undefined && isContinuable(reply);
  return (
    <>
      <div className="actions">
        {canContinue && <ContinueButton {...{ reply, conversationId }} />}
        {versions}
        {reply.text !== '' && <CopyButton text={() => reply.text} />}
        {reply.text !== '' && <ReadAloudButton text={reply.text} />}
        {reply.text !== '' && !isTest && <EditButton edit={edit} />}
        <ActionButton
          icon="again"
          name={reply.isLost === true ? strings.regenerate : strings.retry}
          showsName={!canContinue && (reply.state !== 'done' || hasStageWithoutConsent(reply))}
          onClick={retry}
        />
        {!isTest && <RetryWithAnother {...{ reply, conversationId }} />}
        {!isTest && !isTemporary && <ForkButton {...{ reply, conversationId }} />}
        {!isTest && !isTemporary && reply.responseId !== undefined && <RatingButtons {...{ reply, conversationId }} />}
        <UsageLine reply={reply} />
      </div>
      {sendMessage !== undefined && isCompleteAnswer(reply) && !isTest && (
        <FollowUps key={reply.id} {...{ reply, conversationId, sendMessage }} />
      )}
    </>
  );
}

/** Whether the answer is incomplete and can be continued by another request. */
function isContinuable(reply: Reply): boolean {
  const { text, finish, state, isLost, custom } = reply;
  if (text === '' || isLost === true || listClientCalls(reply).length > 0 || hasControls(reply)) return false;
  // A retry continues a failed reply that has `custom.state`.
  return (
    finish === 'length' || state === 'stopped' || state === 'interrupted' || (state === 'failed' && custom.state === undefined)
  );
}

function ContinueButton({ reply, conversationId }: Pick<ReplyActionsProps, 'reply' | 'conversationId'>) {
  const strings = useAnswerStrings();
  const { replyRunner } = usePage();
  const continueReply = (): void => {
    focusMessage();
    void replyRunner.answer(conversationId, reply.parent, { continuation: toContinuation(reply) });
  };
  return (
    <button type="button" className="button slim" title={strings.continueAnswerHint} onClick={continueReply}>
      <Icon name="right" />
      {strings.continueAnswer}
    </button>
  );
}

function EditButton({ edit }: { readonly edit: () => void }) {
  const { editAnswer: name } = useAnswerStrings();
  return <IconButton icon="edit" className="edit-answer" label={name} onClick={edit} />;
}

/** Continues in a new chat that contains the turns up to this answer. */
function ForkButton({ reply, conversationId }: Pick<ReplyActionsProps, 'reply' | 'conversationId'>) {
  const { fork: name, forkTitle } = useAnswerStrings();
  const { library, go } = usePage();
  const fork = (): void => {
    const conversation = library.find(conversationId);
    if (conversation === undefined) return;
    const copy = forkConversation(conversation, reply.id, forkTitle(conversation.title));
    library.put(copy, 'now');
    go({ at: 'conversation', id: copy.id });
    focusMessage();
  };
  return <IconButton icon="fork" label={name} onClick={fork} />;
}

/** Sends the same question to another deployment, which adds another version of the answer. */
function RetryWithAnother({ reply, conversationId }: Pick<ReplyActionsProps, 'reply' | 'conversationId'>) {
  const strings = useStrings();
  const { replyRunner, deployments } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  if (deployments.length < 2) return null;
  return (
    <>
      <ActionButton
        {...{ icon: 'swap', name: strings.retryWith, 'aria-haspopup': 'dialog' }}
        // After a failure, another deployment may succeed.
        showsName={reply.state === 'failed'}
        onClick={() => setIsOpen(true)}
      />
      {isOpen && (
        <DeploymentDialog
          title={strings.retryWith}
          selectedId={reply.deployment}
          pick={(deployment) => {
            focusMessage();
            void replyRunner.answer(conversationId, reply.parent, { deployment });
          }}
          close={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

interface ActionButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName;
  readonly name: string;
  readonly showsName: boolean;
}

/** A button with an icon, and with its name as a text if it is the suggested action. */
function ActionButton({ icon, name, showsName, ...props }: ActionButtonProps) {
  const nameProps = showsName ? { className: 'button slim' } : { className: 'icon-button', 'aria-label': name };
  return (
    <button type="button" {...nameProps} title={name} {...props}>
      <Icon name={icon} />
      {showsName && name}
    </button>
  );
}

/** Rates an answer, with an optional comment for the operator. */
function RatingButtons({ reply, conversationId }: { readonly reply: Reply; readonly conversationId: string }) {
  const strings = useStrings();
  const { service, library, announce } = usePage();
  const rating = useSyncExternalStore(library.subscribe, () => library.find(conversationId)?.ratings?.[reply.id]);
  const [isCommentOpen, setIsCommentOpen] = useState(false);
  const { error, run } = useAction();
  const rate = async (next: Rating): Promise<void> => {
    if (!(await run(() => rateReply(service, reply, next)))) return;
    announce(strings.ratingStored);
    setIsCommentOpen(next.comment === '');
    library.change(conversationId, (current) => ({ ...current, ratings: { ...current.ratings, [reply.id]: next } }), 'now');
  };
  const renderButton = (isGood: boolean) => {
    const name = isGood ? strings.goodAnswer : strings.badAnswer;
    return (
      <IconButton
        icon={isGood ? 'good' : 'bad'}
        label={name}
        aria-pressed={rating?.isGood === isGood}
        onClick={() => void rate({ isGood, comment: rating?.isGood === isGood ? rating.comment : '' })}
      />
    );
  };
  return (
    <>
      {renderButton(true)}
      {renderButton(false)}
      {isCommentOpen && rating !== undefined && <CommentForm onSubmit={(comment) => void rate({ ...rating, comment })} />}
      <ErrorMessage error={error} />
    </>
  );
}

/** Stores a rating of an answer. Throws `ServiceError`. */
async function rateReply(service: Service, { deployment, responseId }: Reply, { isGood, comment }: Rating): Promise<void> {
  const body = { rate: isGood, ...(comment !== '' && { comment }), ...(responseId !== undefined && { responseId }) };
  await service.send(`v1/deployments/${encodePath(deployment)}/rate`, { method: 'POST', body });
}

function CommentForm({ onSubmit }: { readonly onSubmit: (comment: string) => void }) {
  const strings = useStrings();
  const id = useId();
  const [comment, setComment] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (comment.trim() !== '') onSubmit(comment.trim());
  };
  return (
    <form ref={form} className="rating-comment" onSubmit={send}>
      <label htmlFor={id} className="small">
        {strings.ratingWhy}
      </label>
      <input {...{ id, value: comment, maxLength: 2000 }} onChange={({ target }) => setComment(target.value)} />
      <button type="submit" className="button slim" disabled={comment.trim() === ''}>
        {strings.send}
      </button>
    </form>
  );
}
