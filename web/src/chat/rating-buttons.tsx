import { type FormEvent, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { Rating, Reply } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { rateReply } from '../service/rate-reply.ts';
import { useWords } from '../words/words.tsx';

/** Whether an answer was good, and a word on it, for those who run the service. */
export function RatingButtons({ reply, conversationId }: { readonly reply: Reply; readonly conversationId: string }) {
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
