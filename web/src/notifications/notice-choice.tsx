import { useState } from 'react';
import { useDisplayWords } from '../display/display-words.ts';
import { Segments } from '../parts/segments.tsx';
import { canNotify, setNotices, wantsNotices } from './notices.ts';

/** Whether to be told of answers while looking at something else; nothing where the browser has no notifications. */
export function NoticeChoice() {
  const words = useDisplayWords();
  const [isOn, setIsOn] = useState(wantsNotices);
  const [isRefused, setIsRefused] = useState(false);
  if (!canNotify()) return null;
  const choose = async (wanted: boolean): Promise<void> => {
    setIsRefused(!(await setNotices(wanted)));
    setIsOn(wantsNotices());
  };
  return (
    <>
      <Segments
        name={words.notices}
        value={isOn ? 'on' : 'off'}
        options={[
          ['off', words.noticesOff],
          ['on', words.noticesOn],
        ]}
        choose={(value) => void choose(value === 'on')}
      />
      <p className={isRefused ? 'trouble small' : 'note'} role="status">
        {isRefused ? words.noticesRefused : words.noticesWhen}
      </p>
    </>
  );
}
