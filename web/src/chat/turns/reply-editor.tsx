import { type Reply, withTurn } from '../../conversation/conversation.ts';
import { usePage } from '../../shell/page.tsx';
import { focusMessage } from '../focus-message.ts';
import { useAnswerStrings } from './answer-strings.ts';
import { ReplyName } from './reply-body.tsx';
import { TurnEditor } from './turn-editor.tsx';

interface ReplyEditorProps {
  readonly reply: Reply;
  readonly conversationId: string;
  /** Whether no turn follows. */
  readonly isLast: boolean;
  readonly close: () => void;
}

/** Edits an answer. The edited text becomes another version of it. */
export function ReplyEditor({ reply, conversationId, isLast, close }: ReplyEditorProps) {
  const strings = useAnswerStrings();
  const { library } = usePage();
  const save = (text: string): void => {
    if (text === reply.text) return;
    const edited = toEditedReply(reply, text, { id: crypto.randomUUID(), atMs: Date.now() });
    library.change(conversationId, (conversation) => withTurn(conversation, edited), 'now');
    focusMessage();
  };
  return (
    <article className="reply" aria-label={strings.editAnswer}>
      <ReplyName reply={reply} />
      <TurnEditor
        {...{
          className: 'answer',
          label: strings.editAnswer,
          submitLabel: strings.saveEdit,
          text: reply.text,
          onSubmit: save,
          close,
        }}
      >
        <p className="soft small">
          {strings.editHint}
          {!isLast && ` ${strings.editHintEarlier}`}
        </p>
      </TurnEditor>
    </article>
  );
}

/** Returns another version of an answer with the user's text. It keeps the sources and the state, but not the steps and forms. */
function toEditedReply(reply: Reply, text: string, identity: { readonly id: string; readonly atMs: number }): Reply {
  const { parent, deployment, custom } = reply;
  const { attachments, state } = custom;
  return {
    ...{ kind: 'reply', ...identity, parent, deployment, state: 'done', text, isEdited: true, stageTimes: {} },
    custom: { ...(attachments !== undefined && { attachments }), ...(state !== undefined && { state }) },
  };
}
