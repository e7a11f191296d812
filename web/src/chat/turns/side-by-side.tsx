import { type Reply, withVisibleTurn } from '../../conversation/conversation.ts';
import { useConversation, usePage } from '../../page/page.tsx';
import { TextButton } from '../../parts/icon.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import { UsageLine } from '../reply-usage.tsx';
import { ReplyBody, ReplyName } from './reply-body.tsx';
import './side-by-side.css';

interface SideBySideProps {
  readonly conversationId: string;
  /** All versions of the answer, oldest first. */
  readonly branches: readonly string[];
  readonly close: () => void;
}

/** Maximum number of columns that fit. */
const maxColumns = 3;

/** The latest versions of an answer in columns, with a button to choose one. */
export function SideBySide({ conversationId, branches, close }: SideBySideProps) {
  const strings = useStrings();
  const { library } = usePage();
  const turns = useConversation(conversationId)?.turns ?? {};
  const replies = branches.map((id) => turns[id]).filter((turn): turn is Reply => turn?.kind === 'reply');
  const choose = (reply: Reply): void => {
    library.change(conversationId, (now) => ({ ...withVisibleTurn(now, reply), deployment: reply.deployment }));
    close();
    focusMessage();
  };
  return (
    <ul className="side-by-side" aria-label={strings.sideBySide}>
      {replies.slice(-maxColumns).map((reply) => (
        <li key={reply.id} className="side">
          <ReplyName reply={reply} />
          <ReplyBody reply={reply} isDeferred={false} />
          {reply.fault !== undefined && <p className="note">{strings.noAnswer}</p>}
          <div className="side-foot">
            <TextButton className="button slim" onClick={() => choose(reply)}>
              {strings.continueWithVersion}
            </TextButton>
            <UsageLine reply={reply} />
          </div>
        </li>
      ))}
    </ul>
  );
}
