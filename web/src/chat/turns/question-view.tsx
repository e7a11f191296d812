import { useEffect, useRef, useState } from 'react';
import type { Question } from '../../conversation/conversation.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon.tsx';
import { Guard, lazyView } from '../../parts/lazy-view.tsx';
import { useConversation, usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { Uploads } from '../composer/composer.tsx';
import { useUploads } from '../composer/use-uploads.ts';
import { focusMessage } from '../focus-message.ts';
import { TurnTime } from '../turn-time.tsx';
import { BranchSwitch } from './branch-switch.tsx';
import { listResults, QuestionBody } from './read-only-thread.tsx';
import { TurnEditor } from './turn-editor.tsx';

const SideBySide = lazyView(() => import('./side-by-side.tsx').then(({ SideBySide: view }) => view));

interface QuestionViewProps {
  readonly question: Question;
  readonly versionIds: readonly string[];
  readonly conversationId: string;
}

/** A question of the user, or its versions with their answers side by side. Editing and resending it adds another version. */
export function QuestionView({ question, versionIds, conversationId }: QuestionViewProps) {
  const strings = useStrings();
  const [isSideBySide, setIsSideBySide] = useState(false);
  const [isEditing, setIsEditing] = useState(false);
  const { text, control } = question;
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  const previousFocus = useRef<Element>(null);
  const edit = (): void => {
    previousFocus.current = document.activeElement;
    setIsEditing(true);
  };
  useEffect(() => {
    if (!isEditing && wasEditing.current) focusAfterEditing(previousFocus.current, editButton.current);
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing) return <Editor {...{ question, conversationId }} close={() => setIsEditing(false)} />;
  const body = <QuestionBody question={question} />;
  const canEdit = control === undefined && listResults(question).length === 0;
  return (
    <article className={isSideBySide ? 'question compared' : 'question'} aria-label={strings.you}>
      {isSideBySide ? (
        <Guard fallback={<p className="note">{strings.partMissing}</p>} pending={body}>
          <SideBySide {...{ conversationId, versionIds }} close={() => setIsSideBySide(false)} />
        </Guard>
      ) : (
        body
      )}
      <div className="actions">
        {!isSideBySide && <TurnTime atMs={question.atMs} />}
        <BranchSwitch {...{ conversationId, versionIds, isSideBySide, setIsSideBySide }} turnId={question.id} />
        {!isSideBySide && text !== '' && <CopyButton text={() => text} />}
        {!isSideBySide && canEdit && (
          <IconButton ref={editButton} icon="edit" className="edit-question" label={strings.edit} onClick={edit} />
        )}
      </div>
    </article>
  );
}

/** Restores the focus after editing: to the message input, or to the edit button, which was rendered again. */
function focusAfterEditing(from: Element | null, button: HTMLElement | null): void {
  if (from instanceof HTMLTextAreaElement && from.isConnected) from.focus();
  else button?.focus();
}

interface EditorProps {
  readonly question: Question;
  readonly conversationId: string;
  readonly close: () => void;
}

function Editor({ question, conversationId, close }: EditorProps) {
  const strings = useStrings();
  const { replyRunner, deployments } = usePage();
  const deploymentId = useConversation(conversationId)?.deployment;
  const recipients = deployments.filter(({ id }) => id === deploymentId);
  const { uploads, remove, readyAttachments, isBlocked } = useUploads(recipients, question.attachments);
  const send = (text: string): void => {
    focusMessage();
    void replyRunner.sendQuestion(conversationId, { parent: question.parent, attachments: readyAttachments, text });
  };
  return (
    <TurnEditor
      {...{
        className: 'question',
        label: strings.edit,
        submitLabel: strings.regenerate,
        text: question.text,
        onSubmit: send,
        close,
      }}
      {...{ isBlocked, canBeEmpty: readyAttachments.length > 0 }}
      submitsOnEnter
    >
      <Uploads uploads={uploads} remove={remove} />
    </TurnEditor>
  );
}
