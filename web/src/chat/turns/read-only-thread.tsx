import { Fragment, type ReactNode, useState } from 'react';
import type { CompletedControl } from '#contract/chat/message.ts';
import { AttachmentList } from '../../attachments/attachment-list.tsx';
import type { Question, ToolResult, Turn } from '../../conversation/conversation.ts';
import { PlainText, TextStart } from '../../markdown/long-text.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useGetName } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { ReplyBody, ReplyName } from './reply-body.tsx';

/** Number of turns that are rendered immediately. */
const eagerTurns = 6;

/** Turns that can only be read and copied, below a header. */
export function ReadOnlyThread({ turns, header }: { readonly turns: readonly Turn[]; readonly header: ReactNode }) {
  const strings = useStrings();
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <section className="thread" aria-label={strings.conversation} tabIndex={0}>
        <div className="turns">
          {header}
          {turns.map((turn, index) => (
            <ReadOnlyTurn key={turn.id} turn={turn} isDeferred={index >= eagerTurns} />
          ))}
        </div>
      </section>
    </div>
  );
}

function ReadOnlyTurn({ turn, isDeferred }: { readonly turn: Turn; readonly isDeferred: boolean }) {
  const strings = useStrings();
  const getName = useGetName();
  if (turn.kind === 'reply')
    return (
      <article className="reply" aria-label={getName(turn.deployment, turn.deploymentName)}>
        <ReplyName reply={turn} />
        <ReplyBody reply={turn} isDeferred={isDeferred} />
        {turn.text !== '' && (
          <div className="actions">
            <CopyButton text={() => turn.text} />
          </div>
        )}
      </article>
    );
  return (
    <article className="question" aria-label={strings.you}>
      <QuestionBody question={turn} />
    </article>
  );
}

/** The content of a question. Long text and all files except pictures and sound are collapsed, so that the answer stays in view. */
export function QuestionBody({ question }: { readonly question: Question }) {
  const strings = useStrings();
  const { text, control, attachments, filled } = question;
  const results = listResults(question);
  return (
    <div className="question-body">
      {control !== undefined && (
        <p className="chosen">
          <Icon name="check" />
          <PlainText text={toChosenText(control, filled)} />
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
  );
}

/** Lists the results of client tools in a question. */
export function listResults({ text, toolName: name, toolResults = [] }: Question): readonly ToolResult[] {
  return name === undefined ? toolResults : [{ id: '', name, text }];
}

const maxUnfoldedChars = 1500;
const maxUnfoldedLines = 20;

/** The text of a question. A long text is collapsed until the user expands it. */
function QuestionText({ text }: { readonly text: string }) {
  const strings = useStrings();
  const [isFolded, setIsFolded] = useState(
    text.length > maxUnfoldedChars || text.split('\n', maxUnfoldedLines + 1).length > maxUnfoldedLines,
  );
  const [isLong] = useState(isFolded);
  return (
    <>
      <TextStart text={text}>
        {(start) => (
          <p className={isFolded ? 'question-text folded' : 'question-text'} dir="auto">
            <PlainText text={start} />
          </p>
        )}
      </TextStart>
      {isLong && (
        <button type="button" className="button slim" aria-expanded={!isFolded} onClick={() => setIsFolded(!isFolded)}>
          {isFolded ? strings.showAll : strings.showLess}
        </button>
      )}
    </>
  );
}

/** Describes a completed control: its label and the entered values. */
function toChosenText({ label, value }: CompletedControl, filled: readonly string[] = []): string {
  const plain = Object.entries(value ?? {}).map(
    ([key, item]) => `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`,
  );
  return [label, ...(filled.length > 0 ? filled : plain)].join(' · ');
}
