import { useEffect, useState } from 'react';
import { useAnswerWords } from '../chat/answer-words.ts';
import { focusMessage } from '../chat/focus-message.ts';
import type { Said } from '../chat/said.ts';
import type { Reply } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { wantsFollowUps } from './follow-up-choice.ts';
import { suggestQuestions } from './suggest-questions.ts';
import './follow-ups.css';

interface FollowUpsProps {
  readonly reply: Reply;
  readonly conversationId: string;
  readonly say: (said: Said) => void;
}

/** An answer that is older was read before; nothing is asked, and paid for, when its conversation is opened. */
const freshMs = 30_000;

/** What may be asked next, as the model suggests that also names conversations; nothing until the user chose to have it. */
export function FollowUps({ reply: given, conversationId, say }: FollowUpsProps) {
  const words = useAnswerWords();
  const { service, library, titleModel: model } = usePage();
  // As it is first shown: a rating makes another object of the same answer.
  const [reply] = useState(given);
  const [questions, setQuestions] = useState<readonly string[]>([]);
  useEffect(() => {
    const question = library.find(conversationId)?.turns[reply.parent];
    const isFresh = Date.now() - (reply.endedAtMs ?? 0) < freshMs;
    if (model === undefined || question?.kind !== 'question' || reply.text === '' || !isFresh || !wantsFollowUps()) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    // Nobody misses what they did not ask for.
    suggestQuestions(question, reply, { service, model, signal }).then(
      (suggested) => signal.aborted || setQuestions(suggested),
      () => undefined,
    );
    return () => leaving.abort();
  }, [reply, conversationId, library, service, model]);
  if (questions.length === 0) return null;
  return (
    <ul className="follow-ups" aria-label={words.askNext}>
      {questions.map((text) => (
        <li key={text}>
          <button
            type="button"
            className="button slim"
            onClick={() => {
              focusMessage();
              say({ text, attachments: [] });
            }}
          >
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
