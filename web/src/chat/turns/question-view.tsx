import { Fragment, useEffect, useRef, useState } from 'react';
import type { CompletedControl } from '#contract/chat/message.ts';
import { AttachmentList } from '../../attachments/attachment-list.tsx';
import type { Question, ToolResult } from '../../conversation/conversation.ts';
import { useConversation, usePage } from '../../page/page.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { Uploads } from '../composer/composer.tsx';
import { useUploads } from '../composer/use-uploads.ts';
import { focusMessage } from '../focus-message.ts';
import { TurnTime } from '../turn-time.tsx';
import { BranchSwitch } from './branch-switch.tsx';
import { TurnEditor } from './turn-editor.tsx';

interface QuestionViewProps {
  readonly question: Question;
  readonly branches: readonly string[];
  readonly conversationId: string;
}

/** A question of the user. Editing and resending it adds another version. */
export function QuestionView({ question, branches, conversationId }: QuestionViewProps) {
  const strings = useStrings();
  const [isEditing, setIsEditing] = useState(false);
  const { text, control, attachments, filled } = question;
  const results = listResults(question);
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
  return (
    <article className="question" aria-label={strings.you}>
      <div className="question-body">
        {control !== undefined && (
          <p className="chosen">
            <Icon name="check" />
            {toChosenText(control, filled)}
          </p>
        )}
        {results.map((result) => (
          <Fragment key={result.id}>
            <p className="chosen">
              <Icon name="check" />
              {strings.toolResult(result.name)}
            </p>
            <QuestionText text={result.text} />
          </Fragment>
        ))}
        {text !== '' && results.length === 0 && <QuestionText text={text} />}
        <AttachmentList attachments={attachments} isSent />
      </div>
      <div className="actions">
        <TurnTime atMs={question.atMs} />
        <BranchSwitch {...{ conversationId, branches }} turnId={question.id} />
        {text !== '' && <CopyButton text={() => text} />}
        {control === undefined && results.length === 0 && (
          <IconButton ref={editButton} icon="edit" className="edit-question" label={strings.edit} onClick={edit} />
        )}
      </div>
    </article>
  );
}

/** Lists the results of client tools in a question. */
function listResults({ text, toolName: name, toolResults = [] }: Question): readonly ToolResult[] {
  return name === undefined ? toolResults : [{ id: '', name, text }];
}

const maxFoldedChars = 1500;
const maxFoldedLines = 20;

/** The text of a question. A long text is folded until the user unfolds it. */
function QuestionText({ text }: { readonly text: string }) {
  const strings = useStrings();
  const [isFolded, setIsFolded] = useState(
    text.length > maxFoldedChars || text.split('\n', maxFoldedLines + 1).length > maxFoldedLines,
  );
  const [isLong] = useState(isFolded);
  return (
    <>
      <p className={isFolded ? 'question-text folded' : 'question-text'} dir="auto">
        {text}
      </p>
      {isLong && (
        <button type="button" className="button slim" aria-expanded={!isFolded} onClick={() => setIsFolded(!isFolded)}>
          {isFolded ? strings.showAll : strings.showLess}
        </button>
      )}
    </>
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
  const { uploads, remove, ready, isBlocked } = useUploads(recipients, question.attachments);
  const send = (text: string): void => {
    focusMessage();
    void replyRunner.sendQuestion(conversationId, { parent: question.parent, attachments: ready, text });
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
      {...{ isBlocked, canBeEmpty: ready.length > 0 }}
      submitsOnEnter
    >
      <Uploads uploads={uploads} remove={remove} />
    </TurnEditor>
  );
}

/** Describes a completed control: its label and the entered values. */
function toChosenText({ label, value }: CompletedControl, filled: readonly string[] = []): string {
  const plain = Object.entries(value ?? {}).map(
    ([key, item]) => `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`,
  );
  return [label, ...(filled.length > 0 ? filled : plain)].join(' · ');
}
