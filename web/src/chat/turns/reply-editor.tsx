import type { Reply } from '../../conversation/conversation.ts';
import { withTurn } from '../../conversation/conversation.ts';
import { toEditedReply } from '../../conversation/edited-reply.ts';
import { usePage } from '../../page/page.tsx';
import { focusMessage } from '../focus-message.ts';
import { useAnswerWords } from './answer-words.ts';
import { ReplyName } from './reply-body.tsx';
import { TurnEditor } from './turn-editor.tsx';

interface ReplyEditorProps {
  readonly reply: Reply;
  readonly conversationId: string;
  /** Nothing follows it. */
  readonly isLast: boolean;
  readonly close: () => void;
}

/** An answer to be changed into the user's own words, which become another version of it. */
export function ReplyEditor({ reply, conversationId, isLast, close }: ReplyEditorProps) {
  const words = useAnswerWords();
  const { library } = usePage();
  const keep = (text: string): void => {
    if (text === reply.text) return;
    const edited = toEditedReply(reply, text, { id: crypto.randomUUID(), atMs: Date.now() });
    library.change(conversationId, (now) => withTurn(now, edited), 'now');
    focusMessage();
  };
  return (
    <article className="reply" aria-label={words.editAnswer}>
      <ReplyName reply={reply} />
      <TurnEditor
        {...{ className: 'answer', label: words.editAnswer, done: words.keepEdit, text: reply.text, take: keep, close }}
      >
        <p className="soft small">
          {words.editHint}
          {!isLast && ` ${words.editHintEarlier}`}
        </p>
      </TurnEditor>
    </article>
  );
}
