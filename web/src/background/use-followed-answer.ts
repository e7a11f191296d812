import { useCallback, useEffect, useMemo, useState } from 'react';
import type { JsonObject } from '#base/json.ts';
import type { Reply } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { type BackgroundAnswers, goesOn, type ShownAnswer } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';
import { AnswerFold, toReply } from './fold-answer.ts';

export interface FollowedAnswer {
  readonly answer: ShownAnswer | undefined;
  /** Items it was asked with. */
  readonly input: readonly JsonObject[] | undefined;
  /** What is said so far. */
  readonly reply: Reply | undefined;
  readonly fault: Fault | undefined;
  /** Whether the connection broke off and is taken up again. */
  readonly isLost: boolean;
  readonly fail: (thrown: unknown) => void;
  /** Shows it as it is from now on. */
  readonly take: (answer: ShownAnswer) => void;
}

/** How often what comes is drawn. */
const drawMs = 60;

/** An answer and what it was asked, as they are, and as they come while it goes on. */
export function useFollowedAnswer(answers: BackgroundAnswers, id: string): FollowedAnswer {
  const { announce } = usePage();
  const { ended } = useBackgroundWords();
  const [answer, setAnswer] = useState<ShownAnswer>();
  const [input, setInput] = useState<readonly JsonObject[]>();
  const [items, setItems] = useState<readonly JsonObject[]>([]);
  const [fault, setFault] = useState<Fault>();
  const [isLost, setIsLost] = useState(false);
  const fail = useCallback((thrown: unknown) => setFault(faultOf(thrown)), []);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const follow = async (): Promise<void> => {
      const read = async (): Promise<ShownAnswer> => {
        const shown = await answers.read(id, signal);
        setAnswer(shown);
        return shown;
      };
      answers.input(id, signal).then(setInput, () => undefined);
      if (!goesOn(await read())) return;
      const fold = new AnswerFold();
      let drawing: ReturnType<typeof setTimeout> | undefined;
      const draw = (): void => {
        drawing = undefined;
        setIsLost(false);
        setItems(fold.items);
      };
      signal.addEventListener('abort', () => clearTimeout(drawing));
      for await (const event of answers.follow(id, { signal, onLost: () => setIsLost(true) })) {
        fold.add(event);
        if (event.type === 'response.in_progress') await read();
        drawing ??= setTimeout(draw, drawMs);
      }
      if (!goesOn(await read())) announce(ended);
    };
    follow().catch((thrown: unknown) => signal.aborted || fail(thrown));
    return () => leaving.abort();
  }, [answers, id, fail, announce, ended]);
  const reply = useMemo(() => answer && toReply(answer, goesOn(answer) ? items : answer.output), [answer, items]);
  return { answer, input, reply, fault, isLost: isLost && answer !== undefined && goesOn(answer), fail, take: setAnswer };
}
